/*
 * places - choose the addresses of all that is ours in a process
 *
 * Zone 0, the runtime and all data lie 1.5 GB below the libraries, within reach
 * of 32-bit displacements from there, out of the way of mmap: that is below the
 * highest mapping but the stack with room for all below it.  Zone 1 lies below
 * a position-independent program, or above a fixed one.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ctl.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "mem.h"
#include "prog.h"

#define GAP (1536ull << 20)	/* for the guest's own mappings */
#define BIG (2ull << 20)
#define MOST_SHRUNK 6u		/* as area_sizes has it */

struct layout {
	uint64_t program;	/* lowest address of the program */
	uint64_t libs;		/* lowest address used in the mmap area */
	struct taken {
		uint64_t start, end;
		enum { OTHERS, MAIN_STACK, OURS } what;
	} *taken;		/* from the lowest on */
	size_t n, cap;
};

/* OURS is what will be unmapped once the new runtime is there. */
static bool
is_ours(const struct start *s, const struct mapped *m)
{
	size_t i;

	if (s == NULL || s->old == 0)
		return false;
	for (i = 0; i < s->gone.n; i++)
		if (m->start >= s->gone.v[i].start &&
		    m->end <= s->gone.v[i].end)
			return true;
	return m->start - s->old < AREA_BLOB;
}

static int
what_is(const struct start *s, const struct mapped *m)
{
	if (is_ours(s, m))
		return OURS;
	return strncmp(m->name, "[stack]", 7) == 0 ? MAIN_STACK : OTHERS;
}

static void
read_places(struct layout *p, const struct start *s)
{
	struct mapped m;
	int what;

	memset(p, 0, sizeof *p);
	if (!mapped_open(&m, guest.pid))
		guest_lost("the program's mappings");
	while (mapped_next(&m)) {
		what = what_is(s, &m);
		p->taken = xgrow(p->taken, &p->cap, p->n + 1,
		    sizeof *p->taken);
		p->taken[p->n++] = (struct taken){ m.start, m.end, what };
		if (what == OTHERS && p->program == 0)
			p->program = m.start;
	}
}

/* What all segments but zone 1 take, with room for threads' areas. */
static uint64_t
room_needed(void)
{
	const struct segment *s = area.boot.seg;
	uint64_t n = GAP + (16ull << 30);
	unsigned i;

	for (i = 0; i < NSEG; i++)
		if (i != SEG_ZONE1)
			n += s[i].size + BIG;
	return n;
}

/* The highest mapping that has room below it; 0: none has. */
static uint64_t
highest_with_room(const struct layout *p, bool stacks)
{
	uint64_t need = room_needed(), below = 0, found = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		const struct taken *t = &p->taken[i];

		if ((t->what == OTHERS || (stacks && t->what == MAIN_STACK)) &&
		    t->start > need && t->start - need > below)
			found = t->start;
		if (t->what != OURS)
			below = t->end;
	}
	return found;
}

/* A static program has only its stack there, or nothing that has room. */
static void
find_libs(struct layout *p)
{
	p->libs = highest_with_room(p, false);
	if (p->libs == 0)
		p->libs = highest_with_room(p, true);
	if (p->libs == 0)
		p->libs = p->program;
}

static bool
is_free(const struct layout *p, uint64_t at, uint64_t n)
{
	size_t i;

	if (at < 0x10000)
		return false;
	for (i = 0; i < p->n; i++)
		if (at < p->taken[i].end && p->taken[i].start < at + n)
			return false;
	return true;
}

/* Downwards from `below', the first address where n bytes are free; 0: none. */
static uint64_t
place_below(const struct layout *p, uint64_t below, uint64_t n)
{
	uint64_t at = below > n ? (below - n) & ~(BIG - 1) : 0;

	while (at > BIG && !is_free(p, at, n))
		at -= BIG;
	return at > BIG ? at : 0;
}

