/*
 * evwhy.h - why a line of an event stream is malformed; inside lib only
 */
#ifndef EVWHY_H
#define EVWHY_H

enum { EV_WHY = 80 };

/* Say it, cut to EV_WHY bytes with the NUL; returns -1. */
__attribute__((cold, format(printf, 2, 3)))
int evwhy(char why[EV_WHY], const char *fmt, ...);

#endif
