/*
 * fmt-folded - write costs with calls as collapsed stacks
 *
 *	trace ls | callgraph --contexts | fmt-folded | fmt-svg >ls.svg
 *
 * Example input and output: a line for each stack, with the self cost of its
 * last function, as FlameGraph's programs, speedscope and others read it.
 *
 *	fn=(1) main			main 10
 *	0x1139 10			main;work 40
 *	cfn=(2) work
 *	calls=1 0x1160
 *	0x1145 40
 *	fn=(2)
 *	0x1160 40
 *
 * Lines are sorted in byte order, function by function from the first one.  No
 * stack occurs twice.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cost.h"
#include "in.h"
#include "khash.h"
#include "mem.h"
#include "out.h"
#include "place.h"
#include "prog.h"
#include "shown.h"
#include "stacks.h"
#include "sym.h"

static const char synopsis[] = "[-e event] [-o file] "
    "[--extra-debuginfo-path=dir] [--inline=yes|no]\n"
    "                  [--threshold=x] [file]";
static const char help[] =
"usage: fmt-folded [option]... [file]\n"
"Collapsed stacks of costs with calls.\n"
"\n"
"  -e, --event=NAME        what to tell of each stack [the first event]\n"
"      --extra-debuginfo-path=DIR\n"
"                          look for debug files there, too\n"
"      --inline=yes|no     inlined functions are on the stack, too [no]\n"
"      --threshold=X       stacks of less than X percent are their callers'\n"
"                          own cost                              [0]\n"
"  -o, --output=FILE       write there instead of to standard output\n"
"  -h, --help              this text\n"
"      --version           the version\n";

/* A stack: a function on top of its callers' stack. */
struct stack {
	uint32_t up;		/* the callers' stack, or NONE */
	uint32_t name;
	uint32_t first;		/* the first stack on top of it, or NONE */
	uint32_t next;		/* the next stack on top of up, or NONE */
	int64_t n;		/* self cost */
};

#define NONE	UINT32_MAX

KHASH_MAP_INIT_INT64(stack, uint32_t)

static const char *event, *output;
static bool inlines;
static double threshold;		/* in percent */
static struct costnames *names;
static struct places *places;
static struct stacks *stacks;
static size_t column;

static struct stack *stack;
static size_t nstack, capstack;
static uint32_t bottom = NONE;	/* the first stack without callers */
static khash_t(stack) *index_of;

/* ---- names ---- */

/* Readers would take a number at the end of a name for the first of two. */
static void
no_number(char *s)
{
	char *blank = strrchr(s, ' ');

	if (blank != NULL && blank[strspn(blank + 1, "0123456789.") + 1] == 0)
		*blank = '_';
}

/* Replace what separates names and counts, and escape for a terminal. */
static uint32_t
clean(const char *s, size_t len)
{
	static char *buf;
	static size_t cap;

	buf = xgrow(buf, &cap, SHOWN_MOST * len + 1, 1);
	len = shown_copy(buf, SHOWN_MOST * len + 1, s, len);
	for (size_t i = 0; i < len; i++)
		if (buf[i] == ';')
			buf[i] = ':';
	no_number(buf);
	return costnames_add(names, buf, len);
}

static uint32_t
name_of(uint32_t node)
{
	size_t len;
	const char *s = stacks_name(stacks, node, &len);

	return len == 0 ? clean(SYM_UNKNOWN, strlen(SYM_UNKNOWN)) :
	    clean(s, len);
}

/* ---- stacks ---- */

static uint32_t
on_top(uint32_t up, uint32_t name)
{
	uint32_t *first;
	int new;
	khint_t k = kh_put(stack, index_of, (uint64_t)up << 32 | name, &new);

	if (new == 0)
		return kh_val(index_of, k);
	stack = xgrow(stack, &capstack, nstack + 1, sizeof *stack);
	first = up == NONE ? &bottom : &stack[up].first;
	stack[nstack] = (struct stack){ .up = up, .name = name, .first = NONE,
	    .next = *first };
	*first = (uint32_t)nstack;
	return kh_val(index_of, k) = (uint32_t)nstack++;
}

/* Add the functions that are inlined at an address of the top function. */
static uint32_t
inlined(uint32_t s, uint32_t node, uint64_t addr)
{
	struct place_frame f[PLACE_MOST];
	uint32_t ob = costfn_get(names, stacks->node[node].fn).ob;
	size_t k;

	if (!inlines || !(stacks->head.positions & COST_INSTR))
		return s;
	k = place_inline(places, ob, addr, f);
	while (k-- > 1) {
		const char *name = costnames_get(names, f[k - 1].fn);

		s = on_top(s, clean(name, strlen(name)));
	}
	return s;
}

