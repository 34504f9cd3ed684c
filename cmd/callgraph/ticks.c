/*
 * ticks - streams of kind calls
 *
 * They hold entries and exits with the time, so costs are ticks: a function's
 * own are those while it is the innermost one of its thread; a call's are those
 * from entry to exit. Such streams have no call sites, so each call is put at
 * the start of its caller.
 *
 * A thread's clock never goes back: an event with an earlier time than the one
 * before it (the clocks of processors differ) takes no time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "calls.h"
#include "khash.h"
#include "mem.h"
#include "objmap.h"

KHASH_MAP_INIT_INT(fn, struct func *)
KHASH_MAP_INIT_INT64(arc, struct walk_arc *)

/* A thread. `inner' of a frame of calls is the address of its context. */
struct lane {
	struct calls calls;
	uint64_t last;		/* tick of the last event */
	uint64_t clock;		/* ticks since the first one */
	bool running;		/* there was one */
	uint32_t *depth;	/* by function */
	size_t capdepth;
};

static struct lane **lane;
static size_t nlane;
static khash_t(fn) *fns;
static khash_t(arc) *arcs;
static uint64_t still_open, no_entry, no_exit;

static struct lane *
this_lane(void)
{
	unsigned num = ev_thread(walk.events);

	lane = xgrow0(lane, &nlane, num + (size_t)1, sizeof *lane);
	if (lane[num] == NULL)
		lane[num] = xcalloc(1, sizeof **lane);
	return lane[num];
}

/* ---- functions ---- */

static struct func **
function_of(uint32_t id)
{
	khint_t k;
	int new;

	if (fns == NULL)
		fns = kh_init(fn);
	k = kh_put(fn, fns, id, &new);
	if (new != 0)
		kh_val(fns, k) = NULL;
	return &kh_val(fns, k);
}

static void
name_function(const struct ev *e)
{
	struct func **f = function_of((uint32_t)e->num[0]);
	const struct obj *ob = NULL;
	uint64_t link = 0;

	if (e->nnum > 1) {
		link = e->num[1];
		ob = objmap_find(walk.map, e->num[1], &link);
	}
	/* a second log may define it again */
	if (*f != NULL && strcmp((*f)->name, e->text) == 0 &&
	    (*f)->start == link)
		return;
	*f = func_new(ob == NULL ? 0 : ob->id + 1, link, xstrdup(e->text));
}

static struct func *
function(uint32_t id)
{
	struct func **f = function_of(id);
	char name[16];

	if (*f == NULL) {
		snprintf(name, sizeof name, "#%" PRIu32, id);
		*f = func_new(0, id, xstrdup(name));
	}
	return *f;
}

/* ---- time ---- */

static struct walk_ctx *
innermost(const struct lane *l)
{
	if (l->calls.n == 0)
		return NULL;
	return (struct walk_ctx *)(uintptr_t)
	    l->calls.frame[l->calls.n - 1].inner;
}

static void
pass(struct lane *l, uint64_t tick)
{
	uint64_t ticks = l->running && tick > l->last ? tick - l->last : 0;
	struct walk_ctx *c = innermost(l);

	if (!l->running || tick > l->last)
		l->last = tick;
	l->running = true;
	l->clock += ticks;
	if (c != NULL)
		c->own += (int64_t)ticks;
}

/* ---- calls ---- */

static struct walk_arc *
arc_between(struct walk_ctx *caller, struct walk_ctx *callee)
{
	khint_t k;
	int new;

	if (arcs == NULL)
		arcs = kh_init(arc);
	k = kh_put(arc, arcs, (uint64_t)caller->num << 32 | callee->num, &new);
	if (new != 0)
		kh_val(arcs, k) = arc_new(caller, caller->fn->start, callee,
		    callee->fn->start);
	return kh_val(arcs, k);
}

static uint32_t *
depth(struct lane *l, const struct func *f)
{
	l->depth = xgrow0(l->depth, &l->capdepth, f->num + (size_t)1,
	    sizeof *l->depth);
	return &l->depth[f->num];
}

/* The outer half of a very deep stack was dropped: count again. */
static void
count_depths(struct lane *l)
{
	memset(l->depth, 0, l->capdepth * sizeof *l->depth);
	for (size_t i = 0; i + 1 < l->calls.n; i++)
		++*depth(l, ((struct walk_ctx *)(uintptr_t)
		    l->calls.frame[i].inner)->fn);
}

static void
enter(struct lane *l, uint32_t id)
{
	struct walk_ctx *caller = innermost(l), *c;
	struct func *f = function(id);
	size_t n = l->calls.n;
	struct calls_frame *frame = calls_enter(&l->calls, id, l->clock);

	if (l->calls.n <= n)
		count_depths(l);
	c = ctx_get(caller, 0, f, ++*depth(l, f),
	    walk.threads ? ev_thread(walk.events) : 0);
	frame->inner = (uint64_t)(uintptr_t)c;
	if (caller != NULL)
		arc_between(caller, c)->calls++;
}

static void
leave(struct lane *l, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct calls_frame *f =
		    &l->calls.frame[l->calls.n - 1 - i];
		struct walk_ctx *c = (struct walk_ctx *)(uintptr_t)f->inner;

		--*depth(l, c->fn);
		if (l->calls.n - 1 - i > 0)
			arc_between((struct walk_ctx *)(uintptr_t)f[-1].inner,
			    c)->cost[0] += (int64_t)(l->clock - f->tick);
	}
	calls_drop(&l->calls, n);
}

/* ---- lines ---- */

static void
close_all(void)
{
	for (size_t i = 0; i < nlane; i++) {
		struct lane *l = lane[i];

		if (l == NULL)
			continue;
		still_open += l->calls.n;
		no_entry += l->calls.no_entry;
		no_exit += l->calls.no_exit;
		leave(l, l->calls.n);
		free(l->calls.frame);
		free(l->depth);
		free(l);
		lane[i] = NULL;
	}
}

void	/* table */
ticks_line(int letter, const struct ev *e)
{
	struct lane *l;
	char unit[64];

	switch (letter) {
	case 'F':
		close_all();
		snprintf(unit, sizeof unit, "%" PRIu64 " ticks per second",
		    e->num[3]);
		dump_unit(e->num[3] == 1000000000 ? "nanoseconds" :
		    e->num[3] == 0 ? "ticks" : unit);
		break;
	case 'G':
		name_function(e);
		break;
	case 'N':
		l = this_lane();
		pass(l, e->num[1]);
		enter(l, (uint32_t)e->num[0]);
		break;
	case 'V':
	case 'X':
		l = this_lane();
		pass(l, e->num[1]);
		leave(l, calls_match(&l->calls, (uint32_t)e->num[0]));
		break;
	}
}

static void
remark(uint64_t n, const char *what)
{
	char *s;

	if (n == 0)
		return;
	s = xmalloc(strlen(what) + 24);
	sprintf(s, "%" PRIu64 " %s", n, what);
	dump_remark(s);
}

void
ticks_end(void)
{
	close_all();
	remark(no_entry, "exits of functions that were not entered");
	remark(no_exit, "functions left by an exit of an outer one");
	remark(still_open, "functions not left until the end");
}
