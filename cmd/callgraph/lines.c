/*
 * lines - own costs by address, of a stream with contexts
 *
 * An F line names the function and level to which all executions of a block
 * belong; how many there were is in W lines, or in executions without order.
 * A block's instructions are told in PIECES, each straight code.
 *
 * Linkage stubs are no functions: their cost is that of the instruction that
 * called them, or jumped there. A block may go on into one; for a block that is
 * in a stub from its beginning the F line has that instruction's address.
 *
 * Kind cache tells how often each reference happened by its executions, except
 * for those that may be repeated or not happen: these are told as references
 * alone, always.
 *
 * With --rep=each repeated instructions cost more than their executions. R
 * lines give the rounds, of the block and all its prefixes. The first round of
 * one that only reads is counted as the execution itself.
 */
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "khash.h"
#include "mem.h"
#include "objmap.h"
#include "sum.h"

KHASH_MAP_INIT_INT64(seg, struct walk_seg *)
KHASH_MAP_INIT_INT64(place, const struct func_place *)

/* A straight part of a block, from instruction first up to the next piece. */
struct piece {
	uint64_t slide;
	uint64_t site;		/* link-time: a stub, and who called it; or 0 */
	uint16_t first;
};

/* By block. */
struct owned {
	uint32_t group;		/* 0: there was no F line yet */
	uint16_t npiece;
	uint16_t *reads;	/* repeated instructions that only read */
	size_t nreads, capreads;
	struct piece piece[];
};

static struct owned **owned;	/* by a block's number, from 1 */
static uint32_t nowned;
static size_t capowned;

enum what { NOTHING, TIMES, ODD };

static uint8_t *what;		/* by id: what an execution of it tells */
static uint64_t *times;		/* by id: without --separate-threads */
static size_t capwhat, captimes;
static struct tally *by_thread;	/* with: by thread and id */
static struct tally *extra;	/* by thread, block and reference */
static struct tally *rounds;	/* the same, and instruction */
static khash_t(seg) *sites;	/* of calls of stubs, by link-time address */
static khash_t(place) *places;	/* by slide */
static struct walk_seg **segs;	/* by id */
static size_t capsegs;

void
lines_begin(void)
{
	by_thread = tally_new(1);
	extra = tally_new(1);
	rounds = tally_new(1);
	sites = kh_init(seg);
	places = kh_init(place);
}

/* ---- definitions ---- */

static uint64_t
slide_of(uint64_t addr)
{
	return addr - states_link(addr);
}

static struct owned *
owned_of(const struct ev_block *b)
{
	return b->number == 0 ? NULL : owned[b->number - 1];
}

/* Cut a block where its instructions are not one behind the other. */
static void
define_block(struct ev_block *b)
{
	static struct piece *v;
	static size_t cap;
	const struct ev_insn *i = b->insn;
	uint64_t site = 0;
	uint16_t n = 0;
	struct owned *o;

	for (uint32_t k = 0; k < b->ninsn; k++) {
		if (k > 0 && i[k].addr == i[k - 1].addr + i[k - 1].len)
			continue;
		if (k > 0 && site == 0 && func_is_stub(i[k].addr))
			site = states_link(i[k - 1].addr);
		v = xgrow(v, &cap, n + 1U, sizeof *v);
		v[n++] = (struct piece){ slide_of(i[k].addr), site,
		    (uint16_t)k };
	}
	o = xkeep(sizeof *o + n * sizeof *v);	/* zeros */
	o->npiece = n;
	memcpy(o->piece, v, n * sizeof *v);
	owned = xgrow(owned, &capowned, nowned + 1UL, sizeof *owned);
	owned[nowned++] = o;
	b->number = nowned;
}

/* May the reference happen more often than its instruction, or less? */
static bool
is_odd(const struct ev_def *d)
{
	return d->letter == 'Q' && d->k != 0 && !d->stays && walk.data_refs;
}

void
lines_define(uint32_t id)
{
	const struct ev_def *d = ev_def(walk.events, id);

	what = xgrow0(what, &capwhat, id + 1UL, sizeof *what);
	times = xgrow0(times, &captimes, id + 1UL, sizeof *times);
	what[id] = d->letter == 'B' || d->letter == 'P' ? TIMES :
	    is_odd(d) ? ODD : NOTHING;
	if (d->letter == 'B')
		define_block(d->block);
	if (what[id] == ODD && d->block->value == NULL) {
		ev_keep(walk.events, d->block);
		d->block->value = xkeep(d->block->ngroups *
		    sizeof *d->block->value);
	}
}

uint32_t
lines_group(uint32_t id)
{
	return owned_of(ev_def(walk.events, id)->block)->group;
}

/* F id state [site] */
void
lines_owner(const struct ev *e)
{
	struct owned *o = owned_of(ev_def(walk.events, e->id)->block);

	o->group = states_group((uint32_t)e->num[1]);
	for (unsigned i = 0; e->nnum == 3 && i < o->npiece; i++)
		o->piece[i].site = states_link(e->num[2]);
}

