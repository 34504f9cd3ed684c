/*
 * table - kind cache: the lines used last, and what goes out when one is not
 *
 * For data and for code each, a set has `ways` places.  A place has a line and
 * the clock's tick at which it became the one used last in its set; a further
 * use of the one used last changes nothing and is not noted (filter.c's
 * comparison).  A data line is found by a hint, its place by the line's low
 * bits, or by a search; a code line, known when its code is translated, has
 * its tick in a cell of its own.
 *
 * What the stream must say, and cachesim relies on: a line enters by the
 * record of a reference (def_ref_id's stays), after the line that makes room
 * has left.  A reference without `stays` finds its sets empty.  The table is
 * emptied, in order, before another thread's records may come in between.
 *
 * table_look runs while the thread is in the cache, between two of its
 * instructions; signals are kept until it is done.
 */
#include "runtime.h"

struct table {
	uint64_t dtag[TABLE_LINES];	/* line, or ~0 */
	uint64_t dstamp[TABLE_LINES];	/* 0: the place is free */
	uint16_t hint[TABLE_HINTS];
	uint64_t itag[TABLE_LINES];
	uint32_t icell[TABLE_LINES];	/* 0: free */
	uint32_t n;			/* lines that are not those of free places */
};

_Static_assert(T_TABLE + sizeof(struct table) <= T_OFF, "table");
_Static_assert(offsetof(struct table, dstamp) == T_DSTAMP - T_DTAG, "table");
_Static_assert(offsetof(struct table, hint) == T_HINT - T_DTAG, "table");

#define DATA 1		/* index of rt.boot.leave */

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

static uint64_t *
cell(const struct tarea *t, uint32_t n)
{
	return (uint64_t *)at(t, T_CELL) + n;
}

/* A record of at most one value; there is room. */
static void
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

/* A new thread's: empty. */
void
table_clear(struct tarea *t)
{
	struct table *b = table_of(t);
	uint64_t *last = at(t, T_DATATAB), i;

	memset(b->dtag, 0xff, sizeof b->dtag);
	for (i = 0; i < rt.boot.sets; i++)
		last[i] = DATA_EMPTY;
}

/* ----------------------------------------------------------------- emptying */

static void
empty_data(struct tarea *t, uint64_t set)
{
	struct table *b = table_of(t);
	uint64_t *last = at(t, T_DATATAB), first = set * rt.boot.ways, i, k;

	last[set] = DATA_EMPTY;
	for (;;) {
		for (i = k = first; i < first + rt.boot.ways; i++)
			if (b->dstamp[i] != 0 && (b->dstamp[k] == 0 ||
			    b->dstamp[i] < b->dstamp[k]))
				k = i;
		if (b->dstamp[k] == 0)
			return;
		leave(t, DATA, b->dtag[k]);
		b->dstamp[k] = 0;
		b->dtag[k] = ~0ull;
	}
}

