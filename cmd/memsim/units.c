/*
 * units - blocks become lists of fetches and references, in order
 *
 * A fetch from the line of the fetch before changes nothing and is left out.
 * But a data reference between them can take the line out of an inclusive
 * hierarchy, or change what was used last where code and data share a cache;
 * a prefetch can take it out at once; rrip notes the second use; and a first
 * cache that is exclusive never has what it missed.
 */
#include "units.h"

#include <string.h>

#include "mem.h"

struct block {
	struct op *op, *data;
	uint64_t *line, *value;
	uint64_t *pages;
	uint32_t nop, nline, npages;
	bool walk;
};

struct unit *unit;
struct quick quick[MOST_CORES][2];
bool units_code_first;
static struct simrun *sim;
static struct block *block;
static size_t capunit, capblock;
/* When a fetch from the same line as the last may change something. */
static enum { NEVER, AFTER_REFS, ALWAYS } strict;

/* ---- the first caches ---- */

static bool
is_quick(const struct node *n)
{
	return n != NULL && n->part->degree[STREAMER] == 0 && n->c->nhint != 0;
}

void
units_core(unsigned number)
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
		q->stride = side == DATA && n->part->degree[STRIDE] != 0;
		q->touched = side == DATA ? n->touched : NULL;
	}
}

static bool
is_lru(const struct node *n)
{
	return is_quick(n) && n->c->note == NOTE_STAMP &&
	    n->part->degree[STRIDE] == 0;
}

/* The order in which code and data are to be looked up. */
static void
set_order(void)
{
	const struct node *n = core->first[CODE];
	bool inclusive = false, prefetcher = false;

	for (unsigned i = 0; i < machine->npart; i++) {
		inclusive |= machine->part[i].content == INCLUSIVE;
		prefetcher |= has_prefetcher(&machine->part[i]);
	}
	units_code_first = !many_cores && !tlb_unified && !tlb_rrip &&
	    is_lru(n) && n->part->side != BOTH && n->prefetch == NULL &&
	    is_lru(core->first[DATA]);
	strict = inclusive || tlb_unified ||
	    (n != NULL && n->part->side == BOTH) ? AFTER_REFS : NEVER;
	if ((inclusive && prefetcher) || tlb_rrip ||
	    (n != NULL && (n->c->note == NOTE_RRIP || n->prefetch != NULL ||
	    n->part->content == EXCLUSIVE)))
		strict = ALWAYS;
}

void
units_init(struct simrun *s)
{
	sim = s;
	set_order();
	units_core(0);
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

/* How many lines, or pages, of any size, code is fetched from in turn. */
static uint32_t
count_lines(const struct op *op, uint32_t n, unsigned shift)
{
	uint64_t last = 0;		/* plus 1 */
	uint32_t lines = 0;

	for (; n > 0; n--, op++) {
		uint64_t a = op->at >> shift;
		uint64_t z = (op->at + op->size - 1) >> shift;

		if (op->side == DATA)
			continue;
		lines += (last != a + 1) + (z != a);
		last = z + 1;
	}
	return lines;
}

uint32_t
units_lines(const struct op *op, uint32_t n)
{
	return count_lines(op, n, quick[0][CODE].shift);
}

static void
add_line(uint64_t *list, uint32_t *n, uint64_t line)
{
	if (*n == 0 || list[*n - 1] != line)
		list[(*n)++] = line;
}

/* The lists of code lines and of data, if they are of use. */
static void
split_block(struct block *b)
{
	unsigned shift = quick[0][CODE].shift, n = 0;

	b->data = xkeep(b->nop * sizeof *b->data);
	b->line = xkeep((count_lines(b->op, b->nop, shift) + 1) *
	    sizeof *b->line);
	b->pages = xkeep((count_lines(b->op, b->nop, 12) + 1) *
	    sizeof *b->pages);
	for (uint32_t i = 0; i < b->nop; i++) {
		const struct op *op = &b->op[i];
		uint64_t z = op->at + op->size - 1;

		if (op->side == DATA) {
			b->data[n++] = *op;
			continue;
		}
		add_line(b->line, &b->nline, op->at >> shift);
		add_line(b->line, &b->nline, z >> shift);
		add_line(b->pages, &b->npages, page_4k(op->at));
		add_line(b->pages, &b->npages, page_4k(z));
	}
}

/* The fetches and references of the first n instructions. */
static void
set_unit(struct unit *u, const struct block *b, uint32_t n)
{
	u->op = b->op;
	u->data = b->data;
	u->line = b->line;
	u->pages = b->pages;
	for (; u->nop < b->nop && b->op[u->nop].insn < n; u->nop++)
		u->ndata += b->op[u->nop].side == DATA;
	if (b->line == NULL)
		return;
	u->nline = units_lines(u->op, u->nop);
	u->npages = count_lines(u->op, u->nop, 12);
	u->page = u->npages == 1 ? u->pages[0] : 0;
}

void
units_define(const struct ev_def *d, uint32_t id)
{
	struct unit *u;
	struct block *b;

	if (d->letter == 'B') {
		define_block(d->block);
		if (units_code_first)
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
	u->insn = d->block->insn;
	set_unit(u, b, d->n);
}

uint64_t
units_count(uint32_t id)
{
	return id < capunit ? unit[id].count : 0;
}
