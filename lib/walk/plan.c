/*
 * plan - cut definitions into segments, which hold no call or return
 *
 * A definition (a block, or a prefix of one) is cut where a function begins,
 * even if code falls into it, and after a call, a return or a jump elsewhere.
 * Most definitions are one segment. Its key decides whether it may simply
 * follow what the thread ran last: both are in one section, the segment does
 * not begin a function, and the last one did not end in a call, a return or an
 * indirect jump.
 *
 * The reference to the return address shows the stack pointer after a call or
 * return. So all definitions of a block that have the group of this reference
 * must keep the group's value.
 */
#include "callwalk.h"

#include <stdlib.h>
#include <string.h>

#include "outcome.h"
#include "util.h"

struct walk_plan *plan;
#define NPLAN ((size_t)1 << 24)	/* ids end there */
static uint32_t nseg;
static uint64_t nowhere;	/* sp points here if there is none */
static const char *wrong;

/* By block: the groups with stack pointers. */
struct stackrefs {
	uint64_t value;		/* of the only group, if no others are kept */
	uint8_t group;		/* the only one, if n is 1 */
	uint8_t n;		/* how many there are; 2 means 2 or more */
	bool repeats;		/* it has a repeated instruction */
};

/* ---- the stack's references ---- */

/* The reference to the return address of a call or return, or NULL. */
static const struct ev_ref *
return_address(const struct ev_block *b, const struct ev_insn *i)
{
	const struct ev_ref *r = &b->ref[i->ref];
	unsigned k = i->nref;

	if (i->flow == 'R')
		return k > 0 && r->kind == 'r' && r->count == 0 ? r : NULL;
	while (k-- > 0)
		if (r[k].kind == 'w' && r[k].count == 0)
			return &r[k];
	return NULL;
}

static bool
moves_stack(const struct ev_insn *i)
{
	return i->flow == 'L' || i->flow == 'X' || i->flow == 'R';
}

static struct stackrefs *
stack_refs(struct ev_block *b)
{
	struct stackrefs *s = b->user;
	const struct ev_ref *r;

	if (s != NULL)
		return s;
	s = b->user = xkeep(sizeof *s);
	for (uint32_t k = 0; k < b->nref; k++)
		s->repeats |= b->ref[k].count != 0;
	for (uint32_t k = 0; k < b->ninsn; k++) {
		if (!moves_stack(&b->insn[k]))
			continue;
		r = return_address(b, &b->insn[k]);
		if (r == NULL || r->where != EV_GROUP ||
		    (s->n == 1 && s->group == r->group))
			continue;
		s->group = r->group;
		s->n = s->n == 0 ? 1 : 2;
	}
	if (b->value == NULL && s->n > 1)
		b->value = xkeep(b->ngroups * sizeof *b->value);
	return s;
}

/* Where the value of a group with stack pointers is kept. */
static uint64_t *
value_of(struct ev_block *b, unsigned group)
{
	return b->value != NULL ? &b->value[group] : &stack_refs(b)->value;
}

/* Find the stack pointer after the segment's last instruction. */
static void
find_sp(struct walk_seg *s, struct ev_block *b, const struct ev_insn *i)
{
	const struct ev_ref *r;

	s->sp = &nowhere;
	if (!moves_stack(i))
		return;
	r = return_address(b, i);
	if (r == NULL || r->where == EV_BARE) {
		wrong = "a call or return without its place on the stack";
		return;
	}
	s->spat = r->at + (i->flow == 'R' ? r->size : 0);
	if (r->where == EV_GROUP)
		s->sp = value_of(b, r->group);
}

/* ---- costs ---- */

/* Do the groups' values decide how often a reference happens? */
static bool
depends(const struct ev_block *b, const struct ev_insn *i)
{
	for (unsigned k = i->ref; k < (unsigned)i->ref + i->nref; k++)
		if (b->ref[k].count != 0 ||
		    (walk.data_refs && b->ref[k].where == EV_GROUP))
			return true;
	return false;
}

bool
walk_implies(const struct ev_insn *i, const struct ev_ref *ref,
    const char *event)
{
	bool locks = false;

	if (strcmp(event, "Bc") == 0)
		return i->flow == 'C';
	if (strcmp(event, "Bi") == 0)
		return i->flow == 'I' || i->flow == 'X';
	if (!walk.bus || strcmp(event, "Ge") != 0)
		return false;
	for (unsigned k = 0; k < i->nref; k++)
		locks |= ref[k].locked;
	return locks;
}

static void
add_implied(int64_t *cost, const struct ev_insn *i, const struct ev_ref *ref)
{
	for (unsigned k = 0; k < outcome_columns(walk.told); k++)
		cost[walk.firsttold + k] += walk_implies(i, ref,
		    outcome_name(walk.told, k));
}

