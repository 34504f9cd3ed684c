/*
 * refs - what instructions refer to
 *
 * Each instruction of a block knows what it found last: the next reference is
 * mostly to that, or beside it. In kind all every reference can be counted; a
 * repeat has its rounds counted at once where they find the same.
 */
#include <string.h>

#include "dataprof.h"
#include "mem.h"

static struct insn_cache **insns;	/* by block */
static size_t ninsns;

struct insn_cache *
insn_cache(const struct ev_block *b, uint32_t insn)
{
	struct insn_cache *c;

	insns = xgrow0(insns, &ninsns, b->id + (size_t)1, sizeof *insns);
	if (insns[b->id] == NULL)
		insns[b->id] = xcalloc(b->ninsn, sizeof **insns);
	c = &insns[b->id][insn];
	if (c->code == 0)
		c->code = 1 + tally_code(b->insn[insn].addr);
	return c;
}

const struct insn_cache *
insn_caches(uint32_t block)
{
	return block < ninsns ? insns[block] : NULL;
}

size_t
insn_code_row(const struct insn_cache *c)
{
	return tally_row(c->code - 1, object_code(DATA_CODE,
	    tally_code_at(c->code - 1)->fn));
}

void
refer(struct insn_cache *c, const struct ev_ref *r, uint64_t addr,
    const int64_t *cost, uint64_t n)
{
	unsigned thread = ev_thread(dp.events);
	struct data_place p;

	if (addr < c->lo || addr >= c->hi || !epoch_holds(c->epoch, addr)) {
		c->row = tally_find(thread, addr, r->size, c->code - 1,
		    hold_room(thread), &p);
		c->lo = p.lo;
		c->hi = p.hi;
		c->epoch = epoch.now;
	}
	if (c->row == TALLY_HOLD)
		hold_put(thread, addr, r->size, c->code - 1, cost, n);
	else
		tally_add(c->row, cost, n);
}

bool
ref_address(const uint64_t *value, const struct ev_ref *r, uint64_t *addr)
{
	*addr = r->at;
	if (r->where == EV_BARE)
		return false;
	if (r->count != 0 && value[r->count - 1] == 0)
		return false;
	if (r->where == EV_GROUP) {
		if (value[r->group] == 0)
			return false;
		*addr += value[r->group];
	}
	return true;
}

static uint64_t
times(const uint64_t *value, const struct ev_ref *r)
{
	int64_t n;

	if (r->count == 0)
		return 1;
	n = (int64_t)value[r->count - 1];
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

/* The block whose references are counted, and its groups' values. */
static const struct ev_block *running;
static const uint64_t *running_value;

/* n times the same reference, at an address. */
static void
count_ref(struct insn_cache *c, const struct ev_ref *r, uint64_t addr,
    uint64_t n)
{
	static int64_t cost[COLUMNS];	/* 0 but for Dr and Dw */
	bool writes = r->kind == 'w';

	cost[writes] = (int64_t)n;
	cost[!writes] = 0;
	refer(c, r, addr, cost, n);
}

void
refs_count(uint32_t from, uint32_t to)
{
	const struct ev_block *b = running;
	const uint64_t *value = running_value;
	const struct ev_ref *r;
	uint64_t addr;
	uint32_t i, k;

	for (i = from; i < to; i++)
		for (k = 0; k < b->insn[i].nref; k++) {
			r = &b->ref[b->insn[i].ref + k];
			if (ref_address(value, r, &addr))
				count_ref(insn_cache(b, i), r, addr,
				    times(value, r));
		}
}

/*
 * Behind a reference: in how many of n more rounds, each of which moves it by
 * `step', does it find the same there?
 */
static uint64_t
same_rounds(const struct insn_cache *c, const struct ev_ref *r, uint64_t addr,
    uint64_t step, uint64_t n)
{
	uint64_t size = c->hi - c->lo, rounds;

	if (step == 0)
		return n;
	/* where its value may become 0 it is looked at each time */
	if (c->row == TALLY_HOLD || addr - c->lo >= size ||
	    r->at - c->lo < size)
		return 0;
	rounds = (int64_t)step > 0 ? (c->hi - 1 - addr) / step :
	    (addr - c->lo) / -step;
	return rounds < n ? rounds : n;
}

/* A reference in n rounds; value: that of its group before them. */
static void
ref_rounds(struct insn_cache *c, const struct ev_ref *r, uint64_t value,
    uint64_t step, uint64_t n, uint64_t each)
{
	uint64_t addr, same;

	for (; n > 0; n--) {
		value += step;
		if (r->where == EV_GROUP && value == 0) {
			if (step == 0)
				return;
			continue;
		}
		addr = r->at + value;
		count_ref(c, r, addr, each);
		same = same_rounds(c, r, addr, step, n - 1);
		if (same == 0)
			continue;
		count_ref(c, r, addr, each * same);
		value += step * same;
		n -= same;
	}
}

/* Rounds that leave the frames as they are: what is counted moves by steps. */
static void
count_rounds(const struct ev_def *d, const uint64_t *value,
    const uint64_t *step, uint64_t n)
{
	const struct ev_block *b = d->block;
	const struct ev_ref *r;
	uint32_t i, k;
	bool moves;

	for (i = 0; i < d->n; i++)
		for (k = 0; k < b->insn[i].nref; k++) {
			r = &b->ref[b->insn[i].ref + k];
			if (r->where == EV_BARE || (r->count != 0 &&
			    value[r->count - 1] == 0))
				continue;
			moves = r->where == EV_GROUP;
			ref_rounds(insn_cache(b, i), r,
			    moves ? value[r->group] : 0,
			    moves ? step[r->group] : 0, n, times(value, r));
		}
}

/* Do all references happen equally often in each round? */
static bool
counts_stay(const struct ev_def *d, const uint64_t *step)
{
	const struct ev_block *b = d->block;

	for (uint32_t i = 0; i < d->n; i++)
		for (uint32_t k = 0; k < b->insn[i].nref; k++) {
			const struct ev_ref *r = &b->ref[b->insn[i].ref + k];

			if (r->count != 0 && step[r->count - 1] != 0)
				return false;
		}
	return true;
}

/* The last n rounds at once; rec is a record of one, with room for more. */
static void
rounds_rest(const struct ev_def *d, uint64_t *value, uint64_t *rec, uint64_t n)
{
	count_rounds(d, value, rec + 1, n);
	for (unsigned i = 0; i < d->ngroups; i++)
		value[i] += rec[1 + i] * n;
	if (n > 1) {
		rec[0] |= EV_MORE;
		rec[1 + d->ngroups] = n - 1;
	}
	stack_rounds(rec);
}

void
refs_rounds(const struct ev_def *d, uint64_t *value, const uint64_t *rec)
{
	uint64_t one[2 + UINT8_MAX], rounds = 1 + ev_more(rec), left;
	bool stay = rounds > 2 && counts_stay(d, rec + 1);

	running = d->block;
	running_value = value;
	memcpy(one, rec, (1 + d->ngroups) * sizeof *one);
	one[0] &= ~EV_MORE;
	dp.time += d->n * rounds;
	for (left = rounds; left > 0; left--) {
		if (stay && left < rounds - 1) {
			rounds_rest(d, value, one, left);
			break;
		}
		for (unsigned i = 0; i < d->ngroups; i++)
			value[i] += rec[1 + i];
		if (stack_round(one))
			stay &= left == rounds;
		else
			refs_count(0, d->n);
	}
}
