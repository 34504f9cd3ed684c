/*
 * cohere - MESI, invalidations, false sharing
 *
 * As long as there is one core, it has alone what it holds (hold.c), and only
 * the bytes that it touches are noted.
 */
#include "memsim.h"

static struct node *
first_shared(unsigned c)
{
	struct node *n = core[c].first[DATA];

	while (n != NULL && n->core != MOST_CORES)
		n = n->next;
	return n;
}

/* Write the dirty copies of a core back, and perhaps take all away. */
static void
clean(unsigned c, uint64_t line, bool drop)
{
	for (unsigned i = core[c].nown; i-- > 0; ) {
		struct node *n = core[c].own[i];
		uint32_t slot = cache_find(n->c, line);
		uint64_t size = (uint64_t)1 << n->shift;

		if (slot == CACHE_NONE)
			continue;
		if ((n->c->entry[slot] & CACHE_CLEAN) == 0) {
			tally[n->number].written++;
			tally[n->number].out += size;
			count_event(col_written[n->number], 1);
			leave_write_back(first_shared(c), line << n->shift,
			    size);
			n->c->entry[slot] |= CACHE_CLEAN;
		}
		if (drop)
			leave_drop(n, slot);
	}
}

static void
invalidate(unsigned whose, uint64_t line, uint64_t bytes)
{
	struct holders *h = hold_all(line);
	uint64_t others = h == NULL ? 0 : h->core & ~((uint64_t)1 << whose);

	for (; others != 0; others &= others - 1) {
		unsigned c = (unsigned)__builtin_ctzll(others);

		count_event(col_inval, 1);
		if ((hold_touched(c, line) & bytes) == 0)
			count_event(col_false, 1);
		clean(c, line, true);
	}
}

void
cohere_before(unsigned c, uint64_t line, bool write, uint64_t bytes)
{
	struct holders *h;

	if (ncore == 1)
		return;
	if (write) {
		invalidate(c, line, bytes);
		return;
	}
	h = hold_all(line);
	if (h == NULL || h->core >> c & 1 || !h->alone)
		return;
	h->alone = false;
	clean((unsigned)__builtin_ctzll(h->core), line, false);
}

void
cohere_after(unsigned c, uint64_t line, bool write, uint64_t bytes)
{
	struct node *n = core[c].first[DATA];
	uint32_t slot = n == NULL || n->touched == NULL ? CACHE_NONE :
	    cache_find(n->c, line);
	struct held *own;
	struct holders *h;

	if (slot == CACHE_NONE) {
		own = hold_of(c, line);
		if (own == NULL)
			return;
		own->touched |= bytes;
	} else {
		n->touched[slot] |= bytes;
	}
	if (ncore == 1)
		return;
	h = hold_all(line);
	if (write || h->core == (uint64_t)1 << c)
		h->alone = true;
}
