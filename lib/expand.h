/*
 * expand - %p and %q{VAR} in the file names that options give
 *
 * expand returns the name, allocated, with each %p replaced by number (if that
 * is NULL, %p stays) and each %q{VAR} by the value of the variable.  It dies if
 * a variable has no value or no }.  Where `exact', %% is a %, and it dies if
 * anything else follows a %; else other text is kept.
 *
 * expand_value returns the value of the variable whose name has n bytes, or
 * NULL.
 */
#ifndef EXPAND_H
#define EXPAND_H

#include <stdbool.h>
#include <stddef.h>

char *expand(const char *name, const char *number, bool exact);
const char *expand_value(const char *var, size_t n);

#endif
