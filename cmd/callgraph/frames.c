/*
 * frames - outcomes of references alone: kind cache with contexts
 *
 * N and X lines tell which calls a thread is in before a reference. An outcome
 * of that counts for the function which the innermost call led to, and for all
 * of these calls: each notes the thread's total when it is entered, and gets
 * what was added when it is left. A call that begins a handler takes all that
 * from the total again, for the calls that it interrupted know nothing of it.
 *
 * If the outermost function returns, its frame becomes its caller's; what it
 * has taken so far is that of the call from there.
 */
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "mem.h"
#include "outcome.h"
#include "sum.h"

/* Deeper stacks lose their outer half, as in lib/walk. */
#define MOST	((size_t)1 << 20)

struct thread {
	uint32_t *arc;		/* by frame */
	int64_t *enter;		/* by frame: total at its entry */
	size_t n, caparc, capenter;
	uint64_t lost;		/* frames outside of these */
	int64_t *total;
};

static struct thread *threads;
static size_t nthread;
static unsigned ncol;		/* outcomes */
static struct tally *found;	/* by state, id and instruction */

/* By id of a reference alone: where its outcomes were added last. */
static struct seen {
	uint32_t state;
	size_t sums;		/* 1 + the number of sums; 0: none yet */
} *seen;
static size_t capseen;

void
frames_begin(void)
{
	ncol = outcome_columns(walk.told);
	found = tally_new(ncol);
}

static struct thread *
this_thread(void)
{
	unsigned num = ev_thread(walk.events);
	struct thread *t;

	if (num < nthread && threads[num].total != NULL)
		return &threads[num];
	threads = xgrow0(threads, &nthread, num + 1UL, sizeof *threads);
	t = &threads[num];
	if (t->total == NULL)
		t->total = xcalloc(ncol, sizeof *t->total);
	return t;
}

/* What was added since a frame was entered is added to an arc. */
static void
add_since(const struct thread *t, size_t frame, uint32_t arc)
{
	const int64_t *enter = t->enter + frame * ncol;
	int64_t *sum;

	if (memcmp(enter, t->total, ncol * sizeof *enter) == 0)
		return;
	sum = states_outcomes(arc);
	for (unsigned i = 0; i < ncol; i++)
		sum_add(&sum[i], t->total[i] - enter[i]);
}

static void
add_inclusive(const struct thread *t, size_t frame)
{
	add_since(t, frame, t->arc[frame]);
}

static void
leave(struct thread *t, uint64_t n)
{
	for (; n > 0 && t->n > 0; n--) {
		size_t i = --t->n;

		add_inclusive(t, i);
		if (states_is_begin(t->arc[i]))
			memcpy(t->total, t->enter + i * ncol,
			    ncol * sizeof *t->total);
	}
	t->lost -= n;
}

static void
forget_half(struct thread *t)
{
	size_t half = t->n / 2;

	for (size_t i = 0; i < half; i++)
		add_inclusive(t, i);
	t->n -= half;
	t->lost += half;
	memmove(t->arc, t->arc + half, t->n * sizeof *t->arc);
	memmove(t->enter, t->enter + half * ncol,
	    t->n * ncol * sizeof *t->enter);
}

static void
enter(struct thread *t, uint32_t arc)
{
	if (t->n >= MOST)
		forget_half(t);
	if (t->n == t->caparc || (t->n + 1) * ncol > t->capenter) {
		t->arc = xgrow(t->arc, &t->caparc, t->n + 1, sizeof *t->arc);
		t->enter = xgrow(t->enter, &t->capenter, (t->n + 1) * ncol,
		    sizeof *t->enter);
	}
	t->arc[t->n] = arc;
	memcpy(t->enter + t->n * ncol, t->total, ncol * sizeof *t->enter);
	t->n++;
}

/* The innermost frame becomes that of arc, which has called it. */
static void
become(struct thread *t, uint32_t arc, uint32_t call)
{
	if (t->n == 0)
		return;
	add_since(t, t->n - 1, call);
	t->arc[t->n - 1] = arc;
}

