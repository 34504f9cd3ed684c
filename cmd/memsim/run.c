/*
 * run - executions become accesses
 *
 * A block becomes a list of fetches and references, in order. Most of them are
 * hits of the first cache, which change no more than how recently a line was
 * used, and take the short way: the hint says where the line was last, and one
 * comparison finds that it is there still, that this is not the first use of
 * a prefetched line, and for a write that the line is dirty already. The same
 * page as last time changes nothing in a TLB.
 *
 * Most machines have LRU in their first caches, one for each side, and nothing
 * that a data reference does can take a code line out. Then the order of code
 * and data matters only where code is missing, so all code lines of an
 * execution are looked up first, and its references follow in a tight loop.
 * If a code line is missing, all is done in order after all: to have used some
 * lines once more, in the same order, changes nothing.
 *
 * A fetch from the line of the fetch before changes nothing and is left out.
 * But a data reference between them can take the line out of an inclusive
 * hierarchy, or change what was used last where code and data share a cache;
 * a prefetch can take it out at once; rrip notes the second use; and a first
 * cache that is exclusive never has what it missed.
 */
#include "memsim.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define MOST_ROUNDS (UINT64_C(1) << 36)
#define STILL	8		/* rounds worth a call of run_skip */

struct op {
	uint64_t at;		/* what is added to the value */
	uint64_t mask;		/* of an entry's bits that must be as wanted */
	uint16_t value;		/* by group; ngroups: 0 */
	uint16_t insn;
	uint16_t size;
	uint8_t side;
	uint8_t kind;
};

struct unit {
	uint64_t count;
	uint64_t *value;
	struct op *op;
	struct op *data;	/* those of data alone */
	uint64_t *line;		/* of code */
	uint32_t nop, ndata, nline;
	uint32_t block;		/* its number */
	uint64_t page;		/* page_4k of code; 0: of several */
	bool walk;		/* has references that are repeated or bare */
};

/* The first cache of a side; where there is none, one that never hits. */
struct quick {
	uint64_t *entry;
	uint16_t *hint;
	uint64_t nhint;
	struct cache *c;	/* NULL: none */
	const struct node *n;
	uint64_t *touched;
	unsigned shift;
	uint64_t size;
	struct cache *tlb;	/* the first one, if all pages have 4k */
};

struct block {
	struct op *op, *data;
	uint64_t *line, *value;
	uint32_t nop, nline;
	uint64_t page;
	bool walk;
};

static struct simrun *sim;
static struct unit *unit;
static struct block *block;
static size_t capunit, capblock;
/* When a fetch from the same line as the last may change something. */
static enum { NEVER, AFTER_REFS, ALWAYS } strict;
static bool wants_pc;		/* a prefetcher does */
static bool code_first;		/* the order of code and data is free */
static uint64_t first_values[257];
/* Something more than uses happened since run_skip was called. */
static bool busy;
static struct quick quick[MOST_CORES][2];

/* ---- the first caches ---- */

static bool
is_quick(const struct node *n)
{
	return n != NULL && n->part->degree[STREAMER] == 0 &&
	    n->part->degree[STRIDE] == 0 && n->c->nhint != 0;
}

/* Core number was made. */
static void
run_core(unsigned number)
{
	static uint64_t no_entry[1];
	static uint16_t no_hint[1];

	for (unsigned side = CODE; side <= DATA; side++) {
		struct node *n = core[number].first[side];
		struct quick *q = &quick[number][side];

		*q = (struct quick){ .entry = no_entry, .hint = no_hint,
		    .shift = 6, .size = 64 };
		if (machine->nhuge == 0 && !tlb_unified)
			q->tlb = core[number].tlb[0][side][PAGE_4K];
		if (q->tlb != NULL && q->tlb->nhint == 0)
			q->tlb = NULL;
		if (n != NULL) {
			q->shift = n->shift;
			q->size = (uint64_t)1 << n->shift;
		}
		if (!is_quick(n))
			continue;
		q->entry = n->c->entry;
		q->hint = n->c->hint;
		q->nhint = n->c->nhint;
		q->c = n->c;
		q->n = n;
		q->touched = side == DATA ? n->touched : NULL;
	}
}

static bool
is_lru(const struct node *n)
{
	return is_quick(n) && n->c->note == NOTE_STAMP;
}

