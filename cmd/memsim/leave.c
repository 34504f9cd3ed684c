/*
 * leave - lines come and leave: write-backs, what inclusive and exclusive mean
 */
#include "memsim.h"

void
leave_drop(struct node *n, uint32_t slot)
{
	n->dropped++;
	if (n->c->entry[slot] & CACHE_NEW)
		tally[n->number].useless++;
	if (n->touched != NULL)
		hold_left(n, cache_key(n->c, slot), slot);
	cache_remove(n->c, slot);
}

void
leave_write_back(struct node *n, uint64_t from, uint64_t size)
{
	uint64_t line, part;
	uint32_t slot;

	if (n == NULL)
		return;
	for (; size > 0; from += part, size -= part) {
		line = from >> n->shift;
		part = line_addr(n, 1) - (from - line_addr(n, line));
		if (part > size)
			part = size;
		slot = cache_find(n->c, line);
		if (slot != CACHE_NONE && !n->part->through) {
			n->c->entry[slot] &= ~(uint64_t)CACHE_CLEAN;
			continue;
		}
		tally[n->number].out += part;
		leave_write_back(n->next, from, part);
	}
}

/* Take all copies out of the nearer caches: was one dirty? */
static bool
invalidate_nearer(struct node *n, uint64_t line)
{
	bool dirty = false;

	for (unsigned i = 0; i < n->nbefore; i++) {
		struct node *b = n->before[i];
		uint64_t first = line << (n->shift - b->shift);
		uint64_t end = first + ((uint64_t)1 << (n->shift - b->shift));

		for (; first < end; first++) {
			uint32_t slot = cache_find(b->c, first);

			if (slot == CACHE_NONE)
				continue;
			dirty |= is_dirty(b, slot);
			tally[b->number].back++;
			leave_drop(b, slot);
		}
	}
	return dirty;
}

/* Does another cache that asks the same one directly hold the line? */
static bool
held_beside(const struct node *n, uint64_t line)
{
	for (unsigned i = 0; i < n->next->nbefore; i++) {
		struct node *b = n->next->before[i];

		if (b != n && b->next == n->next &&
		    cache_find(b->c, line) != CACHE_NONE)
			return true;
	}
	return false;
}

/* An exclusive cache gives a line away if it has it: is that dirty? */
bool
leave_given(struct node *n, uint64_t line)
{
	uint32_t slot = cache_find(n->c, line);
	bool dirty;

	if (slot == CACHE_NONE)
		return false;
	dirty = is_dirty(n, slot);
	leave_drop(n, slot);
	return dirty;
}

/*
 * Between a cache and an exclusive one behind it lines change places: the core
 * holds the line all the while.
 */
void
leave_hold(const struct node *n, uint64_t line)
{
	if (n->touched != NULL && is_exclusive(n->next))
		hold_came(n->core, line);
}

void
leave_let_go(const struct node *n, uint64_t line)
{
	if (n->touched != NULL && is_exclusive(n->next))
		hold_gone(n->core, line);
}

static void leave(struct node *, uint32_t slot);

static void
put(struct node *n, uint64_t line, unsigned flags)
{
	uint32_t slot = cache_place(n->c, line);

	if (n->c->entry[slot] != 0)
		leave(n, slot);
	cache_fill(n->c, slot, line, flags);
	if (n->touched != NULL) {
		n->touched[slot] = 0;
		hold_came(n->core, line);
	}
}

static void
leave(struct node *n, uint32_t slot)
{
	uint64_t line = cache_key(n->c, slot), size = line_addr(n, 1);
	struct node *next = n->next;
	bool dirty = is_dirty(n, slot), into = false;

	if (n->part->content == INCLUSIVE)
		dirty |= invalidate_nearer(n, line);
	leave_hold(n, line);
	leave_drop(n, slot);
	if (is_exclusive(next)) {
		into = !held_beside(n, line);
		if (!into)
			next = next->next;
	}
	if (dirty) {
		tally[n->number].written++;
		count_event(col_written[n->number], 1);
	}
	if (dirty || into)
		tally[n->number].out += size;
	if (into && is_exclusive(next->next))
		dirty |= leave_given(next->next, line);
	if (into)
		put(next, line, dirty ? 0 : CACHE_CLEAN);
	else if (dirty)
		leave_write_back(next, line_addr(n, line), size);
	leave_let_go(n, line);
}

void
leave_fill(struct node *n, uint64_t line, bool dirty, bool prefetched)
{
	tally[n->number].in += line_addr(n, 1);
	put(n, line, (dirty ? 0 : CACHE_CLEAN) | (prefetched ? CACHE_NEW : 0));
}
