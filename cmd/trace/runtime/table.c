/*
 * table - kind cache: the table of recently used lines, and what a miss records
 *
 * For data and for code each, a set has `ways` places, and each line in it has
 * the time of its last use.  A data line is found by a hint, which the line's
 * low bits select, or by a search of its set.  A code line is known when its
 * code is translated, and has its time in a cell of its own.  Fragments handle
 * hits (xlate/filter.c); this file handles uses whose line was not found, and
 * look.S the usual ones of these, in the same way.
 *
 * cachesim relies on this: a line enters by the record of a reference (stays in
 * def_ref_id), at the place of the least recently used line.  Free places count
 * as used before all others, the first one first.  If both lines of a reference
 * enter, a record before it says that the line which makes room for the first
 * leaves.  A reference without `stays` finds its sets empty, or, if it is a
 * repeated one, all of its lines there.  The table is emptied, in order, before
 * another thread's records may come in between.
 *
 * table_look runs while the thread is in the cache, between two of its
 * instructions; signals are kept until it is done.
 */
#include "contexts.h"
#include "kinds.h"
#include "queue.h"
#include "runtime.h"

_Static_assert(T_TABLE + sizeof(struct line_table) <= T_SIZE, "table");
#define IS_AT(member, t) \
	_Static_assert(offsetof(struct line_table, member) ==		\
	    t - T_DTAG, "table")
IS_AT(data[0].stamp, T_DTAG + LINE_STAMP);
IS_AT(itag, T_DTAG + 16 * (int)TABLE_LINES);

#define DATA 1		/* index of rt.boot.leave */
#define ROOM LOOK_ROOM

static struct line_table *
table_of(const struct tarea *t)
{
	return (struct line_table *)((uint64_t)t - T_OFF + T_TABLE);
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

static inline uint64_t
set_of(uint64_t line)
{
	return (line >> rt.boot.lineshift & (rt.boot.sets - 1)) * PLACES;
}

/* A record of at most one value; there is room. */
static inline void
put(struct tarea *t, uint32_t head, uint64_t v)
{
	if (record_nvalues(head) != 0)
		__builtin_memcpy((void *)(t->p + 4), &v, 8);
	*(volatile uint32_t *)t->p = head;
	t->p += record_size(record_nvalues(head));
}

static void
leave(struct tarea *t, int which, uint64_t line)
{
	put(t, rt.boot.leave[which], line);
	table_of(t)->n--;
}

/* HINT_TAG(T,hint,8) is the tag of the place. */
static inline int16_t
hint_of(uint64_t at)
{
	return (int16_t)((T_DTAG - HINT_TAG) / 8 + 2 * (int64_t)at);
}

_Static_assert((T_DTAG - HINT_TAG) % 8 == 0 && T_DTAG >= 0 &&
    T_DTAG / 8 + 2 * (int32_t)TABLE_LINES <= INT16_MAX, "hints");

/* Clear the table of a new thread. */
void
table_clear(struct tarea *t)
{
	struct line_table *b = table_of(t);
	uint64_t i;

	for (i = 0; i < TABLE_LINES; i++)
		b->data[i].tag = NO_LINE;
	for (i = 0; i < TABLE_HINTS; i++)
		t->hint[i] = hint_of(0);
}

/* What fragments call for a look-up: the usual ones have a way of their own. */
void
table_look_by(struct tarea *t)
{
	bool usual = rt.boot.lineshift == 6 && rt.boot.sets > 1 &&
	    rt.boot.ways == PLACES;
	bool told = rt.boot.flags & BOOT_CONTEXTS;

	t->rt_data = (uint64_t)(!usual ? rt_look : told ? rt_told_data :
	    rt_look_data);
	t->rt_fetch = (uint64_t)(!usual ? rt_look : told ? rt_told_fetch :
	    rt_look_fetch);
}

/* ----------------------------------------------------------------- emptying */

static void
empty_data(struct tarea *t, uint64_t first)
{
	struct line *a = table_of(t)->data + first;
	uint64_t i, k;

	for (;;) {
		for (i = k = 0; i < rt.boot.ways; i++)
			if (a[i].stamp != 0 && (a[k].stamp == 0 ||
			    a[i].stamp < a[k].stamp))
				k = i;
		if (a[k].stamp == 0)
			return;
		leave(t, DATA, a[k].tag);
		a[k].stamp = 0;
		a[k].tag = NO_LINE;
	}
}

static void
empty_code(struct tarea *t, uint64_t first)
{
	struct line_table *b = table_of(t);
	uint64_t i, k;

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
		empty_data(t, s * PLACES);
		empty_code(t, s * PLACES);
	}
}

