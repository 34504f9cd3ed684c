/*
 * touch - the regions of memory that references touch (--mav)
 */
#include "bbv.h"

#include <stdlib.h>

#include "hash.h"
#include "khash.h"
#include "mem.h"

KHASH_INIT(region, uint64_t, uint32_t, 1, hash_address, kh_int64_hash_equal)

bool touch_crowded;
static khash_t(region) *regions;	/* address >> mav_shift -> number */
static uint32_t nregion;

bool
touch_wanted(const struct bbv_thread *t)
{
	return opt.mav_out != NULL && rows_wanted(t);
}

/* Count n touches of the region of an address. */
static void
touch(struct bbv_thread *t, uint64_t addr, uint64_t n)
{
	khiter_t k;
	int new;

	k = kh_put(region, regions, addr >> opt.mav_shift, &new);
	if (new) {
		if (nregion == TOUCH_MOST) {
			kh_del(region, regions, k);
			touch_crowded = true;
			return;
		}
		kh_value(regions, k) = nregion++;
	}
	if (kh_value(regions, k) >= t->captouches)
		t->touches = xgrow0(t->touches, &t->captouches, nregion,
		    sizeof *t->touches);
	t->touches[kh_value(regions, k)] += n;
}

/* How many steps of `by' bytes leave an address in its region? */
static uint64_t
steps_inside(uint64_t addr, uint64_t by)
{
	uint64_t mask = ((uint64_t)1 << opt.mav_shift) - 1;

	if (by == 0)
		return UINT64_MAX;
	return (int64_t)by < 0 ? (addr & mask) / -by :
	    (~addr & mask) / by;
}

/* Set the address of a reference; false: the reference does not happen. */
static bool
address_of(const struct ev_block *b, const struct ev_ref *r, uint64_t *addr)
{
	*addr = r->at;
	if (r->where != EV_GROUP)
		return true;
	*addr += b->value[r->group];
	return b->value[r->group] != 0;
}

/*
 * Touch the references from r on that share a count: they take turns, round by
 * round, as a repeated string instruction does.  Rounds in which all stay in
 * their regions are counted at once.  Returns the reference behind them.
 */
static const struct ev_ref *
touch_repeated(struct bbv_thread *t, const struct ev_block *b,
    const struct ev_ref *r, const struct ev_ref *end, uint64_t times)
{
	int64_t count = (int64_t)b->value[r->count - 1];
	uint64_t n = count < 0 ? -(uint64_t)count : (uint64_t)count;
	const struct ev_ref *last = r + 1;
	uint64_t addr, by, stay;

	while (last < end && last->count == r->count)
		last++;
	for (uint64_t round = 0; round < n && !touch_crowded; round += stay) {
		stay = n - round;
		for (const struct ev_ref *k = r; k < last; k++) {
			by = count < 0 ? -(uint64_t)k->size : k->size;
			if (address_of(b, k, &addr) &&
			    steps_inside(addr + round * by, by) < stay)
				stay = steps_inside(addr + round * by, by) + 1;
		}
		if (stay > n - round)
			stay = n - round;
		for (const struct ev_ref *k = r; k < last; k++) {
			by = count < 0 ? -(uint64_t)k->size : k->size;
			if (address_of(b, k, &addr))
				touch(t, addr + round * by, stay * times);
		}
	}
	return last;
}

void
touch_insns(struct bbv_thread *t, const struct ev_def *d, uint32_t first,
    uint32_t n, uint64_t times)
{
	const struct ev_block *b = d->block;
	const struct ev_ref *r, *end;
	uint64_t addr;

	if (regions == NULL)
		regions = kh_init(region);
	for (uint32_t i = first; i < first + n; i++) {
		r = &b->ref[b->insn[i].ref];
		for (end = r + b->insn[i].nref; r < end; ) {
			if (r->count != 0) {
				r = touch_repeated(t, b, r, end, times);
				continue;
			}
			if (address_of(b, r, &addr))
				touch(t, addr, times);
			r++;
		}
	}
}

/* A value is not 0 after fewer steps of `by' bytes than this. */
static uint64_t
steps_to_0(uint64_t value, uint64_t by)
{
	return (int64_t)by < 0 ? value / -by : -value / by;
}

/* How many of n further rounds leave all addresses in their regions? */
static uint64_t
same_regions(const struct ev_def *d, const uint64_t *diff, uint64_t n)
{
	const struct ev_block *b = d->block;
	const struct ev_ref *end;
	uint64_t addr, by;

	end = &b->ref[b->insn[d->n - 1].ref] + b->insn[d->n - 1].nref;
	for (const struct ev_ref *r = b->ref; r < end && n > 0; r++) {
		by = r->where == EV_GROUP ? diff[r->group] : 0;
		if (r->count != 0 && (by != 0 || diff[r->count - 1] != 0))
			return 0;
		/* a reference that does not happen now, or not later */
		if (by != 0 && (!address_of(b, r, &addr) ||
		    steps_to_0(b->value[r->group], by) <= n))
			return 0;
		address_of(b, r, &addr);
		if (steps_inside(addr, by) < n)
			n = steps_inside(addr, by);
	}
	return n;
}

uint64_t
touch_rounds(struct bbv_thread *t, const struct ev_def *d, const uint64_t *diff,
    uint64_t n)
{
	ev_apply(d, diff);
	n = 1 + same_regions(d, diff, n - 1);
	touch_insns(t, d, 0, d->n, n);
	for (unsigned i = 0; i < d->ngroups; i++)
		d->block->value[i] += diff[i] * (n - 1);
	return n;
}
