/*
 * memsim - what a run does to a memory hierarchy that is described
 *
 *	trace ls | memsim --machine=zen4 | fmt-cachegrind >cachegrind.out
 *
 * reads events, events(5), of kind all, and writes costs, costs(5): for each
 * address the instructions executed, data read and written, and what of that
 * missed each level of caches and TLBs; write-backs, prefetches,
 * invalidations.
 *
 *	H quern-events 1		events: Ir Dr Dw L1Imr L1Dmr ...
 *	B 1 >1000 4r8.0 2C1000		ob=???
 *	1+7ffe1000			0x1000 2 2 0 1 2 ...
 *	1+40				+4 2
 *	E exit 0 2
 *
 * With -t it passes the events on and tells of them in O lines.
 */
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "prog.h"

static const char synopsis[] = "[-tv] [--machine=name|file] [--with=line]... "
    "[--cores=n|each] [--huge=size,where] [--quantum=n] [--describe] "
    "[--warm=n] [-o file] [file]";

static const char help[] =
    "usage: memsim [option]... [file]\n"
    "Simulate a memory hierarchy on a stream of events; write costs.\n"
    "\n"
    "      --machine=NAME|FILE  this (the default), zen4, server2023,\n"
    "                           drcachesim, or a file that describes one\n"
    "      --with=LINE          one more line of the description\n"
    "      --cores=N|each       cores\n"
    "      --huge=SIZE,WHERE    pages of 2M or 1G: all, a share, addresses\n"
    "      --quantum=N          instructions of a thread's turn\n"
    "      --describe           print the description, and do no more\n"
    "      --warm=N             do not count the first N instructions\n"
    "  -o, --output=FILE        write to FILE\n"
    "  -t, --through            pass the events on, with what was found\n"
    "  -v, --verbose            print a table to standard error\n"
    "  -h, --help               this text\n"
    "      --version            the version\n";

enum { OPT_MACHINE = SIMRUN_OWN, OPT_WITH, OPT_CORES, OPT_HUGE, OPT_QUANTUM,
    OPT_DESCRIBE };

static const struct option longopts[] = {
	{ "cores", required_argument, NULL, OPT_CORES },
	{ "describe", no_argument, NULL, OPT_DESCRIBE },
	{ "huge", required_argument, NULL, OPT_HUGE },
	{ "machine", required_argument, NULL, OPT_MACHINE },
	{ "quantum", required_argument, NULL, OPT_QUANTUM },
	{ "with", required_argument, NULL, OPT_WITH },
	SIMRUN_WARM
	SIMRUN_OPTIONS
};

static const char *name = "this";
static struct added { const char *where; char *line; } *added;
static size_t nadded, capadded;
static bool describe;
static struct machine mach = { .cores = 1, .quantum = 100 };

static void
add_line(const char *where, const char *word, const char *arg)
{
	char *line = xkeep(strlen(word) + strlen(arg) + 1), *comma;

	strcat(strcpy(line, word), arg);
	comma = strchr(line, ',');
	if (*word == 'h' && comma != NULL)
		*comma = ' ';
	added = xgrow(added, &capadded, nadded + 1, sizeof *added);
	added[nadded++] = (struct added){ where, line };
}

static void
option(struct simrun *s, int c)
{
	(void)s;
	switch (c) {
	case OPT_MACHINE:
		name = optarg;
		break;
	case OPT_WITH:
		add_line("--with", "", optarg);
		break;
	case OPT_CORES:
		add_line("--cores", "cores ", optarg);
		break;
	case OPT_HUGE:
		add_line("--huge", "huge ", optarg);
		break;
	case OPT_QUANTUM:
		add_line("--quantum", "quantum ", optarg);
		break;
	default:
		describe = true;
		break;
	}
}

/* The lines of a ready description. */
static void
ready_lines(const char *ready)
{
	char *copy = xstrdup(ready), *rest = copy, *line, where[80];
	unsigned n = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		snprintf(where, sizeof where, "%.60s:%u", name, ++n);
		machine_line(&mach, where, line);
	}
	free(copy);
}

static void
read_machine(void)
{
	const char *ready = ready_text(name);

	if (ready != NULL)
		ready_lines(ready);
	else if (strcmp(name, "-") != 0 && access(name, F_OK) != 0)
		die("--machine=%s: neither a file nor this, zen4, server2023 "
		    "or drcachesim", name);
	else
		machine_file(&mach, name);
	for (size_t i = 0; i < nadded; i++)
		machine_line(&mach, added[i].where, added[i].line);
	machine_check(&mach);
}

static void
open_stream(struct simrun *s)
{
	read_machine();
	if (describe) {
		machine_print(&mach);
		exit(0);
	}
	ev_accept(s->events, EV_ALL, "each reference with its address");
	ev_lean(s->events);
	table_wanted = s->verbose;
	count_found = s->through;
	count_init(&mach, s);
}

static void
begin(struct simrun *s)
{
	char desc[200];

	for (unsigned i = 0; i < mach.npart; i++) {
		const struct part *p = &mach.part[i];

		snprintf(desc, sizeof desc, p->tlb ?
		    "%s TLB: %lu entries, %lu-way, %s" :
		    "%s cache: %lu B, %lu-way, %s, %lu B", p->name, p->size,
		    p->ways, policy_name[p->policy], p->line);
		simrun_desc(s, desc);
	}
	level_init(&mach);
	run_init(s);
	turns_init(s);
}

static void
define(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	(void)s;
	units_define(d, id);
}

static void
line(struct simrun *s, int letter, const struct ev *e)
{
	if (letter == 'T')
		turns_thread(ev_thread(s->events), e);
	else if (letter == 'O' && s->through && many_cores)
		ev_bad(s->events, "O: executions change places with many "
		    "cores: memsim -t comes before other stages");
	else if ((letter == 'Y' && e->nnum == 1) || letter == 'K' ||
	    letter == 'E' || letter == 'D')
		turns_run();
}

static void
end(struct simrun *s)
{
	(void)s;
	turns_run();
}

/* Pass rounds on: those in which nothing was found together. */
static void
pass_record(struct simrun *s, const uint64_t *rec)
{
	const struct ev_def *d = ev_def(s->events, ev_id(*rec));
	uint64_t first = count_first(simrun_number(d->block)), quiet = 0, k;
	const struct sim_outcome *o;
	unsigned n;

	for (uint64_t left = ev_more(rec) + 1; left > 0; left--) {
		run_round(rec);
		o = count_take(first, &n);
		quiet++;
		if (n == 0 && left > 1) {
			k = run_skip(rec, left - 1);
			quiet += k;
			left -= k;
			if (left > 1)
				continue;
		}
		simrun_pass(s, rec, quiet - 1);
		quiet = 0;
		simrun_outcomes(s, count_name, o, n);
	}
}

static void
batch(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	if (many_cores)
		turns_batch(rec, end);
	else if (!s->through)
		run_batch(rec, end);
	else
		for (; rec < end; rec = ev_skip(rec))
			pass_record(s, rec);
}

static const struct simulator memsim = {
	.name = "memsim", .synopsis = synopsis, .help = help,
	.columns = "", .outcomes = "",
	.longopts = longopts, .option = option, .open = open_stream,
	.begin = begin, .define = define, .batch = batch, .line = line,
	.end = end, .forget = table_forget, .idle = table_idle,
	.count = units_count, .add = count_add, .summary = table_print
};

int
main(int argc, char **argv)
{
	return simrun(&memsim, argc, argv);
}
