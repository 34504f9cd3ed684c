/*
 * wild - names that a pattern with * and ? matches
 *
 * A star first stands for nothing; where the rest then fails, for one byte
 * more.  Only the last star has to be tried again.
 */
#include "wild.h"

#include <stddef.h>

bool
wild_matches(const char *pattern, const char *s)
{
	const char *star = NULL, *again = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			again = s;
		} else if (*s == '\0') {
			return *pattern == '\0';
		} else if (*pattern == *s || *pattern == '?') {
			pattern++;
			s++;
		} else if (star != NULL) {
			pattern = star;
			s = ++again;
		} else {
			return false;
		}
	}
}