/* Make the stack of each visit (of[]), and add up self costs. */
static void
make_stacks(void)
{
	uint32_t *of = xcalloc(stacks->nvisit, sizeof *of), at, r;
	int64_t n;

	for (size_t i = 0; i < stacks->nvisit; i++) {
		const struct stacks_visit *v = &stacks->visit[i];

		at = v->up == STACKS_NONE ? NONE : inlined(of[v->up],
		    stacks->visit[v->up].node, v->site.addr);
		of[i] = on_top(at, name_of(v->node));
		for (r = stacks->node[v->node].row; r != STACKS_NONE;
		    r = stacks->row[r].next) {
			n = stacks_part(v, stacks->count[r * stacks->head.nev +
			    column]);
			if (n == 0)
				continue;
			at = inlined(of[i], v->node, stacks->row[r].pos.addr);
			if (__builtin_add_overflow(stack[at].n, n,
			    &stack[at].n))
				die("a sum is beyond 64 bits");
		}
	}
	free(of);
}

/*
 * What lies on top of a stack, with the stack itself, may cost less than the
 * threshold: then it is the caller's own cost.  Callers come before callees.
 */
static void
fold_small(void)
{
	int64_t *total = xcalloc(nstack + 1, sizeof *total);
	double all = 0;
	size_t i;

	for (i = nstack; i-- > 0; ) {
		total[i] += stack[i].n;
		if (stack[i].up == NONE)
			all += (double)total[i];
		else
			total[stack[i].up] += total[i];
	}
	for (i = nstack; i-- > 0; )
		if ((double)total[i] < all * threshold / 100 &&
		    stack[i].up != NONE) {
			stack[stack[i].up].n += stack[i].n;
			stack[i].n = 0;
		}
	free(total);
}

/* ---- output ---- */

static int
by_name(const void *a, const void *b)
{
	return strcmp(costnames_get(names, stack[*(const uint32_t *)a].name),
	    costnames_get(names, stack[*(const uint32_t *)b].name));
}

/* Sort a list of stacks by name. */
static void
sort(uint32_t *first)
{
	static uint32_t *v;
	static size_t cap;
	size_t n = 0;

	for (uint32_t s = *first; s != NONE; s = stack[s].next) {
		v = xgrow(v, &cap, n + 1, sizeof *v);
		v[n++] = s;
	}
	if (n < 2)
		return;
	qsort(v, n, sizeof *v, by_name);
	*first = v[0];
	for (size_t i = 0; i < n; i++)
		stack[v[i]].next = i + 1 < n ? v[i + 1] : NONE;
}

/* False: there are none, since nothing was counted. */
static bool
write_stacks(struct out *o)
{
	static char *path;
	static size_t cap;
	uint32_t s = bottom;
	size_t len = 0, n;
	bool any = false;

	while (s != NONE) {
		const char *name = costnames_get(names, stack[s].name);

		n = strlen(name);
		path = xgrow(path, &cap, len + n + 1, 1);
		memcpy(path + len, name, n);
		path[len + n] = ';';
		len += n + 1;
		if (*path == '#' && (path[1] < '0' || path[1] > '9'))
			*path = '_';	/* it would be a comment */
		if (stack[s].n != 0) {
			out_write(o, path, len - 1);
			out_printf(o, " %" PRId64 "\n", stack[s].n);
			any = true;
		}
		if (stack[s].first != NONE) {
			s = stack[s].first;
			continue;
		}
		/* no callees: go to the next stack, or that of a caller */
		for (;; s = stack[s].up) {
			len -= strlen(costnames_get(names, stack[s].name)) + 1;
			if (stack[s].next != NONE || stack[s].up == NONE)
				break;
		}
		s = stack[s].next;
	}
	return any;
}

/* ---- */

static void
options(int argc, char **argv)
{
	enum { VERSION = 256, THRESHOLD };
	static const struct option longs[] = {
		{ "event", required_argument, NULL, 'e' },
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "threshold", required_argument, NULL, THRESHOLD },
		{ "version", no_argument, NULL, VERSION },
		PLACE_OPTIONS,
		{ NULL, 0, NULL, 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "e:ho:", longs, NULL)) != -1)
		switch (c) {
		case 'e':
			event = optarg;
			break;
		case 'h':
			prog_help(help);
		case 'o':
			output = optarg;
			break;
		case THRESHOLD:
			threshold = percent_arg("--threshold", optarg);
			break;
		case VERSION:
			prog_version();
		default:
			if (!place_option(c, optarg, &inlines))
				prog_usage(synopsis);
		}
	if (argc - optind > 1)
		prog_usage(synopsis);
}

int
main(int argc, char **argv)
{
	struct costr *r;
	struct out *o;

	prog_init(argv[0]);
	options(argc, argv);
	names = costnames_new();
	places = places_new(names, SYM_DEMANGLE | SYM_BELOW_MAIN);
	r = costr_open(argv[optind], names);
	stacks = stacks_read(r, event, inlines);
	column = event == NULL ? 0 :
	    (size_t)costhead_find(&stacks->head, event);
	index_of = kh_init(stack);
	make_stacks();
	if (threshold > 0)
		fold_small();
	sort(&bottom);
	for (size_t i = 0; i < nstack; i++)
		sort(&stack[i].first);
	o = out_open(output);
	if (!write_stacks(o) && !r->truncated)
		warn("%s: no costs of %s: no stacks", r->name,
		    stacks->head.ev[column].name);
	out_close(o);
	return r->truncated || in_lacked() ? 2 : 0;
}
