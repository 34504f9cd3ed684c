/*
 * table - kind cache: the lines used last, and what goes out when one is not
 *
 * For data and for code each, a set has `ways` places and their order, see
 * shared.h.  A further use of the one used last changes nothing and is not
 * noted (filter.c's comparison).  A data line is found by a hint, its place by
 * the line's low bits, or by a search; a code line, known when its code is
 * translated, has its place in a cell of its own.
 *
 * What the stream must say, and cachesim relies on: a line enters by the
 * record of a reference (def_ref_id's stays), at the place of the one that was
 * used longest ago.  Free places count as used before all others, the first
 * one first.  If both lines of a reference enter, what makes room for the
 * first is told to leave before.  A reference without `stays` finds its sets
 * empty.  The table is emptied, in order, before another thread's records may
 * come in between.
 *
 * table_look runs while the thread is in the cache, between two of its
 * instructions; signals are kept until it is done.
 */
#include "runtime.h"

struct table {
	uint64_t dtag[TABLE_LINES];	/* line, or NO_LINE */
	uint16_t hint[TABLE_HINTS];
	uint64_t dorder[MAX_SETS];
	uint64_t iorder[MAX_SETS];
	uint64_t use_sets[PLACES];
	uint64_t use_leaves[PLACES];
	uint64_t itag[TABLE_LINES];
	uint32_t icell[TABLE_LINES];	/* 0: free */
	uint32_t n;			/* lines that are not those of free places */
};

_Static_assert(T_TABLE + sizeof(struct table) <= T_OFF, "table");
#define IS_AT(member, t) \
	_Static_assert(offsetof(struct table, member) == t - T_DTAG, "table")
IS_AT(hint, T_HINT);
IS_AT(dorder, T_DORDER);
IS_AT(iorder, T_IORDER);
IS_AT(use_sets, T_USE_SETS);
IS_AT(use_leaves, T_USE_LEAVES);

#define NO_LINE (~0ull)
#define DATA 1		/* index of rt.boot.leave */
#define ROOM 64u	/* bytes: more than a line that leaves and a reference */

#define ONES 0x0101010101010101ull	/* the last column */

static struct table *
table_of(const struct tarea *t)
{
	return (struct table *)((uint64_t)t - T_OFF + T_TABLE);
}

/* Word at an offset from REG_T. */
static void *
at(const struct tarea *t, int64_t off)
{
	return (void *)((uint64_t)t + T_BIAS + (uint64_t)off);
}

static uint8_t *
cell(const struct tarea *t, uint32_t n)
{
	return (uint8_t *)at(t, T_CELL) + n;
}

/* A record of at most one value; there is room. */
static inline void
put(struct tarea *t, uint32_t head, uint64_t v)
{
	if (head >> 24 != 0)
		__builtin_memcpy((void *)(t->p + 4), &v, 8);
	*(volatile uint32_t *)t->p = head;
	t->p += 4 + 8 * (head >> 24);
}

static void
leave(struct tarea *t, int which, uint64_t line)
{
	put(t, rt.boot.leave[which], line << rt.boot.lineshift);
	table_of(t)->n--;
}

/* -------------------------------------------------------------------- order */

/* Places beyond the ways are never the oldest: nothing clears their bit 7. */
static uint64_t
first_order(void)
{
	uint64_t o = 0, i;

	for (i = 0; i < PLACES; i++)
		o |= (i < rt.boot.ways ? (1ull << i) - 1 : 0xff) << 8 * i;
	return o;
}

/* The place that was used after no other: its row is 0. */
static inline uint64_t
oldest(uint64_t order)
{
	return (uint64_t)__builtin_ctzll((order - ONES) & ~order &
	    ONES << 7) >> 3;
}

static inline uint64_t
use(const struct table *b, uint64_t order, uint64_t place)
{
	return (order | b->use_sets[place]) & b->use_leaves[place];
}

/* A new thread's: empty. */
void
table_clear(struct tarea *t)
{
	struct table *b = table_of(t);
	uint64_t *last = at(t, T_DATATAB), i;

	memset(b->dtag, 0xff, sizeof b->dtag);
	for (i = 0; i < rt.boot.sets; i++) {
		last[i] = DATA_EMPTY;
		b->dorder[i] = b->iorder[i] = first_order();
	}
	for (i = 0; i < PLACES; i++) {
		b->use_sets[i] = ((1ull << rt.boot.ways) - 1) << 8 * i;
		b->use_leaves[i] = ~(ONES << i);
	}
}

/* ----------------------------------------------------------------- emptying */

