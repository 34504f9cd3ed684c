/*
 * variant - runs with another model: --simulate-wb, -hwpref, --cacheuse
 *
 * Each fetch and reference is simulated, in order, and counted for its
 * instruction. A definition becomes a list of operations when it is first
 * executed. Straight code that stays in a line is one fetch, for nothing but
 * fetches changes I1.
 *
 * What --cacheuse finds when a line leaves is counted for the instruction that
 * loaded it; with -t that one's last execution is long gone, so a label was
 * given to it, the number of the line's way:
 *
 *	5+40			its third instruction loads two lines
 *	O 3 D1mr DLmr
 *	O 3=7
 *	O 3=12
 *	9			the line in way 7 leaves
 *	O =7 AcCost1*1f4 SpLoss1*3c
 */
#include "variant.h"

#include <inttypes.h>
#include <string.h>

#include "evw.h"
#include "mem.h"
#include "prog.h"

static const char *const event_name[] = { "I1mr", "ILmr", "D1mr", "DLmr",
    "D1mw", "DLmw", "ILdmr", "DLdmr", "DLdmw", "AcCost1", "SpLoss1", "AcCost2",
    "SpLoss2" };

/* What an instruction has cost, besides what each execution of it has. */
struct spent {
	int64_t reads, writes, rounds;
	int64_t event[NEVENT];
};

/* -t: a label is given, or (accost, sploss) something charged to it. */
struct labelled {
	uint32_t insn, label;	/* insn: from 1, or 0 */
	bool last_level;
	uint64_t accost, sploss;
};

enum op_kind {
	OP_FETCH,	/* instructions in one line */
	OP_SPLIT,	/* one instruction in several lines */
	OP_READ,
	OP_WRITE,	/* or a modification */
	OP_WHOLE	/* an instruction with repeated references */
};

struct op {
	uint64_t at;		/* address, or distance from a group's value */
	uint32_t insn;		/* in its block; of a fetch, the first one */
	uint32_t size;		/* of a fetch, of the first instruction */
	uint8_t kind;
	uint8_t group;		/* NOGROUP: at is the address */
	bool writes;		/* counts as a write */
	uint32_t parts;		/* --cacheuse, OP_FETCH: of the line, and ... */
	uint32_t fetches;	/* ... how many instructions */
};

#define NOGROUP UINT8_MAX	/* a block has fewer groups than that */

/* What an id does. */
struct plan {
	uint64_t times;		/* how often it was executed */
	uint64_t first;		/* the number of its first instruction */
	struct op *op;		/* NULL: never yet */
	uint32_t nop;
};

static struct simrun *run;
static bool each;
static struct plan *plan;	/* by id */
static struct spent *spent;	/* by instruction */
static uint64_t *loader;	/* by way: 1 + the instruction, or 0 */
static uint32_t *label;		/* by way, or 0 */
static uint32_t nlabel;
static struct labelled *told;	/* by the execution that is running */
static size_t capplan, capspent, caploader, caplabel, captold, ntold;
static uint64_t now;		/* the instruction that is running */
static uint32_t now_insn;	/* in its block */
static bool over;

const char *
variant_define(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	plan = xgrow0(plan, &capplan, id + 1UL, sizeof *plan);
	spent = xgrow0(spent, &capspent, insns_first(s->insns,
	    simrun_number(d->block)) + d->block->ninsn, sizeof *spent);
	for (uint32_t i = 0; d->letter == 'B' && i < d->block->nref; i++)
		if (d->block->ref[i].where == EV_BARE)
			return "a reference without its address";
	return NULL;
}

/* ---- lines that come and go ---- */

static struct labelled *
new_told(void)
{
	told = xgrow(told, &captold, ntold + 1, sizeof *told);
	return &told[ntold++];
}

static void
loaded(uint32_t at)
{
	loader = xgrow0(loader, &caploader, at + 1UL, sizeof *loader);
	loader[at] = now + 1;
	if (!run->through)
		return;
	label = xgrow0(label, &caplabel, at + 1UL, sizeof *label);
	if (label[at] == 0)
		label[at] = ++nlabel;
	*new_told() = (struct labelled){ now_insn + 1, label[at], false, 0, 0 };
}

static void
lost(uint32_t at, bool last_level, uint64_t accost, uint64_t sploss)
{
	struct spent *c = &spent[loader[at] - 1];
	unsigned event = last_level ? ACCOST2 : ACCOST1;

	c->event[event] += (int64_t)accost;
	c->event[event + 1] += (int64_t)sploss;
	if (run->through && (accost != 0 || sploss != 0))
		*new_told() = (struct labelled){ 0, label[at], last_level,
		    accost, sploss };
}

