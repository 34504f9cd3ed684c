/*
 * merge - cost files -> their sum
 *
 *	events: Ir	events: Ir	events: Ir
 *	fl=a.c		fl=a.c		fl=a.c
 *	fn=main		fn=main		fn=main
 *	1 10		1 5		1 15
 *	2 7		3 2		2 7
 *					3 2
 *
 * The sum does not depend on the order of the files, nor on whether some were
 * merged before: the records are in canonical order, and the header holds what
 * all files have in common.
 *
 *	cmd:	the command; if commands differ, their parts between "; ",
 *		sorted
 *	desc:	the lines that all files have; sorted, unless all files have
 *		the same; "several" where caches or predictors differ; and
 *		what only some may have, such as "Interrupted", with their
 *		number
 *	event:	of two definitions the one that is first in byte order
 *	events:	the files' order; if that differs, Callgrind's
 *
 * A difference (see diff) adds to the header only if all files are differences.
 * Records that add up to nothing are left out, so the old file and a difference
 * make the new file.
 *
 * With --weights each file stands for several like it: its counts are
 * multiplied.  The sums are exact until each is rounded (weights.c), so the
 * total is still the sum of the records.
 *
 * Most files of Cachegrind are in canonical order.  If all are, merge reads
 * them side by side and writes each record as soon as its sum is known
 * (stream.c), in hardly any memory.  Otherwise it adds all up in a table.
 */
#include "merge.h"

#include <getopt.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"

static const char help[] =
"usage: merge [option ...] [file ...]\n"
"Add up cost files, Cachegrind's and Callgrind's.\n"
"  --weights=W,...     a number for each file, by which it is multiplied\n"
"  --strict            other caches, another predictor or processor: status 2\n"
"  -o, --output=FILE   write there\n"
"  -h, --help          --version\n";

static struct costnames *nm;
static struct costsum *table;

static void
begin_part(void)
{
	if (!table)
		table = costsum_new(nm, first.positions, first.nev);
	costsum_positions(table, first.positions);
}

/* weight: NULL if there is none */
static void
add_file(const char *name, const struct weight *weight)
{
	struct costr *r = costr_open(name, nm);
	size_t store[COST_EVMAX];
	const size_t *map = NULL;
	int64_t n[COST_EVMAX];
	struct cost c;

	head_file();
	while (costr_next(r, &c)) {
		if (c.kind == COST_PART) {
			map = head_add(r, store);
			begin_part();
			if (weight)
				weights_positions(nm);
			continue;
		}
		if (map && c.kind != COST_JUMP) {
			remap(n, c.n, map);
			c.n = n;
		}
		if (weight)
			weights_put(&c, weight);
		else
			costsum_put(table, &c);
	}
	if (!weight)
		add_total(r);
	head_late(r);
	costr_close(r);
}

static bool
has_negative(void)
{
	struct cost c;
	bool neg = false;
	size_t i;

	while (costsum_next(table, &c)) {
		neg |= c.count[0] < 0 || c.count[1] < 0;
		for (i = 0; c.kind != COST_JUMP && i < first.nev; i++)
			neg |= c.n[i] < 0;
	}
	return neg;
}

static void
write_table(struct out *o)
{
	size_t to[COST_EVMAX];
	int64_t n[COST_EVMAX];
	struct cost_head *h;
	struct costw *w;
	struct cost c;

	costsum_sort(table);
	h = head_make(nm, to, head_has_diff() && has_negative());
	w = costw_begin(o, nm, h, h->positions & COST_INSTR ? COSTW_RELATIVE :
	    0);
	remap(n, total, to);
	costw_total(w, n);
	while (costsum_next(table, &c)) {
		if (is_nothing(&c))
			continue;
		if (!same_order && c.kind != COST_JUMP) {
			remap(n, c.n, to);
			c.n = n;
		}
		costw_put(w, &c);
	}
	costw_end(w);
}

static bool
all_canonical(char **names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!is_canonical(names[i]))
			return false;
	return n > 1;
}

static void
merge(char **names, size_t n, const char *dest, const char *weights)
{
	struct weight *w = weights ? weights_parse(weights, n) : NULL;
	struct out *o;
	size_t i;

	if (!w && n <= STREAMS && all_canonical(names, n)) {
		o = out_open(dest);
		stream(names, n, o);
	} else {
		nm = costnames_new();
		for (i = 0; i < n; i++)
			add_file(names[i], w ? &w[i] : NULL);
		if (w)
			weights_sum(table);
		o = out_open(dest);
		write_table(o);
	}
	out_close(o);
}

int
main(int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "strict", no_argument, NULL, 's' },
		{ "version", no_argument, NULL, 'V' },
		{ "weights", required_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 }
	};
	const char *dest = NULL, *weights = NULL;
	int c;

	prog_init(argv[0]);
#ifdef M_TRIM_THRESHOLD
	/* keep freed memory: it is allocated again soon */
	mallopt(M_TRIM_THRESHOLD, 1 << 28);
	mallopt(M_MMAP_THRESHOLD, 1 << 28);
#endif
	while ((c = getopt_long(argc, argv, "ho:", longopts, NULL)) != -1) {
		if (c == 'o')
			dest = optarg;
		else if (c == 'w')
			weights = optarg;
		else if (c == 's')
			strict = true;
		else if (c == 'h')
			prog_help(help);
		else if (c == 'V')
			prog_version();
		else
			prog_usage("[--strict] [--weights=w,...] [-o file] "
			    "[file ...]");
	}
	if (optind == argc)
		merge((char *[]){ (char *)"-" }, 1, dest, weights);
	else
		merge(argv + optind, argc - optind, dest, weights);
	return 0;
}
