/*
 * roots - the contexts that no call led to: of a thread, of its handlers
 */
#include "context/parts.h"

const struct walk_ctx *
roots_now(const struct walk_thread *t)
{
	return t->guess != NULL ? t->guess : t->ctx;
}

/* What ran when frames from `bottom` on, up to n, were pushed; else `now`. */
static const struct walk_ctx *
first_of(const struct walk_thread *t, size_t bottom, size_t n,
    const struct walk_ctx *now)
{
	for (; bottom < n; bottom++)
		if (t->frame[bottom].arc != NULL)
			return t->frame[bottom].ctx;
	return now;
}

size_t
roots_bottom(const struct walk_thread *t, size_t k)
{
	return k + 1 < t->nsig ? t->sig[k + 1].bottom : t->bottom;
}

const struct walk_ctx *
roots_root(const struct walk_thread *t, size_t k)
{
	if (k + 1 < t->nsig)
		return first_of(t, roots_bottom(t, k), roots_bottom(t, k + 1),
		    t->sig[k + 1].ctx);
	return first_of(t, t->bottom, t->n, roots_now(t));
}

const struct walk_ctx *
roots_outermost(const struct walk_thread *t)
{
	if (t->nsig > 0)
		return first_of(t, 0, roots_bottom(t, 0), t->sig[0].ctx);
	return roots_root(t, 0);
}
