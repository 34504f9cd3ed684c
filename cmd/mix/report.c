/*
 * report - the text: a word on each line that names its table
 *
 *	all mov 1234 0.250000		awk '$1 == "all"'
 *	function ...
 *	of mov ...
 *
 * mix(1) has the columns.
 */
#include "mix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "funcs.h"
#include "hash.h"
#include "khash.h"
#include "mem.h"
#include "out.h"
#include "sum.h"

KHASH_MAP_INIT_INT64(part, uint64_t)

static struct out *out;
static uint64_t *sums;
static struct funcs *functions;
static khash_t(part) *parts;	/* function and class -> sum */
/* The function at hand, whose sums are not in parts yet. */
static const int64_t *here;
static uint64_t *here_sum;	/* by class */
static unsigned *here_class;	/* those that are not 0 */
static unsigned nhere;

/*
 * A function's sum does not move. khash takes the low bits of keys, so these
 * are mixed; different ones stay different.
 */
static uint64_t
key_of(const int64_t *sum, unsigned class)
{
	uint64_t key = (uint64_t)(uintptr_t)sum << 12 | class;

	key *= HASH_MULTIPLIER;
	return key ^ key >> 32;
}

static void
add_part(const int64_t *f, unsigned class, uint64_t n)
{
	int new;
	khiter_t k = kh_put(part, parts, key_of(f, class), &new);

	if (new)
		kh_value(parts, k) = 0;
	kh_value(parts, k) += n;
}

static void
leave(void)
{
	for (unsigned i = 0; i < nhere; i++) {
		add_part(here, here_class[i], here_sum[here_class[i]]);
		here_sum[here_class[i]] = 0;
	}
	nhere = 0;
}

static void
add_here(const int64_t *f, unsigned class, uint64_t n)
{
	if (n == 0)
		return;
	if (here_sum == NULL) {
		here_sum = xcalloc(class_count(), sizeof *here_sum);
		here_class = xcalloc(class_count(), sizeof *here_class);
	}
	if (f != here)
		leave();
	here = f;
	if (here_sum[class] == 0)
		here_class[nhere++] = class;
	here_sum[class] += n;
}

static void
add(const struct insns_at *at, int64_t *n)
{
	unsigned c = class_of(at);
	int64_t *f;

	(void)n;
	sum_count(&sums[c], at->times, INT64_MAX);
	if (functions == NULL)
		return;
	f = funcs_at(functions, at);
	sum_add(f, (int64_t)at->times);
	add_here(f, c, at->times);
}

uint64_t *
report_sum(struct simrun *s)
{
	sums = xcalloc(class_count(), sizeof *sums);
	simrun_insns(s, add);
	leave();
	return sums;
}

static const uint64_t *sorting;

static int
by_sum(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	if (sorting[x] != sorting[y])
		return sorting[x] > sorting[y] ? -1 : 1;
	return strcmp(class_name(x), class_name(y));
}

unsigned
report_sort(const uint64_t *sum, unsigned *order)
{
	unsigned n = 0;

	for (unsigned i = 0; i < class_count(); i++)
		if (sum[i] != 0)
			order[n++] = i;
	sorting = sum;
	qsort(order, n, sizeof *order, by_sum);
	return n;
}

static double
share(uint64_t n, uint64_t of)
{
	return of == 0 ? 0 : (double)n / (double)of;
}

static void
put_function(const struct func_sum *f, unsigned *order, uint64_t all)
{
	uint64_t total = (uint64_t)f->n[0];
	uint64_t *sum = xcalloc(class_count(), sizeof *sum);
	unsigned n;

	for (unsigned c = 0; c < class_count(); c++) {
		khiter_t k = kh_get(part, parts, key_of(f->n, c));

		if (k != kh_end(parts))
			sum[c] = kh_value(parts, k);
	}
	out_printf(out, "\nfunction %" PRIu64 " %.6f ", total,
	    share(total, all));
	funcs_put(out, f);
	n = report_sort(sum, order);
	for (unsigned i = 0; i < n && i < opt.nclass; i++) {
		out_printf(out, "of %s %" PRIu64 " %.6f ", class_name(order[i]),
		    sum[order[i]], share(sum[order[i]], total));
		funcs_put(out, f);
	}
	free(sum);
}

static void
by_function(unsigned *order, uint64_t all)
{
	out_str(out, "\n# function insns share object name\n"
	    "# of class insns share-of-function object name\n");
	funcs_sort(functions, 0);
	for (size_t i = 0; i < funcs_count(functions) && i < opt.nfunction; i++)
		put_function(funcs_get(functions, i), order, all);
}

static void
tell(struct simrun *s)
{
	unsigned *order = xcalloc(class_count(), sizeof *order), n;
	uint64_t all = 0;

	functions = opt.nfunction == 0 ? NULL : funcs_new(s->map, 1);
	parts = kh_init(part);
	report_sum(s);
	n = report_sort(sums, order);
	for (unsigned i = 0; i < n; i++)
		all += sums[order[i]];
	out_printf(out, "insns %" PRIu64 "\n\n# all class insns share\n", all);
	for (unsigned i = 0; i < n; i++)
		out_printf(out, "all %s %" PRIu64 " %.6f\n",
		    class_name(order[i]), sums[order[i]],
		    share(sums[order[i]], all));
	if (functions != NULL)
		by_function(order, all);
	kh_destroy(part, parts);
	free(order);
	free(sums);
}

void
report(struct simrun *s)
{
	out = s->out;
	out_printf(out, "# instructions by %s\n", by_name[opt.by]);
	for (unsigned i = 0; opt.threads && i < count_threads(); i++) {
		count_only((int)i);
		out_printf(out, "\nthread %u %" PRIu64 "\n", i + 1,
		    count_tid(i));
		tell(s);
	}
	if (!opt.threads)
		tell(s);
	code_warn();
	if (s->whole)
		out_str(out, "\nend\n");
}
