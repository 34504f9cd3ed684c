/*
 * options - what was asked for: sizes, references, and the machine's caches
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "caches.h"
#include "mem.h"
#include "num.h"
#include "prog.h"
#include "reuse.h"

struct options opt = { .data = true, .shift = 6, .sample = 1, .nfunction = 20 };
struct size sizes[MOST_SIZES + 4], caches[8];
unsigned nsize, ncache;
struct size curve_size[MOST_SIZES];
unsigned curve_nsize;
const char *command;

/* ---- sizes ---- */

uint64_t
in_lines(uint64_t bytes)
{
	return bytes >> opt.shift == 0 ? 1 : bytes >> opt.shift;
}

const char *
size_name(uint64_t bytes, char buf[24])
{
	static const char unit[] = { 0, 'K', 'M', 'G', 'T', 'P', 'E' };
	unsigned k = 0;

	while (bytes != 0 && bytes % 1024 == 0 && k + 1 < sizeof unit) {
		bytes /= 1024;
		k++;
	}
	snprintf(buf, 24, "%llu%.1s", (unsigned long long)bytes,
	    k == 0 ? "" : &unit[k]);
	return buf;
}

static int
by_size(const void *a, const void *b)
{
	const struct size *x = a, *y = b;

	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

void
add_size(struct size *list, unsigned *n, uint64_t bytes, const char *name)
{
	char buf[24];

	list[*n].bytes = bytes;
	list[(*n)++].name = name != NULL ? name :
	    xstrdup(size_name(bytes, buf));
}

/* Sort, and keep each once; returns how many. */
unsigned
unique_sizes(struct size *list, unsigned n)
{
	unsigned k = 0;

	qsort(list, n, sizeof *list, by_size);
	for (unsigned i = 0; i < n; i++)
		if (k == 0 || list[i].bytes != list[k - 1].bytes)
			list[k++] = list[i];
	return k;
}

/* Read a list of sizes. */
unsigned
read_sizes(const char *option, const char *arg, struct size *list,
    unsigned most)
{
	char *copy = xstrdup(arg), *save = NULL;
	unsigned n = 0;

	for (char *s = strtok_r(copy, ",", &save); s != NULL;
	    s = strtok_r(NULL, ",", &save)) {
		if (n == most)
			die("%s: more than %u sizes", option, most);
		add_size(list, &n, size_arg(option, s, 1, UINT64_C(1) << 48),
		    NULL);
	}
	if (n == 0)
		die("%s: no size", option);
	free(copy);
	return unique_sizes(list, n);
}

/* ---- arguments ---- */

void
set_refs(const char *arg)
{
	enum { ONLY_DATA, ONLY_CODE, BOTH };
	static const char *const words[] = { "data", "code", "both" };
	unsigned which = word_arg("--refs", arg, words, 3);

	opt.code = which != ONLY_DATA;
	opt.data = which != ONLY_CODE;
}

void
set_line(const char *arg)
{
	uint64_t n = size_arg("--line", arg, 8, 1 << 20);

	if ((n & (n - 1)) != 0)
		die("--line=%s: not a power of two", arg);
	opt.shift = (unsigned)__builtin_ctzll(n);
}

void
set_sample(const char *arg)
{
	char *end;

	opt.sample = strtod(arg, &end);
	if (end != arg && *end == '%') {
		opt.sample /= 100;
		end++;
	}
	if (end == arg || *end != '\0' || !(opt.sample >= 0.00001) ||
	    opt.sample > 1)
		die("--sample=%s: not a share from 0.00001 to 1", arg);
}

/* ---- the machine's caches ---- */

static uint64_t told[3];	/* I1, D1, LL of the stream, in bytes */

void
take_head(const struct ev *e)
{
	static const char *const name[] = { "I1", "D1", "LL" };
	const char *p = e->value;
	uint64_t n;

	if (strcmp(e->text, "cmd") == 0)
		command = xstrdup(e->value);
	for (unsigned i = 0; i < 3; i++)
		if (strcmp(e->text, name[i]) == 0 &&
		    num_next(&p, BYTES, &n) == 0 && *p == ',' && n != 0)
			told[i] = n;
}

/* The size of this machine's cache, or 0: there is none, or nobody can say. */
static uint64_t
of_this(const struct cache_found *all, unsigned n, unsigned level)
{
	for (unsigned i = 0; i < n; i++)
		if (all[i].level == level && (all[i].holds &
		    (opt.data ? HOLDS_DATA : HOLDS_CODE)) != 0)
			return all[i].size;
	return 0;
}

/*
 * The stream has the first and the last level of its machine, and some only of
 * these; where what it has is this machine's, so are the others.
 */
void
find_caches(void)
{
	struct cache_found all[CACHES_MOST];
	uint64_t l1, l2, ll, first = told[opt.data ? 1 : 0];
	unsigned n;

	if (ncache != 0)
		return;
	n = caches_find(all, caches_cpuid);
	l1 = of_this(all, n, 1);
	l2 = of_this(all, n, 2);
	ll = of_this(all, n, 3);
	if ((first != 0 && first != l1) || (told[2] != 0 && told[2] != ll)) {
		l1 = first;
		l2 = 0;
		ll = told[2];
	}
	if (l1 != 0)
		add_size(caches, &ncache, l1, "L1");
	if (l2 > l1)
		add_size(caches, &ncache, l2, "L2");
	if (ll > l2 && ll > l1)
		add_size(caches, &ncache, ll, l2 == 0 ? "LL" : "L3");
}