static void
empty_data(struct tarea *t, uint64_t set)
{
	struct table *b = table_of(t);
	uint64_t *last = at(t, T_DATATAB), *tag = b->dtag + set * PLACES;
	uint64_t i, k, o = b->dorder[set];

	if (last[set] == DATA_EMPTY)
		return;
	last[set] = DATA_EMPTY;
	b->dorder[set] = first_order();
	for (i = 0; i < rt.boot.ways; i++) {
		k = oldest(o);
		o = use(b, o, k);
		if (tag[k] != NO_LINE)
			leave(t, DATA, tag[k]);
		tag[k] = NO_LINE;
	}
}

static void
empty_code(struct tarea *t, uint64_t set)
{
	struct table *b = table_of(t);
	uint64_t *tag = b->itag + set * PLACES, i, k, o = b->iorder[set];
	uint32_t *icell = b->icell + set * PLACES, *last = at(t, T_CODETAB);

	if (last[set] == 0)
		return;
	last[set] = 0;
	b->iorder[set] = first_order();
	for (i = 0; i < rt.boot.ways; i++) {
		k = oldest(o);
		o = use(b, o, k);
		if (icell[k] != 0)
			leave(t, 0, tag[k]);
		*cell(t, icell[k]) = 0;		/* cell 0 is no line's */
		icell[k] = 0;
	}
}

void
table_empty(struct tarea *t)
{
	uint64_t s;

	if (rt.boot.sets == 0 || t->bufend == 0 || table_of(t)->n == 0)
		return;
	buffer_room(t, 12 * table_of(t)->n);
	for (s = 0; s < rt.boot.sets; s++) {
		empty_data(t, s);
		empty_code(t, s);
	}
}

/* The sets of so many bytes; without end: all sets. */
static void
empty_bytes(struct tarea *t, uint64_t addr, uint64_t n)
{
	uint64_t shift = rt.boot.lineshift, mask = rt.boot.sets - 1;
	uint64_t line = addr >> shift;
	uint64_t more = ((addr & ((1ull << shift) - 1)) + n - 1) >> shift, s;

	if (more > mask)
		more = mask;
	for (s = 0; s <= more; s++)
		empty_data(t, (line + s) & mask);
}

/* ------------------------------------------------------------------ looking */

/* The place of a set that has a line, or PLACES. */
static inline uint64_t
search(const uint64_t *tag, uint64_t line)
{
	uint64_t i;

#pragma GCC unroll 8
	for (i = 0; i < PLACES; i++)
		if (__builtin_expect(tag[i] == line, 0))
			break;
	return i;
}

/* A line is at a place now, and is the one used last. */
static inline void
put_data(struct tarea *t, uint64_t line, uint64_t set, uint64_t place)
{
	struct table *b = table_of(t);
	uint64_t *last = at(t, T_DATATAB);

	b->dtag[set * PLACES + place] = line;
	b->hint[line % TABLE_HINTS] = (uint16_t)(set * PLACES + place);
	b->dorder[set] = use(b, b->dorder[set], place);
	last[set] = line << rt.boot.lineshift;
}

/* Is a line at a place of its set?  Then it is the one used last: 1. */
static inline int
use_data(struct tarea *t, uint64_t line)
{
	struct table *b = table_of(t);
	uint64_t set = line & (rt.boot.sets - 1);
	uint64_t i = b->hint[line % TABLE_HINTS] % PLACES;

	if (__builtin_expect(b->dtag[set * PLACES + i] != line, 0)) {
		i = search(b->dtag + set * PLACES, line);
		if (i == PLACES)
			return 0;
	}
	put_data(t, line, set, i);
	return 1;
}

/* A line enters; its place.  tells: what makes room is told to leave. */
static inline uint64_t
enter_data(struct tarea *t, uint64_t line, int tells)
{
	struct table *b = table_of(t);
	uint64_t set = line & (rt.boot.sets - 1), i = oldest(b->dorder[set]);
	uint64_t was = b->dtag[set * PLACES + i];

	if (was != NO_LINE && tells)
		leave(t, DATA, was);
	if (was == NO_LINE || tells)
		b->n++;
	put_data(t, line, set, i);
	return i;
}

/* Over a line's end; where both lines are there nothing happens. */
__attribute__((noinline))
static void
look_two(struct tarea *t, uint64_t addr, uint64_t line, uint32_t head)
{
	int first = use_data(t, line), second = use_data(t, line + 1);
	uint64_t place = 0;

	if (first && second)
		return;
	if (!first)
		place = enter_data(t, line, !second);
	if (!second)
		place = PLACE_SECOND | enter_data(t, line + 1, 0);
	put(t, head, addr << PLACE_BITS | place);
}

/* Not where the hint says: mostly it enters. */
static inline void
look_one(struct tarea *t, uint64_t addr, uint64_t line, uint32_t head)
{
	struct table *b = table_of(t);
	uint64_t set = line & (rt.boot.sets - 1);
	uint64_t i = search(b->dtag + set * PLACES, line);

	if (__builtin_expect(i == PLACES, 1)) {
		i = enter_data(t, line, 0);
		addr = addr << PLACE_BITS | i;
		__builtin_memcpy((void *)(t->p + 4), &addr, 8);
		*(volatile uint32_t *)t->p = head;
		t->p += 12;
	} else {
		put_data(t, line, set, i);
	}
}