/* Empty the sets of n bytes at addr; at most all sets. */
static void
empty_bytes(struct tarea *t, uint64_t addr, uint64_t n)
{
	uint64_t size = 1ull << rt.boot.lineshift, mask = rt.boot.sets - 1, s;
	uint64_t more = ((addr & (size - 1)) + n - 1) >> rt.boot.lineshift;

	if (more > mask)
		more = mask;
	for (s = 0; s <= more; s++)
		empty_data(t, set_of(addr + s * size));
}

/* ------------------------------------------------------------------ looking */

/*
 * The least recently used place of a set.  A key is a time, with the place
 * below it.  The least key is found without branches, which would be
 * unpredictable, and in a tree of three steps rather than a chain.
 */
static inline uint64_t
lesser(uint64_t a, uint64_t b)
{
	uint64_t c = a < b ? a : b;

	__asm__("" : "+r"(c));
	return c;
}

#define LEAST8(key) lesser(						\
	lesser(lesser(key(0), key(1)), lesser(key(2), key(3))),		\
	lesser(lesser(key(4), key(5)), lesser(key(6), key(7))))

static inline uint64_t
oldest_data(const struct line *a)
{
	uint64_t least = ~0ull, i;

#define KEY(i) (a[i].stamp * PLACES + (i))
	if (__builtin_expect(rt.boot.ways == PLACES, 1))
		return LEAST8(KEY) % PLACES;
	for (i = 0; i < rt.boot.ways; i++)
		least = lesser(least, KEY(i));
	return least % PLACES;
#undef KEY
}

/* The cell of a free place is cell 0, which holds 0. */
static inline uint64_t
oldest_code(const uint64_t *cells, const uint32_t *icell)
{
	uint64_t least = ~0ull, i;

#define KEY(i) (cells[icell[i]] * PLACES + (i))
	if (__builtin_expect(rt.boot.ways == PLACES, 1))
		return LEAST8(KEY) % PLACES;
	for (i = 0; i < rt.boot.ways; i++)
		least = lesser(least, KEY(i));
	return least % PLACES;
#undef KEY
}

/* The place of a set that has a line, or PLACES. */
static inline uint64_t
search(const struct line *a, uint64_t line)
{
	uint64_t i;

#pragma GCC unroll 8
	for (i = 0; i < PLACES; i++)
		if (__builtin_expect(a[i].tag == line, 0))
			break;
	return i;
}

static inline int16_t *
hint(struct tarea *t, uint64_t line)
{
	return &t->hint[(line >> rt.boot.lineshift) % TABLE_HINTS];
}

/* Put a line at a place, used now. */
static inline void
put_data(struct tarea *t, uint64_t line, uint64_t at, uint64_t now)
{
	struct line_table *b = table_of(t);

	b->data[at].tag = line;
	b->data[at].stamp = now;
	*hint(t, line) = hint_of(at);
}

