/*
 * insns - the instructions of a stream: numbers, addresses, costs by address
 *
 * A run is a straight part of a block within one object, or one function made
 * at run time. To write costs, the runs are sorted by their first addresses and
 * the addresses are swept: the runs that hold the current address are in a
 * short list, and their costs for it are summed up. So memory is needed for
 * runs, not for instructions.
 */
#include "insns.h"

#include <stdlib.h>
#include <string.h>

#include "codename.h"
#include "cost.h"
#include "mem.h"
#include "objmap.h"
#include "sum.h"

/* There are as many of the next three as the stream has blocks. */
#define SMALL __attribute__((packed, aligned(4)))

/* An id that is the first n instructions of a block. */
struct insns_id {
	uint32_t id;
	uint32_t n;
	uint32_t next;		/* of the block: 1 + part[], or 0 */
} SMALL;

struct insns_block {
	const struct ev_block *block;
	uint64_t first;
	uint32_t part;		/* 1 + part[], or 0 */
} SMALL;

struct insns_run {
	uint64_t addr;		/* link-time */
	uint32_t in;		/* an object, 1 + its number; 0: none; or
				   MADE + code[], if it was made at run time */
	uint32_t block;
	uint16_t from, to;	/* instructions */
} SMALL;

#define MADE 0x80000000U

/* A function of a block. */
struct insns_named {
	uint32_t block;
	uint32_t n;		/* the last one said so wins */
	struct codename *code;
};

/* A run that holds the address. */
struct insns_active {
	struct codename *code;
	uint32_t block, object;
	uint32_t from, to;	/* instructions to come */
	uint64_t addr;		/* of the first of them */
	struct ev_each at;	/* before it */
};

struct insns {
	struct insns_block *block;
	struct insns_run *run;
	uint32_t *order;	/* of the runs, by their places */
	struct insns_id *part;
	struct insns_active *active;
	struct insns_named *named;	/* those that runs do not have yet */
	size_t nnamed, capnamed;
	struct codename **code;	/* those that runs have */
	size_t ncode, capcode;
	bool lines;
	size_t nblock, capblock, nrun, caprun, npart, cappart;
	size_t nactive, capactive;
	uint64_t ninsn;
	const struct insns_costs *costs;
};

struct insns *
insns_new(void)
{
	return xcalloc(1, sizeof(struct insns));
}

uint64_t
insns_first(const struct insns *s, uint32_t block)
{
	return s->block[block].first;
}

/* ---- definitions ---- */

static void
add_runs(struct insns *s, const struct ev_block *b, struct objmap *map)
{
	for (uint32_t i = 0, from; i < b->ninsn; ) {
		uint64_t behind, link = b->insn[i].addr;
		const struct obj *o = objmap_find(map, link, &link);

		from = i;
		do {
			behind = b->insn[i].addr + b->insn[i].len;
			i++;
		} while (i < b->ninsn && b->insn[i].addr == behind);
		s->run = xgrow(s->run, &s->caprun, s->nrun + 1,
		    sizeof *s->run);
		s->run[s->nrun++] = (struct insns_run){ o == NULL ?
		    b->insn[from].addr : link, o == NULL ? 0 : o->id + 1,
		    (uint32_t)s->nblock, (uint16_t)from, (uint16_t)i };
	}
}

uint32_t
insns_add(struct insns *s, const struct ev_block *b, struct objmap *map)
{
	s->block = xgrow(s->block, &s->capblock, s->nblock + 1,
	    sizeof *s->block);
	s->block[s->nblock] = (struct insns_block){ b, s->ninsn, 0 };
	s->ninsn += b->ninsn;
	add_runs(s, b, map);
	return (uint32_t)s->nblock++;
}

void
insns_part(struct insns *s, uint32_t block, uint32_t id, uint32_t n)
{
	s->part = xgrow(s->part, &s->cappart, s->npart + 1, sizeof *s->part);
	s->part[s->npart++] = (struct insns_id){ id, n, s->block[block].part };
	s->block[block].part = (uint32_t)s->npart;
}