static inline void
look_data(struct tarea *t, uint64_t addr, const uint32_t *asked)
{
	uint64_t line = addr >> rt.boot.lineshift;
	uint64_t last = (addr + (asked[1] >> 8) - 1) >> rt.boot.lineshift;

	if (last != line)
		look_two(t, addr, line, asked[0]);
	else
		look_one(t, addr, line, asked[0]);
}

/* A code line is used, or enters: tells is as above; its place. */
static inline uint64_t
use_code(struct tarea *t, uint64_t line, uint32_t n, int tells)
{
	struct table *b = table_of(t);
	uint64_t set = line & (rt.boot.sets - 1), i, k = *cell(t, n);
	uint32_t *last = at(t, T_CODETAB);

	i = k != 0 ? k - 1 : oldest(b->iorder[set]);
	if (k == 0) {
		k = set * PLACES + i;
		if (b->icell[k] != 0 && tells)
			leave(t, 0, b->itag[k]);
		if (b->icell[k] == 0 || tells)
			b->n++;
		*cell(t, b->icell[k]) = 0;	/* cell 0 is no line's */
		b->itag[k] = line;
		b->icell[k] = n;
		*cell(t, n) = (uint8_t)(i + 1);
	}
	b->iorder[set] = use(b, b->iorder[set], i);
	last[set] = n;
	return i;
}

static uint64_t
use_two(struct tarea *t, uint64_t line, const uint32_t n[2])
{
	int second = *cell(t, n[1]) != 0;
	uint64_t a = use_code(t, line, n[0], !second);
	uint64_t b = use_code(t, line + 1, n[1], 0);

	return second ? a : PLACE_SECOND | b;
}

__attribute__((noinline))
static void
look_fetch(struct tarea *t, uint64_t addr, const uint32_t *asked)
{
	uint64_t line = addr >> rt.boot.lineshift, i = 0;
	unsigned n = asked[1] >> 8, k;

	if (__builtin_expect(asked[2] == 0, 0)) {	/* no cells */
		for (k = 0; k < n; k++)
			empty_code(t, (line + k) & (rt.boot.sets - 1));
	} else if (n == 1) {
		i = use_code(t, line, asked[2], 0);
	} else {
		i = use_two(t, line, asked + 2);
	}
	put(t, asked[0], addr << PLACE_BITS | i);
}

static void
look_rep(struct tarea *t, const uint32_t *asked)
{
	uint64_t v[3], n, size = asked[1] >> 24, i, a;
	unsigned nv = asked[0] >> 24, nref = asked[1] >> 8 & 15;

	memcpy(v, (void *)(t->p + 4), 8 * nv);
	n = v[asked[1] >> 12 & 15];
	for (i = 0; n != 0 && i < nref; i++) {
		a = v[asked[1] >> (16 + 4 * i) & 15];
		if ((int64_t)n < 0)
			empty_bytes(t, a + (n + 1) * size, -n * size);
		else
			empty_bytes(t, a, n * size);
	}
	memcpy((void *)(t->p + 4), v, 8 * nv);
	*(volatile uint32_t *)t->p = asked[0];
	t->p += 4 + 8 * nv;
}

/* What is rare, or comes in between. */
__attribute__((noinline))
static void
look_other(struct tarea *t, const uint32_t *asked)
{
	uint64_t addr = t->pc, room = ROOM;

	t->rflags = (t->rflags & ~TRAP_FLAG) | (uint64_t)t->tf << 8;
	if (t->look_kind >= LOOK_WIDE)
		room += 12 * table_of(t)->n;
	/* this may empty the table, so it comes first */
	buffer_room(t, room);
	switch (t->look_kind) {
	case LOOK_FETCH:
		look_fetch(t, addr, asked);
		break;
	case LOOK_DATA:
		look_data(t, addr, asked);
		break;
	case LOOK_WIDE:
		empty_bytes(t, addr, asked[1] >> 8);
		put(t, asked[0], addr);
		break;
	case LOOK_REP:
		look_rep(t, asked);
		break;
	default:
		table_empty(t);
		break;
	}
}

void
table_look(struct tarea *t)
{
	const uint32_t *asked = (const uint32_t *)t->entry;
	unsigned kind = asked[1] & 0xff;

	t->look_kind = kind;
	t->look_ret = t->entry + (kind == LOOK_FETCH ? 16 : 8);
	if (__builtin_expect(kind >= LOOK_WIDE || t->tf ||
	    t->p + ROOM > t->bufend, 0))
		look_other(t, asked);
	else if (__builtin_expect(kind == LOOK_DATA, 1))
		look_data(t, t->pc, asked);
	else
		look_fetch(t, t->pc, asked);
}
