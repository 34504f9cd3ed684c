/*
 * simrun - what all simulators share: options, the loop, -t, the costs
 */
#include "simrun.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codename.h"
#include "evw.h"
#include "in.h"
#include "out.h"
#include "util.h"
#include "simhead.h"
#include "warm.h"

/* A run with the members that no simulator needs to see. */
struct inside {
	struct simrun s;	/* first, so that inside() can cast */
	struct simhead head;
	const char *desc[64];
	unsigned ndesc;
	struct costw *costs;	/* NULL until something is written */
	struct cost_head cost_head;
	unsigned part;		/* of the costs, from 1 */
	char number[12], trigger[40];	/* of it, for its header */
	bool ended;		/* that part */
	const char *late;	/* what the end says of the run, or NULL */
	bool ready;		/* all H lines have been read */
	uint64_t warm;		/* --warm; 0 once it is over */
	uint64_t left;		/* instructions of it that are to come */
	struct warm *kept;	/* what is not counted; NULL: all is */
	int sign;		/* of what is being kept */
	bool idle;		/* a mark says so: costs do not count now */
	bool dumped;		/* a mark asked for a part */
	uint64_t *labelled;	/* by label of O lines: the instruction */
	size_t caplabelled;
	struct codenames *names;	/* of code made at run time */
};

static struct inside *
inside(struct simrun *s)
{
	return (struct inside *)s;
}

/* ---- options ---- */

static void
take_option(struct simrun *s, int c)
{
	switch (c) {
	case 'h':
		prog_help(s->sim->help);
	case 'o':
		s->output = optarg;
		break;
	case 't':
		s->through = true;
		break;
	case 'v':
		s->verbose = true;
		break;
	case SIMRUN_OWN - 1:
		prog_version();
	case SIMRUN_OWN - 2:
		inside(s)->left = inside(s)->warm = num_arg("--warm", optarg,
		    0, UINT64_MAX);
		break;
	default:
		if (c == '?' || s->sim->option == NULL)
			prog_usage(s->sim->synopsis);
		s->sim->option(s, c);
	}
}

/* The file to read, or NULL. */
static const char *
options(struct simrun *s, int argc, char **argv)
{
	static const struct option none[] = { SIMRUN_OPTIONS };
	const struct option *longopts = s->sim->longopts != NULL ?
	    s->sim->longopts : none;
	char letters[16];
	int c;

	snprintf(letters, sizeof letters, "ho:tv%s",
	    s->sim->shortopts != NULL ? s->sim->shortopts : "");
	while ((c = getopt_long(argc, argv, letters, longopts, NULL)) != -1)
		take_option(s, c);
	if (argc - optind > 1 || (s->through && s->sim->outcomes == NULL))
		prog_usage(s->sim->synopsis);
	return argv[optind];
}

/* ---- costs ---- */

void
simrun_desc(struct simrun *s, const char *text)
{
	struct inside *in = inside(s);

	if (in->ndesc == sizeof in->desc / sizeof in->desc[0])
		die("%s: too many descriptions", text);
	in->desc[in->ndesc++] = xstrdup(text);
}

static void
cost_header(struct inside *in, struct costnames *names)
{
	struct simrun *s = &in->s;
	struct cost_head *h = &in->cost_head;
	unsigned n = outcome_columns(s->told);
	char *columns = xmalloc(strlen(s->columns) + 1 + 64 * n);
	char *creator = xmalloc(64);

	strcpy(columns, s->columns);
	for (unsigned i = 0; i < n; i++)
		sprintf(strchr(columns, '\0'), " %s", outcome_name(s->told, i));
	costhead_init(h);
	h->positions = COST_INSTR;
	snprintf(creator, 64, "quern-%s-" QUERN_VERSION, s->sim->name);
	h->creator = creator;
	for (unsigned i = 0; i < in->ndesc; i++)
		costhead_desc(h, in->desc[i]);
	simhead_put(&in->head, h);
	if (s->parts) {
		h->part = in->number;
		costhead_desc(h, in->trigger);
	}
	if (costhead_events(h, names, columns) < 0)
		die("events: %s", columns);
	costhead_done(h);
}

