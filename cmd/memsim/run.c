/*
 * run - executions become accesses
 *
 * A block becomes a list of fetches and references, in order. Most of them are
 * hits of the first cache, which change no more than how recently a line was
 * used, and take the short way: the hint says where the line was last, and one
 * comparison finds that it is there still, that this is not the first use of
 * a prefetched line, and for a write that the line is dirty already. The same
 * page as last time changes nothing in a TLB. Where the first cache of data has
 * strides, such a use trains them, and may prefetch.
 *
 * Most machines have LRU in their first caches, one for each side, and TLBs
 * likewise. Then the order of code and data matters only where code is missing,
 * so all code lines of an execution are looked up first, and its references
 * follow in a tight loop. If a code line is missing, all is done in order after
 * all: to have used some lines once more, in the same order, changes nothing.
 * And if a reference takes a code line out, which it can where a farther cache
 * is inclusive, the lines that are fetched behind it get their last uses back,
 * and the rest is done in order. The pages of code are noted likewise, if all
 * are there. So code and data may change places only where all that one of them
 * does is to use what is there, in caches and tables of its own.
 */
#include "units.h"

#include <string.h>

#define MOST_ROUNDS (UINT64_C(1) << 36)
#define STILL	8		/* rounds worth a call of run_skip */

static struct simrun *sim;
static uint64_t first_values[257];
/* Something more than uses happened since run_skip was called. */
static bool busy;

void
run_init(struct simrun *s)
{
	sim = s;
	units_init(s);
}

/* ---- accesses ---- */

/*
 * The slot of a line if an access to it is no more than a use: it is there, not
 * new, and for a write dirty already.
 */
static inline uint32_t
slot_of(const struct quick *k, uint64_t line, uint64_t mask)
{
	uint32_t slot = k->hint[line & k->nhint];

	if (((k->entry[slot] ^ (line + 1) << 2) & mask) == 0)
		return slot;
	if (k->c == NULL)
		return CACHE_NONE;
	slot = cache_find(k->c, line);
	if (slot == CACHE_NONE) {
		now.absent = line + 1;
		for (const struct node *n = k->n->next; n != NULL; n = n->next)
			cache_soon(n->c, line << k->shift >> n->shift);
		return CACHE_NONE;
	}
	if ((k->entry[slot] & ~mask & CACHE_FLAGS) !=
	    (k->entry[slot] & CACHE_FLAGS))
		return CACHE_NONE;
	return slot;
}

/* Bytes of a line, as bits. */
static inline uint64_t
bytes_of(uint64_t off, uint64_t size)
{
	return ~(uint64_t)0 >> (64 - size) << off;
}

static void
use(const struct quick *k, uint32_t slot, uint64_t off, uint64_t size)
{
	cache_touch(k->c, slot);
	if (k->touched != NULL)
		k->touched[slot] |= bytes_of(off, size);
}

/* The access of now.insn to this address used a line, and trains a stride. */
static void
stride(const struct quick *k, uint64_t line, uint64_t addr)
{
	busy = true;
	now.addr = addr;
	prefetch_used(k->n, line);
	if (prefetch_waiting != 0)
		level_prefetch();
}

/* An access to one or two lines: true, and done, if it is no more than uses. */
static bool
is_use(const struct quick *k, uint64_t addr, uint32_t size, uint64_t mask)
{
	uint64_t line = addr >> k->shift, off = addr & (k->size - 1);
	uint64_t first = k->size - off;
	uint32_t slot = slot_of(k, line, mask), second;

	if (slot == CACHE_NONE)
		return false;
	if (size <= first) {
		use(k, slot, off, size);
		if (k->stride)
			stride(k, line, addr);
		return true;
	}
	if (size - first > k->size)
		return false;
	second = slot_of(k, (line + 1) & ~(uint64_t)0 >> k->shift, mask);
	if (second == CACHE_NONE)
		return false;
	use(k, slot, off, first);
	use(k, second, 0, size - first);
	if (k->stride)
		stride(k, line, addr);
	return true;
}

static uint64_t
mask_of(unsigned kind)
{
	return kind == 'i' || kind == 'r' ? ~(uint64_t)CACHE_CLEAN :
	    ~(uint64_t)0;
}

/* The slot of a page_4k if its hint leads there, or CACHE_NONE. */
static inline uint32_t
hinted(const struct cache *t, uint64_t page)
{
	uint32_t slot = t->hint[(page - 1) & t->nhint];

	return t->entry[slot] == (((page - 1) << 2) + 1) << 2 ? slot :
	    CACHE_NONE;
}

