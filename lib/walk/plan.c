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

#include "hash.h"
#include "khash.h"
#include "mem.h"
#include "outcome.h"

struct walk_seg *plan;
uint64_t *plan_values;
unsigned plan_adds[PLAN_ADDS], plan_nadds;
int64_t *plan_costs;
#define NPLAN ((size_t)1 << 24)	/* ids end there */
static struct walk_slot none;	/* has no context */
static uint64_t *far;		/* distances that do not fit into spat */
static size_t nfar, capfar;
static const char *wrong;

/* The groups with stack pointers of a block. */
struct stackrefs {
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

static struct stackrefs
stack_refs(const struct ev_block *b)
{
	struct stackrefs s = { 0, 0, false };
	const struct ev_ref *r;

	for (uint32_t k = 0; k < b->nref; k++)
		s.repeats |= b->ref[k].count != 0;
	for (uint32_t k = 0; k < b->ninsn; k++) {
		if (!moves_stack(&b->insn[k]))
			continue;
		r = return_address(b, &b->insn[k]);
		if (r == NULL || r->where != EV_GROUP ||
		    (s.n == 1 && s.group == r->group))
			continue;
		s.group = r->group;
		s.n = s.n == 0 ? 1 : 2;
	}
	return s;
}

/* Find the stack pointer after the segment's last instruction. */
static void
find_sp(struct walk_seg *s, const struct ev_block *b, const struct ev_insn *i)
{
	const struct ev_ref *r;
	uint64_t at;

	if (!moves_stack(i))
		return;
	r = return_address(b, i);
	if (r == NULL || r->where == EV_BARE) {
		wrong = "a call or return without its place on the stack";
		return;
	}
	if (r->where == EV_GROUP)
		s->group = r->group + 1;
	at = r->at + (i->flow == 'R' ? r->size : 0);
	s->spat = (int32_t)at;
	s->far = (uint64_t)(int64_t)s->spat != at;
	if (!s->far)
		return;
	far = xgrow(far, &capfar, nfar + 1, sizeof *far);
	s->spat = (int32_t)nfar;
	far[nfar++] = at;
}

uint64_t
seg_sp_rare(const struct walk_seg *s)
{
	uint64_t value = s->group == 0 ? 0 : s->apply ?
	    s->value[s->group - 1] : plan_values[s->block];

	return value + (s->far ? far[(uint32_t)s->spat] :
	    (uint64_t)(int64_t)s->spat);
}

/* ---- costs ---- */

/* How do the groups' values decide how often its references happen? */
static void
depend(struct walk_seg *s, const struct ev_block *b, const struct ev_insn *i)
{
	for (unsigned k = i->ref; k < (unsigned)i->ref + i->nref; k++) {
		s->counted |= b->ref[k].count != 0;
		s->zeros |= walk.data_refs && b->ref[k].where == EV_GROUP;
	}
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
add_to(unsigned column)
{
	plan_adds[plan_nadds++] = column;
}

void
plan_begin(void)
{
	const char *name;

	if (walk.data_refs) {
		add_to(1);
		add_to(2);
	}
	for (unsigned i = 0; i < outcome_columns(walk.told); i++) {
		name = outcome_name(walk.told, i);
		if (strcmp(name, "Bc") == 0 || strcmp(name, "Bi") == 0 ||
		    (walk.bus && strcmp(name, "Ge") == 0))
			add_to(walk.firsttold + i);
	}
}

/* What an execution of an instruction adds to one of these columns. */
static unsigned
cost_of(const struct ev_insn *i, const struct ev_ref *ref, unsigned column)
{
	unsigned n = 0;

	if (!walk.data_refs || column > 2)
		return walk_implies(i, ref, outcome_name(walk.told,
		    column - walk.firsttold));
	for (unsigned k = 0; k < i->nref; k++)
		n += (ref[k].kind == 'w') == (column == 2);
	return n;
}

/* Few costs differ: each is kept once, and found by its number. */
static inline const int64_t *
cost_at(uint32_t number)
{
	return plan_costs + number * (size_t)plan_nadds;
}

static inline khint_t
cost_hash(uint32_t number)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < plan_nadds; i++)
		h = (h ^ (uint64_t)cost_at(number)[i]) * HASH_MULTIPLIER;
	return (khint_t)(h >> 32);
}