/* Begin the costs, or their next part if the last one has ended. */
static void
begin_costs(struct inside *in)
{
	struct costnames *names;

	if (in->costs != NULL && !in->ended)
		return;
	snprintf(in->number, sizeof in->number, "%u", ++in->part);
	snprintf(in->trigger, sizeof in->trigger, "Trigger: interval %u",
	    in->part);
	if (in->dumped)
		in->cost_head.part = in->number;
	if (in->costs != NULL) {
		costw_part(in->costs, &in->cost_head);
	} else {
		names = costnames_new();
		cost_header(in, names);
		in->costs = costw_begin(in->s.out, names, &in->cost_head,
		    COSTW_RELATIVE | COSTW_SHORT);
	}
	in->ended = false;
}

/* Code made at run time that has lines is a part of its own. */
static void
begin_lines(struct inside *in)
{
	snprintf(in->number, sizeof in->number, "%u", ++in->part);
	in->cost_head.part = in->number;
	in->cost_head.positions = COST_INSTR | COST_LINE;
	costw_part(in->costs, &in->cost_head);
	in->cost_head.positions = COST_INSTR;
}

static unsigned
words(const char *s)
{
	unsigned n = 1;

	for (; *s != '\0'; s++)
		n += *s == ' ';
	return n;
}

/* For add(), to which insns_write passes no pointer of ours. */
static struct simrun *adding;
static unsigned ncolumn;	/* the simulator's own */

static void
add_all(const struct insns_at *at, int64_t *n)
{
	adding->sim->add(at, n);
	outcome_add(adding->told, insns_first(adding->insns, at->block) +
	    at->insn, at->i->flow, at->times, n + ncolumn);
}

static void
add(const struct insns_at *at, int64_t *n)
{
	add_all(at, n);
	if (inside(adding)->kept != NULL)
		warm_take_off(inside(adding)->kept,
		    insns_first(adding->insns, at->block) + at->insn, n);
}

static void
write_costs(struct inside *in)
{
	struct simrun *s = &in->s;
	struct insns_costs c = { .total = s->total, .count = s->sim->count,
	    .add = add };

	adding = s;
	ncolumn = words(s->columns);
	c.nev = ncolumn + outcome_columns(s->told);
	if (!s->through)
		begin_costs(in);
	c.w = in->costs;
	if (c.w != NULL && insns_has_lines(s->insns))
		c.which = INSNS_WITHOUT_LINES;
	insns_write(s->insns, &c, s->map);
	if (c.which == INSNS_ALL)
		return;
	begin_lines(in);
	c.which = INSNS_WITH_LINES;
	insns_write(s->insns, &c, s->map);
}

/* ---- what does not count ---- */

static void
keep(const struct insns_at *at, int64_t *n)
{
	int64_t own[COST_EVMAX] = { 0 };

	(void)n;
	add_all(at, own);
	warm_keep(inside(adding)->kept, insns_first(adding->insns,
	    at->block) + at->insn, own, inside(adding)->sign);
}

/* Keep all costs of now; with sign -1, take them off what is kept. */
static void
keep_all(struct inside *in, int sign)
{
	struct simrun *s = &in->s;
	int64_t total[COST_EVMAX] = { 0 };
	struct insns_costs c = { .total = total, .count = s->sim->count,
	    .add = keep };

	if (s->sim->end != NULL)
		s->sim->end(s);
	adding = s;
	ncolumn = words(s->columns);
	c.nev = ncolumn + outcome_columns(s->told);
	if (in->kept == NULL)
		in->kept = warm_new(c.nev);
	in->sign = sign;
	insns_write(s->insns, &c, s->map);
}

/*
 * While costs do not count, what is kept lacks them: take in those since the
 * mark that said so.
 */