/* The hint leads to another page_4k than the last one, which is noted. */
static inline bool
is_other_page(struct cache *t, unsigned side, uint64_t page)
{
	uint32_t slot = t == NULL || page == 0 ? CACHE_NONE : hinted(t, page);

	if (slot == CACHE_NONE)
		return false;
	cache_touch(t, slot);
	cpu->last[side] = page;
	return true;
}

/* The access of now.kind. */
static void
access_all(unsigned side, uint64_t addr, uint32_t size)
{
	now.absent = 0;
	if (!is_use(&quick[cpu - core][side], addr, size, mask_of(now.kind))) {
		now.addr = addr;
		now.size = size;
		busy = true;
		level_access();
	}
	if (page_4k(addr) != page_4k(addr + size - 1) ||
	    (page_4k(addr) != cpu->last[side] &&
	    !is_other_page(quick[cpu - core][side].tlb, side, page_4k(addr)))) {
		busy = true;
		tlb_access(side, addr, size);
	}
}

__attribute__((noinline))
static void
unusual(const struct unit *u, const struct op *op, uint64_t addr)
{
	now.insn = count_first(u->block) + op->insn;
	now.kind = op->kind;
	now.pc = u->insn[op->insn].addr;
	access_all(op->side, addr, op->size);
}

static inline void
other_page(struct cache *t, const struct unit *u, const struct op *op,
    uint64_t addr)
{
	if (is_other_page(t, op->side, page_4k(addr)))
		return;
	now.insn = count_first(u->block) + op->insn;
	busy = true;
	tlb_access(op->side, addr, op->size);
}

/* The same of an operation of a block. */
static void
op_stride(const struct unit *u, const struct op *op, const struct quick *k,
    uint64_t line, uint64_t addr)
{
	now.insn = count_first(u->block) + op->insn;
	now.kind = op->kind;
	now.pc = u->insn[op->insn].addr;
	stride(k, line, addr);
}

/* One core, whose first caches are LRU; one core; many. */
enum how { STAMPED, ONE, MANY };

static inline __attribute__((always_inline)) void
ops(const struct unit *u, const struct op *op, const uint64_t *value,
    const struct quick *q, enum how how)
{
	uint64_t *last = cpu->last;

	for (const struct op *end = u->op + u->nop; op < end; op++) {
		const struct quick *k = &q[op->side];
		uint64_t addr = value[op->value] + op->at;
		uint64_t line = addr >> k->shift;
		uint64_t off = addr & (k->size - 1);
		uint32_t slot = k->hint[line & k->nhint];

		if (__builtin_expect(((k->entry[slot] ^ (line + 1) << 2) &
		    op->mask) != 0 || off + op->size > k->size, 0)) {
			unusual(u, op, addr);
			continue;
		}
		if (how == STAMPED)
			k->c->stamp[slot] = ++k->c->now;
		else
			cache_touch(k->c, slot);
		if (how == MANY && k->touched != NULL)
			k->touched[slot] |= bytes_of(off, op->size);
		if (how != STAMPED && k->stride)
			op_stride(u, op, k, line, addr);
		if (page_4k(addr) != last[op->side])
			other_page(k->tlb, u, op, addr);
	}
}

/* The last uses of code lines before the execution under way. */
static struct { uint32_t slot; uint64_t stamp; } before[2 * (UINT16_MAX + 1)];

/* The code is on several pages: true if all are where hints say, and noted. */
__attribute__((noinline))
static bool
code_pages(const struct unit *u, struct cache *t)
{
	if (t == NULL || (t->note != NOTE_STAMP && t->note != NOTE_TREE))
		return false;
	for (uint32_t i = 0; i < u->npages; i++)
		if (hinted(t, u->pages[i]) == CACHE_NONE)
			return false;
	for (uint32_t i = 0; i < u->npages; i++)
		cache_touch(t, hinted(t, u->pages[i]));
	cpu->last[CODE] = u->pages[u->npages - 1];
	return true;
}

/*
 * The code is on other pages than before: true if that is noted. A look-up of
 * the TLB that misses is told behind what the first fetch missed in the caches.
 */
static inline bool
code_page(const struct unit *u, const struct quick *k)
{
	const struct op *op = u->op;
	uint64_t line = op->at >> k->shift;

	if (u->page == 0)
		return code_pages(u, k->tlb);
	if (k->entry[k->hint[line & k->nhint]] >> 2 != line + 1 ||
	    (op->at & (k->size - 1)) + op->size > k->size)
		return false;
	other_page(k->tlb, u, op, op->at);
	return true;
}

