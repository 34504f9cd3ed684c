/*
 * args - the arguments of options, or a message that names the option
 */
#include "args.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "prog.h"

static uint64_t
bounded(const char *what, const char *s, unsigned k, uint64_t min,
    uint64_t max)
{
	uint64_t v;

	if (num_parse(s, k, &v) < 0)
		die("%s: `%s' is not a %s (digits, then k, M, G or "
		    "nothing)", what, s, k == BYTES ? "size" : "number");
	if (v < min || v > max)
		die("%s: %s is not within %" PRIu64 " to %" PRIu64, what, s,
		    min, max);
	return v;
}

uint64_t
num_arg(const char *what, const char *s, uint64_t min, uint64_t max)
{
	return bounded(what, s, COUNTS, min, max);
}

uint64_t
size_arg(const char *what, const char *s, uint64_t min, uint64_t max)
{
	return bounded(what, s, BYTES, min, max);
}

double
percent_arg(const char *what, const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || (*end && strcmp(end, "%")) || !(v >= 0 && v <= 100))
		die("%s: '%s' is not a percentage", what, s);
	return v;
}

bool
yes_arg(const char *what, const char *s)
{
	if (s == NULL)
		return true;
	if (strcmp(s, "yes") != 0 && strcmp(s, "no") != 0)
		die("%s: `%s' is neither yes nor no", what, s);
	return s[0] == 'y';
}

bool
choice_arg(const char *what, const char *s, const char *first,
    const char *second)
{
	if (strcmp(s, first) != 0 && strcmp(s, second) != 0)
		die("%s=%s: neither %s nor %s", what, s, first, second);
	return strcmp(s, second) == 0;
}

/* Append two strings to text, which has room for size bytes; cut at its end. */
static void
append(char *text, size_t size, const char *first, const char *second)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", first, second);
}

unsigned
word_arg(const char *what, const char *s, const char *const *words, unsigned n)
{
	char list[200] = "";

	for (unsigned i = 0; i < n; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	for (unsigned i = 0; i < n; i++)
		append(list, sizeof list, i == 0 ? "" :
		    i + 1 < n ? ", " : " or ", words[i]);
	die("%s=%s: %s", what, s, list);
}