/* ---- names ---- */

void
insns_name(struct insns *s, uint32_t block, struct codename *code)
{
	s->named = xgrow(s->named, &s->capnamed, s->nnamed + 1,
	    sizeof *s->named);
	s->named[s->nnamed] = (struct insns_named){ block,
	    (uint32_t)s->nnamed, code };
	s->nnamed++;
	s->lines |= code->nline != 0;
}

bool
insns_has_lines(const struct insns *s)
{
	return s->lines;
}

static int
by_block(const void *a, const void *b)
{
	const struct insns_named *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

/* The first name of a block, or where it would be. */
static size_t
first_name(const struct insns *s, uint32_t block)
{
	size_t lo = 0, hi = s->nnamed, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->named[mid].block < block)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The function of an address, by the names from k on of its block. */
static struct codename *
function_of(const struct insns *s, size_t k, uint64_t addr)
{
	uint32_t block = s->named[k].block;
	struct codename *found = NULL;

	for (; k < s->nnamed && s->named[k].block == block; k++)
		if (addr - s->named[k].code->start < s->named[k].code->size)
			found = s->named[k].code;
	return found;
}

/* Its function, if it was made at run time; or NULL. */
static struct codename *
code_of(const struct insns *s, const struct insns_run *r)
{
	return r->in & MADE ? s->code[r->in - MADE] : NULL;
}

/* A run from instruction i on, at run-time address addr. */
static struct insns_run *
new_run(struct insns *s, struct insns_run r, uint32_t i, uint64_t addr,
    struct codename *code)
{
	r.from = (uint16_t)i;
	if (code != NULL) {
		s->code = xgrow(s->code, &s->capcode, s->ncode + 1,
		    sizeof *s->code);
		r.in = MADE + (uint32_t)s->ncode;
		s->code[s->ncode++] = code;
		r.addr = addr;
	} else if (r.in & MADE) {
		r.in = 0;
	}
	s->run = xgrow(s->run, &s->caprun, s->nrun + 1, sizeof *s->run);
	s->run[s->nrun] = r;
	return &s->run[s->nrun++];
}

/*
 * Cut a run, whose block has names from k on, where its function changes: its
 * parts become new runs, and it is empty.
 */
static void
name_run(struct insns *s, size_t r, size_t k)
{
	static struct ev_ref ref[256];
	struct insns_run old = s->run[r], *run = NULL;
	struct codename *code;
	struct ev_each e;
	uint32_t i;

	ev_each(&e, s->block[old.block].block, ref);
	for (i = 0; i < old.from; i++)
		ev_next_insn(&e);
	for (; i < old.to; i++) {
		ev_next_insn(&e);
		code = function_of(s, k, e.insn.addr);
		if (run == NULL || code != code_of(s, run)) {
			if (run != NULL)
				run->to = (uint16_t)i;
			run = new_run(s, old, i, e.insn.addr, code);
		}
		old.addr += e.insn.len;
	}
	s->run[r].from = s->run[r].to;
}

/*
 * Named code belongs to no object: its addresses are those of the running
 * program.
 */
static void
name_runs(struct insns *s)
{
	size_t n = s->nrun, k;

	if (s->nnamed == 0)
		return;
	qsort(s->named, s->nnamed, sizeof *s->named, by_block);
	for (size_t r = 0; r < n; r++) {
		k = first_name(s, s->run[r].block);
		if (k < s->nnamed && s->named[k].block == s->run[r].block)
			name_run(s, r, k);
	}
	s->nnamed = 0;
	for (size_t r = n = 0; r < s->nrun; r++)
		if (s->run[r].from < s->run[r].to)
			s->run[n++] = s->run[r];
	s->nrun = n;
}

/* ---- costs ---- */

static const struct insns *sorting;

/* Runs of different objects or functions: those of no object come first. */
static int
by_origin(const struct insns_run *x, const struct insns_run *y)
{
	const struct codename *c = code_of(sorting, x);
	const struct codename *d = code_of(sorting, y);

	if (c == NULL && d == NULL)
		return x->in < y->in ? -1 : 1;
	if (c == NULL || d == NULL)
		return c == NULL ? x->in == 0 ? -1 : 1 : y->in == 0 ? 1 : -1;
	return c->num < d->num ? -1 : c->num > d->num;
}

static int
by_place(const void *a, const void *b)
{
	const struct insns_run *x = &sorting->run[*(const uint32_t *)a];
	const struct insns_run *y = &sorting->run[*(const uint32_t *)b];
	int r = x->in == y->in ? 0 : by_origin(x, y);

	if (r != 0)
		return r;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

/* How often an instruction of a block was executed. */
static uint64_t
times_of(const struct insns *s, uint32_t block, uint32_t insn)
{
	uint64_t n = s->costs->count(s->block[block].block->id);

	for (uint32_t p = s->block[block].part; p != 0; p = s->part[p - 1].next)
		if (s->part[p - 1].n > insn)
			n += s->costs->count(s->part[p - 1].id);
	return n;
}

/* Add the costs of an instruction, each of whose references is one. */
static void
add_costs(const struct insns *s, const struct insns_at *at, int64_t *n)
{
	int64_t own[COST_EVMAX];

	if (at->times > INT64_MAX / (4U + at->i->nref))
		sum_beyond();
	memset(own, 0, s->costs->nev * sizeof *own);
	s->costs->add(at, own);
	for (unsigned i = 0; i < s->costs->nev; i++)
		sum_add(&n[i], own[i]);
}

/*
 * Sum up the costs of addr in the active runs, and advance these; remove those
 * that end. Returns how often the instruction was executed.
 */
static uint64_t
sum_up(struct insns *s, uint64_t addr, int64_t *n)
{
	uint64_t all = 0;

	for (size_t i = 0; i < s->nactive; ) {
		struct insns_active *a = &s->active[i];
		struct insns_at at = { a->block, a->from, &a->at.insn,
		    a->at.ref, 0, a->object, addr, a->code };

		if (a->addr != addr) {
			i++;
			continue;
		}
		/* all active runs share the memory for references */
		ev_next_insn(&a->at);
		at.times = times_of(s, a->block, a->from);
		if (at.times != 0)
			add_costs(s, &at, n);
		all += at.times;
		a->addr += a->at.insn.len;
		if (++a->from == a->to)
			*a = s->active[--s->nactive];
		else
			i++;
	}
	return all;
}

/* Are two runs of one object, and of one function if that has a name? */
static bool
together(const struct insns *s, const struct insns_run *a,
    const struct insns_run *b)
{
	return a->in == b->in || (a->in & b->in & MADE &&
	    code_of(s, a) == code_of(s, b));
}

/* Run k, in order. */
static const struct insns_run *
sorted(const struct insns *s, size_t k)
{
	return &s->run[s->order[k]];
}

/* The next address that an active run, or run k together with of, holds. */
static uint64_t
next_addr(const struct insns *s, size_t k, const struct insns_run *of)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < s->nactive; i++)
		if (s->active[i].addr < least)
			least = s->active[i].addr;
	if (k < s->nrun && together(s, sorted(s, k), of) &&
	    sorted(s, k)->addr < least)
		least = sorted(s, k)->addr;
	return least;
}

