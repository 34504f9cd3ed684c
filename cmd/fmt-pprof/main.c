/*
 * fmt-pprof - write costs with calls as a profile for pprof
 *
 *	trace prog | callgraph --separate-sites | fmt-pprof >prog.pb.gz
 *	go tool pprof -http=: prog.pb.gz
 *
 * A sample is a stack with the costs at one line of its last function.  It has
 * all events, in reverse order: the first event should be the default view, and
 * some readers take the profile's last type for that.
 */
#include "pprof.h"

#include <getopt.h>
#include <pprof.pb-c.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cost.h"
#include "in.h"
#include "mem.h"
#include "out.h"
#include "place.h"
#include "prog.h"
#include "stacks.h"
#include "sum.h"
#include "sym.h"

static const char synopsis[] = "[-o file] [--dump-instr=yes|no] "
    "[--extra-debuginfo-path=dir] [--inline=yes|no] [file]";
static const char help[] =
"usage: fmt-pprof [option]... [file]\n"
"A profile for pprof, of costs with calls.\n"
"\n"
"      --dump-instr=yes|no  each address by itself, not only lines [no]\n"
"      --extra-debuginfo-path=DIR\n"
"                           look for debug files there, too\n"
"      --inline=yes|no      inlined functions are on the stack, too [yes]\n"
"  -o, --output=FILE        write there instead of to standard output\n"
"  -h, --help               this text\n"
"      --version            the version\n";

static const char *output;

/* ---- samples ---- */

/* The locations of one visit, each with its counts. */
static struct {
	uint64_t *location;
	int64_t *count;		/* head.nev each */
	size_t n, cap, capcount;
	uint64_t *stamp;	/* by location: when it was last gathered */
	uint32_t *slot;		/* by location: its index then */
	size_t capstamp;
	uint64_t now;		/* how many visits have been gathered */
} here;

static int64_t *
counts_at(uint64_t loc)
{
	size_t nev = stacks->head.nev, old = here.capstamp;

	if (loc >= old) {
		here.capstamp = 2 * loc + 64;
		here.stamp = xrealloc(here.stamp, here.capstamp *
		    sizeof *here.stamp);
		here.slot = xrealloc(here.slot, here.capstamp *
		    sizeof *here.slot);
		memset(here.stamp + old, 0, (here.capstamp - old) *
		    sizeof *here.stamp);
	}
	if (here.stamp[loc] != here.now) {
		here.stamp[loc] = here.now;
		here.slot[loc] = (uint32_t)here.n;
		here.location = xgrow(here.location, &here.cap, here.n + 1,
		    sizeof *here.location);
		here.count = xgrow(here.count, &here.capcount,
		    (here.n + 1) * nev, sizeof *here.count);
		memset(here.count + here.n * nev, 0,
		    nev * sizeof *here.count);
		here.location[here.n++] = loc;
	}
	return here.count + here.slot[loc] * nev;
}

static void
gather(uint32_t visit)
{
	const struct stacks_visit *v = &stacks->visit[visit];
	size_t nev = stacks->head.nev, i;
	int64_t *n;
	uint32_t r;

	here.n = 0;
	here.now++;
	for (r = stacks->node[v->node].row; r != STACKS_NONE;
	    r = stacks->row[r].next) {
		const struct stacks_row *row = &stacks->row[r];

		n = counts_at(where_location(v->node, row->pos.addr, row->file,
		    row->pos.line));
		for (i = 0; i < nev; i++)
			sum_add(&n[i], stacks_part(v,
			    stacks->count[r * nev + i]));
	}
}

/* The stack below a visit: the location of each call.  [0] is left free. */
static size_t
callers(uint32_t visit, uint64_t **stack)
{
	static size_t cap;
	size_t n = 1;

	*stack = xgrow(*stack, &cap, 1, sizeof **stack);
	for (; stacks->visit[visit].up != STACKS_NONE;
	    visit = stacks->visit[visit].up) {
		const struct stacks_visit *v = &stacks->visit[visit];

		*stack = xgrow(*stack, &cap, n + 1, sizeof **stack);
		(*stack)[n++] = where_location(stacks->visit[v->up].node,
		    v->site.addr, v->file, v->site.line);
	}
	return n;
}

static void
pack_sample(const uint64_t *stack, size_t n, const int64_t *count)
{
	PprofProfile p = PPROF_PROFILE__INIT;
	PprofSample s = PPROF_SAMPLE__INIT, *one = &s;
	size_t nev = stacks->head.nev, i;
	int64_t value[COST_EVMAX], any = 0;

	for (i = 0; i < nev; i++) {
		value[i] = count[nev - 1 - i];
		any |= value[i];
	}
	if (any == 0)
		return;
	s.n_location_id = n;
	s.location_id = (uint64_t *)stack;
	s.n_value = nev;
	s.value = value;
	p.n_sample = 1;
	p.sample = &one;
	pack_message(&p);
}

/* The samples of a visit that are at a point. */
static void
pack_point(uint32_t point, uint32_t visit)
{
	static uint64_t *stack;
	size_t n = callers(visit, &stack);

	gather(visit);
	for (size_t i = 0; i < here.n; i++) {
		if (order_at(visit, here.location[i]) != point)
			continue;
		stack[0] = here.location[i];
		pack_sample(stack, n, here.count + i * stacks->head.nev);
	}
}

