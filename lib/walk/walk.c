/*
 * walk - count the segments of executions, follow calls and returns
 *
 * Most executions are one segment that may follow the one before: they take
 * three comparisons, a count and a sum of the thread's costs. step does the
 * rest.
 */
#include "callwalk.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "outcome.h"
#include "repeat.h"
#include "sum.h"

/* ---- references that depend on values ---- */

int64_t
walk_times(const struct ev_block *b, const struct ev_ref *r)
{
	int64_t n;

	if (r->where == EV_GROUP && b->value[r->group] == 0)
		return 0;
	if (r->count == 0)
		return 1;
	n = (int64_t)b->value[r->count - 1];
	return n < 0 ? sum_times(n, -1) : n;
}

/* Add n to a column and to the slot's extra count i. */
static void
add_extra(struct walk_thread *t, struct walk_slot *sl, unsigned col, uint32_t i,
    int64_t n)
{
	struct slot_rare *m;

	if (n == 0)
		return;
	sum_add(&t->total[col], n);
	if (t->skipper != NULL) {
		repeat_counts(&slot_skipped(t->skipper)[col], 1);
		slot_skipped(t->skipper)[col] += n;
		return;
	}
	m = slot_more(sl);
	if (m->extra == NULL)
		m->extra = xcalloc(seg_nref(sl->seg) + sl->seg->end -
		    sl->seg->first, sizeof *m->extra);
	repeat_counts(&m->extra[i], 1);
	m->extra[i] += n;
}

/*
 * How many more than one Ir Valgrind counts for a repeated instruction: one
 * for each round, and one for the last test if the count ended it.
 */
static int64_t
fetches(const struct ev_block *b, const struct ev_insn *i)
{
	int64_t n = -1;
	bool writes = false;

	for (unsigned k = i->ref; k < (unsigned)i->ref + i->nref; k++) {
		if (b->ref[k].count != 0 && n < 0)
			n = walk_times(b, &b->ref[k]);
		writes |= b->ref[k].kind != 'r';
	}
	return n <= 0 ? 0 : writes ? n : n - 1;
}

/* Count references and repeated instructions that differ from one. */
static void
count_extra(struct walk_thread *t, struct walk_slot *sl,
    const struct walk_seg *s)
{
	const struct ev_block *b = seg_block(s);
	const struct ev_insn *i;
	uint32_t from = b->insn[s->first].ref, nref = seg_nref(s);

	for (uint32_t k = 0; walk.data_refs && k < nref; k++)
		add_extra(t, sl, b->ref[from + k].kind == 'w' ? 2 : 1, k,
		    walk_times(b, &b->ref[from + k]) - 1);
	for (uint32_t k = s->first; walk.rep && k < s->end; k++) {
		i = &b->insn[k];
		if (i->nref > 0)
			add_extra(t, sl, 0, nref + k - s->first,
			    fetches(b, i));
	}
}

/* Where the segment's last basic block begins: behind what ends one. */
static uint32_t
last_block(const struct walk_seg *s)
{
	const struct ev_block *b = seg_block(s);
	uint32_t k = s->end - 1U;

	for (; k > s->first && b->insn[k - 1].flow == 0; k--)
		for (unsigned r = b->insn[k - 1].ref; r < b->insn[k].ref; r++)
			if (b->ref[r].count != 0)
				return k;
	return k;
}

void
walk_last_block(struct walk_thread *t, int sign)
{
	const struct walk_seg *s = t->seg;
	const struct ev_block *b;
	uint32_t first;

	if (s == NULL || t->slot == NULL || !t->collect || walk.off)
		return;
	b = seg_block(s);
	first = b->insn[s->first].ref;
	for (uint32_t k = last_block(s); k < s->end; k++) {
		const struct ev_insn *i = &b->insn[k];

		add_extra(t, t->slot, 0, seg_nref(s) + k - s->first, sign);
		for (unsigned r = i->ref; walk.data_refs &&
		    r < (unsigned)i->ref + i->nref; r++)
			add_extra(t, t->slot, b->ref[r].kind == 'w' ? 2 : 1,
			    r - first, sign * walk_times(b, &b->ref[r]));
	}
}