static void
settle(struct inside *in)
{
	if (in->idle)
		keep_all(in, 1);
}

void
simrun_part(struct simrun *s)
{
	struct inside *in = inside(s);

	settle(in);
	write_costs(in);
	outcome_zero(s->told);
	if (in->kept != NULL)
		warm_zero(in->kept);
	in->ended = true;
}

/* Is there anything that the parts so far do not have? */
static bool
anything_left(const struct inside *in)
{
	const struct simrun *s = &in->s;

	for (uint32_t id = 1; ev_def(s->events, id) != NULL; id++)
		if (s->sim->count(id) != 0)
			return true;
	return !in->ended;
}

void
simrun_insns(struct simrun *s, void (*each)(const struct insns_at *, int64_t *))
{
	const struct insns_costs c = { .count = s->sim->count, .add = each };

	insns_visit(s->insns, &c);
}

/* ---- the warm-up ---- */

/* What was found so far does not count. */
static void
warm_over(struct inside *in)
{
	struct simrun *s = &in->s;

	in->warm = 0;
	keep_all(in, 1);
	if (s->sim->forget != NULL)
		s->sim->forget(s);
}

/* ---- marks ---- */

/* Costs so far do not count; they begin again. */
static void
forget(struct inside *in)
{
	if (in->kept != NULL)
		warm_zero(in->kept);
	keep_all(in, 1);
	if (in->idle)
		keep_all(in, -1);
}

static void
trigger(struct inside *in, const char *what, const char *text)
{
	size_t n = strlen(what) + strlen(text) + 16;
	char *s = xmalloc(n);

	snprintf(s, n, "Trigger: %s%s%s", what, *text != '\0' ? ": " : "",
	    text);
	costw_late(in->costs, s);
	free(s);
}

/* Costs so far are a part, and begin again. */
static void
dump(struct inside *in, const char *text)
{
	struct simrun *s = &in->s;

	if (s->through || s->report != NULL)
		return;
	settle(in);
	if (s->sim->end != NULL)
		s->sim->end(s);
	in->dumped = true;
	memset(s->total, 0, sizeof s->total);
	write_costs(in);
	trigger(in, "Client Request", text);
	in->ended = true;
	forget(in);
}

static void
zero(struct inside *in)
{
	struct simrun *s = &in->s;

	forget(in);
	if (s->sim->forget != NULL)
		s->sim->forget(s);
}

static void
toggle(struct inside *in)
{
	struct simrun *s = &in->s;

	in->idle = !in->idle;
	keep_all(in, in->idle ? -1 : 1);
	if (s->sim->idle != NULL)
		s->sim->idle(s, in->idle);
}

static void
mark(struct inside *in, const struct ev *e)
{
	/* a report has no costs that could be taken off */
	if ((in->s.report != NULL || in->s.columns == NULL) &&
	    e->num[0] != EV_INTERRUPTED)
		return;
	switch (e->num[0]) {
	case EV_TOGGLE:
		toggle(in);
		break;
	case EV_DUMP:
		dump(in, e->text);
		break;
	case EV_ZERO:
		zero(in);
		break;
	case EV_INTERRUPTED:
		if (in->late == NULL)
			in->late = simhead_end(e);
		break;
	default:
		break;
	}
}

/* Some of a record's rounds. */
static void
some_rounds(struct simrun *s, const uint64_t *rec, uint64_t rounds)
{
	uint64_t some[2 + 256];
	unsigned n = 1 + ev_ngroups(*rec);

	if (rounds == 0)
		return;
	memcpy(some, rec, n * sizeof *rec);
	some[0] = rounds == 1 ? some[0] & ~EV_MORE : some[0] | EV_MORE;
	some[n] = rounds - 1;
	s->sim->batch(s, some, ev_skip(some));
}

/*
 * Executions, of which some are of the warm-up. It is over when the next one
 * begins: O lines may still tell of the last.
 */