static const struct model_use on_use = { loaded, lost };

void
variant_init(struct simrun *s, const struct geometry g[NCACHE], bool rounds)
{
	run = s;
	each = rounds;
	if (variants.cacheuse && (g[I1].line != g[LL].line ||
	    g[D1].line != g[LL].line))
		die("--cacheuse: the lines of I1, D1 and LL differ in size");
	if (variants.wb) {
		s->columns = "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw "
		    "ILdmr DLdmr DLdmw";
		s->outcomes = "I1mr ILmr D1mr DLmr D1mw DLmw "
		    "ILdmr DLdmr DLdmw";
	} else if (variants.cacheuse) {
		s->columns = "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw "
		    "AcCost1 SpLoss1 AcCost2 SpLoss2";
		s->outcomes = "I1mr ILmr D1mr DLmr D1mw DLmw "
		    "AcCost1 SpLoss1 AcCost2 SpLoss2";
	}
	variants.widest = UINT32_MAX;
	for (int i = 0; cut_wide && i < NCACHE; i++)
		if (g[i].line < variants.widest)
			variants.widest = (uint32_t)g[i].line;
	model_init(g, &on_use);
}

/* ---- executions ---- */

static void
count(unsigned event, unsigned dirty, unsigned got)
{
	struct spent *c = &spent[now];
	const unsigned what[] = { event, event + 1, dirty };

	for (unsigned i = 0; i < 3; i++)
		if (got & 1U << i) {
			c->event[what[i]]++;
			if (run->through)
				found_add(now_insn, what[i]);
		}
}

/* How many more fetches of an instruction --rep=each counts. */
static uint64_t
more_fetches(const struct ev_block *b, const struct ev_insn *i)
{
	bool writes = false;
	int64_t n = 0;

	for (uint32_t k = i->ref; k < (uint32_t)i->ref + i->nref; k++) {
		if (b->ref[k].count != 0)
			n = (int64_t)b->value[b->ref[k].count - 1];
		writes |= b->ref[k].kind != 'r';
	}
	n = n < 0 ? -n : n;
	return writes || n == 0 ? (uint64_t)n : (uint64_t)n - 1;
}

__attribute__((noinline))
static void
fetch_any(uint64_t addr, uint64_t size, uint64_t uses)
{
	unsigned got = variants.cacheuse ? model_uses(I1, addr, size, uses) :
	    model_access(I1, addr, size, false);

	if (got != 0)
		count(I1MR, ILDMR, got);
}

/* A reference that is not simply in the latest line of its set. */
__attribute__((noinline))
static void
access_any(uint64_t addr, uint64_t size, bool dirties, bool writes)
{
	unsigned got = variants.cacheuse ? model_uses(D1, addr, size, 1) :
	    model_access(D1, addr, size, dirties);

	if (got != 0)
		count(writes ? D1MW : D1MR, writes ? DLDMW : DLDMR, got);
}

static inline void
access_data(uint64_t addr, uint64_t size, bool dirties, bool writes)
{
	struct way *w = model_latest(&model[D1], addr, size), *below;
	struct line_use *u;

	if (w == NULL) {
		access_any(addr, size, dirties, writes);
	} else if (variants.cacheuse) {
		unsigned shift = model[D1].shift;
		uint64_t off = addr & (((uint64_t)1 << shift) - 1);

		u = &model_use[w->at];
		u->count++;
		u->parts |= model_parts(shift, off, off + size - 1);
	} else if (dirties && variants.wb) {
		below = model_latest(&model[LL], addr, size);
		if (below == NULL || !below->dirty || variants.hwpref)
			access_any(addr, size, dirties, writes);
	}
}

static uint64_t
cut_size(const struct ev_ref *r)
{
	return r->size < variants.widest ? r->size : variants.widest;
}

/* How often a reference happened, beyond once for each execution. */
static void
differs(const struct ev_ref *r, int64_t by)
{
	if (r->kind == 'w')
		spent[now].writes += by;
	else
		spent[now].reads += by;
}

static inline bool
happens(const struct ev_block *b, const struct ev_ref *r)
{
	return r->where != EV_GROUP || b->value[r->group] != 0;
}

static inline uint64_t
base(const struct ev_block *b, const struct ev_ref *r)
{
	return r->where == EV_GROUP ? r->at + b->value[r->group] : r->at;
}

