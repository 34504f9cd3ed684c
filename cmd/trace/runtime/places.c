/*
 * places - find what an address of the code cache stands for
 *
 * Each fragment has map entries in order of their cache offset.  The last one
 * at or before an address says how many guest instructions are done, which
 * registers are at home, and whether the exit has been recorded.  Entries are
 * packed, each as its difference from the one before, and so are the pcs of the
 * fragment's instructions: both are read from the fragment's beginning on.
 */
#include "state.h"

static uint32_t
find_fragment(unsigned z, uint32_t off)
{
	uint32_t lo = 0, hi = rt.ctl->nfrag[z], mid;
	const struct fragmeta *f = rt.frags[z];

	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (f[mid].code <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Which registers are at home now; returns the end of what tells it. */
static const uint8_t *
next_homed(const uint8_t *p, struct mapent *m, unsigned more)
{
	if (more & MAP_ONE) {
		m->homed ^= (uint16_t)(1u << (more >> MAP_ONE_SHIFT & 15));
	} else if (more & MAP_HOMED) {
		m->homed = (uint16_t)(p[0] | p[1] << 8);
		p += 2;
	} else if (more & MAP_TOGGLE) {
		m->homed ^= (uint16_t)(1u << (*p & 15) | 1u << (*p >> 4));
		p++;
	}
	return p;
}

/* Make of *m the entry behind it, which begins at p; returns the end. */
static const uint8_t *
next_entry(const struct fragmeta *f, const uint8_t *p, struct mapent *m)
{
	unsigned head = *p++, more = 0, far;
	bool exits;

	m->off = (uint16_t)(m->off + (head & MAP_STEP));
	if (head & MAP_FAR) {
		far = *p++;
		m->off = (uint16_t)(m->off + ((far & (MAP_FARTHER - 1)) << 4));
		if (far & MAP_FARTHER)
			m->off = (uint16_t)(m->off + (*p++ << 11));
	}
	if (head & MAP_LAST)
		((uint8_t *)m)[7] = *p++;
	exits = map_has_exit(m->kind);
	m->n = (uint8_t)(m->n + (head & MAP_NEXT && !exits));
	m->exit = (uint8_t)(m->exit + (head & MAP_NEXT && exits));
	if (head & MAP_MORE)
		more = *p++;
	if (more & MAP_N)
		m->n = *p++;
	if (more & MAP_LOC)
		m->loc = *p++;
	if (more & MAP_EXITNO)
		m->exit = *p++;
	if (exits)
		m->n = rt.exits[f->exit + m->exit].n;
	return next_homed(p, m, more);
}

struct entries
place_entries(const struct fragmeta *f)
{
	struct entries e = { .f = f, .p = rt.maps + f->map, .m = MAP_BEFORE };

	e.n = f->nmap & ~(MAP_ENTRY | MAP_ENTRY31);
	e.n += f->nmap == e.n ? 0 : NMAP_ENTRY;
	return e;
}

bool
place_each(struct entries *e)
{
	unsigned which = e->f->nmap & (MAP_ENTRY | MAP_ENTRY31);

	if (e->i == e->n)
		return false;
	if (which != 0 && e->i < NMAP_ENTRY)
		e->m = map_entry(which, e->i);
	else
		e->p = next_entry(e->f, e->p, &e->m);
	e->i++;
	return true;
}

/* The last entry at or before an offset; the first if there is none. */
static struct mapent
find_entry(const struct fragmeta *f, uint32_t off)
{
	struct entries e = place_entries(f);
	struct mapent m = MAP_BEFORE;

	while (place_each(&e) && (e.i == 1 || e.m.off <= off))
		m = e.m;
	return m;
}

/*
 * Look-ups begin at an offset from code: where that which has another offset,
 * or the last one before it, goes on.
 */
static uint32_t
look_goes_on(uint64_t code, uint32_t at, uint32_t off)
{
	const uint32_t *asked;
	uint32_t next = at;

	do {
		at = next;
		asked = (const uint32_t *)(code + at);
		next += look_fetch_bytes(asked[1]);
	} while (next <= off);
	return at + (uint32_t)((int32_t)asked[1] >> 16);
}

/* The same of data. */
static uint32_t
look_data_goes_on(uint64_t code, uint32_t at, uint32_t off)
{
	int32_t place;

	at += (off - at) / LOOK_DATA_BYTES * LOOK_DATA_BYTES;
	memcpy(&place, (const void *)(code + at + LOOK_DATA_ENTRY),
	    sizeof place);
	return (uint32_t)((uint64_t)(int64_t)place + rt.place[place < 0] -
	    code);
}

/* The state at an offset from code, where the fragment begins. */
static struct mapent
find_map(const struct fragmeta *f, uint64_t code, uint32_t off)
{
	struct mapent m = find_entry(f, off);

	if (m.kind == MAP_BACK && m.counted == MAP_LOOKS)
		m = find_entry(f, m.rep == 0 ? look_goes_on(code, m.off, off) :
		    look_data_goes_on(code, m.off, off));
	return m;
}

struct cache_place
place_find(uint64_t ip)
{
	unsigned z = ip - rt.zone[0] < rt.zonesize[0] ? 0 : 1;
	uint32_t off = (uint32_t)(ip - rt.zone[z]);
	struct cache_place p;

	p.f = rt.frags[z] + find_fragment(z, off);
	p.m = find_map(p.f, rt.zone[z] + p.f->code, off - p.f->code);
	return p;
}

/* The i-th 4 bits from p on. */
static uint32_t
nibble(const uint8_t *p, unsigned i)
{
	return p[i / 2] >> i % 2 * 4 & 15;
}

uint64_t
place_pc(const struct fragmeta *f, unsigned n)
{
	const uint8_t *p = rt.maps + f->map + f->pcs;
	uint64_t pc = f->pc;
	unsigned i = 0, k;
	uint64_t d;

	for (; n > 0; n--) {
		d = nibble(p, i++);
		for (k = d == 0 ? 0 : PC_BITS; k < PC_BITS; k += 4)
			d |= (uint64_t)nibble(p, i++) << k;
		pc += (uint64_t)((int64_t)(d << (64 - PC_BITS)) >>
		    (64 - PC_BITS));
	}
	return pc;
}
