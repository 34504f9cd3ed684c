/*
 * args.h - the arguments of options
 *
 * If s, the argument, is not as described, the program dies with a message that
 * begins with `what', mostly the option, and says what s may be.
 */
#ifndef ARGS_H
#define ARGS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * s as a number, read as by num_parse, from min to max: num_arg reads a count,
 * in which k is 1000, size_arg bytes, in which k is 1024.
 */
uint64_t num_arg(const char *what, const char *s, uint64_t min, uint64_t max);
uint64_t size_arg(const char *what, const char *s, uint64_t min, uint64_t max);
/* s as a percentage from 0 to 100: perhaps a fraction, with % or without. */
double percent_arg(const char *what, const char *s);
/* Is s "yes", not "no"? NULL, an option without argument, is "yes". */
bool yes_arg(const char *what, const char *s);
/* Is s the second of two words, not the first? */
bool choice_arg(const char *what, const char *s, const char *first,
    const char *second);
/* The index of s among n words. */
unsigned word_arg(const char *what, const char *s, const char *const *words,
    unsigned n);

#endif
