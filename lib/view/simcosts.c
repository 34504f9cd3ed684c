/*
 * simcosts - the costs of a simulator, part by part
 *
 * What the simulator has counted is asked for when a part is written. Costs
 * that do not count, those of the warm-up or between two marks, are kept apart
 * (warm.h), and taken off then.
 */
#include "siminside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"
#include "warm.h"

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

void
simcosts_begin(struct inside *in)
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
		simcosts_begin(in);
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
void
simcosts_settle(struct inside *in)
{
	if (in->idle)
		keep_all(in, 1);
}

void
simrun_part(struct simrun *s)
{
	struct inside *in = inside(s);

	simcosts_settle(in);
	write_costs(in);
	outcome_zero(s->told);
	if (in->kept != NULL)
		warm_zero(in->kept);
	in->ended = true;
}

void
simrun_insns(struct simrun *s, void (*each)(const struct insns_at *, int64_t *))
{
	const struct insns_costs c = { .count = s->sim->count, .add = each };

	insns_visit(s->insns, &c);
}

void
simcosts_warm_over(struct inside *in)
{
	keep_all(in, 1);
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
	simcosts_settle(in);
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

void
simcosts_mark(struct inside *in, const struct ev *e)
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

/* ---- the end ---- */

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
simcosts_rest(struct inside *in)
{
	if (anything_left(in))
		write_costs(in);
}

void
simcosts_end(struct inside *in)
{
	if (in->costs == NULL)
		return;
	if (in->dumped)
		trigger(in, "Program termination", "");
	if (in->late != NULL)
		costw_late(in->costs, in->late);
	if (in->s.whole)
		costw_end(in->costs);
}
