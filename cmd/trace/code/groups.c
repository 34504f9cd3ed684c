/*
 * groups - which references of a block share one recorded address
 *
 * Every register is followed as (symbol, offset): a symbol is an unknown value,
 * an offset a constant that is known at translation.  push, pop, add,
 * sub, lea and mov move offsets and copies; every other write makes a new
 * symbol.  References with equal symbols and scale differ by a constant, so
 * one recorded address, the group's value, serves them all:
 *
 *	push %rbx		w8 .0-8		group 0 is rsp before it all
 *	mov 8(%rdi),%eax	r4 .1+8		group 1 is rdi itself
 *	call f			w8 .0-10
 *
 * A group's value is the base register itself where that is enough.  But a
 * value of 0 means "did not happen": where the register may be 0 although the
 * address is good (a displacement of 64 KB or more), the address is recorded.
 */
#include <string.h>

#include "code/code.h"

#define MAX_GROUPS 100u		/* of a block; records must fit REC_MAX */
#define NOSYM 0xffff

struct value {
	uint16_t sym;
	int64_t off;
};

struct group_key {
	uint16_t base, index;	/* symbols */
	uint8_t scale, seg;
	bool unique;		/* never shared */
	int64_t stored;		/* offset that the recorded value includes */
};

struct symbols {
	struct value reg[16];
	struct group_key key[256];
	struct group_key last;	/* of the reference before, or unique */
	uint16_t nextsym;
	struct groups *g;
	const struct kind *kind;
};

static void
fresh(struct symbols *s, unsigned r)
{
	s->reg[r].sym = s->nextsym++;
	s->reg[r].off = 0;
}

static void
step(struct symbols *s, const struct insn *in)
{
	struct value v = { 0, 0 };
	unsigned r, wr;

	if (in->effdst != NOREG) {
		v = s->reg[in->effsrc];
		v.off += in->effdisp;
	}
	for (wr = in->wr; wr != 0; wr &= wr - 1)
		fresh(s, (unsigned)__builtin_ctz(wr));
	if (in->effdst != NOREG)
		s->reg[in->effdst] = v;
	if (in->flow == FLOW_SYSCALL || in->special == SP_EMULATE)
		for (r = 0; r < 16; r++)
			fresh(s, r);
}

/* Whether a store of the base register is enough. */
static bool
is_plain(const struct ref *r)
{
	return r->form == REF_PLAIN && r->index == NOREG && r->seg == 0 &&
	    !r->a32 && r->base != NOREG && (r->base == RSP ||
	    (r->disp > -65536 && r->disp < 65536));
}

/* Do references with these keys differ by a constant? */
static bool
is_akin(const struct group_key *a, const struct group_key *b)
{
	return !a->unique && !b->unique && a->base == b->base &&
	    a->index == b->index && a->scale == b->scale && a->seg == b->seg;
}

static void
find(struct symbols *s, const struct ref *r, struct refgroup *out)
{
	struct group_key k;
	int64_t off = r->disp;
	unsigned i;

	memset(&k, 0, sizeof k);
	k.base = k.index = NOSYM;
	k.scale = r->index != NOREG ? r->scale : 0;
	k.seg = r->seg;
	k.unique = r->form != REF_PLAIN || r->a32;
	if (r->base != NOREG) {
		k.base = s->reg[r->base].sym;
		off += s->reg[r->base].off;
	}
	if (r->index != NOREG) {
		k.index = s->reg[r->index].sym;
		off += s->reg[r->index].off * r->scale;
	}
	out->akin = is_akin(&k, &s->last);
	out->off = off;
	s->last = k;
	k.unique = k.unique || s->kind->alone;
	for (i = 0; i < s->g->n && !k.unique; i++)
		if (is_akin(&s->key[i], &k))
			break;
	if (k.unique)
		i = s->g->n;
	out->first = i == s->g->n;
	out->plain = false;
	if (out->first) {
		k.stored = off;
		if (is_plain(r) && !s->kind->alone) {
			out->plain = true;
			k.stored = s->reg[r->base].off;
		}
		s->key[i] = k;
		s->g->n++;
	}
	out->group = (uint8_t)i;
	out->dist = k.unique ? 0 : off - s->key[i].stored;
}

static unsigned
new_group(struct symbols *s)
{
	s->key[s->g->n].unique = true;
	return s->g->n++;
}

/*
 * Kind blocks records only the stack addresses of calls and returns, and
 * counts.
 */
static bool
is_recorded(enum refs refs, const struct insn *in, const struct ref *r)
{
	if (refs != REFS_STACK)
		return refs == REFS_ALL;
	switch (in->flow) {
	case FLOW_CALL:
	case FLOW_ICALL:
		return r->base == RSP && r->rw == 'w';
	case FLOW_RET:
		return true;
	default:
		return false;
	}
}

static void
group_insn(struct symbols *s, const struct insn *in, unsigned i)
{
	struct refgroup *rg;
	unsigned j, count = NOCOUNT;
	bool rep = in->special == SP_REP || in->special == SP_REPCMP;

	if (in->special == SP_GATHER && s->kind->refs == REFS_ALL) {
		s->last.unique = true;
		s->g->gather[i] = (uint8_t)s->g->n;
		for (j = 0; j < in->gather.nelem; j++)
			new_group(s);
		return;
	}
	for (j = 0; j < in->nref; j++) {
		rg = &s->g->ref[i][j];
		rg->group = NOGROUP;
		rg->count = NOCOUNT;
		if (in->ref[j].form != REF_STATIC &&
		    is_recorded(s->kind->refs, in, &in->ref[j]))
			find(s, &in->ref[j], rg);
		else
			s->last.unique = true;
		if (rep && count == NOCOUNT)
			count = new_group(s);
		if (rep)
			rg->count = (uint8_t)count;
	}
}

/* No reference is recorded. */
static void
find_none(struct groups *g, const struct block *b)
{
	unsigned i, j;

	for (i = 0; i < b->n; i++)
		for (j = 0; j < b->in[i].nref; j++)
			g->ref[i][j] = (struct refgroup){ .group = NOGROUP,
			    .count = NOCOUNT };
}

void
groups_find(struct groups *g, struct block *b, const struct kind *kind)
{
	struct symbols s;
	unsigned i;

	g->n = 0;
	if (kind->refs == REFS_NONE) {
		memset(g->used, 0, b->n + 1);
		if (kind->tells)
			find_none(g, b);
		return;
	}
	memset(&s.last, 0, sizeof s.last);
	s.last.unique = true;
	memset(&s.reg, 0, sizeof s.reg);
	s.nextsym = 0;
	s.g = g;
	s.kind = kind;
	for (i = 0; i < 16; i++)
		fresh(&s, i);
	for (i = 0; i < b->n; i++) {
		g->used[i] = (uint8_t)g->n;
		if (g->n > MAX_GROUPS - 20) {
			b->n = i;
			b->next = b->in[i].pc;
			b->end = EXIT_DIRECT;
			break;
		}
		group_insn(&s, &b->in[i], i);
		step(&s, &b->in[i]);
	}
	g->used[b->n] = (uint8_t)g->n;
}
