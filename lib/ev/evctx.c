/*
 * evctx - calling contexts, S A F V N X lines of kinds counts and cache
 *
 * A stream's ids of states and arcs have up to 32 bits.  Readers get numbers
 * instead, from 1 in the order of definitions, as they do for ids of blocks: so
 * a damaged id costs no one a huge table.  Here the numbers are in an array by
 * id, and those of ids far beyond the number of definitions in a hash table.
 */
#include "evctx.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "khash.h"
#include "mem.h"

KHASH_INIT(far, khint32_t, uint32_t, 1, kh_int_hash_func2, kh_int_hash_equal)

#define NEAR	65536		/* ids beyond twice as many as there are */
#define SAME	0x80000000U		/* with a state: `S id same' */
#define MOST	(SAME - 1)

/* The number of an id with its flags; 0: it is not defined. */
static uint32_t
find(const struct evctx_ids *t, uint64_t id)
{
	uint32_t n = id < t->nnear ? t->near[id] : 0;
	khint_t k;

	if (n != 0 || t->far == NULL || id > UINT32_MAX)
		return n;
	k = kh_get(far, t->far, (khint32_t)id);
	return k == kh_end(t->far) ? 0 : kh_val(t->far, k);
}

static void
enter(struct evctx_ids *t, uint64_t id, uint32_t n)
{
	khint_t k;
	int r;

	if (id < 2UL * t->n + NEAR) {
		t->near = xgrow0(t->near, &t->nnear, id + 1, sizeof *t->near);
		t->near[id] = n;
		return;
	}
	if (t->far == NULL)
		t->far = kh_init(far);
	k = kh_put(far, t->far, (khint32_t)id, &r);
	kh_val(t->far, k) = n;
}

/* Give an id the next number, which replaces it.  -1: it cannot be. */
static int
define(struct evctx_ids *t, uint64_t *id, uint32_t flags)
{
	if (*id == 0 || *id > UINT32_MAX || t->n == MOST || find(t, *id) != 0)
		return -1;
	enter(t, *id, ++t->n | flags);
	*id = t->n;
	return 0;
}

static void
forget(struct evctx_ids *t)
{
	free(t->near);
	if (t->far != NULL)
		kh_destroy(far, t->far);
}

void
evctx_close(struct evctx *x)
{
	forget(&x->states);
	forget(&x->arcs);
	free(x->frames);
}

/* Replace the id of a state or an arc in a field by its number. */
static int
known(const struct evctx_ids *t, const char *what, const struct ev *e,
    uint64_t *id, char why[EV_WHY])
{
	uint32_t n = find(t, *id) & ~SAME;

	if (n == 0)
		return evwhy(why, "%c: undefined %s %" PRIx64, *e->line, what,
		    *id);
	*id = n;
	return 0;
}

static int
no_new(const struct ev *e, const char *what, char why[EV_WHY])
{
	return evwhy(why, "%c: %s %" PRIx64 " is defined twice, or no id",
	    *e->line, what, e->num[0]);
}

/* S id up level address, S id same */
static int
state(struct evctx *x, struct ev *e, char why[EV_WHY])
{
	bool same = e->nnum == 2;

	if (same && find(&x->states, e->num[1]) & SAME)
		return evwhy(why, "S: state %" PRIx64 " has no context of its "
		    "own", e->num[1]);
	if (!same && (e->num[2] == 0 || e->num[2] > 2))
		return evwhy(why, "S: level %" PRIx64 ", neither 1 nor 2",
		    e->num[2]);
	if ((same || e->num[1] != 0) &&
	    known(&x->states, "state", e, &e->num[1], why) < 0)
		return -1;
	return define(&x->states, &e->num[0], same ? SAME : 0) < 0 ?
	    no_new(e, "state", why) : 0;
}