static uint32_t
object_of(const struct insns_run *r)
{
	return r->in & MADE ? 0 : r->in;
}

/* Run k holds the address from here on. */
static void
activate(struct insns *s, size_t k)
{
	static struct ev_ref ref[256];
	const struct insns_run *r = sorted(s, k);
	struct insns_active *a;

	s->active = xgrow(s->active, &s->capactive, s->nactive + 1,
	    sizeof *s->active);
	a = &s->active[s->nactive++];
	a->code = code_of(s, r);
	a->block = r->block;
	a->object = object_of(r);
	a->from = r->from;
	a->to = r->to;
	a->addr = r->addr;
	ev_each(&a->at, s->block[r->block].block, ref);
	for (uint32_t i = 0; i < r->from; i++)
		ev_next_insn(&a->at);
}

/* Name what the costs of a run are of. */
static void
write_name(struct costw *w, struct codename *code, uint32_t object,
    struct objmap *map)
{
	const struct codename_line *l;

	if (code == NULL) {
		costw_object(w, object == 0 ? "???" :
		    objmap_obj(map, object - 1)->path);
		return;
	}
	l = codename_line(code, UINT64_MAX);
	costw_function(w, l == NULL ? "???" : code->line->file, code->name);
}

static void
write_costs(struct costw *w, struct codename *code, uint64_t addr,
    const int64_t *n)
{
	const struct codename_line *l = code == NULL ? NULL :
	    codename_line(code, addr);

	if (l != NULL)
		costw_line(w, l->file, l->line);
	costw_addr(w, addr, n);
}

