/*
 * insns - the instructions of a stream: numbers, addresses, costs by address
 *
 * A run is a straight part of a block within one object. To write costs, sort
 * the runs by their first addresses and sweep over the addresses: the runs
 * that hold the current address are in a short list, and their costs for it
 * are summed up. So memory is needed for runs, not for instructions.
 */
#include "insns.h"

#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "objmap.h"
#include "util.h"

/* An id that is all or the first n instructions of a block. */
struct insns_id {
	uint32_t id;
	uint32_t n;
	uint32_t next;		/* of the block: 1 + part[], or 0 */
};

struct insns_block {
	const struct ev_block *block;
	uint64_t first;
	uint32_t part;		/* 1 + part[] */
};

struct insns_run {
	uint64_t addr;		/* link-time */
	uint32_t object;	/* 1 + its number; 0: none */
	uint32_t block;
	uint32_t from, to;	/* instructions */
};

/* A run that holds the address. */
struct insns_active {
	uint32_t block, object;
	uint32_t from, to;	/* instructions to come */
	uint64_t addr;		/* of the first of them */
	struct ev_each at;	/* before it */
};

struct insns {
	struct insns_block *block;
	struct insns_run *run;
	struct insns_id *part;
	struct insns_active *active;
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
		    (uint32_t)s->nblock, from, i };
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
	insns_part(s, (uint32_t)s->nblock, b->id, b->ninsn);
	return (uint32_t)s->nblock++;
}

void
insns_part(struct insns *s, uint32_t block, uint32_t id, uint32_t n)
{
	s->part = xgrow(s->part, &s->cappart, s->npart + 1, sizeof *s->part);
	s->part[s->npart++] = (struct insns_id){ id, n, s->block[block].part };
	s->block[block].part = (uint32_t)s->npart;
}

/* ---- costs ---- */

static int
by_place(const void *a, const void *b)
{
	const struct insns_run *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

/* How often an instruction of a block was executed. */
static uint64_t
times_of(const struct insns *s, uint32_t block, uint32_t insn)
{
	uint64_t n = 0;

	for (uint32_t p = s->block[block].part; p != 0; p = s->part[p - 1].next)
		if (s->part[p - 1].n > insn)
			n += s->costs->count(s->part[p - 1].id);
	return n;
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
		    a->at.ref, 0, a->object, addr };

		if (a->addr != addr) {
			i++;
			continue;
		}
		/* all active runs share the memory for references */
		ev_next_insn(&a->at);
		at.times = times_of(s, a->block, a->from);
		if (at.times != 0)
			s->costs->add(&at, n);
		all += at.times;
		a->addr += a->at.insn.len;
		if (++a->from == a->to)
			*a = s->active[--s->nactive];
		else
			i++;
	}
	return all;
}

/* The next address that an active run, or run k of the same object, holds. */
static uint64_t
next_addr(const struct insns *s, size_t k, uint32_t object)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < s->nactive; i++)
		if (s->active[i].addr < least)
			least = s->active[i].addr;
	if (k < s->nrun && s->run[k].object == object &&
	    s->run[k].addr < least)
		least = s->run[k].addr;
	return least;
}

/* Run k holds the address from here on. */
static void
activate(struct insns *s, size_t k)
{
	static struct ev_ref ref[256];
	const struct insns_run *r = &s->run[k];
	struct insns_active *a;

	s->active = xgrow(s->active, &s->capactive, s->nactive + 1,
	    sizeof *s->active);
	a = &s->active[s->nactive++];
	a->block = r->block;
	a->object = r->object;
	a->from = r->from;
	a->to = r->to;
	a->addr = r->addr;
	ev_each(&a->at, s->block[r->block].block, ref);
	for (uint32_t i = 0; i < r->from; i++)
		ev_next_insn(&a->at);
}

static void
write_object(struct insns *s, uint32_t object, struct objmap *map)
{
	if (s->costs->w != NULL)
		costw_object(s->costs->w, object == 0 ? "???" :
		    objmap_obj(map, object - 1)->path);
}

static bool
is_nothing(const int64_t *n, unsigned nev)
{
	for (unsigned i = 0; i < nev; i++)
		if (n[i] != 0)
			return false;
	return true;
}

void
insns_write(struct insns *s, const struct insns_costs *c, struct objmap *map)
{
	int64_t n[COST_EVMAX];
	uint32_t object = UINT32_MAX, named = UINT32_MAX;
	size_t k = 0;

	s->costs = c;
	if (s->nrun != 0)
		qsort(s->run, s->nrun, sizeof *s->run, by_place);
	while (s->nactive != 0 || k < s->nrun) {
		uint64_t addr;

		if (s->nactive == 0)
			object = s->run[k].object;
		addr = next_addr(s, k, object);
		for (; k < s->nrun && s->run[k].object == object &&
		    s->run[k].addr == addr; k++)
			activate(s, k);
		memset(n, 0, c->nev * sizeof *n);
		if (sum_up(s, addr, n) == 0 || is_nothing(n, c->nev))
			continue;
		for (unsigned i = 0; i < c->nev; i++)
			c->total[i] += n[i];
		if (object != named)
			write_object(s, named = object, map);
		if (c->w != NULL)
			costw_addr(c->w, addr, n);
	}
}
