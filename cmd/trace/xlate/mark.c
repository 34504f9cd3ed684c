/*
 * mark - map entries: which state of the program each cache address has
 *
 * A handler that finds a thread at a cache address looks up the last entry at
 * or before it: how many instructions are done, which registers are at home.
 */
#include <string.h>

#include "xlate/parts.h"

_Static_assert(sizeof(struct mapent) == 8, "compared as one word");

/*
 * Add an entry.  Skip one equal to the last; a later entry for the same offset
 * replaces it.
 */
static void
put_map(struct xlate *x, struct mapent m)
{
	struct mapent *last;
	uint64_t a, b;

	m.off = (uint16_t)emit_off(&x->c);
	m.homed = (uint16_t)x->homed;
	m.loc = x->loc;
	m.flags = x->flags_in_rax || x->flags_in_area;
	m.counted = x->counted;
	if (x->nmap > 0 && x->nmap < MAX_MAP) {
		last = &x->map[x->nmap - 1];
		memcpy(&a, last, sizeof a);
		memcpy(&b, &m, sizeof b);
		if (last->off == m.off) {
			*last = m;
			return;
		}
		if ((a ^ b) >> 16 == 0)		/* all but the offset */
			return;
	}
	if (x->nmap < MAX_MAP)
		x->map[x->nmap] = m;
	x->nmap++;
}

void
mark(struct xlate *x, unsigned n, unsigned kind, unsigned rep)
{
	struct mapent m = { .n = (uint8_t)n, .kind = kind & 15,
		.rep = rep & 3 };

	put_map(x, m);
}

void
mark_exit(struct xlate *x, unsigned e, unsigned kind)
{
	mark_part(x, e, kind, 0);
}

void
mark_part(struct xlate *x, unsigned e, unsigned kind, unsigned done)
{
	struct mapent m = { .n = x->exit[e].n, .kind = kind & 15,
		.exit = (uint8_t)e, .rep = done & 3 };

	put_map(x, m);
}
