/*
 * held - with --contexts: what threads have counted in limbo
 *
 * While it is in doubt to which of several active calls a jump led, a thread
 * runs code of an owner in limbo.  What that counts becomes another owner's as
 * soon as the doubt is over (def_move).  If counts are to be told before, those
 * of the limbo are held here instead, and told at the run's end at the latest.
 *
 * Only who tells a thread's counts, or moves them, may ask for what is held of
 * it: the thread waits for that.
 */
#include <string.h>

#include "ctl.h"
#include "mem.h"
#include "stream/parts.h"
#include "stream/stream.h"

static struct {
	struct held_count *v;
	size_t n, cap;
} held[NSLOT];

static struct held_count *
find(unsigned slot, uint32_t id, unsigned ninsn, unsigned what)
{
	struct held_count *h = held[slot].v, *end = h + held[slot].n;

	for (; h < end; h++)
		if (h->c.id == id && h->c.ninsn == ninsn && h->c.what == what)
			return h;
	return NULL;
}

void
held_put(unsigned slot, const struct held_count *new)
{
	struct held_count *h = find(slot, new->c.id, new->c.ninsn,
	    new->c.what);

	if (h != NULL) {
		h->times += new->times;
		return;
	}
	held[slot].v = xgrow(held[slot].v, &held[slot].cap, held[slot].n + 1,
	    sizeof *h);
	held[slot].v[held[slot].n++] = *new;
}

bool
held_take(unsigned slot, uint32_t id, unsigned ninsn, unsigned what,
    struct held_count *c)
{
	struct held_count *h = find(slot, id, ninsn, what);

	if (h == NULL)
		return false;
	*c = *h;
	*h = held[slot].v[--held[slot].n];
	return true;
}

bool
held_any(unsigned slot, struct held_count *c)
{
	if (held[slot].n == 0)
		return false;
	*c = held[slot].v[held[slot].n - 1];
	return true;
}