void
frames_line(int letter, const struct ev *e)
{
	if (ncol == 0)
		return;
	if (letter == 'N' && e->nnum == 3)
		become(this_thread(), (uint32_t)e->num[0],
		    (uint32_t)e->num[2]);
	else if (letter == 'N')
		enter(this_thread(), (uint32_t)e->num[0]);
	else
		leave(this_thread(), e->num[0]);
}

/* ---- outcomes ---- */

/* The state of what was told last; 0: nothing says it. */
static uint32_t
state_of(const struct thread *t, uint32_t block)
{
	uint32_t g;

	if (t->n > 0)
		return states_own(t->arc[t->n - 1]);
	g = lines_group(block);
	return g == 0 ? 0 : states_first(g);
}

/* The sums of an instruction in a state: mostly those of its last outcomes. */
static int64_t *
sums_of(const struct ev_def *d, uint64_t insn, uint32_t s)
{
	uint32_t id = ev_last_id(walk.events);
	uint64_t b = (uint64_t)d->block->id << 16 | insn;

	if (d->letter != 'Q')
		return tally_at(found, s, b);
	if (id >= capseen)
		seen = xgrow0(seen, &capseen, id + 1UL, sizeof *seen);
	if (seen[id].sums == 0 || seen[id].state != s)
		seen[id] = (struct seen){ s, tally_number(found, s, b) + 1 };
	return tally_numbered(found, seen[id].sums - 1);
}

void
frames_outcome(const struct ev *e)
{
	const struct ev_def *d = ev_last(walk.events);
	struct thread *t = this_thread();
	uint32_t s = state_of(t, d->block->id);
	const struct outcome_list *l = walk_list(e);
	int64_t *sum;

	if (s == 0) {
		ev_bad(walk.events, "O: nothing says in which function");
		return;
	}
	sum = sums_of(d, e->num[0] - 1, s);
	for (unsigned i = 0; i < l->n; i++) {
		sum_add(&sum[l->event[i].column], (int64_t)l->event[i].n);
		sum_add(&t->total[l->event[i].column],
		    (int64_t)l->event[i].n);
	}
}

/* ---- the end ---- */

void
frames_end(void)
{
	for (size_t i = 0; i < nthread; i++)
		leave(&threads[i], threads[i].n);
}

static void
make(const struct tally_entry *e)
{
	uint32_t id = (uint32_t)(e->b >> 16), insn = e->b & 0xffff;
	struct walk_slot *sl = lines_slot(states_ctx((uint32_t)e->a), id, insn);
	const int64_t *sum = tally_sums(found, e);
	struct slot_rare *m;
	int64_t *to;

	if (sl->seg->block == 0) {
		to = slot_skipped(sl) + walk.firsttold;
	} else {
		m = slot_more(sl);
		if (m->told == NULL)
			m->told = xcalloc(sl->seg->end - sl->seg->first,
			    sizeof *m->told);
		if (m->told[insn - sl->seg->first] == NULL)
			m->told[insn - sl->seg->first] = xcalloc(ncol,
			    sizeof *to);
		to = m->told[insn - sl->seg->first];
	}
	for (unsigned i = 0; i < ncol; i++)
		sum_add(&to[i], sum[i]);
}

void
frames_make(void)
{
	const struct tally_entry *e, *end = tally_sort(found, &e);

	for (; e < end; e++)
		make(e);
}

void
frames_settle(void)
{
	for (size_t i = 0; i < nthread; i++) {
		struct thread *t = &threads[i];

		for (size_t k = 0; k < t->n; k++) {
			add_inclusive(t, k);
			memcpy(t->enter + k * ncol, t->total,
			    ncol * sizeof *t->total);
		}
	}
}

void
frames_clear(void)
{
	tally_clear(found);
	if (capseen > 0)
		memset(seen, 0, capseen * sizeof *seen);
}