static void
warm_batch(struct inside *in, const uint64_t *rec, const uint64_t *end)
{
	struct simrun *s = &in->s;

	for (; rec < end && in->warm != 0; rec = ev_skip(rec)) {
		uint64_t rounds = ev_more(rec) + 1;
		uint64_t n = warm_rounds(&in->left, rounds,
		    ev_def(s->events, ev_id(*rec))->n);

		some_rounds(s, rec, n);
		if (n == rounds)
			continue;
		warm_over(in);
		some_rounds(s, rec, rounds - n);
	}
	if (rec < end)
		s->sim->batch(s, rec, end);
}

/* ---- lines ---- */

/* Refuse our own events as outcomes of an earlier stage: it is the same one. */
static void
check_outcomes(struct simrun *s)
{
	char name[32];
	const char *list = s->outcomes, *one = name;
	size_t n;

	for (; list != NULL && *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		snprintf(name, sizeof name, "%.*s", (int)n, list);
		if (outcome_has(s->told, &one, 1))
			ev_bad(s->events, "H outcomes: these events have been "
			    "through a %s before", s->sim->name);
	}
}

static void
head(struct inside *in, const struct ev *e)
{
	struct simrun *s = &in->s;

	simhead_line(&in->head, e);
	if (s->sim->head != NULL)
		s->sim->head(s, e);
	if (strcmp(e->text, "outcomes") != 0)
		return;
	if (outcome_head(s->told, e->value) < 0)
		ev_bad(s->events, "H outcomes: too many events, or malformed");
	check_outcomes(s);
}

/* All H lines were read. */
static void
begin(struct inside *in)
{
	struct simrun *s = &in->s;

	in->ready = true;
	if (in->warm != 0 && (ev_kind(s->events) & (EV_ALL | EV_BLOCKS)) == 0)
		ev_bad(s->events, "--warm needs a stream that tells the order "
		    "of executions");
	if (s->sim->begin != NULL)
		s->sim->begin(s);
	if (s->writer == NULL)
		return;
	evw_line(s->writer, "H outcomes %s", s->outcomes);
	for (unsigned i = 0; i < in->ndesc; i++)
		evw_line(s->writer, "H desc %s", in->desc[i]);
}

/* The instruction that an O line is about; it may get a label. */
static uint64_t
outcome_insn(struct inside *in, const struct ev *e)
{
	const struct ev_def *d = ev_last(in->s.events);
	uint64_t insn;

	if (e->num[0] == 0)
		return in->labelled[e->num[1]];
	insn = insns_first(in->s.insns, simrun_number(d->block)) +
	    e->num[0] - 1;
	if (e->num[1] == 0)
		return insn;
	in->labelled = xgrow(in->labelled, &in->caplabelled, e->num[1] + 1,
	    sizeof *in->labelled);
	in->labelled[e->num[1]] = insn;
	return insn;
}

void
simrun_takes_outcomes(struct simrun *s)
{
	if (inside(s)->warm == 0 && outcome_columns(s->told) > 0)
		ev_outcomes(s->events);
}

/* The first O line of a batch that is wrong, and why; or their end. */
static const struct ev_out *
wrong_outcome(struct simrun *s, const struct ev *e, const char **wrong)
{
	const struct ev_out *o = e->out, *end = e->out + e->nout;

	while (o < end && outcome_numbered(s->told, s->events, o->list,
	    wrong) != NULL)
		o++;
	return o;
}

/* Add the O lines up to this one, of records that were not refused. */
static void
add_outcomes(struct simrun *s, const struct ev *e, const struct ev_out *end)
{
	const struct ev_out *o;
	const char *wrong;

	for (o = e->out; o < end && (s->stopped == NULL ||
	    ev_out_end(e, o) <= s->stopped); o++)
		outcome_put(s->told, insns_first(s->insns, simrun_number(
		    ev_out_def(s->events, e, o)->block)) + o->insn - 1,
		    outcome_numbered(s->told, s->events, o->list, &wrong));
}