/* ---- executions ---- */

/* Add what so many executions of a segment cost. */
static inline void
add_cost(int64_t *sum, const struct walk_seg *s, int64_t times)
{
	const int64_t *cost = plan_costs + s->cost;

	sum[0] += (s->end - s->first) * times;
	for (unsigned i = 0; i < plan_nadds; i++)
		sum[plan_adds[i]] += cost[i] * times;
}

static void
count(struct walk_thread *t, struct walk_slot *sl, const struct walk_seg *s)
{
	int64_t *sum = NULL;

	if (!t->collect)
		return;
	if (t->skipper == NULL) {
		repeat_counts(&sl->n, 1);
		sl->n++;
	} else {
		sum = slot_skipped(t->skipper);
		for (unsigned i = 0; i < walk.ncol; i++)
			repeat_counts(&sum[i], 1);
	}
	add_cost(t->total, s, 1);
	if (sum != NULL)
		add_cost(sum, s, 1);
	if (s->counted || (s->zeros && t->zero))
		count_extra(t, sl, s);
}

/* Run one segment. */
static struct walk_slot *
step(struct walk_thread *t, struct walk_seg *s)
{
	struct walk_slot *sl;

	if (s->key != t->key)
		stack_move(t, s);
	if (walk.segment != NULL)
		walk.segment(s);
	sl = s->slot;
	if (sl->ctx != t->ctx)
		sl = slot_get(t->ctx, s);
	count(t, sl, s);
	t->seg = s;
	t->slot = sl;
	t->sp = seg_sp(s);
	t->key = t->collect && t->skipper == NULL ? s->endkey : KEY_LOOK;
	return sl;
}

/* Run a whole execution of several segments. */
static void
steps(struct walk_thread *t, struct walk_seg *p)
{
	bool told = outcome_columns(walk.told) > 0;

	t->ran = xgrow(t->ran, &t->capran, p->nseg, sizeof *t->ran);
	t->nturn = 0;
	for (uint32_t i = 0; i < p->nseg; i++) {
		t->turning = told ? i : 0;
		t->ran[i].slot = step(t, plan_seg(p, i));
		t->ran[i].skipper = t->skipper;
	}
	t->turning = 0;
	/* by now it is known where the jump led */
	for (uint32_t i = 0; t->landed != NULL && i < p->nseg; i++)
		if (t->ran[i].slot->ctx == t->limbo && t->guess == NULL)
			t->ran[i].slot = slot_get(t->landed,
			    plan_seg(p, i));
}

/* Move the values of all groups: is one 0 now? */
static inline bool
apply(const struct walk_seg *p, const uint64_t *rec)
{
	unsigned n = ev_ngroups(*rec);
	bool zero = false;

	for (unsigned i = 0; i < n; i++)
		zero |= (p->value[i] += rec[1 + i]) == 0;
	return zero;
}

/* Is a value 0 that was not, or will not be in another round? */
static bool
passes_zero(const struct walk_seg *p, const uint64_t *rec)
{
	for (unsigned i = 0; i < ev_ngroups(*rec); i++)
		if (p->value[i] == 0 && rec[1 + i] != 0)
			return true;
	return false;
}

/* May the rest of the rounds be counted at once, since it follows itself? */
static bool
follows_itself(const struct walk_thread *t, const struct walk_seg *p,
    const uint64_t *rec)
{
	if (p->key != t->key || p->key < 0 || t->zero)
		return false;
	for (unsigned i = 0; p->apply && i < ev_ngroups(*rec); i++)
		if (rec[1 + i] != 0)
			return false;
	return true;
}

/* Run an execution and its repetitions; the value of spgroup is the first's. */
static void
look(struct walk_thread *t, struct walk_seg *p, const uint64_t *rec)
{
	uint64_t more = ev_more(rec), diff = p->spgroup == 0 ? 0 :
	    rec[p->spgroup], rounds = 0;

	t->nran = p->nseg;
	for (;;) {
		t->zero = p->apply && apply(p, rec);
		if (t->zero && passes_zero(p, rec))
			repeat_else();
		if (p->nseg == 1)
			step(t, p);
		else
			steps(t, p);
		if (more == 0)
			break;
		if (follows_itself(t, p, rec)) {
			p->slot->n += more;
			add_cost(t->total, p, (int64_t)more);
			plan_values[p->block] += diff * more;
			t->sp = seg_sp(p);
			break;
		}
		if (++rounds >= REPEAT_FIRST) {
			more -= repeat_round(t, p, rec, more);
			if (more == 0)
				break;
		}
		more--;
		plan_values[p->block] += diff;
	}
	if (rounds >= REPEAT_FIRST)
		repeat_end();
}