/* Is it to be left out? */
static bool
is_other(const struct codename *code, enum insns_which which)
{
	bool lines = code != NULL && code->nline != 0;

	return which != INSNS_ALL && lines != (which == INSNS_WITH_LINES);
}

static bool
is_nothing(const int64_t *n, unsigned nev)
{
	for (unsigned i = 0; i < nev; i++)
		if (n[i] != 0)
			return false;
	return true;
}

/* Sort their numbers, since qsort needs as much memory again. */
static void
sort_runs(struct insns *s)
{
	name_runs(s);
	s->order = xrealloc(s->order, s->nrun * sizeof *s->order);
	for (size_t k = 0; k < s->nrun; k++)
		s->order[k] = (uint32_t)k;
	sorting = s;
	if (s->nrun != 0)
		qsort(s->order, s->nrun, sizeof *s->order, by_place);
}

/* How often all of a block was executed, if it has no other parts; or 0. */
static uint64_t
times_of_all(const struct insns *s, uint32_t block)
{
	const struct insns_block *b = &s->block[block];

	return b->part == 0 ? s->costs->count(b->block->id) : 0;
}

static void
visit_run(struct insns *s, const struct insns_run *r)
{
	static struct ev_ref ref[256];
	uint64_t all = times_of_all(s, r->block), addr = r->addr;
	struct ev_each e;

	ev_each(&e, s->block[r->block].block, ref);
	for (uint32_t i = 0; i < r->from; i++)
		ev_next_insn(&e);
	for (uint32_t i = r->from; i < r->to; i++) {
		struct insns_at at = { r->block, i, &e.insn, e.ref, 0,
		    object_of(r), addr, code_of(s, r) };

		ev_next_insn(&e);
		addr += e.insn.len;
		at.times = all != 0 ? all : times_of(s, r->block, i);
		if (at.times == 0)
			return;
		s->costs->add(&at, NULL);
	}
}

void
insns_visit(struct insns *s, const struct insns_costs *c)
{
	s->costs = c;
	sort_runs(s);
	for (size_t k = 0; k < s->nrun; k++)
		visit_run(s, sorted(s, k));
}

void
insns_write(struct insns *s, const struct insns_costs *c, struct objmap *map)
{
	int64_t n[COST_EVMAX];
	const struct insns_run *of = NULL, *named = NULL;
	size_t k = 0;

	s->costs = c;
	sort_runs(s);
	while (s->nactive != 0 || k < s->nrun) {
		uint64_t addr;

		if (s->nactive == 0)
			of = sorted(s, k);
		if (s->nactive == 0 && is_other(code_of(s, of), c->which)) {
			k++;
			continue;
		}
		addr = next_addr(s, k, of);
		for (; k < s->nrun && together(s, sorted(s, k), of) &&
		    sorted(s, k)->addr == addr; k++)
			activate(s, k);
		memset(n, 0, c->nev * sizeof *n);
		if (sum_up(s, addr, n) == 0 || is_nothing(n, c->nev))
			continue;
		for (unsigned i = 0; i < c->nev; i++)
			sum_add(&c->total[i], n[i]);
		if (c->w == NULL)
			continue;
		if (named == NULL || !together(s, named, of))
			write_name(c->w, code_of(s, of), object_of(of), map);
		named = of;
		write_costs(c->w, code_of(s, of), addr, n);
	}
}