static void
set_strict(void)
{
	const struct node *n = core->first[CODE];
	bool inclusive = false, prefetcher = false;

	for (unsigned i = 0; i < machine->npart; i++) {
		inclusive |= machine->part[i].content == INCLUSIVE;
		prefetcher |= has_prefetcher(&machine->part[i]);
		wants_pc |= machine->part[i].degree[STRIDE] != 0;
	}
	strict = inclusive || tlb_unified ||
	    (n != NULL && n->part->side == BOTH) ? AFTER_REFS : NEVER;
	if ((inclusive && prefetcher) || tlb_rrip ||
	    (n != NULL && (n->c->note == NOTE_RRIP || n->prefetch != NULL ||
	    n->part->content == EXCLUSIVE)))
		strict = ALWAYS;
	code_first = strict == NEVER && !many_cores && is_lru(n) &&
	    is_lru(core->first[DATA]);
}

void
run_init(struct simrun *s)
{
	sim = s;
	set_strict();
	run_core(0);
}

/* ---- definitions ---- */

static struct op *
add_op(struct block *b, struct op op)
{
	static struct op *ops;
	static size_t cap;

	ops = xgrow(ops, &cap, b->nop + 1, sizeof *ops);
	ops[b->nop++] = op;
	return ops;
}

/* Can the fetch be left out, with the line of the last one in *last? */
static bool
is_same_line(const struct ev_block *b, uint32_t i, uint64_t *last)
{
	const struct ev_insn *in = &b->insn[i];
	unsigned shift = quick[0][CODE].shift;
	uint64_t a = in->addr >> shift, z = (in->addr + in->len - 1) >> shift;
	bool same = a == z && *last == a + 1;

	*last = z + 1;
	return same && (strict == NEVER ||
	    (strict == AFTER_REFS && b->insn[i - 1].nref == 0));
}

static void
add_refs(struct block *b, const struct ev_block *e, uint32_t i)
{
	const struct ev_ref *r = &e->ref[e->insn[i].ref];

	for (uint32_t k = 0; k < e->insn[i].nref; k++, r++) {
		b->walk |= r->count != 0 || r->where == EV_BARE;
		add_op(b, (struct op){ r->at, r->kind == 'r' ?
		    ~(uint64_t)CACHE_CLEAN : ~(uint64_t)0, r->where ==
		    EV_GROUP ? r->group : e->ngroups, (uint16_t)i,
		    (uint16_t)r->size, DATA, r->kind });
	}
}

static void
define_block(const struct ev_block *e)
{
	uint32_t number = simrun_number(e);
	struct block *b;
	struct op *ops = NULL;
	uint64_t last = 0;

	block = xgrow(block, &capblock, number + 1, sizeof *block);
	b = &block[number];
	*b = (struct block){ 0 };
	count_block(number, insns_first(sim->insns, number), e->ninsn);
	for (uint32_t i = 0; i < e->ninsn; i++) {
		const struct ev_insn *in = &e->insn[i];

		if (!is_same_line(e, i, &last))
			ops = add_op(b, (struct op){ in->addr,
			    ~(uint64_t)CACHE_CLEAN, e->ngroups, (uint16_t)i,
			    in->len, CODE, 'i' });
		add_refs(b, e, i);
	}
	ops = add_op(b, (struct op){ 0 });
	b->nop--;
	b->op = xkeep(b->nop * sizeof *b->op);
	memcpy(b->op, ops, b->nop * sizeof *b->op);
	b->value = xkeep((e->ngroups + 1U) * sizeof *b->value);
}

/* The lists of code lines and of data, if they are of use. */
static void
split_block(struct block *b)
{
	unsigned shift = quick[0][CODE].shift, n = 0;

	b->data = xkeep(b->nop * sizeof *b->data);
	b->line = xkeep((2 * b->nop + 1) * sizeof *b->line);
	for (uint32_t i = 0; i < b->nop; i++) {
		const struct op *op = &b->op[i];
		uint64_t z = op->at + op->size - 1;

		if (op->side == DATA) {
			b->data[n++] = *op;
			continue;
		}
		b->line[b->nline++] = op->at >> shift;
		if (z >> shift != op->at >> shift)
			b->line[b->nline++] = z >> shift;
		if (i == 0)
			b->page = page_4k(op->at);
		if (page_4k(op->at) != b->page || page_4k(z) != b->page)
			b->page = 0;
	}
}

/* The fetches and references of the first n instructions. */
static void
set_unit(struct unit *u, const struct block *b, uint32_t n)
{
	unsigned shift = quick[0][CODE].shift;

	u->op = b->op;
	u->data = b->data;
	u->line = b->line;
	u->page = b->page;
	for (; u->nop < b->nop && b->op[u->nop].insn < n; u->nop++) {
		const struct op *op = &b->op[u->nop];

		if (op->side == DATA)
			u->ndata++;
		else
			u->nline += 1 + (op->at >> shift !=
			    (op->at + op->size - 1) >> shift);
	}
}

