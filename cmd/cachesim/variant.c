/*
 * variant - runs with another model: --simulate-wb, -hwpref, --cacheuse
 *
 * Each fetch and reference is simulated, in order, and counted for its
 * instruction. What --cacheuse finds when a line leaves is counted for the
 * instruction that loaded it; with -t that one's last execution is long gone,
 * so a label was given to it, the number of the line's way:
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

#include "evw.h"
#include "util.h"

const char *const variant_events[] = { "I1mr", "ILmr", "D1mr", "DLmr", "D1mw",
    "DLmw", "ILdmr", "DLdmr", "DLdmw", "AcCost1", "SpLoss1", "AcCost2",
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

static struct simrun *run;
static bool each;
static uint64_t *times;		/* by id */
static struct spent *spent;	/* by instruction */
static uint64_t *loader;	/* by way: 1 + the instruction, or 0 */
static uint32_t *label;		/* by way, or 0 */
static uint32_t nlabel;
static struct labelled *told;	/* by the execution that is running */
static size_t captimes, capspent, caploader, caplabel, captold, ntold;
static uint64_t now;		/* the instruction that is running */
static uint32_t now_insn;	/* in its block */
static bool over;

const char *
variant_define(struct simrun *s, uint32_t id, const struct ev_def *d)
{
	times = xgrow0(times, &captimes, id + 1UL, sizeof *times);
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

static void
fetch(const struct ev_block *b, const struct ev_insn *i)
{
	uint64_t more = each && i->nref > 0 ? more_fetches(b, i) : 0;
	unsigned got;

	if (more != 0)
		spent[now].rounds += (int64_t)more;
	if (!variants.cacheuse && model_again(i->addr, i->len))
		return;
	got = model_fetch(i->addr, i->len, more + 1);
	if (got != 0)
		count(I1MR, ILDMR, got);
}

static void
access_data(const struct ev_ref *r, uint64_t addr)
{
	uint64_t most = variants.widest;
	unsigned got = model_data(addr, r->size < most ? r->size : most,
	    r->kind != 'r');

	if (got != 0)
		count(r->kind == 'w' ? D1MW : D1MR,
		    r->kind == 'w' ? DLDMW : DLDMR, got);
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
				access_data(r, base(b, r) + (n < 0 ?
				    -(k * r->size) : k * r->size));
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
			access_data(from, base(b, from));
		} else {
			differs(from, -1);
		}
	}
}

static void
execute(const struct ev_def *d)
{
	uint64_t first = insns_first(run->insns, simrun_number(d->block));
	const struct ev_block *b = d->block;

	nfound = 0;
	ntold = 0;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct ev_insn *i = &b->insn[k];

		now = first + k;
		now_insn = k;
		fetch(b, i);
		references(b, b->ref + i->ref, b->ref + i->ref + i->nref);
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
			    variant_events[t->last_level ? ACCOST2 : ACCOST1],
			    t->accost,
			    variant_events[t->last_level ? SPLOSS2 : SPLOSS1],
			    t->sploss);
	}
	ntold = 0;
}

static void
run_record(struct simrun *s, const uint64_t *rec)
{
	const struct ev_def *d = ev_def(s->events, ev_id(*rec));
	uint64_t more = ev_more(rec), quiet = 0;

	times[ev_id(*rec)] += more + 1;
	for (uint64_t k = 0; k <= more; k++) {
		ev_apply(d, rec + 1);
		execute(d);
		quiet++;
		if (!s->through || (nfound == 0 && ntold == 0 && k < more))
			continue;
		simrun_pass(s, rec, quiet - 1);
		quiet = 0;
		simrun_outcomes(s, variant_events, found, nfound);
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

uint64_t
variant_count(uint32_t id)
{
	return times[id];
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