static void
pack_samples(void)
{
	const struct stacks_visit *v;

	for (uint32_t k = 0; k < stacks->nvisit; k++) {
		v = &stacks->visit[k];
		order_visit(k, v->up, v->up == STACKS_NONE ? 0 :
		    where_location(stacks->visit[v->up].node, v->site.addr,
		    v->file, v->site.line));
		gather(k);
		for (size_t i = 0; i < here.n; i++)
			order_add(k, here.location[i]);
	}
	order_each(pack_point);
}

/* ---- types of values ---- */

static PprofValueType
type_of(size_t ev)
{
	PprofValueType t = PPROF_VALUE_TYPE__INIT;
	const struct cost_event *e = &stacks->head.ev[ev];

	t.type = pack_string(e->name);
	t.unit = pack_string(e->longname != NULL &&
	    strcmp(e->longname, "nanoseconds") == 0 ? "nanoseconds" : "count");
	return t;
}

/* The command and the description, with the model of the simulators. */
static int64_t *
comments(const struct cost_head *h, size_t *n)
{
	int64_t *v = xmalloc((h->ndesc + 1) * sizeof *v);

	*n = 0;
	if (h->cmd != NULL && *h->cmd != '\0')
		v[(*n)++] = pack_string(h->cmd);
	for (size_t i = 0; i < h->ndesc; i++)
		v[(*n)++] = pack_string(h->desc[i]);
	return v;
}

static void
pack_types(void)
{
	PprofProfile p = PPROF_PROFILE__INIT;
	PprofValueType type[COST_EVMAX], *types[COST_EVMAX], period;
	const struct cost_head *h = &stacks->head;

	for (size_t i = 0; i < h->nev; i++) {
		type[i] = type_of(h->nev - 1 - i);
		types[i] = &type[i];
	}
	p.n_sample_type = h->nev;
	p.sample_type = types;
	p.default_sample_type = type[h->nev - 1].type;
	period = type[h->nev - 1];
	p.period_type = &period;
	p.period = 1;
	p.comment = comments(h, &p.n_comment);
	pack_message(&p);
}

/* The last part of a path, which ends at a blank or at its end. */
static const char *
base(const char *path, size_t *len)
{
	size_t n = strcspn(path, " ");
	const char *slash = memrchr(path, '/', n);

	*len = slash == NULL ? n : n - (size_t)(slash + 1 - path);
	return slash == NULL ? path : slash + 1;
}

/* Is it the object file that the command names? */
static bool
is_command(uint32_t ob)
{
	const char *cmd = stacks->head.cmd, *want, *path;
	size_t len, n;

	want = base(cmd == NULL ? "" : cmd, &len);
	path = base(costnames_get(names, ob), &n);
	return len > 0 && n == len && memcmp(path, want, n) == 0;
}

/*
 * Readers take the first object for the program.  Choose the one with the
 * command's name.  The command may be a link or a script: then choose the
 * object that has main, or else the first one of the costs, since simulators
 * tell objects in the order in which they were mapped.
 */
static void
program_first(void)
{
	uint32_t first = 0, with_main = 0, named = 0, ob;

	for (uint32_t i = 0; i < stacks->nnode && named == 0; i++) {
		struct costfn f = costfn_get(names, stacks->node[i].fn);

		if (!place_known(places, f.ob))
			continue;
		if (is_command(f.ob))
			named = f.ob;
		if (with_main == 0 &&
		    strcmp(costnames_get(names, f.fn), "main") == 0)
			with_main = f.ob;
		if (first == 0)
			first = f.ob;
	}
	ob = named != 0 ? named : with_main != 0 ? with_main : first;
	if (ob != 0)
		where_object(ob);
}

/* ---- */

static void
options(int argc, char **argv)
{
	enum { VERSION = 256, INSTR };
	static const struct option longs[] = {
		{ "dump-instr", optional_argument, NULL, INSTR },
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "version", no_argument, NULL, VERSION },
		PLACE_OPTIONS,
		{ NULL, 0, NULL, 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "ho:", longs, NULL)) != -1)
		switch (c) {
		case 'h':
			prog_help(help);
		case INSTR:
			opt_instr = yes_arg("--dump-instr", optarg);
			break;
		case 'o':
			output = optarg;
			break;
		case VERSION:
			prog_version();
		default:
			if (!place_option(c, optarg, &opt_inline))
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
	bool whole;

	prog_init(argv[0]);
	options(argc, argv);
	names = costnames_new();
	places = places_new(names, SYM_DEMANGLE | SYM_BELOW_MAIN);
	r = costr_open(argv[optind], names);
	stacks = stacks_read(r, NULL, 0);
	o = out_open(output);
	pack_open(o);
	where_init();
	program_first();
	pack_types();
	pack_samples();
	where_pack();
	/* cut input makes a cut file, so that its reader notices */
	whole = !r->truncated && !in_lacked();
	if (whole)
		pack_close();
	out_close(o);
	return whole ? 0 : 2;
}
