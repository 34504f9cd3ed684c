/*
 * wild.h - patterns with * and ?
 */
#ifndef WILD_H
#define WILD_H

#include <stdbool.h>

/* Does all of s match? In the pattern * is any bytes, ? any byte. */
bool wild_matches(const char *pattern, const char *s);

#endif