/* Executions that are not followed still move the values of groups. */
static void
pass_over(const uint64_t *rec, const uint64_t *end)
{
	const struct walk_seg *p;
	uint64_t rounds;

	for (; rec < end; rec = ev_skip(rec)) {
		p = &plan[ev_id(*rec)];
		rounds = ev_more(rec) + 1;
		if (p->spgroup != 0)
			plan_values[p->block] += rec[p->spgroup] * rounds;
		for (unsigned i = 0; p->apply && i < ev_ngroups(*rec); i++)
			p->value[i] += rec[1 + i] * rounds;
	}
}

static void
walk_records(struct walk_thread *t, const uint64_t *rec, const uint64_t *end)
{
	struct walk_seg *p;
	uint64_t sp;

	if (walk.off) {
		pass_over(rec, end);
		return;
	}
	for (; rec < end; rec = ev_skip(rec)) {
		p = &plan[ev_id(*rec)];
		if (p->spgroup != 0)
			plan_values[p->block] += rec[p->spgroup];
		if (__builtin_expect(p->key != t->key ||
		    p->slot->ctx != t->ctx || (*rec & EV_MORE) != 0, 0)) {
			look(t, p, rec);
			continue;
		}
		t->nran = 1;
		sp = plan_values[p->block];
		if (p->apply) {
			t->zero = apply(p, rec);
			if (__builtin_expect(t->zero, 0)) {
				step(t, p);
				continue;
			}
			sp = p->group != 0 ? p->value[p->group - 1] : 0;
		}
		p->slot->n++;
		add_cost(t->total, p, 1);
		t->seg = p;
		t->slot = p->slot;
		t->sp = sp + (uint64_t)(int64_t)p->spat;
		t->key = p->endkey;
	}
}

/* ---- events that earlier stages found ---- */

/* The segment of the last execution that has the instruction. */
static struct walk_ran
ran_at(const struct walk_thread *t, uint32_t insn, uint32_t *seg)
{
	uint32_t i = 0;

	*seg = 0;
	if (t->nran == 1)
		return (struct walk_ran){ t->slot, t->skipper };
	while (insn >= t->ran[i].slot->seg->end)
		i++;
	*seg = i;
	return t->ran[i];
}

/*
 * The event was in this segment, and the thread's total has got it since.  The
 * costs of calls that the execution has left meanwhile lack it; those of calls
 * that it has entered meanwhile would have it.
 */
static void
add_between(const struct walk_thread *t, uint32_t seg, unsigned col, int64_t n)
{
	const struct walk_turn *turn = t->turn;

	for (; turn < t->turn + t->nturn; turn++)
		if (turn->seg > seg && turn->arc != NULL)
			turn->arc->cost[col] += turn->left ?
			    n * (int64_t)turn->times : -n;
}

const struct outcome_list *
walk_list(const struct ev *e)
{
	const char *wrong = NULL;
	const struct outcome_list *l = outcome_text(walk.told, e->text,
	    e->textlen, &wrong);

	if (wrong != NULL)
		ev_bad(walk.events, "%s", wrong);
	return l;
}

/* What was found at an instruction of the slot's segment, by event. */
static int64_t *
slot_told(struct walk_slot *sl, uint32_t insn)
{
	struct slot_rare *m = slot_more(sl);
	int64_t **to;

	if (m->told == NULL)
		m->told = xcalloc(sl->seg->end - sl->seg->first,
		    sizeof *m->told);
	to = &m->told[insn - sl->seg->first];
	if (*to == NULL)
		*to = xcalloc(outcome_columns(walk.told), sizeof **to);
	return *to;
}