/* The repeated references from..to, which take turns. */
static void
repeated(const struct ev_block *b, const struct ev_ref *from,
    const struct ev_ref *to)
{
	int64_t n = (int64_t)b->value[from->count - 1];
	uint64_t rounds = n < 0 ? -(uint64_t)n : (uint64_t)n;

	for (uint64_t k = 0; k < rounds; k++)
		for (const struct ev_ref *r = from; r < to; r++)
			if (happens(b, r))
				access_data(base(b, r) + (n < 0 ?
				    -(k * r->size) : k * r->size),
				    cut_size(r), r->kind != 'r',
				    r->kind == 'w');
	for (const struct ev_ref *r = from; r < to; r++)
		differs(r, happens(b, r) ? (int64_t)(rounds - 1) : -1);
}

static void
references(const struct ev_block *b, const struct ev_ref *r,
    const struct ev_ref *end)
{
	const struct ev_ref *from;

	while (r < end) {
		from = r++;
		if (from->count != 0) {
			while (r < end && r->count == from->count)
				r++;
			repeated(b, from, r);
		} else if (happens(b, from)) {
			access_data(base(b, from), cut_size(from),
			    from->kind != 'r', from->kind == 'w');
		} else {
			differs(from, -1);
		}
	}
}

/* An instruction with repeated references. */
static void
whole(const struct ev_block *b, const struct ev_insn *i)
{
	uint64_t more = each ? more_fetches(b, i) : 0;

	spent[now].rounds += (int64_t)more;
	fetch_any(i->addr, i->len, more + 1);
	references(b, b->ref + i->ref, b->ref + i->ref + i->nref);
}

/* ---- operations ---- */

static struct op *list;		/* being made */
static size_t nlist, caplist;

static void
add_op(struct op o)
{
	list = xgrow(list, &caplist, nlist + 1, sizeof *list);
	list[nlist++] = o;
}

/* A fetch that another one of the same line may join. */
static struct op *
joined(const struct ev_insn *i)
{
	unsigned shift = model[I1].shift;

	for (size_t k = nlist; k-- > 0; ) {
		struct op *o = &list[k];

		if (o->kind == OP_FETCH)
			return o->at >> shift == i->addr >> shift ? o : NULL;
		if (o->kind == OP_SPLIT || o->kind == OP_WHOLE)
			return NULL;
	}
	return NULL;
}

static void
add_fetch(const struct ev_insn *i, uint32_t insn)
{
	unsigned shift = model[I1].shift;
	uint64_t off = i->addr & (((uint64_t)1 << shift) - 1);
	uint32_t part = 0;
	struct op *o;

	if ((off + i->len - 1) >> shift != 0) {
		add_op((struct op){ .kind = OP_SPLIT, .at = i->addr,
		    .size = i->len, .insn = insn });
		return;
	}
	if (variants.cacheuse)
		part = model_parts(shift, off, off + i->len - 1);
	o = joined(i);
	if (o == NULL) {
		add_op((struct op){ .kind = OP_FETCH, .at = i->addr,
		    .size = i->len, .insn = insn, .parts = part,
		    .fetches = 1 });
		return;
	}
	o->parts |= part;
	o->fetches++;
}

static void
add_reference(const struct ev_ref *r, uint32_t insn)
{
	add_op((struct op){ .kind = r->kind == 'r' ? OP_READ : OP_WRITE,
	    .at = r->at, .size = (uint32_t)cut_size(r), .insn = insn,
	    .group = r->where == EV_GROUP ? r->group : NOGROUP,
	    .writes = r->kind == 'w' });
}

static bool
is_repeated(const struct ev_block *b, const struct ev_insn *i)
{
	for (uint32_t k = i->ref; k < (uint32_t)i->ref + i->nref; k++)
		if (b->ref[k].count != 0)
			return true;
	return false;
}

__attribute__((noinline))
static void
make_plan(struct plan *p, const struct ev_def *d)
{
	const struct ev_block *b = d->block;

	nlist = 0;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct ev_insn *i = &b->insn[k];

		if (is_repeated(b, i)) {
			add_op((struct op){ .kind = OP_WHOLE, .insn = k });
			continue;
		}
		add_fetch(i, k);
		for (uint32_t r = i->ref; r < (uint32_t)i->ref + i->nref; r++)
			add_reference(&b->ref[r], k);
	}
	p->first = insns_first(run->insns, simrun_number(b));
	p->nop = (uint32_t)nlist;
	p->op = memcpy(xkeep(nlist * sizeof *list), list,
	    nlist * sizeof *list);
}