/* A line enters; returns its place.  tells: record that the old line leaves. */
static inline __attribute__((always_inline)) uint64_t
enter_data(struct tarea *t, uint64_t line, uint64_t now, bool tells)
{
	struct line_table *b = table_of(t);
	uint64_t set = set_of(line), i = oldest_data(b->data + set);
	uint64_t was = b->data[set + i].tag;

	if (was != NO_LINE && tells)
		leave(t, DATA, was);
	if (was == NO_LINE || tells)
		b->n++;
	put_data(t, line, set + i, now);
	return i;
}

/* Use a line if it is in the table; false: it is not. */
static inline bool
use_data(struct tarea *t, uint64_t line, uint64_t now)
{
	struct line_table *b = table_of(t);
	uint64_t at = (uint64_t)(*hint(t, line) - hint_of(0)) / 2, i;

	if (__builtin_expect(b->data[at].tag != line, 0)) {
		at = set_of(line);
		i = search(b->data + at, line);
		if (i == PLACES)
			return false;
		at += i;
	}
	put_data(t, line, at, now);
	return true;
}

/* An access across a line's end; it records nothing if both are there. */
__attribute__((noinline))
static void
look_two(struct tarea *t, uint64_t addr, uint64_t line, uint32_t head)
{
	uint64_t next = line + (1ull << rt.boot.lineshift), place = 0;
	uint64_t now = t->clock++;
	bool first, second;

	/* this may empty the table, so it comes first */
	contexts_tell(t, ROOM);
	first = use_data(t, line, now);
	second = use_data(t, next, now + 1);
	if (first && second)
		return;
	if (!first)
		place = enter_data(t, line, now, !second);
	if (!second)
		place = PLACE_SECOND | enter_data(t, next, now + 1, false);
	put(t, head, addr << PLACE_BITS | place);
}

/* A line that is not where its hint says; mostly it enters. */
static inline void
look_data(struct tarea *t, uint64_t addr, const uint32_t *asked)
{
	struct line_table *b = table_of(t);
	uint64_t size = 1ull << rt.boot.lineshift, line = addr & -size;
	uint64_t now = t->clock, set, i;

	if (addr - line + (asked[1] >> 4 & 0xfff) > size) {
		look_two(t, addr, line, asked[0]);
		return;
	}
	set = set_of(line);
	i = search(b->data + set, line);
	if (__builtin_expect(i != PLACES, 0)) {
		put_data(t, line, set + i, now);
		return;
	}
	if (__builtin_expect(!contexts_are_told(t), 0))
		contexts_tell(t, ROOM);
	addr = addr << PLACE_BITS | enter_data(t, line, now, false);
	__builtin_memcpy((void *)(t->p + 4), &addr, 8);
	*(volatile uint32_t *)t->p = asked[0];
	t->p += 12;
}

/* A code line is used, or enters: tells is as above; its place. */
static inline uint64_t
use_code(struct tarea *t, uint64_t line, uint32_t n, uint64_t now, bool tells)
{
	struct line_table *b = table_of(t);
	uint64_t *cells = cell(t, 0), set = set_of(line), i = 0, k;

	if (cells[n] == 0) {
		i = oldest_code(cells, b->icell + set);
		k = set + i;
		if (b->icell[k] != 0 && tells)
			leave(t, 0, b->itag[k]);
		if (b->icell[k] == 0 || tells)
			b->n++;
		cells[b->icell[k]] = 0;		/* cell 0 is no line's */
		b->itag[k] = line;
		b->icell[k] = n;
	}
	cells[n] = now;
	return i;
}

static uint64_t
use_two(struct tarea *t, uint64_t line, const uint32_t n[2], uint64_t now)
{
	uint64_t next = line + (1ull << rt.boot.lineshift), i;
	bool second = *cell(t, n[1]) != 0;

	i = use_code(t, line, n[0], now, !second);
	if (second) {
		use_code(t, next, n[1], now, false);
		return i;
	}
	return PLACE_SECOND | use_code(t, next, n[1], now, false);
}