/* The cost of n instructions and nothing else; segments share it. */
static const int64_t *
only(uint32_t n)
{
	static int64_t number[1 << 16];

	number[n] = n;
	return &number[n];
}

static void
add_costs(struct walk_seg *s)
{
	const struct ev_block *b = s->def->block;
	int64_t *cost = NULL;

	if (walk.ncol == 1)
		s->cost = only((uint32_t)s->end - s->first);
	else
		s->cost = cost = xkeep(walk.ncol * sizeof *cost);
	for (uint32_t k = s->first; k < s->end; k++) {
		const struct ev_insn *i = &b->insn[k];

		s->counted |= (walk.data_refs || walk.rep) && depends(b, i);
		if (walk.ncol == 1)
			continue;
		cost[0]++;
		add_implied(cost, i, b->ref + i->ref);
		for (unsigned r = i->ref; walk.data_refs &&
		    r < (unsigned)i->ref + i->nref; r++)
			cost[b->ref[r].kind == 'w' ? 2 : 1]++;
	}
}

/* ---- segments ---- */

static void
finish(struct walk_seg *s, uint32_t end)
{
	struct ev_block *b = s->def->block;
	const struct ev_insn *i = &b->insn[end - 1];

	s->end = (uint16_t)end;
	s->flow = i->flow;
	s->last = i->addr;
	s->len = i->len;
	find_sp(s, b, i);
	add_costs(s);
	s->num = nseg++;
	s->key = s->at->entry ? KEY_ENTRY : s->at->section;
	s->endkey = walk.jumps || s->at->fn->skip ||
	    (i->flow != 0 && strchr("LXRI", i->flow) != NULL) ?
	    KEY_LOOK : s->at->section;
	if (walk.jumps || s->counted)
		s->key = KEY_NEVER;
}

/* The last address looked up, and where its function ends. */
static uint64_t from, until;

static void
look_up(uint64_t addr, struct func_place *at)
{
	from = addr;
	until = func_place(addr, at);
}

/*
 * Must the instruction at addr, which follows i, begin a new segment? Straight
 * code must where a function begins: it falls into that.
 */
static bool
cuts(const struct walk_seg *s, const struct ev_insn *i, uint64_t addr,
    struct func_place *at)
{
	bool straight = addr == i->addr + i->len;
	bool stays = i->flow == 0 || i->flow == 'C';

	if (straight && stays && addr > from && addr < until)
		return false;
	look_up(addr, at);
	return at->entry || at->section != s->at->section ||
	    at->slide != s->at->slide || !(stays || i->flow == 'J');
}

/* Cut a definition into segments; return how many. */
static uint32_t
cut(const struct ev_def *d, struct walk_seg **segs)
{
	const struct ev_insn *i = d->block->insn;
	static struct walk_seg *v;
	static size_t cap;
	struct func_place at;
	struct walk_seg *s;
	uint32_t n = 0;

	look_up(i->addr, &at);
	for (uint32_t k = 0; k < d->n; k++) {
		if (k > 0) {
			s = &v[n - 1];
			/* jumps are counted one by one */
			if (!cuts(s, &i[k - 1], i[k].addr, &at) &&
			    !(walk.jumps && i[k - 1].flow != 0))
				continue;
			if (walk.jumps)
				look_up(i[k].addr, &at);
			finish(s, k);
		}
		v = xgrow(v, &cap, n + 1, sizeof *v);
		v[n++] = (struct walk_seg){ .def = d, .first = (uint16_t)k,
		    .addr = i[k].addr, .at = func_same_place(&at) };
	}
	finish(&v[n - 1], d->n);
	*segs = memcpy(xkeep(n * sizeof *v), v, n * sizeof *v);
	return n;
}

const char *
plan_define(uint32_t id)
{
	const struct ev_def *d = ev_def(walk.events, id);
	struct stackrefs *sr = stack_refs(d->block);
	struct walk_plan *p;

	if (plan == NULL)
		plan = xreserve(NPLAN, sizeof *plan, "memory for blocks");
	p = &plan[id];
	wrong = NULL;
	p->nseg = cut(d, &p->seg);
	p->key = p->seg->key;
	p->endkey = p->seg->endkey;
	p->sp = p->seg->sp;
	p->spat = p->seg->spat;
	p->ir = p->seg->end;
	if (sr->n == 1 && sr->group < d->ngroups) {
		p->spgroup = sr->group + 1;
		p->sp = value_of(d->block, sr->group);
	}
	/* several groups, or values that decide counts: keep them all */
	p->apply = sr->n > 1 || walk.data_refs || (walk.rep && sr->repeats);
	if (p->apply) {
		p->spgroup = 0;
		p->sp = &nowhere;
		p->key = KEY_NEVER;
	}
	if (p->nseg > 1)
		p->key = KEY_NEVER;
	return wrong;
}