static void
outcome(struct inside *in, const struct ev *e)
{
	struct simrun *s = &in->s;
	const char *wrong = NULL;

	outcome_put(s->told, outcome_insn(in, e), outcome_text(s->told,
	    e->text, e->textlen, &wrong));
	if (wrong != NULL)
		ev_bad(s->events, "%s", wrong);
}

/*
 * Announce each object in the costs as soon as it is mapped: the next stage is
 * idle while the program runs, and can read the object's symbols meanwhile.
 */
static void
mapping(struct inside *in, const struct ev *e)
{
	struct simrun *s = &in->s;
	unsigned n = objmap_nobj(s->map);
	const struct obj *obj;

	if (objmap_line(s->map, e->line, e->len) < 0)
		ev_bad(s->events, "%c: malformed", e->line[0]);
	if (s->through || s->report != NULL || s->columns == NULL ||
	    in->ended || objmap_nobj(s->map) == n)
		return;
	obj = objmap_obj(s->map, n);
	if (!obj->readable)
		return;
	begin_costs(in);
	costw_announce(in->costs, obj->path);
}

/* G n = id ... */
static void
code_names(struct inside *in, const struct ev *e)
{
	struct simrun *s = &in->s;

	codenames_take(in->names, e);
	for (size_t i = 0; i < e->nids; i++)
		insns_name(s->insns, simrun_number(ev_def(s->events,
		    e->ids[i])->block), codename_get(in->names, e->num[0]));
}

static void
definition(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	uint32_t n;

	if (d->letter == 'B') {
		n = insns_add(s->insns, d->block, s->map);
		d->block->number = n + 1;
	} else if (d->letter == 'P') {
		insns_part(s->insns, simrun_number(d->block), id, d->n);
	}
	if (s->sim->define != NULL)
		s->sim->define(s, id, d);
}

static void
line(struct inside *in, int letter, const struct ev *e)
{
	struct simrun *s = &in->s;

	switch (letter) {
	case 'H':
		head(in, e);
		return;
	case 'B':
	case 'P':
	case 'Q':
	case 'Z':
		definition(s, e->id, ev_def(s->events, e->id));
		return;
	case 'M':
	case 'U':
		mapping(in, e);
		break;
	case 'O':
		if (!s->through)
			outcome(in, e);
		break;
	case 'E':
		if (in->late == NULL)
			in->late = simhead_end(e);
		break;
	case 'G':
	case 'L':
		code_names(in, e);
		break;
	case 'J':
		mark(in, e);
		break;
	default:
		break;
	}
	if (s->sim->line != NULL)
		s->sim->line(s, letter, e);
}

/* ---- passing through ---- */

void
simrun_pass(struct simrun *s, const uint64_t *rec, uint64_t more)
{
	evw_exec(s->writer, ev_def(s->events, ev_id(*rec))->id,
	    ev_ngroups(*rec), rec + 1, more);
}

void
simrun_pass_line(struct simrun *s, const uint64_t *rec, const char *line,
    size_t len)
{
	evw_exec_line(s->writer, ev_def(s->events, ev_id(*rec))->id,
	    ev_ngroups(*rec), rec + 1, line, len);
}

void
simrun_pass_text(struct simrun *s, const char *from, const char *to, uint64_t n)
{
	evw_text(s->writer, from, (size_t)(to - from), n);
}

void
simrun_standing(struct simrun *s, uint32_t id, const char *const *names,
    unsigned n)
{
	char text[400], *p;

	p = text + sprintf(text, "O @%x", ev_def(s->events, id)->id);
	for (unsigned i = 0; i < n; i++) {
		*p++ = ' ';
		p = stpcpy(p, names[i]);
	}
	evw_raw(s->writer, text, (size_t)(p - text));
}

bool
simrun_warming(struct simrun *s)
{
	return inside(s)->warm != 0;
}

static char *
put_hex(char *p, uint64_t n)
{
	int shift = n == 0 ? 0 : (63 - __builtin_clzll(n)) & ~3;

	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[n >> shift & 15];
	return p;
}

