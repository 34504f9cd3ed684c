/*
 * simrun - what all simulators share: options, the stream's lines, the warm-up
 *
 * simcosts.c writes the costs, simpass.c passes executions on.
 */
#include "siminside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "codename.h"
#include "evw.h"
#include "in.h"
#include "mem.h"
#include "out.h"
#include "prog.h"
#include "warm.h"

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

/* ---- the warm-up ---- */

bool
simrun_warming(struct simrun *s)
{
	return inside(s)->warm != 0;
}

/* What was found so far does not count. */
static void
warm_over(struct inside *in)
{
	struct simrun *s = &in->s;

	in->warm = 0;
	simcosts_warm_over(in);
	if (s->sim->forget != NULL)
		s->sim->forget(s);
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
	simcosts_begin(in);
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
		simcosts_mark(in, e);
		break;
	default:
		break;
	}
	if (s->sim->line != NULL)
		s->sim->line(s, letter, e);
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
		simcosts_settle(&in);
	if (in.ready && s->report != NULL)
		s->report(s);
	else if (in.ready && (!s->through || s->verbose))
		simcosts_rest(&in);
	simcosts_end(&in);
	if (s->writer != NULL)
		evw_flush(s->writer);
	if (in.ready && s->verbose && sim->summary != NULL)
		sim->summary(s);
	out_close(s->out);
	return ev_close(s->events);
}