static inline bool
cost_equal(uint32_t a, uint32_t b)
{
	return memcmp(cost_at(a), cost_at(b),
	    plan_nadds * sizeof *plan_costs) == 0;
}

KHASH_INIT(cost, uint32_t, char, 0, cost_hash, cost_equal)

static uint32_t ncost;

/* Zeros for the next costs. */
static int64_t *
new_cost(void)
{
	static size_t cap;
	size_t n = ((size_t)ncost + 1) * plan_nadds;

	plan_costs = xgrow(plan_costs, &cap, n, sizeof *plan_costs);
	return memset(plan_costs + n - plan_nadds, 0,
	    plan_nadds * sizeof *plan_costs);
}

/* The number of what new_cost returned last. */
static uint32_t
number_of_cost(void)
{
	static khash_t(cost) *known;
	khint_t k;
	int made;

	if (known == NULL)
		known = kh_init(cost);
	k = kh_put(cost, known, ncost, &made);
	ncost += made != 0;
	return kh_key(known, k);
}

static void
add_costs(struct walk_seg *s, const struct ev_block *b)
{
	int64_t *cost = plan_nadds == 0 ? NULL : new_cost();

	for (uint32_t k = s->first; k < s->end; k++) {
		const struct ev_insn *i = &b->insn[k];

		if (walk.data_refs || walk.rep)
			depend(s, b, i);
		for (unsigned c = 0; c < plan_nadds; c++)
			cost[c] += cost_of(i, b->ref + i->ref, plan_adds[c]);
	}
	if (cost != NULL)
		s->cost = number_of_cost() * plan_nadds;
}

/* ---- segments ---- */

/* Section numbers that are too large are looked at each time. */
static int16_t
key_of(int32_t section, int16_t otherwise)
{
	return section > INT16_MAX ? otherwise : (int16_t)section;
}

static void
finish(struct walk_seg *s, const struct ev_block *b, uint32_t end)
{
	const struct ev_insn *i = &b->insn[end - 1];

	s->end = (uint16_t)end;
	s->flow = i->flow;
	s->len = i->len & 15;
	s->span = (int32_t)(i->addr - s->addr);
	s->slot = &none;
	find_sp(s, b, i);
	add_costs(s, b);
	s->key = s->at->entry ? KEY_ENTRY : key_of(s->at->section, KEY_NEVER);
	s->endkey = walk.jumps || s->at->fn->skip ||
	    (i->flow != 0 && strchr("LXRI", i->flow) != NULL) ?
	    KEY_LOOK : key_of(s->at->section, KEY_LOOK);
	if (walk.jumps || s->counted)
		s->key = KEY_NEVER;
}

/* The last address looked up, and where its function ends. */
static uint64_t from, until;

static void
look_up(uint64_t addr, struct func_place *at)
{
	from = addr;
	until = func_place_or_gap(addr, at);
}

/*
 * Must the instruction at addr, which follows i, begin a new segment? Straight
 * code must where a function begins: it falls into that. And a segment's ends
 * are not far from each other.
 */
static bool
cuts(const struct walk_seg *s, const struct ev_insn *i, uint64_t addr,
    struct func_place *at)
{
	bool straight = addr == i->addr + i->len;
	bool stays = i->flow == 0 || i->flow == 'C';

	bool near = addr - s->addr + ((uint64_t)1 << 31) < (uint64_t)1 << 32;