static inline void
fetch(const struct op *o)
{
	struct way *w = model_latest(&model[I1], o->at, 1);
	struct line_use *u;

	if (w == NULL)
		fetch_any(o->at, o->size, 1);
	if (!variants.cacheuse)
		return;
	/* the first instruction is counted if it was missed */
	u = &model_use[model_latest(&model[I1], o->at, 1)->at];
	u->count += o->fetches - (w == NULL);
	u->parts |= o->parts;
}

static inline void
data(const struct ev_block *b, const struct op *o)
{
	uint64_t addr = o->at;

	if (o->group != NOGROUP) {
		if (b->value[o->group] == 0) {
			if (o->writes)
				spent[now].writes--;
			else
				spent[now].reads--;
			return;
		}
		addr += b->value[o->group];
	}
	access_data(addr, o->size, o->kind == OP_WRITE, o->writes);
}

static void
execute(const struct plan *p, const struct ev_block *b)
{
	nfound = 0;
	ntold = 0;
	for (const struct op *o = p->op; o < p->op + p->nop; o++) {
		now = p->first + o->insn;
		now_insn = o->insn;
		switch (o->kind) {
		case OP_FETCH:
			fetch(o);
			break;
		case OP_SPLIT:
			fetch_any(o->at, o->size, 1);
			break;
		case OP_WHOLE:
			whole(b, &b->insn[o->insn]);
			break;
		default:
			data(b, o);
		}
	}
}

/* -t: the labels and charges of the last execution, in their order. */
static void
tell_labels(struct simrun *s)
{
	for (const struct labelled *t = told; t < told + ntold; t++) {
		if (t->insn != 0)
			evw_line(s->writer, "O %" PRIx32 "=%" PRIx32, t->insn,
			    t->label);
		else if (!simrun_warming(s))
			evw_line(s->writer, "O =%" PRIx32 " %s*%" PRIx64
			    " %s*%" PRIx64, t->label,
			    event_name[t->last_level ? ACCOST2 : ACCOST1],
			    t->accost,
			    event_name[t->last_level ? SPLOSS2 : SPLOSS1],
			    t->sploss);
	}
	ntold = 0;
}

static void
run_record(struct simrun *s, const uint64_t *rec)
{
	const struct ev_def *d = ev_def(s->events, ev_id(*rec));
	uint64_t more = ev_more(rec), quiet = 0;
	struct plan *p = &plan[ev_id(*rec)];

	if (p->op == NULL)
		make_plan(p, d);
	p->times += more + 1;
	for (uint64_t k = 0; k <= more; k++) {
		ev_apply(d, rec + 1);
		execute(p, d->block);
		quiet++;
		if (!s->through || (nfound == 0 && ntold == 0 && k < more))
			continue;
		simrun_pass(s, rec, quiet - 1);
		quiet = 0;
		simrun_outcomes(s, event_name, found, nfound);
		tell_labels(s);
	}
}

void
variant_batch(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	for (; rec < end; rec = ev_skip(rec))
		run_record(s, rec);
}

void
variant_end(struct simrun *s)
{
	if (!variants.cacheuse || over)
		return;
	over = true;
	ntold = 0;
	model_flush();
	if (s->through)
		tell_labels(s);
}

/* ---- costs ---- */

void
variant_executed(uint32_t id, uint64_t n)
{
	plan[id].times += n;
}

uint64_t
variant_count(uint32_t id)
{
	return plan[id].times;
}

void
variant_add(const struct insns_at *at, int64_t *n)
{
	const struct spent *c = &spent[at->insn +
	    insns_first(run->insns, at->block)];
	const int64_t *e = c->event;
	int64_t column[] = { (int64_t)at->times + c->rounds, e[I1MR],
	    e[ILMR], c->reads, e[D1MR], e[DLMR], c->writes, e[D1MW], e[DLMW] };
	unsigned k = sizeof column / sizeof *column;

	for (unsigned i = 0; i < at->i->nref; i++)
		column[at->ref[i].kind == 'w' ? 6 : 3] += (int64_t)at->times;
	for (unsigned i = 0; i < k; i++)
		n[i] += column[i];
	for (unsigned i = ILDMR; variants.wb && i <= DLDMW; i++)
		n[k++] += e[i];
	for (unsigned i = ACCOST1; variants.cacheuse && i < NEVENT; i++)
		n[k++] += e[i];
}
