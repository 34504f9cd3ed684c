/*
 * refs - what instructions refer to
 *
 * Each instruction of a block knows what it found last: the next reference is
 * mostly to that, or beside it. In kind all every reference can be counted; a
 * repeat has its rounds counted at once where they find the same.
 *
 * Frames come and go, so what was found in one is not known the next time. But
 * where the frame of the running function is, is found once for all references
 * between two calls (stack_own), and which row that means once for each
 * instruction, until code gets names. So most references take one or two
 * comparisons and a count. They must find what tally_find would, and leave what
 * it would leave: a reference to the own frame forgets what was found before.
 */
#include <string.h>

#include "dataprof.h"
#include "mem.h"

/* By block: its instructions, once one referred to something; kind all, too: */
struct block_refs {
	struct insn_cache *insn;
	uint16_t *of;		/* by reference: its instruction */
	uint64_t *value;	/* by group */
};
static struct block_refs *blocks;
static size_t nblocks;

static struct block_refs *
refs_of(const struct ev_block *b)
{
	blocks = xgrow0(blocks, &nblocks, b->id + (size_t)1, sizeof *blocks);
	return &blocks[b->id];
}

void
refs_define(const struct ev_block *b)
{
	struct block_refs *p = refs_of(b);

	p->of = xmalloc(b->nref * sizeof *p->of);
	p->value = xcalloc(b->ngroups + 1U, sizeof *p->value);
	for (uint16_t i = 0; i < b->ninsn; i++)
		for (unsigned k = 0; k < b->insn[i].nref; k++)
			p->of[b->insn[i].ref + k] = i;
}

uint64_t *
refs_values(const struct ev_block *b)
{
	return blocks[b->id].value;
}

struct insn_cache *
insn_cache(const struct ev_block *b, uint32_t insn)
{
	struct block_refs *p = refs_of(b);
	struct insn_cache *c;

	if (p->insn == NULL)
		p->insn = xcalloc(b->ninsn, sizeof *p->insn);
	c = &p->insn[insn];
	if (c->code == 0)
		c->code = 1 + tally_code(b->insn[insn].addr);
	return c;
}

const struct insn_cache *
insn_caches(uint32_t block)
{
	return block < nblocks ? blocks[block].insn : NULL;
}

size_t
insn_code_row(const struct insn_cache *c)
{
	return tally_row(c->code - 1, object_code(DATA_CODE,
	    tally_code_at(c->code - 1)->fn));
}

/* Is at this address, too, what the instruction found last? far: stack_own */
static inline bool
is_found(const struct insn_cache *c, uint64_t addr, uint64_t far)
{
	return addr >= c->lo && addr < c->hi && epoch_holds(c->epoch, addr) &&
	    (!c->nowhere || addr < far);
}

static void
find(struct insn_cache *c, const struct ev_ref *r, uint64_t addr)
{
	unsigned thread = ev_thread(dp.events);
	struct data_place p;

	c->row = tally_find(thread, addr, r->size, c->code - 1,
	    heap_open(thread) && hold_room(thread), &p);
	c->lo = p.lo;
	c->hi = p.hi;
	c->nowhere = p.nowhere;
	c->epoch = epoch.now;
}

void
refer(struct insn_cache *c, const struct ev_ref *r, uint64_t addr,
    const int64_t *cost, uint64_t n)
{
	if (!is_found(c, addr, 0))
		find(c, r, addr);
	if (c->row == TALLY_HOLD)
		hold_put(ev_thread(dp.events), addr, r->size, c->code - 1,
		    cost, n);
	else
		tally_add(c->row, cost, n);
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

/* The block whose references are counted. */
static const struct ev_block *running;

/* n times the same reference, at an address; what is there has been found. */
static inline void
count_found(struct insn_cache *c, const struct ev_ref *r, uint64_t addr,
    uint64_t n)
{
	static int64_t cost[COLUMNS];	/* 0 but for Dr and Dw */
	bool writes = r->kind == 'w';

	if (n > INT64_MAX)
		sum_beyond();
	if (c->row != TALLY_HOLD) {
		tally_refs(c->row, writes, n);
		return;
	}
	cost[writes] = (int64_t)n;
	cost[!writes] = 0;
	hold_put(ev_thread(dp.events), addr, r->size, c->code - 1, cost, n);
}

static void
count_ref(struct insn_cache *c, const struct ev_ref *r, uint64_t addr,
    uint64_t n)
{
	if (!is_found(c, addr, 0))
		find(c, r, addr);
	count_found(c, r, addr, n);
}

/* The reference is to the frame of its function. */
static inline void
find_own(struct insn_cache *c)
{
	if (c->named != tally_named) {
		c->named = tally_named;
		c->own = 1 + (uint32_t)tally_own(c->code - 1);
	}
	c->row = c->own - 1;
	c->lo = c->hi = 0;
}

void
refs_count(uint32_t from, uint32_t to)
{
	const struct ev_block *b = running;
	const struct block_refs *p = &blocks[b->id];
	unsigned thread = ev_thread(dp.events);
	struct stack_own own = stack_own(thread);
	uint32_t k = b->insn[from].ref;
	uint32_t end = (uint32_t)b->insn[to - 1].ref + b->insn[to - 1].nref;

	if (heap_open(thread))
		own.far = 0;
	for (; k < end; k++) {
		const struct ev_ref *r = &b->ref[k];
		struct insn_cache *c;
		uint64_t addr;

		if (!ref_address(p->value, r, &addr))
			continue;
		c = p->insn == NULL ? NULL : &p->insn[p->of[k]];
		if (c == NULL || c->code == 0)
			c = insn_cache(b, p->of[k]);
		if (!is_found(c, addr, own.far)) {
			if (addr - own.lo < own.size)
				find_own(c);
			else
				find(c, r, addr);
		}
		count_found(c, r, addr, times(p->value, r));
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
	uint64_t size = c->nowhere ? 0 : c->hi - c->lo, rounds;

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
		count_ref(c, r, addr, (uint64_t)sum_times((int64_t)each,
		    (int64_t)same));
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

/* Run several rounds, each with the frames of its time. */
static void
run_rounds(const struct ev_def *d, uint64_t *value, const uint64_t *rec)
{
	uint64_t one[2 + UINT8_MAX], rounds = 1 + ev_more(rec), left;
	bool stay = rounds > 2 && counts_stay(d, rec + 1);

	memcpy(one, rec, (1 + d->ngroups) * sizeof *one);
	one[0] &= ~EV_MORE;
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

void
refs_rounds(const struct ev_def *d, const uint64_t *rec)
{
	uint64_t *value = refs_values(d->block);

	running = d->block;
	dp.time += d->n * (1 + ev_more(rec));
	if (*rec & EV_MORE) {
		run_rounds(d, value, rec);
		return;
	}
	for (unsigned i = 0; i < d->ngroups; i++)
		value[i] += rec[1 + i];
	if (!stack_round(rec))
		refs_count(0, d->n);
}
