/*
 * mark - map entries: which state of the program each cache address has
 *
 * A handler that finds a thread at a cache address looks up the last entry at
 * or before it: how many instructions are done, which registers are at home.
 */
#include <string.h>

#include "xlate/parts.h"

_Static_assert(sizeof(struct mapent) == 8, "compared as one word");

/* An entry as a word, whose bits are those of struct mapent in their order. */
static inline uint64_t
word_of(const struct mapent *m)
{
	uint64_t w;

	memcpy(&w, m, sizeof w);
	return w;
}

/* Where its members but `off', the lowest, are in the word. */
#define HOMED_SHIFT 16
#define N_SHIFT 32
#define LOC_SHIFT 40
#define EXIT_SHIFT 48
#define EXIT_MASK (255ull << EXIT_SHIFT)
#define KIND_SHIFT 56

/* For this offset, with the registers as they are: see mark, mark_part. */
static inline uint64_t
map_word(const struct xlate *x, unsigned n, unsigned exit, unsigned kind,
    unsigned rep)
{
	unsigned flags = x->flags_in_rax | x->flags_in_area;
	unsigned last = (kind & 15) | (rep & 3) << 4 | flags << 6 |
	    (unsigned)x->counted << 7;

	return (uint16_t)emit_off(&x->c) | (uint32_t)(x->homed << HOMED_SHIFT) |
	    (uint64_t)(uint8_t)n << N_SHIFT | (uint64_t)x->loc << LOC_SHIFT |
	    (uint64_t)(uint8_t)exit << EXIT_SHIFT |
	    (uint64_t)last << KIND_SHIFT;
}

/*
 * Add an entry.  Skip one equal to the last; a later entry for the same offset
 * replaces it.
 */
static inline void
put_map(struct xlate *x, uint64_t m)
{
	uint64_t differ;

	if (x->nmap > 0 && x->nmap < MAX_MAP) {
		differ = m ^ word_of(&x->map[x->nmap - 1]);
		if ((uint16_t)differ == 0) {
			memcpy(&x->map[x->nmap - 1], &m, sizeof m);
			return;
		}
		if (differ >> HOMED_SHIFT == 0)	/* all but the offset */
			return;
	}
	if (x->nmap < MAX_MAP)
		memcpy(&x->map[x->nmap], &m, sizeof m);
	x->nmap++;
}

/* How far it is from the last entry, if that is more than MAP_STEP. */
static uint8_t *
pack_far(uint8_t *p, unsigned step)
{
	*p++ = step >> 4 & (MAP_FARTHER - 1);
	if (step >> 11 == 0)
		return p;
	p[-1] |= MAP_FARTHER;
	*p++ = (uint8_t)(step >> 11);
	return p;
}

/* Registers that are at home now or are no longer, two of them or more. */
static uint8_t *
pack_homed(uint8_t *p, uint8_t *more, unsigned homed, unsigned changed)
{
	unsigned rest = changed & (changed - 1);

	if ((rest & (rest - 1)) != 0) {
		*more |= MAP_HOMED;
		*p++ = (uint8_t)homed;
		*p++ = (uint8_t)(homed >> 8);
		return p;
	}
	*more |= MAP_TOGGLE;
	*p++ = (uint8_t)(__builtin_ctz(changed) |
	    __builtin_ctz(rest) << 4);
	return p;
}

/* What MAP_MORE tells: members of entry m that differ from the last one's. */
static uint8_t *
pack_more(uint8_t *p, uint64_t m, uint64_t differ)
{
	unsigned homed = (uint16_t)(differ >> HOMED_SHIFT);
	uint8_t *more = p++;

	*more = 0;
	if ((uint8_t)(differ >> N_SHIFT) != 0) {
		*more |= MAP_N;
		*p++ = (uint8_t)(m >> N_SHIFT);
	}
	if ((uint8_t)(differ >> LOC_SHIFT) != 0) {
		*more |= MAP_LOC;
		*p++ = (uint8_t)(m >> LOC_SHIFT);
	}
	if ((differ & EXIT_MASK) != 0) {
		*more |= MAP_EXITNO;
		*p++ = (uint8_t)(m >> EXIT_SHIFT);
	}
	if ((homed & (homed - 1)) != 0)
		return pack_homed(p, more, (uint16_t)(m >> HOMED_SHIFT), homed);
	if (homed != 0)
		*more |= (uint8_t)(MAP_ONE |
		    (unsigned)__builtin_ctz(homed) << MAP_ONE_SHIFT);
	return p;
}