static void
empty_code(struct tarea *t, uint64_t set)
{
	struct table *b = table_of(t);
	uint64_t first = set * rt.boot.ways, i, k;
	uint32_t *last = at(t, T_CODETAB);

	last[set] = 0;
	for (;;) {
		for (i = k = first; i < first + rt.boot.ways; i++)
			if (b->icell[i] != 0 && (b->icell[k] == 0 ||
			    *cell(t, b->icell[i]) < *cell(t, b->icell[k])))
				k = i;
		if (b->icell[k] == 0)
			return;
		leave(t, 0, b->itag[k]);
		*cell(t, b->icell[k]) = 0;
		b->icell[k] = 0;
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

/*
 * Which of a set's places: the line's, or the one to make room.  A key is a
 * stamp, less than any if the place is the line's, with the place below it; the
 * least is found without branches, which would be guessed badly.
 */
#define PLACE_BITS 10
#define PLACE_MASK ((1ull << PLACE_BITS) - 1)
_Static_assert(TABLE_LINES <= 1u << PLACE_BITS, "places");

static inline uint64_t
lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The least of eight keys. */
#define LEAST8(key) lesser(						\
	lesser(lesser(key(0), key(1)), lesser(key(2), key(3))),		\
	lesser(lesser(key(4), key(5)), lesser(key(6), key(7))))

static inline uint64_t
search_data(const uint64_t *tag, const uint64_t *stamp, uint64_t line)
{
	uint64_t least = ~0ull, i;

#define KEY(i) ((tag[i] == line ? 0 : (stamp[i] + 1) << PLACE_BITS) | (i))
	if (rt.boot.ways == 8)
		return LEAST8(KEY) & PLACE_MASK;
	for (i = 0; i < rt.boot.ways; i++)
		least = lesser(least, KEY(i));
	return least & PLACE_MASK;
#undef KEY
}

/* A data line is used; 1 if it was not there, and enters. */
static inline int
use_data(struct tarea *t, uint64_t line)
{
	struct table *b = table_of(t);
	uint64_t set = line & (rt.boot.sets - 1);
	uint64_t *last = at(t, T_DATATAB), i = b->hint[line % TABLE_HINTS];
	int enters = 0;

	last[set] = line << rt.boot.lineshift;
	if (b->dtag[i] != line) {
		i = set * rt.boot.ways;
		i += search_data(b->dtag + i, b->dstamp + i, line);
		b->hint[line % TABLE_HINTS] = (uint16_t)i;
		enters = b->dtag[i] != line;
	}
	if (enters) {
		if (b->dstamp[i] != 0)
			leave(t, DATA, b->dtag[i]);
		b->dtag[i] = line;
		b->n++;
	}
	b->dstamp[i] = ++t->clock;
	return enters;
}

/* The place to make room for a code line; a free one's cell 0 has 0. */
static inline uint64_t
oldest_code(const struct tarea *t, const uint32_t *icell)
{
	const uint64_t *cells = at(t, T_CELL);
	uint64_t least = ~0ull, i;

#define KEY(i) (cells[icell[i]] << PLACE_BITS | (i))
	if (rt.boot.ways == 8)
		return LEAST8(KEY) & PLACE_MASK;
	for (i = 0; i < rt.boot.ways; i++)
		least = lesser(least, KEY(i));
	return least & PLACE_MASK;
#undef KEY
}

static inline void
use_code(struct tarea *t, uint64_t line, uint32_t n)
{
	struct table *b = table_of(t);
	uint64_t set = line & (rt.boot.sets - 1), k;
	uint32_t *last = at(t, T_CODETAB);

	if (*cell(t, n) == 0) {
		k = set * rt.boot.ways;
		k += oldest_code(t, b->icell + k);
		if (b->icell[k] != 0) {
			leave(t, 0, b->itag[k]);
			*cell(t, b->icell[k]) = 0;
		}
		b->itag[k] = line;
		b->icell[k] = n;
		b->n++;
	}
	*cell(t, n) = ++t->clock;
	last[set] = n;
}

static void
look_fetch(struct tarea *t, uint64_t addr, const uint32_t *asked)
{
	uint64_t line = addr >> rt.boot.lineshift;
	unsigned i, n = asked[1] >> 8;

	for (i = 0; i < n; i++)
		if (asked[2] == 0)	/* those without cells */
			empty_code(t, (line + i) & (rt.boot.sets - 1));
		else
			use_code(t, line + i, asked[2 + i]);
	put(t, asked[0], 0);
}

/* Where a hint was wrong, or two lines are touched, perhaps none enters. */
static inline void
look_data(struct tarea *t, uint64_t addr, const uint32_t *asked)
{
	uint64_t line = addr >> rt.boot.lineshift;
	uint64_t last = (addr + (asked[1] >> 8) - 1) >> rt.boot.lineshift;
	int enters = use_data(t, line);

	if (last != line)
		enters |= use_data(t, last);
	if (enters)
		put(t, asked[0], addr);
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

/* What is rare. */
__attribute__((noinline))
static void
look_other(struct tarea *t, unsigned what, const uint32_t *asked)
{
	switch (what) {
	case LOOK_WIDE:
		empty_bytes(t, t->pc, asked[1] >> 8);
		put(t, asked[0], t->pc);
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
	unsigned what = asked[1] & 0xff;
	uint64_t room = 64;

	t->rflags = (t->rflags & ~TRAP_FLAG) | (uint64_t)t->tf << 8;
	t->look_kind = what;
	t->look_ret = t->entry + (what == LOOK_FETCH ? 16 : 8);
	if (what >= LOOK_WIDE)
		room += 12 * table_of(t)->n;
	/* this may empty the table, so it comes first */
	if (__builtin_expect(t->p + room > t->bufend, 0))
		buffer_room(t, room);
	if (__builtin_expect(what == LOOK_DATA, 1))
		look_data(t, t->pc, asked);
	else if (what == LOOK_FETCH)
		look_fetch(t, t->pc, asked);
	else
		look_other(t, what, asked);
}