__attribute__((noinline))
static void
look_fetch(struct tarea *t, const uint32_t *asked)
{
	uint64_t addr = asked[2] | (uint64_t)asked[3] << 32;
	uint64_t size = 1ull << rt.boot.lineshift, line = addr & -size, i = 0;
	uint64_t now = t->clock;
	unsigned n = asked[1] >> 4 & 0xfff, k;
	const uint32_t *cells = asked + 4;

	contexts_tell(t, ROOM);
	if (__builtin_expect(cells[0] == 0, 0)) {	/* there are none */
		buffer_room(t, ROOM + 12 * table_of(t)->n);
		for (k = 0; k < n; k++)
			empty_code(t, set_of(line + k * size));
	} else if (n == 1) {
		i = use_code(t, line, cells[0], now, false);
	} else {
		i = use_two(t, line, cells, now);
	}
	put(t, asked[0], addr << PLACE_BITS | i);
}

/* A repeated instruction, which has been executed. */
struct rep {
	uint64_t addr[2];	/* of the first round */
	uint64_t n;		/* rounds, with a sign */
	uint64_t size;		/* bytes of one round */
	unsigned nref;
	const uint32_t *head;	/* of records of its references, each alone */
};

static inline uint64_t
rounds(const struct rep *r)
{
	return (int64_t)r->n < 0 ? -r->n : r->n;
}

/* The first byte of reference i. */
static inline uint64_t
lowest(const struct rep *r, unsigned i)
{
	return (int64_t)r->n < 0 ? r->addr[i] + (r->n + 1) * r->size :
	    r->addr[i];
}

/* Can all its lines be in the table at once? */
static bool
fits(const struct rep *r)
{
	uint64_t line = 1ull << rt.boot.lineshift, places = 0, lines;
	unsigned i;

	if (r->size > line || rounds(r) > TABLE_LINES * line)
		return false;
	for (i = 0; i < r->nref; i++) {
		if (r->addr[i] == 0)
			return false;
		lines = (((lowest(r, i) & (line - 1)) + rounds(r) * r->size -
		    1) >> rt.boot.lineshift) + 1;
		places += (lines + rt.boot.sets - 1) / rt.boot.sets;
	}
	return places <= rt.boot.ways;
}

/* One round of a reference.  How many rounds, from this one on, are alike. */
static uint64_t
use_round(struct tarea *t, const struct rep *r, unsigned i, uint64_t addr)
{
	uint64_t size = 1ull << rt.boot.lineshift, line = addr & -size;
	uint64_t now = ++t->clock, off = addr - line;

	if (off + r->size > size) {
		look_two(t, addr, line, r->head[i]);
		return 1;
	}
	if (!use_data(t, line, now))
		put(t, r->head[i], addr << PLACE_BITS |
		    enter_data(t, line, now, false));
	return ((int64_t)r->n < 0 ? off : size - r->size - off) / r->size + 1;
}

/* Use its lines in the order in which they are; those that miss enter. */
static void
use_rounds(struct tarea *t, const struct rep *r)
{
	uint64_t n = rounds(r), step = (int64_t)r->n < 0 ? -r->size : r->size;
	uint64_t i, alike, more;
	unsigned k;

	for (i = 0; i < n; i += alike) {
		alike = n - i;
		for (k = 0; k < r->nref; k++) {
			more = use_round(t, r, k, r->addr[k] + i * step);
			alike = lesser(more, alike);
		}
	}
	t->clock++;	/* what comes next may not tick */
}