/* All code lines are there: noted; else the rest is not done. */
static inline __attribute__((always_inline)) bool
code_lines(const struct unit *u, const struct quick *k)
{
	uint64_t *stamp = k->c->stamp, when = k->c->now;

	if (u->page != cpu->last[CODE] && !code_page(u, k))
		return false;
	for (uint32_t i = 0; i < u->nline; i++) {
		uint64_t line = u->line[i];
		uint32_t slot = k->hint[line & k->nhint];

		if (__builtin_expect(k->entry[slot] >> 2 != line + 1, 0)) {
			slot = cache_find(k->c, line);
			if (slot == CACHE_NONE) {
				k->c->now = when;
				return false;
			}
		}
		before[i].slot = slot;
		before[i].stamp = stamp[slot];
		stamp[slot] = ++when;
	}
	k->c->now = when;
	return true;
}

/*
 * A data reference has taken code lines out: those fetched behind it are as
 * before, and the rest is done in order.
 */
__attribute__((noinline))
static void
in_order(const struct unit *u, const struct op *data)
{
	const struct op *op = u->op;
	uint64_t *stamp = quick[0][CODE].c->stamp;
	uint32_t done, n = (uint32_t)(data - u->data);

	for (; n > 0 || op->side != DATA; op++)
		n -= op->side == DATA;
	op++;
	done = units_lines(u->op, (uint32_t)(op - u->op));
	for (uint32_t i = u->nline; i > done; i--)
		stamp[before[i - 1].slot] = before[i - 1].stamp;
	ops(u, op, u->value, quick[0], STAMPED);
}

static inline __attribute__((always_inline)) void
data_ops(const struct unit *u, const uint64_t *value, const struct quick *k,
    unsigned shift)
{
	const uint64_t *entry = k->entry;
	const uint16_t *hint = k->hint;
	uint64_t *stamp = k->c->stamp, when = k->c->now;
	uint64_t nhint = k->nhint, size = (uint64_t)1 << shift;
	const struct node *code = quick[0][CODE].n;

	for (const struct op *op = u->data, *end = op + u->ndata; op < end;
	    op++) {
		uint64_t addr = value[op->value] + op->at;
		uint64_t line = addr >> shift;
		uint64_t slot = hint[line & nhint];

		if (__builtin_expect(((entry[slot] ^ (line + 1) << 2) &
		    op->mask) != 0 ||
		    (addr & (size - 1)) + op->size > size, 0)) {
			uint64_t dropped = code->dropped;

			k->c->now = when;
			unusual(u, op, addr);
			if (code->dropped != dropped) {
				in_order(u, op);
				return;
			}
			when = k->c->now;
			continue;
		}
		stamp[slot] = ++when;
		if (page_4k(addr) != cpu->last[DATA])
			other_page(k->tlb, u, op, addr);
	}
	k->c->now = when;
}

/* Code first, then data, if all code is there; else in order. */
static inline void
ops_split(const struct unit *u)
{
	const struct quick *q = quick[0];

	if (!code_lines(u, &q[CODE]))
		ops(u, u->op, u->value, q, STAMPED);
	else if (q[DATA].shift == 6)
		data_ops(u, u->value, &q[DATA], 6);
	else
		data_ops(u, u->value, &q[DATA], q[DATA].shift);
}

/*
 * The references of an instruction, and how they differ from those told, so
 * many times.
 */
static void
count_refs(const struct ev_block *b, uint32_t i, const int64_t n[2],
    uint64_t times)
{
	int64_t more[2] = { n[0], n[1] };

	for (uint32_t k = 0; k < b->insn[i].nref; k++)
		more[b->ref[b->insn[i].ref + k].kind == 'w']--;
	if (more[0] != 0)
		count_event(COL_DR, more[0] * (int64_t)times);
	if (more[1] != 0)
		count_event(COL_DW, more[1] * (int64_t)times);
}

/* Is there a count of rounds that no program can have run? */
static bool
is_endless(const struct ev_block *b)
{
	for (unsigned k = 0; k < b->nref; k++) {
		int64_t n = b->ref[k].count == 0 ? 0 :
		    (int64_t)b->value[b->ref[k].count - 1];

		if ((n < 0 ? -(uint64_t)n : (uint64_t)n) > MOST_ROUNDS)
			return true;
	}
	return false;
}

/*
 * An execution by its events, one after the other; or, if nothing of it is to
 * be looked up, only its references so many times.
 */