void
lines_named(uint32_t id, struct codename *code)
{
	uint32_t g = lines_group(id);

	if (g != 0)
		func_named(states_function(g), code);
}

/* ---- counts ---- */

void
lines_times(uint32_t id, uint64_t n)
{
	const struct ev_def *d = ev_def(walk.events, id);

	if (states_idle())
		return;
	if (lines_group(id) == 0)
		ev_bad(walk.events, "an execution of id %x, but no F line says "
		    "whose", d->id);
	else if (walk.threads)
		sum_add(tally_at(by_thread, states_thread(), id), (int64_t)n);
	else
		sum_count(&times[id], n, INT64_MAX);
}

static bool
only_reads(const struct ev_block *b, const struct ev_insn *i)
{
	for (uint32_t k = i->ref; k < (uint32_t)i->ref + i->nref; k++)
		if (b->ref[k].kind != 'r')
			return false;
	return true;
}

static void
note_reads(struct owned *o, uint16_t insn)
{
	for (size_t i = 0; i < o->nreads; i++)
		if (o->reads[i] == insn)
			return;
	o->reads = xgrow(o->reads, &o->capreads, o->nreads + 1,
	    sizeof *o->reads);
	o->reads[o->nreads++] = insn;
}

/* R id n rounds none */
void
lines_rounds(const struct ev *e)
{
	struct ev_block *b = ev_def(walk.events, e->id)->block;
	uint16_t insn = (uint16_t)(e->num[1] - 1);
	uint64_t n = 0;

	if (!walk.rep || states_idle())
		return;
	ev_keep(walk.events, b);
	sum_count(&n, e->num[2], INT64_MAX);
	if (only_reads(b, &b->insn[insn])) {
		sum_count(&n, e->num[3], INT64_MAX);
		note_reads(owned_of(b), insn);
	}
	sum_add(tally_at(rounds, states_thread(),
	    (uint64_t)b->id << 16 | insn), (int64_t)n);
}

/* A reference alone, with all that take turns with it. */
static void
odd(const struct ev_def *d)
{
	const struct ev_block *b = d->block;
	const struct ev_insn *i = &b->insn[d->n - 1];
	uint32_t k = i->ref + d->k - 1U, end = i->ref + (uint32_t)i->nref;
	uint8_t count = b->ref[k].count;

	do {
		int64_t more = walk_times(b, &b->ref[k]) - 1;

		if (more != 0 && !states_idle())
			sum_add(tally_at(extra, states_thread(),
			    (uint64_t)b->id << 16 | k), more);
		k++;
	} while (count != 0 && k < end && b->ref[k].count == count);
}

void
lines_batch(const struct ev *e)
{
	for (const uint64_t *rec = e->rec; rec < e->end; rec = ev_skip(rec)) {
		uint32_t id = ev_id(*rec);

		if (what[id] == NOTHING)
			continue;
		if (what[id] == TIMES) {
			lines_times(id, ev_more(rec) + 1);
			continue;
		}
		for (uint64_t n = ev_more(rec) + 1; n > 0; n--) {
			ev_apply(ev_def(walk.events, id), rec + 1);
			odd(ev_def(walk.events, id));
		}
	}
}

/* ---- the end ---- */

static const struct func_place *
place_of(uint64_t slide)
{
	struct func_place *p;
	int new;
	khint_t k = kh_put(place, places, slide, &new);

	if (new != 0) {
		p = xkeep(sizeof *p);
		p->slide = slide;
		kh_val(places, k) = p;
	}
	return kh_val(places, k);
}

/* A piece of an id. */
static struct walk_seg *
seg_of(const struct ev_def *d, uint32_t id, uint16_t piece)
{
	const struct owned *o = owned_of(d->block);
	const struct piece *p = &o->piece[piece];
	uint32_t end = piece + 1 < o->npiece ? p[1].first : d->block->ninsn;
	struct walk_seg *s;

	segs = xgrow0(segs, &capsegs, id + 1UL, sizeof *segs);
	if (segs[id] == NULL)
		segs[id] = xkeep(o->npiece * sizeof **segs);
	s = &segs[id][piece];
	s->block = d->block->id;
	s->at = place_of(p->slide);
	s->first = p->first;
	s->end = (uint16_t)(end < d->n ? end : d->n);
	return s;
}

/* The instruction that calls a stub: a piece without instructions. */
static struct walk_slot *
site_slot(struct walk_ctx *c, uint64_t site)
{
	struct walk_seg *s;
	int new;
	khint_t k = kh_put(seg, sites, site, &new);

	if (new != 0) {
		s = kh_val(sites, k) = xkeep(sizeof *s);
		s->addr = site;
		s->at = place_of(0);
	}
	return slot_get(c, kh_val(sites, k));
}

static struct walk_slot *
slot_of(struct walk_ctx *c, uint32_t id, uint16_t piece)
{
	const struct ev_def *d = ev_def(walk.events, id);
	const struct owned *o = owned_of(d->block);

	if (o->piece[piece].site != 0)
		return site_slot(c, o->piece[piece].site);
	return slot_get(c, seg_of(d, id, piece));
}

