/*
 * labels - read a word for each interval; equal words become one number
 *
 * Numbers go up from 0 in the order in which words first appear.
 */
#include "simpoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "in.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"

KHASH_MAP_INIT_STR(label, int)

static khash_t(label) *known;

static int
number(const char *word)
{
	khint_t it = kh_get(label, known, word);
	int fresh, n;

	if (it != kh_end(known))
		return kh_val(known, it);
	n = (int)kh_size(known);
	it = kh_put(label, known, xstrdup(word), &fresh);
	kh_val(known, it) = n;
	return n;
}

/* Read n labels; *k: how many different ones. */
int *
labels_read(const char *name, size_t n, size_t *k)
{
	struct in *in = in_open(name);
	int *lab = xcalloc(n, sizeof *lab);
	char *line, *word, *rest;
	size_t have = 0;

	known = kh_init(label);
	while ((line = in_line(in, NULL)) != NULL)
		for (word = strtok_r(line, " \t\r\v\f", &rest); word;
		    word = strtok_r(NULL, " \t\r\v\f", &rest)) {
			if (have == n)
				die("%s:%" PRIu64 ": more labels than "
				    "intervals", in_name(in), in_lineno(in));
			lab[have++] = number(word);
		}
	if (have < n)
		die("%s: %zu labels for %zu intervals", in_name(in), have, n);
	*k = kh_size(known);
	in_close(in);
	return lab;
}