void
run_define(const struct ev_def *d, uint32_t id)
{
	struct unit *u;
	struct block *b;

	if (d->letter == 'B') {
		define_block(d->block);
		if (code_first)
			split_block(&block[simrun_number(d->block)]);
		ev_keep(sim->events, d->block);
		d->block->value = block[simrun_number(d->block)].value;
	}
	unit = xgrow0(unit, &capunit, id + 1, sizeof *unit);
	u = &unit[id];
	b = &block[simrun_number(d->block)];
	u->block = simrun_number(d->block);
	u->value = b->value;
	u->walk = b->walk;
	set_unit(u, b, d->n);
}

uint64_t
run_count(uint32_t id)
{
	return id < capunit ? unit[id].count : 0;
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
		return true;
	}
	if (size - first > k->size)
		return false;
	second = slot_of(k, (line + 1) & ~(uint64_t)0 >> k->shift, mask);
	if (second == CACHE_NONE)
		return false;
	use(k, slot, off, first);
	use(k, second, 0, size - first);
	return true;
}

static uint64_t
mask_of(unsigned kind)
{
	return kind == 'i' || kind == 'r' ? ~(uint64_t)CACHE_CLEAN :
	    ~(uint64_t)0;
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
	if (page_4k(addr) != cpu->last[side] ||
	    page_4k(addr) != page_4k(addr + size - 1)) {
		busy = true;
		tlb_access(side, addr, size);
	}
}

__attribute__((noinline))
static void
unusual(const struct unit *u, const struct op *op, uint64_t addr)
{
	const struct ev_def *d;

	now.insn = count_first(u->block) + op->insn;
	now.kind = op->kind;
	if (wants_pc) {
		d = ev_def(sim->events, (uint32_t)(u - unit));
		now.pc = d->block->insn[op->insn].addr;
	}
	access_all(op->side, addr, op->size);
}

/* The hint leads to another page_4k than the last one, which is noted. */
static inline bool
is_other_page(struct cache *t, unsigned side, uint64_t page)
{
	uint32_t slot;

	if (t == NULL || page == 0)
		return false;
	slot = t->hint[(page - 1) & t->nhint];
	if (t->entry[slot] != (((page - 1) << 2) + 1) << 2)
		return false;
	cache_touch(t, slot);
	cpu->last[side] = page;
	return true;
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

static inline __attribute__((always_inline)) void
ops(const struct unit *u, const uint64_t *value, const struct quick *q,
    bool many)
{
	uint64_t *last = cpu->last;

	for (const struct op *op = u->op, *end = op + u->nop; op < end; op++) {
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
		cache_touch(k->c, slot);
		if (many && k->touched != NULL)
			k->touched[slot] |= bytes_of(off, op->size);
		if (page_4k(addr) != last[op->side])
			other_page(k->tlb, u, op, addr);
	}
}

/* All code lines are there: noted; else the rest is not done. */
static inline __attribute__((always_inline)) bool
code_lines(const struct unit *u, const struct quick *k)
{
	uint64_t *stamp = k->c->stamp, when = k->c->now;

	if (u->page != cpu->last[CODE] && !is_other_page(k->tlb, CODE, u->page))
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
		stamp[slot] = ++when;
	}
	k->c->now = when;
	return true;
}

static inline __attribute__((always_inline)) void
data_ops(const struct unit *u, const uint64_t *value, const struct quick *k,
    unsigned shift)
{
	const uint64_t *entry = k->entry;
	const uint16_t *hint = k->hint;
	uint64_t *stamp = k->c->stamp, when = k->c->now;
	uint64_t nhint = k->nhint, size = (uint64_t)1 << shift;

	for (const struct op *op = u->data, *end = op + u->ndata; op < end;
	    op++) {
		uint64_t addr = value[op->value] + op->at;
		uint64_t line = addr >> shift;
		uint64_t slot = hint[line & nhint];

		if (__builtin_expect(((entry[slot] ^ (line + 1) << 2) &
		    op->mask) != 0 ||
		    (addr & (size - 1)) + op->size > size, 0)) {
			k->c->now = when;
			unusual(u, op, addr);
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
		ops(u, u->value, q, false);
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
		run_core(k);
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
		ops(&unit[id], value, quick[cpu - core], true);
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
	else if (code_first)
		ops_split(u);
	else
		ops(u, u->value, quick[0], false);
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
