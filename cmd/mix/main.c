/*
 * mix - which instructions were executed
 *
 *	trace -e counts ls | mix --by=category
 *
 * reads events, events(5), of any kind but calls, and sums up executions by
 * mnemonic, category, instruction set extension, or width of the memory
 * operands.
 *
 *	H quern-events 1		insns 10
 *	H kind counts
 *	B 1 >1000 4r8 2C1000		all r8 5 0.500000
 *	1*4				all none 5 0.500000
 *	E exit 0 5
 *
 * The stream says how often each block was executed, and where it is; the bytes
 * come from the object files. It writes a text; with --costs costs by address,
 * costs(5), a column for each class; with -t it passes the events on and tells
 * in O lines which instructions are of the classes asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cost.h"
#include "mem.h"
#include "mix.h"
#include "out.h"
#include "prog.h"

#define MOST_TOLD	50	/* classes in O lines */
#define MOST_COLUMNS	100	/* in costs */
#define OTHERS		"others"

static const char synopsis[] = "[-tv] [--by=mnemonic|category|extension|"
    "set|width]\n"
    "           [--functions=n] [--classes=n] [--per-thread] [--costs]\n"
    "           [--show=class,...] [-o file] [file]";

static const char help[] =
    "usage: mix [option]... [file]\n"
    "Tell which instructions were executed, and how often.\n"
    "\n"
    "      --by=WHAT         mnemonic, category, extension, set (of\n"
    "                        instructions), width (of memory operands)\n"
    "                                                         [mnemonic]\n"
    "      --functions=N     how many functions to tell       [10]\n"
    "      --classes=N       how many classes of each         [10]\n"
    "      --per-thread      each thread by itself\n"
    "      --costs           write costs: a column for each class\n"
    "      --show=CLASS,...  these columns; with -t, these outcomes\n"
    "  -o, --output=FILE     write to FILE\n"
    "  -t, --through         pass the events on, with the classes\n"
    "  -v, --verbose         print the sum to standard error\n"
    "  -h, --help            this text\n"
    "      --version         the version\n";

static char *show;		/* --show: names, or NULL */

/* ---- options ---- */

enum { OPT_BY = SIMRUN_OWN, OPT_FUNCTIONS, OPT_CLASSES, OPT_THREAD, OPT_COSTS,
    OPT_SHOW };

static const struct option longopts[] = {
	{ "by", required_argument, NULL, OPT_BY },
	{ "functions", required_argument, NULL, OPT_FUNCTIONS },
	{ "classes", required_argument, NULL, OPT_CLASSES },
	{ "per-thread", no_argument, NULL, OPT_THREAD },
	{ "costs", no_argument, NULL, OPT_COSTS },
	{ "show", required_argument, NULL, OPT_SHOW },
	SIMRUN_OPTIONS
};

static void
option(struct simrun *s, int c)
{
	(void)s;
	switch (c) {
	case OPT_BY:
		opt.by = (enum by)word_arg("--by", optarg, by_name, NBY);
		break;
	case OPT_FUNCTIONS:
		opt.nfunction = num_arg("--functions", optarg, 0, 1 << 30);
		break;
	case OPT_CLASSES:
		opt.nclass = num_arg("--classes", optarg, 1, 1 << 30);
		break;
	case OPT_THREAD:
		opt.threads = true;
		break;
	case OPT_COSTS:
		opt.costs = true;
		break;
	case OPT_SHOW:
		opt.costs = true;
		show = xstrdup(optarg);
		break;
	}
}

/* ---- columns ---- */

static const char *column_name[MOST_COLUMNS + 1];
static unsigned column_class[MOST_COLUMNS + 1];
static unsigned ncolumn;
static bool others;		/* a last column for all other classes */
static uint8_t *column_of;	/* by class: 1 + its column, or 0 */

static void
add_column(unsigned class, const char *name)
{
	column_class[ncolumn] = class;
	column_name[ncolumn++] = name;
	if (column_of == NULL)
		column_of = xcalloc(class_count(), sizeof *column_of);
	column_of[class] = (uint8_t)ncolumn;
}

static bool
is_column(const char *name)
{
	for (unsigned i = 0; i < ncolumn; i++)
		if (strcmp(column_name[i], name) == 0)
			return true;
	return false;
}

/* The columns that --show names. */
static void
named_columns(void)
{
	char *save = NULL;

	if (strspn(show, ",") == strlen(show))
		die("--show=%s: no class", show);
	for (char *name = strtok_r(xstrdup(show), ",", &save); name != NULL;
	    name = strtok_r(NULL, ",", &save)) {
		unsigned class = class_find(name);

		if (class == 0)
			die("--show: there is no class `%s'", name);
		if (ncolumn == MOST_TOLD)
			die("--show: more than %u classes", MOST_TOLD);
		if (!is_column(name))
			add_column(class, name);
	}
}

/* Names in a row, "first" before them. */
static char *
row_of_names(const char *first)
{
	char *list = xmalloc(80 * (ncolumn + (size_t)2)), *p = list;

	p += sprintf(p, "%s", first);
	for (unsigned i = 0; i < ncolumn; i++)
		p += sprintf(p, "%s%s", p == list ? "" : " ", column_name[i]);
	if (others)
		sprintf(p, " %s", OTHERS);
	return list;
}