void
simrun_outcomes(struct simrun *s, const char *const *names,
    const struct sim_outcome *o, unsigned n)
{
	char text[4000], *p = text;

	if (inside(s)->warm != 0)
		return;
	for (unsigned i = 0; i < n; i++) {
		if (p == text) {
			p = stpcpy(p, "O ");
			p = put_hex(p, o[i].insn + 1);
		}
		*p++ = ' ';
		for (const char *name = names[o[i].event]; *name != '\0'; )
			*p++ = *name++;
		if (o[i].n != 1) {
			*p++ = '*';
			p = put_hex(p, o[i].n);
		}
		if (i + 1 == n || o[i + 1].insn != o[i].insn) {
			evw_raw(s->writer, text, (size_t)(p - text));
			p = text;
		}
	}
}

static void
pass_line(struct simrun *s, int letter, const struct ev *e)
{
	if (letter == 'E')
		evw_end(s->writer, e->text, (int)e->num[0]);
	else
		evw_raw(s->writer, e->line, e->len);
	/* counts are executions, too */
	if (letter == 'W')
		evw_told(s->writer, e->num[1]);
}

/* ---- */

static void
batch(struct inside *in, const struct ev *e)
{
	struct simrun *s = &in->s;
	const struct ev_out *last = e->out + e->nout, *bad = last;
	const char *wrong;

	if (!s->through)
		bad = wrong_outcome(s, e, &wrong);
	s->text = in->warm != 0 ? NULL : e->line;
	s->textend = e->line + e->len;
	s->stopped = NULL;
	if (in->warm != 0)
		warm_batch(in, e->rec, e->end);
	else
		s->sim->batch(s, e->rec, bad < last ? ev_out_end(e, bad) :
		    e->end);
	if (s->through)
		return;
	add_outcomes(s, e, bad);
	if (bad < last)
		ev_bad_out(s->events, e, bad, "%s", wrong);
}

static void
run(struct inside *in)
{
	struct simrun *s = &in->s;
	struct ev e;
	int c;

	while ((c = ev_next(s->events, &e)) > 0) {
		if (!in->ready && c != 'H')
			begin(in);
		if (ev_error(s->events) != NULL)
			break;
		if (c == EV_EXECS) {
			batch(in, &e);
			continue;
		}
		line(in, c, &e);
		if (s->writer != NULL && ev_error(s->events) == NULL)
			pass_line(s, c, &e);
	}
	s->whole = c == 0;
	if (in->ready && s->sim->end != NULL)
		s->sim->end(s);
	if (in->ready && in->warm != 0)
		warm_over(in);
}

int
simrun(const struct simulator *sim, int argc, char **argv)
{
	static struct inside in;
	struct simrun *s = &in.s;
	struct in *input;

	prog_init(argv[0]);
	s->sim = sim;
	s->columns = sim->columns;
	s->outcomes = sim->outcomes;
	/* first the input: from then on a signal means to end as it does */
	input = in_open(options(s, argc, argv));
	s->out = out_open(s->output);
	s->events = ev_open(input);
	s->map = objmap_new();
	s->insns = insns_new();
	in.names = codenames_new();
	s->told = outcome_new();
	if (s->through)
		s->writer = evw_open(s->out);
	sim->open(s);
	run(&in);
	if (in.ready)
		settle(&in);
	if (in.ready && s->report != NULL)
		s->report(s);
	else if (in.ready && (!s->through || s->verbose) && anything_left(&in))
		write_costs(&in);
	if (in.dumped && in.costs != NULL)
		trigger(&in, "Program termination", "");
	if (in.costs != NULL && in.late != NULL)
		costw_late(in.costs, in.late);
	if (in.costs != NULL && s->whole)
		costw_end(in.costs);
	if (s->writer != NULL)
		evw_flush(s->writer);
	if (in.ready && s->verbose && sim->summary != NULL)
		sim->summary(s);
	out_close(s->out);
	return ev_close(s->events);
}
