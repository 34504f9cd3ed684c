/*
 * intern.h - one copy of each string
 *
 * Equal strings get equal pointers, good until the program ends, so that names
 * can be compared and hashed as pointers.
 */
#ifndef INTERN_H
#define INTERN_H

const char *intern(const char *s);

#endif
