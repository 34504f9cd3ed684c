/*
 * source.h - write events as lines of the program's source
 */
#ifndef SOURCE_H
#define SOURCE_H

/* Read the stream `name', write to `output'.  Returns the exit status. */
int source_lines(const char *name, const char *output);

#endif