/* Arguments: two more words, the heads of records of its references. */
static void
look_rep(struct tarea *t, const uint32_t *asked, uint64_t room)
{
	unsigned nv = record_nvalues(asked[0]), i;
	struct rep r = { .nref = asked[1] >> 8 & 15, .size = asked[1] >> 24,
	    .head = asked + 2 };
	uint64_t v[3];

	memcpy(v, t->vec, 8 * nv);
	contexts_tell(t, room);
	r.n = v[asked[1] >> 12 & 15];
	for (i = 0; i < r.nref; i++)
		r.addr[i] = v[asked[1] >> (16 + 4 * i) & 15];
	if (r.n != 0 && fits(&r))
		use_rounds(t, &r);
	else for (i = 0; r.n != 0 && i < r.nref; i++)
		empty_bytes(t, lowest(&r, i), rounds(&r) * r.size);
	memcpy((void *)(t->p + 4), v, 8 * nv);
	*(volatile uint32_t *)t->p = asked[0];
	t->p += 4 + 8 * nv;
}

/* Rare lookups, under the trap flag, or with little room in the buffer. */
__attribute__((noinline))
static void
look_other(struct tarea *t, const uint32_t *asked)
{
	uint64_t addr = t->pc, room = ROOM;

	t->rflags = (t->rflags & ~TRAP_FLAG) | (uint64_t)t->tf << 8;
	if (t->look_kind >= LOOK_WIDE)
		room += 12 * table_of(t)->n;
	if (t->look_kind == LOOK_REP)
		room += 24 * rt.boot.sets * rt.boot.ways;
	if (t->look_kind >= LOOK_WIDE && t->look_kind != LOOK_REP)
		contexts_tell(t, room);
	/* this may empty the table, so it comes first */
	buffer_room(t, room);
	switch (t->look_kind) {
	case LOOK_FETCH:
		look_fetch(t, asked);
		break;
	case LOOK_DATA:
		look_data(t, addr, asked);
		break;
	case LOOK_WIDE:
		empty_bytes(t, addr, asked[1] >> 8);
		put(t, asked[0], addr);
		break;
	case LOOK_REP:
		look_rep(t, asked, room);
		break;
	default:
		table_empty(t);
		break;
	}
}

__attribute__((noinline))
static void
look_on(struct tarea *t, const uint32_t *asked)
{
	t->rflags = (t->rflags & ~TRAP_FLAG) | (uint64_t)t->tf << 8;
	if (t->look_kind == LOOK_ROUNDS)
		branches_look(t, asked, look_saved(t)[1]);
	else if (t->look_kind == LOOK_OPEN)
		allocs_open(t, asked[1] >> 8);
	else if (!t->tf)	/* else allocs_settle does it, at the trap */
		allocs_close(t, t->tmp1);
}

/* What is asked for, perhaps as *two; and note where the fragment goes on. */
static const uint32_t *
arguments(struct tarea *t, uint32_t two[2])
{
	uint64_t place = (uint64_t)(int64_t)(int32_t)t->entry;
	uint64_t at = place + rt.place[place >> 63];
	const uint32_t *asked = (const uint32_t *)at;
	unsigned kind = asked[1] & LOOK_KIND;

	if (t->entry != place) {
		two[0] = record_head(t->entry >> 32 & (NIDS - 1), 1);
		two[1] = LOOK_DATA |
		    LOOK_LINE_SIZE(t->entry >> (32 + ID_BITS));
		t->look_ret = at;
		return two;
	}
	if (kind <= LOOK_DATA)
		t->look_ret = at + (uint64_t)(int64_t)((int32_t)asked[1] >> 16);
	else
		t->look_ret = at + (kind == LOOK_REP ? 16 : 8);
	return asked;
}

void
table_look(struct tarea *t)
{
	uint32_t two[2];
	const uint32_t *asked = arguments(t, two);
	unsigned kind = asked[1] & LOOK_KIND;

	t->look_kind = kind;
	if (__builtin_expect(kind >= LOOK_OPEN, 0))
		look_on(t, asked);
	else if (__builtin_expect(kind >= LOOK_WIDE || t->tf ||
	    t->p + ROOM > t->bufend, 0))
		look_other(t, asked);
	else if (__builtin_expect(kind == LOOK_DATA, 1))
		look_data(t, t->pc, asked);
	else
		look_fetch(t, asked);
}