__attribute__((noinline))
static void
walk(uint32_t id, bool look_up, uint64_t times)
{
	const struct ev_def *d = ev_def(sim->events, id);
	uint64_t first = count_first(simrun_number(d->block));
	int64_t n[2] = { 0 };
	struct ev_walk w;
	bool begun = false;
	uint32_t insn = 0;

	if (is_endless(d->block)) {
		busy = true;
		ev_bad(sim->events, "an instruction repeated more than "
		    "%lu times", MOST_ROUNDS);
		return;
	}
	for (ev_walk(&w, d); ev_step(&w); ) {
		if (w.insn != insn && begun) {
			count_refs(d->block, insn, n, times);
			n[0] = n[1] = 0;
		}
		begun = true;
		insn = w.insn;
		now.insn = first + insn;
		now.pc = d->block->insn[insn].addr;
		now.kind = w.kind;
		if (w.kind != 'i')
			n[w.kind == 'w']++;
		if (look_up)
			access_all(w.kind == 'i' ? CODE : DATA, w.addr, w.size);
	}
	if (begun)
		count_refs(d->block, insn, n, times);
}

/* ---- executions ---- */

void
run_on(unsigned thread)
{
	unsigned n = machine->cores != CORES_EACH ? machine->cores :
	    MOST_CORES;

	thread %= n;
	for (unsigned k = ncore; k <= thread; k++) {
		level_cores(k + 1);
		units_core(k);
	}
	cpu = &core[thread];
}

void
run_values(uint32_t id, uint64_t *value)
{
	const struct ev_def *d = ev_def(sim->events, id);
	uint64_t *own = d->block->value;
	bool none = unit[id].walk;

	for (unsigned i = 0; i < d->ngroups; i++)
		none |= value[i] == 0;
	if (!none) {
		ops(&unit[id], unit[id].op, value, quick[cpu - core],
		    MANY);
		return;
	}
	d->block->value = value;
	walk(id, true, 1);
	d->block->value = own;
}

void
run_again(uint32_t id, uint64_t *value, uint64_t n)
{
	const struct ev_def *d = ev_def(sim->events, id);
	uint64_t *own = d->block->value;

	d->block->value = value;
	walk(id, false, n);
	d->block->value = own;
}

/* Returns whether a value is 0, or the block must be walked anyway. */
static inline bool
apply(const uint64_t *rec)
{
	struct unit *u = &unit[ev_id(*rec)];
	bool none = u->walk;

	u->count++;
	for (unsigned i = 0; i < ev_ngroups(*rec); i++)
		none |= (u->value[i] += rec[1 + i]) == 0;
	return none;
}

const uint64_t *
run_apply(const uint64_t *rec)
{
	struct unit *u = &unit[ev_id(*rec)];
	unsigned n = ev_def(sim->events, ev_id(*rec))->block->ngroups;
	uint64_t more = ev_more(rec);

	apply(rec);
	memcpy(first_values, u->value, (n + 1U) * sizeof *u->value);
	u->count += more;
	for (unsigned i = 0; i < ev_ngroups(*rec); i++)
		u->value[i] += more * rec[1 + i];
	return first_values;
}

void
run_round(const uint64_t *rec)
{
	const struct unit *u = &unit[ev_id(*rec)];

	if (apply(rec))
		walk(ev_id(*rec), true, 1);
	else if (units_code_first)
		ops_split(u);
	else
		ops(u, u->op, u->value, quick[0], ONE);
}

/* Does it change nothing to have used the same lines once more? */
static bool
is_settled(const struct cache *c)
{
	return c == NULL || c->note == NOTE_STAMP || c->note == NOTE_NONE ||
	    c->note == NOTE_TREE || c->note == NOTE_RRIP;
}

bool
run_was_quiet(void)
{
	bool quiet = !busy;

	busy = false;
	return quiet;
}

bool
run_settled(void)
{
	for (unsigned k = 0; k < ncore; k++)
		for (unsigned side = CODE; side <= DATA; side++)
			if (!is_settled(quick[k][side].c) ||
			    !is_settled(quick[k][side].tlb))
				return false;
	return true;
}

uint64_t
run_skip(const uint64_t *rec, uint64_t n)
{
	uint32_t id = ev_id(*rec);

	if (!run_was_quiet())
		return 0;
	for (unsigned i = 0; i < ev_ngroups(*rec); i++)
		if (rec[1 + i] != 0)
			return 0;
	if (!run_settled())
		return 0;
	unit[id].count += n;
	if (n != 0)
		walk(id, false, n);
	return n;
}

void
run_batch(const uint64_t *rec, const uint64_t *end)
{
	for (; rec < end; rec = ev_skip(rec))
		for (uint64_t n = ev_more(rec) + 1; n > 0; ) {
			run_round(rec);
			if (--n >= STILL)
				n -= run_skip(rec, n);
		}
}