/* A id from site target to [within] */
static int
arc(struct evctx *x, struct ev *e, char why[EV_WHY])
{
	if (e->num[1] == 0 && e->num[2] != 0)
		return evwhy(why, "A: site %" PRIx64 " in no state", e->num[2]);
	if (e->num[1] != 0 &&
	    known(&x->states, "state", e, &e->num[1], why) < 0)
		return -1;
	if (known(&x->states, "state", e, &e->num[4], why) < 0)
		return -1;
	if (e->nnum == 6 && e->num[1] == 0)
		return evwhy(why, "A: what begins is within no state");
	if (e->nnum == 6 && known(&x->states, "state", e, &e->num[5], why) < 0)
		return -1;
	return define(&x->arcs, &e->num[0], 0) < 0 ?
	    no_new(e, "arc", why) : 0;
}

/* X n: fails if fewer frames are entered. */
static int
leave(struct evctx *x, uint64_t n, unsigned thread, char why[EV_WHY])
{
	uint64_t have = thread < x->nframes ? x->frames[thread].n : 0;

	if (n == 0 || n > have)
		return evwhy(why, "X: %" PRIx64 " frames left of %" PRIx64, n,
		    have);
	x->frames[thread].n -= n;
	return 0;
}

bool
evctx_in_state(const struct ev *e)
{
	return (*e->text == '+' && e->nnum == 5) ||
	    (*e->text == '*' && e->nnum == 6);
}

/* N arc place call: another frame in place of the innermost. */
static int
become(struct evctx *x, struct ev *e, unsigned thread, char why[EV_WHY])
{
	if (thread >= x->nframes || x->frames[thread].n == 0)
		return evwhy(why, "N: no frame, whose place this one could "
		    "take");
	return known(&x->arcs, "arc", e, &e->num[2], why);
}

int
evctx_line(struct evctx *x, struct ev *e, unsigned kind, unsigned thread,
    char why[EV_WHY])
{
	if (!x->told)
		return evwhy(why, "%c: the stream has no contexts", *e->line);
	switch (*e->line) {
	case 'S':
		return state(x, e, why);
	case 'A':
		return arc(x, e, why);
	case 'D':
		return known(&x->states, "state", e, &e->num[e->nnum - 1],
		    why);
	case 'F':
		return known(&x->states, "state", e, &e->num[1], why);
	case 'V':
		if ((e->nnum == 5) != (kind == EV_CACHE))
			return evwhy(why, "V: %u numbers, but in kind %s it "
			    "has %s", e->nnum, kind == EV_CACHE ? "cache" :
			    "counts", kind == EV_CACHE ? "5" : "3");
		return known(&x->arcs, "arc", e, &e->num[0], why);
	}
	if (kind != EV_CACHE)
		return evwhy(why, "%c: the stream is not of kind cache",
		    *e->line);
	return evctx_frame(x, e, thread, false, why);
}

/* The place of a frame, told as a difference or not. */
static int
place(struct evctx_frames *f, const struct ev *e, uint64_t *n, bool differs,
    char why[EV_WHY])
{
	if (differs && f->place == 0)
		return evwhy(why, "N: `%.20s' differs from no place", e->line);
	if (differs)
		*n += f->place;
	if (*n != 0)
		f->place = *n;
	return 0;
}

int
evctx_frame(struct evctx *x, struct ev *e, unsigned thread, bool differs,
    char why[EV_WHY])
{
	struct evctx_frames *f;

	if (*e->line == 'X')
		return leave(x, e->num[0], thread, why);
	if (known(&x->arcs, "arc", e, &e->num[0], why) < 0)
		return -1;
	if (e->nnum == 3 && become(x, e, thread, why) < 0)
		return -1;
	if (thread >= x->nframes)
		x->frames = xgrow0(x->frames, &x->nframes, thread + 1UL,
		    sizeof *x->frames);
	f = &x->frames[thread];
	f->n += e->nnum == 2;
	return place(f, e, &e->num[1], differs, why);
}
