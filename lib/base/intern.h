/*
 * intern.h - one copy of each string
 *
 * Equal strings get equal pointers, good until the program ends, so that names
 * can be compared and hashed as pointers.
 */
#ifndef INTERN_H
#define INTERN_H

/* The copy of s, made if there is none yet; dies without memory. */
const char *intern(const char *s);

#endif