/* The bytes of address space that a thread's area asks for. */
static uint64_t
thread_bytes(void)
{
	return 2 * T_SIZE + IBL_ALL + area.boot.countbytes +
	    area.boot.seg[SEG_ARCS].size;
}

/* The bytes of all segments, with an area for a thread. */
static uint64_t
area_bytes(void)
{
	const struct segment *last = &area.boot.seg[NSEG - 1];

	return last->off + last->size + thread_bytes();
}

/* false: there is no room. */
static bool
choose_places(const struct layout *p)
{
	struct segment *s = area.boot.seg;
	uint64_t top = p->libs > GAP + (1ull << 32) ? p->libs - GAP :
	    1ull << 34;
	unsigned i;

	s[SEG_ZONE0].addr = place_below(p, top, s[SEG_ZONE0].size);
	top = s[SEG_ZONE0].addr;
	area.blob = top = place_below(p, top, AREA_BLOB);
	for (i = 0; i < NSEG; i++) {
		if (i == SEG_ZONE0 || i == SEG_ZONE1 || s[i].size == 0)
			continue;
		/* control is last and lowest: threads' areas lie below it */
		if (i != SEG_CONTROL)
			s[i].addr = top = place_below(p, top, s[i].size);
	}
	s[SEG_CONTROL].addr = place_below(p, top, s[SEG_CONTROL].size);
	if (s[SEG_CONTROL].addr == 0 ||		/* the last one */
	    place_below(p, s[SEG_CONTROL].addr, thread_bytes()) == 0)
		return false;
	if (p->libs - p->program < (1ull << 31)) {
		s[SEG_ZONE1].size = 0;
	} else if (p->program > (1ull << 32)) {
		s[SEG_ZONE1].addr = place_below(p, p->program - BIG,
		    s[SEG_ZONE1].size);
	} else {
		s[SEG_ZONE1].addr = 0x70000000;
		if (!is_free(p, s[SEG_ZONE1].addr, s[SEG_ZONE1].size))
			s[SEG_ZONE1].size = 0;
	}
	if (s[SEG_ZONE1].addr == 0)
		s[SEG_ZONE1].size = 0;
	return true;
}

/* The bytes of address space that the process has, but for what is OURS. */
static uint64_t
space_used(const struct layout *p)
{
	uint64_t used;
	char text[128];
	size_t i;

	guest_file("statm", text, sizeof text);
	used = strtoull(text, NULL, 10) * PAGE;
	for (i = 0; i < p->n; i++)
		if (p->taken[i].what == OURS)
			used -= p->taken[i].end - p->taken[i].start;
	return used;
}

/*
 * Under a limit of the address space take no more than a quarter of it, and
 * than is left.  MOST_SHRUNK + 1: there is too little.
 */
static unsigned
shrink_for_limit(const struct layout *p)
{
	struct rlimit r;
	unsigned s;
	uint64_t used = space_used(p);

	if (prlimit(guest.pid, RLIMIT_AS, NULL, &r) < 0 ||
	    r.rlim_cur == RLIM_INFINITY)
		return 0;
	for (s = 0; s <= MOST_SHRUNK; s++) {
		area_sizes(s);
		if (area_bytes() + used <= r.rlim_cur &&
		    (area_bytes() <= r.rlim_cur / 4 || s == MOST_SHRUNK))
			break;
	}
	return s;
}

/* Smaller ones where the program has left no room for them. */
void
places_choose(const struct start *s)
{
	struct layout p;
	bool fits = false;
	unsigned shrink;

	read_places(&p, s);
	shrink = shrink_for_limit(&p);
	for (; !fits && shrink <= MOST_SHRUNK; shrink++) {
		area_sizes(shrink);
		find_libs(&p);
		fits = choose_places(&p);
	}
	free(p.taken);
	if (!fits)
		die("process %d: its address space has no room for the code "
		    "cache", (int)guest.pid);
}