/*
 * What entry m is without *last, which becomes what a reader has of it.  Mostly
 * just one more instruction has been done, or another exit.
 */
static inline uint8_t *
pack(uint8_t *p, uint64_t m, uint64_t *last)
{
	unsigned step = (uint16_t)(m - *last), kind = m >> KIND_SHIFT & 15;
	unsigned shift = map_has_exit(kind) ? EXIT_SHIFT : N_SHIFT;
	uint64_t differ;
	uint8_t *head = p++;

	if (kind == MAP_BODY)
		m ^= (m ^ *last) & EXIT_MASK;
	*head = step & MAP_STEP;
	differ = m ^ *last;
	if (shift == EXIT_SHIFT)
		differ &= ~(255ull << N_SHIFT);
	if ((uint8_t)(m >> shift) == (uint8_t)(*last >> shift) + 1u) {
		differ &= ~(255ull << shift);
		*head |= MAP_NEXT;
	}
	*last = m;
	if (step > MAP_STEP) {
		*head |= MAP_FAR;
		p = pack_far(p, step);
	}
	if (differ >> KIND_SHIFT != 0) {
		*head |= MAP_LAST;
		*p++ = (uint8_t)(m >> KIND_SHIFT);
	}
	if ((differ & ((1ull << KIND_SHIFT) - (1ull << HOMED_SHIFT))) == 0)
		return p;
	*head |= MAP_MORE;
	return pack_more(p, m, differ);
}

/* Do the entries begin with those of map_entry? */
static bool
begins_with(const struct mapent *m, unsigned n, unsigned which)
{
	struct mapent e;
	unsigned i;

	for (i = 0; i < NMAP_ENTRY; i++) {
		e = map_entry(which, i);
		if (i >= n || memcmp(&m[i], &e, sizeof e) != 0)
			return false;
	}
	return true;
}

uint8_t *
map_pack(uint8_t *p, const struct mapent *m, unsigned n, uint16_t *kept)
{
	uint64_t last = word_of(&MAP_BEFORE);
	unsigned which = begins_with(m, n, MAP_ENTRY) ? MAP_ENTRY :
	    begins_with(m, n, MAP_ENTRY31) ? MAP_ENTRY31 : 0;
	unsigned i = which == 0 ? 0 : NMAP_ENTRY;

	*kept = (uint16_t)((n - i) | which);
	if (which != 0)
		last = word_of(&m[i - 1]);
	for (; i < n; i++)
		p = pack(p, word_of(&m[i]), &last);
	return p;
}

void
mark_run(struct xlate *x, unsigned from, unsigned n)
{
	const struct insn *in = &x->b->in[from];
	uint64_t m = map_word(x, from, 0, MAP_BODY, 0);

	for (; n > 0; n--, in++) {
		m += (1ull << N_SHIFT) + in->len;
		if (x->nmap < MAX_MAP)
			memcpy(&x->map[x->nmap], &m, sizeof m);
		x->nmap++;
	}
}

void
mark(struct xlate *x, unsigned n, unsigned kind, unsigned rep)
{
	put_map(x, map_word(x, n, 0, kind, rep));
}

void
mark_looks(struct xlate *x, bool data)
{
	x->counted = MAP_LOOKS;
	mark(x, x->i, MAP_BACK, data);
	x->counted = false;
}

void
mark_exit(struct xlate *x, unsigned e, unsigned kind)
{
	mark_part(x, e, kind, 0);
}

void
mark_part(struct xlate *x, unsigned e, unsigned kind, unsigned done)
{
	put_map(x, map_word(x, x->exit[e].n, e, kind, done));
}