/* What has a label: an instruction of a slot; NULL: it is not followed. */
static struct {
	struct walk_slot *slot;
	uint32_t insn;
	bool skipped;		/* in a function that is skipped */
} *labelled;
static size_t caplabelled;

/* Outcomes that come late: own cost, but of no call. */
static void
told_late(const struct walk_thread *t, uint64_t label, const struct ev *e)
{
	const struct outcome_list *l = walk_list(e);
	struct walk_slot *sl = labelled[label].slot;
	int64_t *own;

	if (sl == NULL || !t->collect || l->n == 0)
		return;
	own = labelled[label].skipped ? slot_skipped(sl) + walk.firsttold :
	    slot_told(sl, labelled[label].insn);
	for (unsigned i = 0; i < l->n; i++)
		sum_add(&own[l->event[i].column], (int64_t)l->event[i].n);
}

static void
give_label(const struct walk_thread *t, struct walk_ran at, uint32_t insn,
    uint64_t label)
{
	struct walk_slot *sl = at.slot;

	labelled = xgrow(labelled, &caplabelled, label + 1, sizeof *labelled);
	/* a provisional context does not last: take the likeliest */
	if (sl != NULL && t->guess != NULL && sl->ctx == t->limbo)
		sl = slot_get(t->guess, (struct walk_seg *)sl->seg);
	labelled[label].slot = sl != NULL && at.skipper != NULL ?
	    at.skipper : sl;
	labelled[label].insn = insn;
	labelled[label].skipped = at.skipper != NULL;
}

void
walk_add(struct walk_thread *t, unsigned column, uint64_t n)
{
	if (t->slot == NULL || !t->collect)
		return;
	sum_add(&t->total[walk.firsttold + column], (int64_t)n);
	if (t->skipper != NULL)
		sum_add(&slot_skipped(t->skipper)[walk.firsttold + column],
		    (int64_t)n);
	else
		slot_told(t->slot, t->slot->seg->end - 1U)[column] +=
		    (int64_t)n;
}

/* An instruction of a segment of the last execution has these outcomes. */
static void
add_outcomes(struct walk_thread *t, struct walk_ran at, uint32_t seg,
    uint32_t insn, const struct outcome_list *l)
{
	int64_t *own;

	if (!t->collect || l->n == 0)
		return;
	own = at.skipper != NULL ? slot_skipped(at.skipper) + walk.firsttold :
	    slot_told(at.slot, insn);
	for (unsigned i = 0; i < l->n; i++) {
		unsigned c = l->event[i].column;
		int64_t n = (int64_t)l->event[i].n;

		sum_add(&t->total[walk.firsttold + c], n);
		own[c] += n;
		if (t->nran > 1 && t->nturn > 0)
			add_between(t, seg, walk.firsttold + c, n);
	}
}

void
walk_told(struct walk_thread *t, const struct ev *e)
{
	uint32_t insn = (uint32_t)e->num[0] - 1, seg = 0;
	struct walk_ran at = { NULL, NULL };

	if (e->num[0] == 0) {
		told_late(t, e->num[1], e);
		return;
	}
	if (t->slot != NULL)
		at = ran_at(t, insn, &seg);
	if (e->num[1] != 0)
		give_label(t, at, insn, e->num[1]);
	if (at.slot != NULL)
		add_outcomes(t, at, seg, insn, walk_list(e));
}

void
walk_batch(const struct ev *e)
{
	struct walk_thread *t = thread_get(ev_thread(walk.events));
	const struct ev_out *o = e->out, *last = e->out + e->nout;
	const uint64_t *rec = e->rec, *end;
	const struct outcome_list *l;
	const char *wrong;
	struct walk_ran at;
	uint32_t seg;

	for (; o < last; o++) {
		end = ev_out_end(e, o);
		walk_records(t, rec, end);
		rec = end;
		if (t->slot == NULL)
			continue;
		l = outcome_numbered(walk.told, walk.events, o->list, &wrong);
		if (l == NULL) {
			ev_bad_out(walk.events, e, o, "%s", wrong);
			return;
		}
		at = ran_at(t, o->insn - 1U, &seg);
		add_outcomes(t, at, seg, o->insn - 1U, l);
	}
	walk_records(t, rec, e->end);
}
