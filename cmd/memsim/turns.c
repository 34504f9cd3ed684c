/*
 * turns - executions of threads that run side by side
 *
 * A stream hands over from thread to thread in large pieces, in which lines
 * could not collide. With many cores a piece is kept until a system call, a
 * signal or the end, or until it has PIECE lines; then threads take turns of
 * some instructions, in the order of their numbers, until all have run. A line
 * stays one however often it is repeated, for a loop may run long between two
 * system calls.
 *
 * With -t what is passed on is in the new order. A block's values are passed
 * on as differences, so what was passed last is kept by block.
 */
#include "memsim.h"

#include <stdio.h>
#include <string.h>

#include "evw.h"
#include "mem.h"

#define PIECE	(1 << 20)

/*
 * Lines of executions: id, further rounds, the next one's values by group, and
 * a 0 for those without group; if there are rounds, by how much values move.
 */
struct thread {
	uint64_t *word;
	size_t nword, capword, next;
	uint64_t rounds;	/* of one line that had a turn alone; or 0 */
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
		diff[i] = word[2 + i] - passed[number][i];
		passed[number][i] = word[2 + i];
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
	unsigned n = d->block->ngroups;
	uint64_t *value = word + 2, *by = value + n + 1;

	run_values((uint32_t)*word, value);
	if (sim->through)
		pass(t, word);
	if (word[1] == 0) {
		t->next += n + 3U;
		return d->n;
	}
	for (unsigned i = 0; i < n; i++)
		value[i] += by[i];
	if (--word[1] == 0) {		/* the last one has no moves */
		memmove(word + n, word, (n + 3U) * sizeof *word);
		t->next += n;
	}
	return d->n;
}

/* ---- turns ---- */

/* Does no value of the line that is next move? */
static bool
stands(const struct thread *t)
{
	const uint64_t *word = t->word + t->next;
	unsigned n = ev_def(sim->events, (uint32_t)*word)->block->ngroups;
	const uint64_t *by = word + 2 + n + 1;

	for (unsigned i = 0; i < n; i++)
		if (by[i] != 0)
			return false;
	return true;
}

static void
turn(struct thread *t)
{
	size_t from = t->next;
	uint64_t ran = 0, more = t->word[from + 1];

	run_on((unsigned)(t - thread));
	while (ran < machine->quantum && t->next < t->nword)
		ran += execute(t);
	t->rounds = t->next == from ? more - t->word[from + 1] : 0;
	if (t->next == t->nword)
		t->next = t->nword = 0;
}

/* How often can all threads take one more turn each with their lines? */
static uint64_t
turns_left(void)
{
	uint64_t n = UINT64_MAX, k;

	for (unsigned i = 0; i < nthread && n != 0; i++) {
		const struct thread *t = &thread[i];

		if (t->nword == 0)
			continue;
		k = t->word[t->next + 1];	/* the last one stays */
		k = k == 0 || t->rounds == 0 || !stands(t) ? 0 :
		    (k - 1) / t->rounds;
		n = k < n ? k : n;
	}
	return n;
}

/*
 * All threads have had their turns, and only used lines in first caches. If no
 * value moves, further turns are as these.
 */
static void
skip_turns(void)
{
	uint64_t n = sim->through || !run_settled() ? 0 : turns_left();

	for (unsigned i = 0; i < nthread && n != 0; i++) {
		struct thread *t = &thread[i];
		uint64_t *word = t->word + t->next;

		if (t->nword == 0)
			continue;
		word[1] -= n * t->rounds;
		run_again((uint32_t)*word, word + 2, n * t->rounds);
	}
}

void
turns_run(void)
{
	bool more = queued != 0;

	while (more) {
		more = false;
		run_was_quiet();
		for (unsigned i = 0; i < nthread; i++) {
			if (thread[i].nword == 0)
				continue;
			turn(&thread[i]);
			more |= thread[i].nword != 0;
		}
		if (more && run_was_quiet())
			skip_turns();
	}
	queued = 0;
	if (sim->through && named != running) {
		evw_line(sim->writer, "%s", thread[running].name);
		named = running;
	}
}

static void
add(const uint64_t *rec)
{
	uint64_t more = ev_more(rec);
	const struct ev_def *d = ev_def(sim->events, ev_id(*rec));
	struct thread *t = &thread[running];
	size_t n = d->block->ngroups;
	uint64_t *word;

	t->word = xgrow(t->word, &t->capword, t->nword + 2 * n + 3,
	    sizeof *t->word);
	word = &t->word[t->nword];
	word[0] = ev_id(*rec);
	word[1] = more;
	memcpy(word + 2, run_apply(rec), (n + 1) * sizeof *word);
	t->nword += n + 3;
	if (more != 0) {
		memset(word + n + 3, 0, n * sizeof *word);
		memcpy(word + n + 3, rec + 1, ev_ngroups(*rec) * sizeof *word);
		t->nword += n;
	}
	if (++queued == PIECE)
		turns_run();
}

void
turns_batch(const uint64_t *rec, const uint64_t *end)
{
	for (; rec < end; rec = ev_skip(rec))
		add(rec);
}
