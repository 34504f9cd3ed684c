/*
 * turns - executions of threads that run side by side
 *
 * A stream hands over from thread to thread in large pieces, in which lines
 * could not collide. With many cores a piece is kept until a system call, a
 * signal or the end, or until it has PIECE executions; then threads take turns
 * of some instructions, in the order of their numbers, until all have run.
 *
 * With -t what is passed on is in the new order. A block's values are passed
 * on as differences, so what was passed last is kept by block.
 */
#include "memsim.h"

#include <stdio.h>
#include <string.h>

#include "evw.h"
#include "util.h"

#define PIECE	(1 << 20)

/* Executions: id, its values by group, and a 0 for those without group. */
struct thread {
	uint64_t *word;
	size_t nword, capword, next;
	char name[48];		/* of its T line; empty: not known yet */
};

static struct simrun *sim;
static struct thread *thread;
static size_t capthread;
static unsigned nthread, running;
static unsigned named;		/* by the last T line that was passed */
static uint64_t queued;
static uint64_t **passed;	/* values, by block */
static size_t cappassed;

void
turns_init(struct simrun *s)
{
	sim = s;
	turns_thread(0, NULL);
}

void
turns_thread(unsigned number, const struct ev *e)
{
	thread = xgrow0(thread, &capthread, number + 1, sizeof *thread);
	if (number >= nthread)
		nthread = number + 1;
	running = named = number;
	if (e == NULL)
		return;
	snprintf(thread[number].name, sizeof thread[number].name,
	    e->nnum > 1 ? "T %lu %lu" : "T %lu", e->num[0], e->num[1]);
}

/* ---- one execution ---- */

/* Pass it on, behind a T line if the last was of another thread. */
static void
pass(const struct thread *t, const uint64_t *word)
{
	const struct ev_def *d = ev_def(sim->events, (uint32_t)*word);
	uint32_t number = simrun_number(d->block);
	const struct sim_outcome *o;
	uint64_t diff[256];
	unsigned n;

	if (t - thread != named && *t->name != '\0')
		evw_line(sim->writer, "%s", t->name);
	named = (unsigned)(t - thread);
	passed = xgrow0(passed, &cappassed, number + 1, sizeof *passed);
	if (passed[number] == NULL)
		passed[number] = xcalloc(d->block->ngroups + 1U,
		    sizeof *diff);
	for (unsigned i = 0; i < d->ngroups; i++) {
		diff[i] = word[1 + i] - passed[number][i];
		passed[number][i] = word[1 + i];
	}
	evw_exec(sim->writer, d->id, d->ngroups, diff, 0);
	o = count_take(count_first(number), &n);
	simrun_outcomes(sim, count_name, o, n);
}

/* The next execution of a thread; how many instructions it has. */
static uint32_t
execute(struct thread *t)
{
	uint64_t *word = t->word + t->next;
	const struct ev_def *d = ev_def(sim->events, (uint32_t)*word);

	run_values((uint32_t)*word, word + 1);
	if (sim->through)
		pass(t, word);
	t->next += d->block->ngroups + 2U;
	return d->n;
}

/* ---- turns ---- */

static void
turn(struct thread *t)
{
	uint64_t ran = 0;

	run_on((unsigned)(t - thread));
	while (ran < machine->quantum && t->next < t->nword)
		ran += execute(t);
	if (t->next == t->nword)
		t->next = t->nword = 0;
}

void
turns_run(void)
{
	bool more = queued != 0;

	while (more) {
		more = false;
		for (unsigned i = 0; i < nthread; i++) {
			if (thread[i].nword == 0)
				continue;
			turn(&thread[i]);
			more |= thread[i].nword != 0;
		}
	}
	queued = 0;
	if (sim->through && named != running) {
		evw_line(sim->writer, "%s", thread[running].name);
		named = running;
	}
}

static void
add(uint32_t id, const uint64_t *value)
{
	const struct ev_def *d = ev_def(sim->events, id);
	struct thread *t = &thread[running];
	size_t n = d->block->ngroups;

	t->word = xgrow(t->word, &t->capword, t->nword + n + 2,
	    sizeof *t->word);
	t->word[t->nword] = id;
	memcpy(&t->word[t->nword + 1], value, (n + 1) * sizeof *value);
	t->nword += n + 2;
	if (++queued == PIECE)
		turns_run();
}

void
turns_batch(const uint64_t *rec, const uint64_t *end)
{
	for (; rec < end; rec = ev_skip(rec))
		for (uint64_t n = ev_more(rec) + 1; n > 0; n--)
			add(ev_id(*rec), run_apply(rec));
}