struct walk_slot *
lines_slot(struct walk_ctx *c, uint32_t id, uint32_t insn)
{
	const struct owned *o = owned_of(ev_def(walk.events, id)->block);
	uint16_t i = o->npiece;

	while (i > 1 && o->piece[i - 1].first > insn)
		i--;
	return slot_of(c, id, i - 1);
}

/* Instructions first up to end of a block, n times each, as another's cost. */
static void
add_stub(int64_t *sum, const struct ev_block *b, uint32_t first, uint32_t end,
    int64_t n)
{
	static struct ev_ref ref[256];
	struct ev_each e;

	sum_add(&sum[0], sum_times(end - first, n));
	if (!walk.data_refs)
		return;
	ev_each(&e, b, ref);
	for (uint32_t k = 0; k < end; k++) {
		ev_next_insn(&e);
		for (uint32_t i = 0; k >= first && i < e.insn.nref; i++)
			sum_add(&sum[e.ref[i].kind == 'w' ? 2 : 1], n);
	}
}

static int64_t *
extra_of(struct walk_slot *sl)
{
	struct slot_rare *m = slot_more(sl);

	if (m->extra == NULL)
		m->extra = xcalloc(seg_nref(sl->seg) + sl->seg->end -
		    sl->seg->first, sizeof *m->extra);
	return m->extra;
}

/* Instruction k of a block costs n more instructions. */
static void
make_rounds(const struct ev_block *b, uint32_t k, int64_t n)
{
	const struct owned *o = owned_of(b);
	struct walk_ctx *c;
	struct walk_slot *sl;

	if (o->group == 0 || (c = states_lines(o->group)) == NULL)
		return;
	sl = lines_slot(c, b->id, k);
	if (sl->seg->block == 0)
		sum_add(slot_skipped(sl), n);
	else
		sum_add(&extra_of(sl)[seg_nref(sl->seg) + k - sl->seg->first],
		    n);
}

static void
make_id(uint32_t id, int64_t n)
{
	const struct ev_def *d = ev_def(walk.events, id);
	const struct owned *o = owned_of(d->block);
	struct walk_ctx *c;

	c = states_lines(o->group);
	if (c == NULL)
		return;
	for (size_t i = 0; i < o->nreads; i++)
		if (o->reads[i] < d->n)
			make_rounds(d->block, o->reads[i], -n);
	for (uint16_t i = 0; i < o->npiece && o->piece[i].first < d->n; i++) {
		struct walk_slot *sl = slot_of(c, id, i);
		uint32_t end = i + 1 < o->npiece ? o->piece[i + 1].first :
		    d->n;

		if (o->piece[i].site == 0)
			sl->n += (uint64_t)n;
		else
			add_stub(slot_skipped(sl), d->block, o->piece[i].first,
			    end < d->n ? end : d->n, n);
	}
}

/* Reference ref of a block happened n times more than its instruction. */
static void
make_extra(uint32_t id, uint32_t ref, int64_t n)
{
	const struct ev_block *b = ev_def(walk.events, id)->block;
	const struct owned *o = owned_of(b);
	struct walk_ctx *c;
	struct walk_slot *sl;
	uint32_t k = 0;

	if (o->group == 0 || (c = states_lines(o->group)) == NULL)
		return;
	while (ref >= (uint32_t)b->insn[k].ref + b->insn[k].nref)
		k++;
	sl = lines_slot(c, id, k);
	if (sl->seg->block == 0) {
		sum_add(&slot_skipped(sl)[b->ref[ref].kind == 'w' ? 2 : 1], n);
		return;
	}
	sum_add(&extra_of(sl)[ref - b->insn[sl->seg->first].ref], n);
}

/* What is being made: executions, by thread and id; references and rounds. */
static struct {
	const struct tally_entry *next, *end;
} execs, extras, repeated;

void
lines_make(uint64_t thread)
{
	if (execs.end == NULL) {
		execs.end = tally_sort(by_thread, &execs.next);
		extras.end = tally_sort(extra, &extras.next);
		repeated.end = tally_sort(rounds, &repeated.next);
	}
	for (uint32_t id = 1; !walk.threads && id < captimes; id++)
		if (times[id] != 0)
			make_id(id, (int64_t)times[id]);
	for (; execs.next < execs.end && execs.next->a == thread; execs.next++)
		make_id((uint32_t)execs.next->b,
		    *tally_sums(by_thread, execs.next));
	for (; extras.next < extras.end && extras.next->a == thread;
	    extras.next++)
		make_extra((uint32_t)(extras.next->b >> 16),
		    extras.next->b & 0xffff, *tally_sums(extra, extras.next));
	for (; repeated.next < repeated.end && repeated.next->a == thread;
	    repeated.next++)
		make_rounds(ev_def(walk.events, (uint32_t)
		    (repeated.next->b >> 16))->block,
		    repeated.next->b & 0xffff,
		    *tally_sums(rounds, repeated.next));
}

void
lines_clear(void)
{
	if (captimes > 0)
		memset(times, 0, captimes * sizeof *times);
	tally_clear(by_thread);
	tally_clear(extra);
	tally_clear(rounds);
	execs.end = NULL;
}