	if (near && straight && stays && addr > from && addr < until)
		return false;
	look_up(addr, at);
	return !near || at->entry || at->section != s->at->section ||
	    at->slide != s->at->slide || !(stays || i->flow == 'J');
}

/* The segments of the definition that is being read. */
static struct walk_seg *segs;
static size_t capsegs;

/* Begin segment n at instruction k, which is in this place. */
static void
add_segment(uint32_t n, const struct ev_block *b, uint32_t k, bool apply,
    const struct func_place *at)
{
	segs = xgrow(segs, &capsegs, n + 1, sizeof *segs);
	segs[n] = (struct walk_seg){ .block = b->id, .first = (uint16_t)k,
	    .addr = b->insn[k].addr, .apply = apply, .value = b->value,
	    .at = at };
}

/*
 * Cut a prefix as its block was: what was mapped then is what its code is of.
 */
static uint32_t
cut_prefix(const struct ev_def *d, bool apply)
{
	struct walk_seg *p = &plan[d->block->id], *s;
	uint32_t n;

	for (n = 0; n < p->nseg; n++) {
		s = plan_seg(p, n);
		if (s->first >= d->n)
			break;
		add_segment(n, d->block, s->first, apply, s->at);
		finish(&segs[n], d->block, s->end < d->n ? s->end : d->n);
	}
	return n;
}

/* Cut a definition into segments; return how many. */
static uint32_t
cut(const struct ev_def *d, bool apply)
{
	const struct ev_insn *i = d->block->insn;
	struct func_place at;
	struct walk_seg *s;
	uint32_t n = 0;

	look_up(i->addr, &at);
	for (uint32_t k = 0; k < d->n; k++) {
		if (k > 0) {
			s = &segs[n - 1];
			/* jumps are counted one by one */
			if (!cuts(s, &i[k - 1], i[k].addr, &at) &&
			    !(walk.jumps && i[k - 1].flow != 0))
				continue;
			if (walk.jumps)
				look_up(i[k].addr, &at);
			finish(s, d->block, k);
		}
		add_segment(n++, d->block, k, apply, func_same_place(&at));
	}
	finish(&segs[n - 1], d->block, d->n);
	return n;
}

/* Of a definition with more than one segment, its entry. */
static void
plan_several(struct walk_seg *p, const struct ev_def *d, uint32_t n)
{
	if (d->letter == 'P') {
		*p = segs[n - 1];
	} else {
		memset(p, 0, sizeof *p);
		p->block = segs->block;
		p->apply = segs->apply;
		p->value = segs->value;
		p->parts = memcpy(xkeep(n * sizeof *segs), segs,
		    n * sizeof *segs);
	}
	p->key = KEY_NEVER;
}

const char *
plan_define(uint32_t id)
{
	const struct ev_def *d = ev_def(walk.events, id);
	struct stackrefs sr = stack_refs(d->block);
	struct walk_seg *p;
	uint32_t n;
	/* several groups, or values that decide counts: keep them all */
	bool apply = sr.n > 1 || walk.data_refs || (walk.rep && sr.repeats);

	if (plan == NULL) {
		plan = xreserve(NPLAN, sizeof *plan, "memory for blocks");
		plan_values = xreserve(NPLAN, sizeof *plan_values,
		    "memory for stack pointers");
	}
	if (apply && d->block->value == NULL)
		d->block->value = xkeep(d->block->ngroups *
		    sizeof *d->block->value);
	p = &plan[id];
	wrong = NULL;
	n = d->letter == 'P' ? cut_prefix(d, apply) : cut(d, apply);
	if (n == 1)
		*p = *segs;
	else
		plan_several(p, d, n);
	p->nseg = (uint16_t)n;
	/* with the value of another group, or of none */
	if (p->far || (p->group == 0 && seg_moves_stack(p)))
		p->key = KEY_NEVER;
	if (!apply && sr.n == 1 && sr.group < d->ngroups)
		p->spgroup = sr.group + 1;
	return wrong;
}