/* All classes that occur, the most frequent first; the rest in one. */
static void
found_columns(struct simrun *s)
{
	uint64_t *sum = report_sum(s);
	unsigned *order = xcalloc(class_count(), sizeof *order);
	unsigned n = report_sort(sum, order);

	for (unsigned i = 0; i < n && i < MOST_COLUMNS; i++)
		add_column(order[i], class_name(order[i]));
	others = n > MOST_COLUMNS;
	free(order);
	free(sum);
}

/* ---- the stream ---- */

static void
open_stream(struct simrun *s)
{
	class_init();
	code_init(s->map, s->insns);
	ev_lean(s->events);
	if (s->through && show == NULL)
		die("-t: needs --show=CLASS,...");
	if (show != NULL)
		named_columns();
	if (s->through) {
		ev_accept(s->events, EV_ALL | EV_BLOCKS,
		    "the order of executions");
		s->outcomes = row_of_names("");
		s->columns = row_of_names("Ir");
		return;
	}
	ev_accept(s->events, EV_ALL | EV_BLOCKS | EV_COUNTS |
	    (opt.threads ? 0 : EV_CACHE | EV_BRANCHES), opt.threads ?
	    "how often each thread executed a block" :
	    "how often a block was executed");
	if (!opt.costs)
		s->report = report;
}

/* ---- -t ---- */

/* The instructions of a block that are told: by its number. */
struct told {
	struct sim_outcome *o;
	unsigned n;
};
static struct told *told;
static size_t captold;

static void
find_told(struct simrun *s, const struct ev_block *b)
{
	uint32_t number = simrun_number(b);
	struct told *t;
	size_t cap = 0;

	told = xgrow0(told, &captold, number + (size_t)1, sizeof *told);
	t = &told[number];
	for (uint32_t k = 0; k < b->ninsn; k++) {
		struct insns_at at = { .block = number, .insn = k,
		    .i = &b->insn[k], .ref = b->ref + b->insn[k].ref };
		const struct obj *o = objmap_find(s->map, at.i->addr,
		    &at.addr);
		unsigned class;

		at.object = o == NULL ? 0 : o->id + 1;
		class = class_of(&at);
		if (column_of[class] == 0)
			continue;
		t->o = xgrow(t->o, &cap, t->n + (size_t)1, sizeof *t->o);
		t->o[t->n++] = (struct sim_outcome){ k,
		    column_of[class] - 1U, 1 };
	}
}

static void
pass(struct simrun *s, const uint64_t *rec)
{
	const struct ev_def *d = ev_def(s->events, ev_id(*rec));
	const struct told *t = &told[simrun_number(d->block)];
	uint64_t rounds = 1 + ev_more(rec);
	unsigned n = 0;

	while (n < t->n && t->o[n].insn < d->n)
		n++;
	if (n == 0) {
		simrun_pass(s, rec, rounds - 1);
		return;
	}
	for (; rounds > 0; rounds--) {
		simrun_pass(s, rec, 0);
		simrun_outcomes(s, column_name, t->o, n);
	}
}

/* ---- */

static void
define(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	(void)id;
	if (d->letter != 'B')
		return;
	code_define(s->events, simrun_number(d->block), d->block->ninsn);
	if (s->through)
		find_told(s, d->block);
}

static void
batch(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	unsigned n = ev_thread(s->events);

	for (; rec < end; rec = ev_skip(rec)) {
		count_add(n, ev_id(*rec), 1 + ev_more(rec));
		if (s->through)
			pass(s, rec);
	}
}

static void
line(struct simrun *s, int letter, const struct ev *e)
{
	if (letter == 'W')
		count_add(0, e->id, e->num[1]);
	else if (letter == 'T')
		count_name(ev_thread(s->events), e->num[0]);
}

static void
end(struct simrun *s)
{
	if (s->columns != NULL || !opt.costs)
		return;
	if (show == NULL)
		found_columns(s);
	s->columns = row_of_names("Ir");
}

/* ---- costs ---- */

static void
add(const struct insns_at *at, int64_t *n)
{
	unsigned c = column_of == NULL ? 0 : column_of[class_of(at)];

	n[0] += (int64_t)at->times;
	if (c != 0)
		n[c] += (int64_t)at->times;
	else if (others)
		n[ncolumn + 1] += (int64_t)at->times;
}

static void
summary(const struct simrun *s)
{
	if (opt.costs && !s->through)
		fprintf(stderr, "%lld instructions, %u classes\n",
		    (long long)s->total[0], ncolumn);
}

static const struct simulator mix = {
	.name = "mix", .synopsis = synopsis, .help = help,
	.outcomes = "", .longopts = longopts, .option = option,
	.open = open_stream, .define = define, .batch = batch, .line = line,
	.end = end, .count = count_times, .add = add, .summary = summary
};

int
main(int argc, char **argv)
{
	return simrun(&mix, argc, argv);
}
