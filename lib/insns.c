/*
 * insns - the instructions of a stream: numbers, places, costs by address
 *
 * A row is one instruction of one block; rows are sorted by object and
 * address, and those of one place summed up.
 */
#include "insns.h"

#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "objmap.h"
#include "util.h"

/* Instructions from insn on belong to this object. */
struct place {
	uint32_t insn;
	uint32_t object;	/* 1 + its number; 0: none */
	uint64_t slide;		/* run-time less link-time addresses */
};

struct blockof {
	const struct ev_block *block;
	uint64_t first;
	uint32_t place, nplace;
};

struct row {
	uint64_t addr;		/* link-time */
	uint32_t object;	/* 1 + its number; 0: none */
	uint32_t block;
	uint32_t insn;
};

struct insns {
	struct blockof *block;
	struct place *place;
	size_t nblock, capblock, nplace, capplace;
	uint64_t ninsn;
	uint64_t *ran;		/* by number; sums from the end on */
	size_t capran;
	int summed;
	struct row *row;
	size_t nrow, caprow;
};

struct insns *
insns_new(void)
{
	return xcalloc(1, sizeof(struct insns));
}

uint64_t
insns_count(const struct insns *s)
{
	return s->ninsn;
}

const struct ev_block *
insns_block(const struct insns *s, uint32_t block)
{
	return s->block[block].block;
}

/* ---- places ---- */

static int
same_place(const struct place *a, const struct place *b)
{
	return a->object == b->object && a->slide == b->slide;
}

static void
places(struct insns *s, struct blockof *of, struct objmap *map)
{
	const struct ev_block *b = of->block;
	uint64_t behind = 0, link;

	of->place = (uint32_t)s->nplace;
	for (uint32_t i = 0; i < b->ninsn; i++) {
		const struct obj *o;
		struct place p = { .insn = i };

		/* what goes straight on stays in its object */
		if (i != 0 && b->insn[i].addr == behind) {
			behind += b->insn[i].len;
			continue;
		}
		behind = b->insn[i].addr + b->insn[i].len;
		o = objmap_find(map, b->insn[i].addr, &link);
		if (o != NULL) {
			p.object = o->id + 1;
			p.slide = b->insn[i].addr - link;
		}
		if (i != 0 && same_place(&p, &s->place[s->nplace - 1]))
			continue;
		s->place = xgrow(s->place, &s->capplace, s->nplace + 1,
		    sizeof *s->place);
		s->place[s->nplace++] = p;
	}
	of->nplace = (uint32_t)s->nplace - of->place;
}

uint32_t
insns_add(struct insns *s, const struct ev_block *b, struct objmap *map,
    uint64_t *first)
{
	struct blockof *of;
	size_t old = s->capran;

	s->block = xgrow(s->block, &s->capblock, s->nblock + 1,
	    sizeof *s->block);
	of = &s->block[s->nblock];
	of->block = b;
	*first = of->first = s->ninsn;
	s->ninsn += b->ninsn;
	s->ran = xgrow(s->ran, &s->capran, s->ninsn, sizeof *s->ran);
	memset(s->ran + old, 0, (s->capran - old) * sizeof *s->ran);
	places(s, of, map);
	return (uint32_t)s->nblock++;
}

/* ---- executions ---- */

void
insns_ran(struct insns *s, uint64_t first, uint32_t n, uint64_t times)
{
	s->ran[first + n - 1] += times;
}

const uint64_t *
insns_times(struct insns *s)
{
	/* who ran n instructions ran those before the n-th, too */
	for (size_t k = 0; k < s->nblock && !s->summed; k++) {
		uint64_t *n = s->ran + s->block[k].first;

		for (uint32_t i = s->block[k].block->ninsn - 1; i > 0; i--)
			n[i - 1] += n[i];
	}
	s->summed = 1;
	return s->ran;
}

/* ---- costs ---- */

static int
by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return 0;
}

static void
make_rows(struct insns *s)
{
	const uint64_t *times = insns_times(s);

	for (size_t k = 0; k < s->nblock; k++) {
		const struct blockof *of = &s->block[k];
		const struct place *p = s->place + of->place;
		const struct place *end = p + of->nplace;

		for (uint32_t i = 0; i < of->block->ninsn; i++) {
			while (p + 1 < end && p[1].insn <= i)
				p++;
			if (times[of->first + i] == 0)
				continue;
			s->row = xgrow(s->row, &s->caprow, s->nrow + 1,
			    sizeof *s->row);
			s->row[s->nrow++] = (struct row){
			    of->block->insn[i].addr - p->slide, p->object,
			    (uint32_t)k, i };
		}
	}
	if (s->nrow != 0)
		qsort(s->row, s->nrow, sizeof *s->row, by_place);
}

void
insns_write(struct insns *s, const struct insns_costs *c, struct objmap *map)
{
	int64_t n[COST_EVMAX];
	uint32_t object = UINT32_MAX;
	size_t k = 0, from;

	make_rows(s);
	while (k < s->nrow) {
		const struct row *r = &s->row[k];

		memset(n, 0, c->nev * sizeof *n);
		for (from = k; k < s->nrow &&
		    by_place(&s->row[k], &s->row[from]) == 0; k++)
			c->add(s->row[k].block, s->row[k].insn,
			    s->block[s->row[k].block].first + s->row[k].insn,
			    n);
		for (unsigned i = 0; i < c->nev; i++)
			c->total[i] += n[i];
		if (c->w == NULL)
			continue;
		if (r->object != object) {
			object = r->object;
			costw_object(c->w, object == 0 ? "???" :
			    objmap_obj(map, object - 1)->path);
		}
		costw_addr(c->w, r->addr, n);
	}
}
