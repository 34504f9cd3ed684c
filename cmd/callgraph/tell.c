/*
 * tell - --calls: entries and exits as events of kind calls, instead of costs
 *
 * The shadow stacks show when a function is entered and left. The time, in
 * ticks, is the number of the thread's next instruction, from 1. It also runs
 * in a signal handler, whose cost does not count for the function that the
 * signal interrupted: a thread's ticks are its total plus the cost of its
 * handlers. Ticks do not begin at 0 because llvm-xray account takes the first
 * that is not 0 for the least of all threads.
 *
 * A function that is running when its thread first appears is entered then.
 * Maps are passed on unchanged, so functions have the addresses of the stream.
 * Skipped functions have no entries and exits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "evw.h"
#include "mem.h"
#include "out.h"

/* What the output needs to know of each thread. */
struct told_thread {
	uint64_t tid;
	bool has_tid;
	uint64_t handlers;	/* instructions of handlers that have ended */
};

static struct evw *writer;
static struct told_thread *threads;
static size_t nthreads;
static unsigned current;	/* the thread of the last line, from 1 */
static uint8_t *named;		/* by function: its G line is written */
static size_t nnamed;

void
tell_open(struct out *o)
{
	writer = evw_open(o);
	evw_line(writer, EVW_HEADER);
	evw_line(writer, "H kind calls");
}

void
tell_end(const char *how, int status)
{
	if (how != NULL)
		evw_end(writer, how, status);
	else
		evw_flush(writer);
}

static struct told_thread *
thread(unsigned num)
{
	threads = xgrow0(threads, &nthreads, num + (size_t)1, sizeof *threads);
	return &threads[num];
}

/* Is this line still true of the output? */
static bool
keep(const struct ev *e)
{
	return *e->line != 'H' || strcmp(e->text, "cmd") == 0 ||
	    strcmp(e->text, "pid") == 0 || strcmp(e->text, "arch") == 0 ||
	    strcmp(e->text, "cpu") == 0;
}

void
tell_line(const struct ev *e)
{
	struct told_thread *t;

	if (*e->line != 'T') {
		if (keep(e))
			evw_raw(writer, e->line, e->len);
		return;
	}
	t = thread(ev_thread(walk.events));
	/* the first T line also names the thread that ran before it */
	if (!t->has_tid && current == ev_thread(walk.events) + 1)
		evw_line(writer, "T %" PRIu64, e->num[0]);
	t->tid = e->num[0];
	t->has_tid = true;
}

static void
name(const struct func *f, uint64_t slide)
{
	char *line, *end;
	size_t len;

	named = xgrow0(named, &nnamed, f->num + (size_t)1, sizeof *named);
	if (named[f->num])
		return;
	named[f->num] = 1;
	len = 4 * strlen(f->name) + 64;
	line = xmalloc(len);
	end = line + sprintf(line, "G %x %" PRIx64 " ", f->num + 1,
	    f->start + slide);
	evw_escape(end, f->name, 0);
	len = strlen(line);
	evw_raw(writer, line, len < EVW_MAXLINE ? len : EVW_MAXLINE);
	free(line);
}

static void
tell(const struct walk_thread *t, char letter, const struct func *f)
{
	struct told_thread *o = thread(t->num);
	char line[48];
	int n;

	if (current != t->num + 1 && o->has_tid)
		evw_line(writer, "T %" PRIu64, o->tid);
	current = t->num + 1;
	n = sprintf(line, "%c %x %" PRIx64, letter, f->num + 1,
	    (uint64_t)t->total[0] + o->handlers + 1);
	evw_raw(writer, line, (size_t)n);
}

void
tell_enter(const struct walk_thread *t, const struct func *f, uint64_t slide)
{
	name(f, slide);
	tell(t, 'N', f);
}

void
tell_leave(const struct walk_thread *t, const struct func *f)
{
	tell(t, 'X', f);
}

/* The thread's total loses these; its ticks must not. */
void
tell_handler(const struct walk_thread *t, const int64_t *since)
{
	thread(t->num)->handlers += (uint64_t)(t->total[0] - since[0]);
}
