/*
 * landings - where calls of setjmp have returned, in the guest and in lib/walk
 *
 * The guest notes them by itself, see runtime/ctxland.c, and can write all that
 * is read here: see base/trust.c.
 */
#include "context/context.h"
#include "context/parts.h"
#include "ctl.h"

#define OTHERS_MOST 256u	/* of more, any address may be one's */

void
landings_take(const struct ctx_words *w, struct walk_thread *t)
{
	uint64_t n = ONCE(w->nlanding), i = ONCE(w->given);

	if (n > LANDINGS_MOST || i > n)
		trust_lose("its calls");
	for (; i < n && !trust_lost; i++)
		stack_landing(t, ONCE(w->landing[i].addr),
		    ONCE(w->landing[i].sp));
}

void
landings_give(struct ctx_words *w, const struct walk_thread *t)
{
	size_t from = t->nlanding, i;

	while (from > 0 && t->nlanding - from < LANDINGS_GIVEN &&
	    t->landing[from - 1].nsig == t->nsig)
		from--;
	w->others = from > OTHERS_MOST ? ~0ull : 0;
	for (i = 0; i < from && ~w->others != 0; i++)
		w->others |= landing_bit(t->landing[i].addr);
	for (i = from; i < t->nlanding; i++)
		w->landing[i - from] = (struct ctx_landing){
		    t->landing[i].addr, t->landing[i].sp };
	w->nlanding = w->given = t->nlanding - from;
}

void
landings_end(struct ctx_words *w)
{
	w->nlanding = w->given = 0;
	w->others = 0;
}
