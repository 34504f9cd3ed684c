/* source.h - events as the lines of the program's source */
#ifndef SOURCE_H
#define SOURCE_H

/* The stream of this name, to this file; the status. */
int source_lines(const char *name, const char *output);

#endif
