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

static uint8_t *
pack_step(uint8_t *p, uint8_t *head, unsigned step)
{
	*head = step & MAP_STEP;
	if (step <= MAP_STEP)
		return p;
	*head |= MAP_FAR;
	*p++ = step >> 4 & (MAP_FARTHER - 1);
	if (step >> 11 == 0)
		return p;
	p[-1] |= MAP_FARTHER;
	*p++ = (uint8_t)(step >> 11);
	return p;
}

/* Registers that are at home now or are no longer. */
static uint8_t *
pack_homed(uint8_t *p, uint8_t *more, unsigned homed, unsigned was)
{
	unsigned changed = homed ^ was, rest = changed & (changed - 1);

	if (changed == 0)
		return p;
	if ((rest & (rest - 1)) != 0) {
		*more |= MAP_HOMED;
		*p++ = (uint8_t)homed;
		*p++ = (uint8_t)(homed >> 8);
		return p;
	}
	*more |= MAP_TOGGLE;
	if (rest == 0)
		rest = changed;
	*p++ = (uint8_t)(__builtin_ctz(changed) |
	    __builtin_ctz(rest) << 4);
	return p;
}

static uint8_t *
pack_one(uint8_t *p, const struct mapent *m, const struct mapent *last)
{
	uint8_t *head = p++, *more;
	bool next = m->n == last->n + 1;

	p = pack_step(p, head, (unsigned)m->off - last->off);
	if (next)
		*head |= MAP_NEXT;
	if (((const uint8_t *)m)[7] != ((const uint8_t *)last)[7]) {
		*head |= MAP_LAST;
		*p++ = ((const uint8_t *)m)[7];
	}
	if ((next || m->n == last->n) && m->loc == last->loc &&
	    m->exit == last->exit && m->homed == last->homed)
		return p;
	*head |= MAP_MORE;
	more = p++;
	*more = 0;
	if (!next && m->n != last->n) {
		*more |= MAP_N;
		*p++ = m->n;
	}
	if (m->loc != last->loc) {
		*more |= MAP_LOC;
		*p++ = m->loc;
	}
	if (m->exit != last->exit) {
		*more |= MAP_EXITNO;
		*p++ = m->exit;
	}
	return pack_homed(p, more, m->homed, last->homed);
}

uint8_t *
map_pack(uint8_t *p, const struct mapent *m, unsigned n)
{
	const struct mapent before = MAP_BEFORE, *last = &before;
	unsigned i;

	for (i = 0; i < n; i++, last = m++)
		p = pack_one(p, m, last);
	return p;
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
