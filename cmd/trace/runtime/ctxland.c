/*
 * ctxland - with --contexts: where calls of setjmp have returned
 *
 * A jump to there leaves the frames inside of it.  The thread has its innermost
 * landings, as lib/walk would have them: see struct ctx_landing.
 */
#include "contexts.h"
#include "ctx.h"

#define JUMPS_MOST 64u	/* so many on the way to setjmp are followed */

/*
 * Where the call that is being made, by arc a inside of a frame, returns, and
 * the stack pointer there; false: trace knows.  Where functions jumped to
 * setjmp, the frame of the first has the return address.
 */
static bool
find(const struct tarea *t, const struct ctx_frame *f, const struct ctx_arc *a,
    struct ctx_landing *l)
{
	unsigned n = 0;

	l->sp = (t->moving.move == MOVE_CALL ? t->moving.sp : f->place) + 8;
	for (l->addr = a->ret; l->addr == 0; l->addr = a->ret) {
		a = &rt.arcs[f->arc / 16];
		if (a->target <= ARC_MANY || f->place + 8 != l->sp ||
		    n++ == JUMPS_MOST)
			return false;
		f++;
	}
	return true;
}

/* Those that have a lower stack pointer have been left. */
bool
ctx_note_landing(struct tarea *t, const struct ctx_frame *below,
    const struct ctx_arc *a)
{
	struct ctx_words *w = ctx_words(t);
	struct ctx_landing l;

	if (!find(t, below, a, &l))
		return false;
	while (w->nlanding > 0 && w->nlanding <= LANDINGS_MOST &&
	    w->landing[w->nlanding - 1].sp <= l.sp)
		w->nlanding--;
	if (w->given > w->nlanding)
		w->given = w->nlanding;
	if (w->nlanding >= LANDINGS_MOST)
		return false;
	w->landing[w->nlanding++] = l;
	return true;
}

static bool
is_others(const struct tarea *t)
{
	return (ctx_words(t)->others & landing_bit(t->pc)) != 0;
}

bool
ctx_may_land(const struct tarea *t)
{
	const struct ctx_words *w = ctx_words(t);
	uint64_t i;

	for (i = 0; i < w->nlanding && i < LANDINGS_MOST; i++)
		if (w->landing[i].addr == t->pc)
			return true;
	return is_others(t);
}

/* Which of several it is, the next call or return decides: that is trace's. */
uint64_t
ctx_landing(const struct tarea *t)
{
	const struct ctx_words *w = ctx_words(t);
	uint64_t i, sp = 0;

	if (w->nlanding > LANDINGS_MOST || is_others(t) ||
	    contexts_arc(t)->target == ARC_NONE)
		return 0;
	for (i = 0; i < w->nlanding; i++) {
		if (w->landing[i].addr != t->pc)
			continue;
		if (sp != 0 || w->landing[i].sp <= ctx_top(t)->place)
			return 0;
		sp = w->landing[i].sp;
	}
	return sp;
}
