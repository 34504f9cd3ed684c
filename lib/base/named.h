/*
 * named.h - an input that names other files
 */
#ifndef NAMED_H
#define NAMED_H

/* in_older warns of what is newer than this input, if it is a regular file. */
void named_since(int fd, const char *input);

#endif
