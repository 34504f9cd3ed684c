/*
 * refs - executions become uses of lines
 *
 * A block is translated into uses: its references and fetches, in order. Each
 * has its address from a value, that of a group or 1, plus a distance. So a
 * value of 0 means that the reference did not happen.
 *
 * A reference to several lines uses them in order of their addresses. Its
 * distance is the greatest of theirs: an LRU cache that is too small for that
 * one misses it.
 *
 * Rounds of an execution that use the same lines as the round before have
 * equal distances, since what they find are the lines of the round before, in
 * the same order. So the first of them is run, and counts for all.
 *
 * With a sample only lines with a small hash are used, and each of a
 * reference's lines by itself.
 */
#include "reuse.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define MOST_ROUNDS (UINT64_C(1) << 36)	/* that a program may have run */

static struct evr *events;
static struct insns *insns;
static struct use *uses;
static struct unit *units;	/* by id */
static size_t capuse, nuse, capunit;
static uint32_t threshold;	/* a sampled line's hash is below it */
static uint64_t most;		/* the last line */

/* ---- definitions ---- */

static void
add_use(struct use u)
{
	uses = xgrow(uses, &capuse, nuse + 1, sizeof *uses);
	uses[nuse++] = u;
}

/* Add a fetch, unless it uses the line that the use before it used last. */
static bool
add_fetch(const struct unit *u, const struct ev_insn *i, uint32_t insn,
    uint8_t one)
{
	const struct use *before = nuse > u->use ? &uses[nuse - 1] : NULL;
	uint64_t line = i->addr >> opt.shift;
	uint64_t last = (i->addr + i->len - 1) >> opt.shift;

	/* a repeated reference may have no rounds */
	if (before != NULL && before->group == one && before->count == 0 &&
	    line == last &&
	    (before->at + 1 + before->size) >> opt.shift == line)
		return false;
	add_use((struct use){ i->addr - 1, insn, i->len - 1U, one, 0 });
	return true;
}

static const char *
add_refs(const struct ev_block *b, const struct ev_insn *i, uint32_t insn)
{
	const struct ev_ref *r = b->ref + i->ref;

	for (unsigned k = 0; k < i->nref; k++, r++) {
		if (r->where == EV_BARE)
			return "a reference without its address";
		add_use(r->where == EV_GROUP ? (struct use){ r->at, insn,
		    (uint16_t)(r->size - 1), r->group, r->count } :
		    (struct use){ r->at - 1, insn, (uint16_t)(r->size - 1),
		    b->ngroups, r->count });
	}
	return NULL;
}

/* The first instructions of a block, up to n. */
static const char *
fill(struct unit *u, const struct ev_block *b, uint32_t n)
{
	uint64_t insn = insns_first(insns, simrun_number(b));
	const char *wrong;

	u->use = (uint32_t)nuse;
	for (uint32_t k = 0; k < n; k++, insn++) {
		const struct ev_insn *i = &b->insn[k];

		if (opt.code) {
			u->nref++;
			if (!add_fetch(u, i, (uint32_t)insn, b->ngroups))
				u->same++;
		}
		if (!opt.data)
			continue;
		u->nref += i->nref;
		wrong = add_refs(b, i, (uint32_t)insn);
		if (wrong != NULL)
			return wrong;
	}
	u->nuse = (uint32_t)nuse - u->use;
	u->ninsn = n;
	return NULL;
}

/* A prefix has the first uses of its block. */
static void
fill_part(struct unit *u, const struct unit *whole, const struct ev_def *d)
{
	uint64_t end = insns_first(insns, simrun_number(d->block)) + d->n;
	const struct ev_block *b = d->block;

	*u = *whole;
	u->times = 0;
	u->ninsn = d->n;
	for (u->nuse = 0; u->nuse < whole->nuse &&
	    uses[u->use + u->nuse].insn < end; )
		u->nuse++;
	u->nref = (opt.code ? d->n : 0) + (!opt.data ? 0 :
	    (uint32_t)b->insn[d->n - 1].ref + b->insn[d->n - 1].nref);
	u->same = u->nref - u->nuse;
}

const char *
refs_define(uint32_t id, const struct ev_def *d)
{
	struct ev_block *b = d->block;
	const char *wrong;

	units = xgrow0(units, &capunit, id + (size_t)1, sizeof *units);
	if (d->letter == 'P') {
		fill_part(&units[id], &units[b->id], d);
		if (threshold != UINT32_MAX)
			sift_part(id, &units[id], b->id, d->ngroups);
		return NULL;
	}
	if (nuse + b->nref + b->ninsn > UINT32_MAX)
		return "too many different references";
	count_rows(insns_first(insns, simrun_number(b)) + b->ninsn);
	b->value = sift_values(b->ngroups);
	b->value[b->ngroups] = 1;
	units[id].value = b->value;
	wrong = fill(&units[id], b, b->ninsn);
	if (wrong == NULL && threshold != UINT32_MAX)
		sift_define(id, &units[id], uses + units[id].use, b->ngroups);
	return wrong;
}

/* ---- samples ---- */

static inline uint64_t
touch(uint64_t line)
{
	struct lru_line *l;
	uint64_t distance;

	if (history->lru.front[0] == line)
		return 0;
	distance = lru_search(&history->lru, line, &l);
	if (l != NULL)
		work_touch(history, l, line);
	return distance;
}

static inline void
count_distance(const struct use *u, uint64_t distance, uint64_t n,
    unsigned group)
{
	if (distance < count_least && distance < LRU_FRONT)
		history->distances[group].near[distance] += n;
	else
		count_use(u->insn, distance, n, group);
}

static inline void
use_sampled(const struct use *u, uint64_t line, uint64_t n)
{
	uint32_t h = refs_hash(line);

	if (h < threshold)
		count_distance(u, touch(line), n, h % GROUPS);
}

/* ---- uses ---- */

/* A reference to several lines. */
__attribute__((noinline))
static void
use_lines(const struct use *u, uint64_t addr, uint64_t n)
{
	uint64_t line = addr >> opt.shift, distance = 0, d;
	uint64_t more = ((addr & (((uint64_t)1 << opt.shift) - 1)) + u->size) >>
	    opt.shift;

	for (;; more--) {
		if (threshold != UINT32_MAX) {
			use_sampled(u, line, n);
		} else {
			d = touch(line);
			distance = d > distance ? d : distance;
		}
		if (more == 0)
			break;
		line = line == most ? 0 : line + 1;
	}
	if (threshold == UINT32_MAX)
		count_use(u->insn, distance, n, 0);
}

static inline void
use_at(const struct use *u, uint64_t addr, uint64_t n)
{
	uint64_t line = addr >> opt.shift;

	if (__builtin_expect(line != (addr + u->size) >> opt.shift, 0)) {
		use_lines(u, addr, n);
		return;
	}
	count_distance(u, touch(line), n, 0);
}

/* In how many further steps of `by' bytes do a use's lines stay the same? */
static uint64_t
stays(const struct use *u, uint64_t addr, uint64_t by)
{
	uint64_t mask = ((uint64_t)1 << opt.shift) - 1;
	uint64_t first = addr & mask, last = (addr + u->size) & mask;

	if (by == 0)
		return UINT64_MAX;
	if ((int64_t)by < 0)
		return (first < last ? first : last) / -by;
	return (mask - (first > last ? first : last)) / by;
}

/* ---- repeated references ---- */

/* Neighbouring uses that share a count take turns. */
struct turns {
	const struct use *from, *to;
	const uint64_t *value;
	uint64_t rounds;
	bool down;
};

static uint64_t
step(const struct turns *t, const struct use *u)
{
	uint64_t size = u->size + UINT64_C(1);

	return t->down ? -size : size;
}

static void
turns_round(const struct turns *t, uint64_t round, uint64_t n)
{
	for (const struct use *u = t->from; u < t->to; u++)
		if (t->value[u->group] != 0) {
			uint64_t addr = t->value[u->group] + u->at +
			    round * step(t, u);

			if (threshold != UINT32_MAX)
				use_lines(u, addr, n);
			else
				use_at(u, addr, n);
		}
}

/* How many further rounds use the same lines as this one? */
static uint64_t
turns_stay(const struct turns *t, uint64_t round)
{
	uint64_t n = t->rounds - round - 1, s;

	for (const struct use *u = t->from; u < t->to && n > 0; u++) {
		s = stays(u, t->value[u->group] + u->at + round * step(t, u),
		    step(t, u));
		if (t->value[u->group] != 0 && s < n)
			n = s;
	}
	return n;
}

/* Returns the use behind them. */
__attribute__((noinline))
static const struct use *
repeated(const struct use *u, const struct use *end, const uint64_t *value)
{
	struct turns t = { u, u + 1, value, value[u->count - 1], false };
	uint64_t stay;

	while (t.to < end && t.to->count == u->count && t.to->insn == u->insn)
		t.to++;
	t.down = (int64_t)t.rounds < 0;
	if (t.down)
		t.rounds = -t.rounds;
	if (t.rounds > MOST_ROUNDS) {
		ev_bad(events, "an instruction repeated more than %lu times",
		    MOST_ROUNDS);
		return end;
	}
	for (uint64_t k = 0; k < t.rounds && !history->lru.full; k++) {
		turns_round(&t, k, count_weight);
		stay = turns_stay(&t, k);
		if (stay == 0)
			continue;
		turns_round(&t, k + 1, count_weight * stay);
		k += stay;
	}
	for (u = t.from; u < t.to; u++) {
		uint64_t n = value[u->group] != 0 ? t.rounds - 1 : -UINT64_C(1);

		rows[u->insn].extra += (int64_t)(n * count_weight);
		history->refs += n * count_weight;
	}
	return t.to;
}

/* ---- executions ---- */

__attribute__((noinline))
static void
left_out(const struct use *u)
{
	rows[u->insn].extra -= (int64_t)count_weight;
	history->refs -= count_weight;
}

static void
execute(const struct unit *t)
{
	const struct use *u = uses + t->use, *end = u + t->nuse;
	const uint64_t *value = t->value;

	while (u < end) {
		uint64_t v = value[u->group];

		if (__builtin_expect(u->count != 0, 0)) {
			u = repeated(u, end, value);
			continue;
		}
		if (__builtin_expect(v == 0, 0))
			left_out(u);
		else
			use_at(u, v + u->at, count_weight);
		u++;
	}
	history->distances[0].near[0] += count_weight * t->same;
}

static inline void
one_sampled(const struct use *u, const uint64_t *value)
{
	uint64_t v = value[u->group], addr = v + u->at;
	uint64_t line = addr >> opt.shift;

	if (__builtin_expect(v == 0, 0))
		left_out(u);
	else if (line != (addr + u->size) >> opt.shift)
		use_lines(u, addr, count_weight);
	else
		use_sampled(u, line, count_weight);
}

static void
use_nth(const struct unit *t, uint32_t k, const uint64_t *value)
{
	one_sampled(&uses[t->use + k], value);
}

static void
execute_sampled(const struct unit *t)
{
	const struct use *u = uses + t->use, *end = u + t->nuse;
	const uint64_t *value = t->value;

	while (u < end) {
		if (__builtin_expect(u->count != 0, 0))
			u = repeated(u, end, value);
		else
			one_sampled(u++, value);
	}
}

/* How many of n further rounds use the lines of the last one? */
static uint64_t
same_lines(const struct unit *t, const uint64_t *diff, uint64_t n)
{
	uint8_t groups = ev_ngroups(diff[-1]);
	uint64_t by, v, s;

	for (const struct use *u = uses + t->use; u < uses + t->use + t->nuse;
	    u++) {
		by = u->group < groups ? diff[u->group] : 0;
		v = t->value[u->group];
		if (u->count != 0 && (by != 0 || diff[u->count - 1] != 0))
			return 0;
		if (by == 0)
			continue;
		/* one that does not happen now, or not later */
		if (v == 0 || ((int64_t)by < 0 ? v / -by : -v / by) <= n)
			return 0;
		s = stays(u, v + u->at, by);
		if (s < n)
			n = s;
		if (n == 0)
			return 0;
	}
	return n;
}

void
refs_init(struct evr *r, struct insns *s)
{
	events = r;
	insns = s;
	most = ~(uint64_t)0 >> opt.shift;
	threshold = (uint32_t)(opt.sample * 4294967295.0);
	sift_init(threshold, use_nth);
}

const uint64_t *
refs_sift(const uint64_t *rec, const uint64_t *end)
{
	if (threshold == UINT32_MAX)
		return rec;
	count_weight = 1;
	while (!history->lru.full) {
		const uint64_t *from = rec;

		rec = sift(units, rec, end);
		if (rec == from || rec == end)
			break;
	}
	return rec;
}

uint64_t
refs_run(const uint64_t *rec, uint64_t n, bool first)
{
	struct unit *t = &units[ev_id(*rec)];
	unsigned groups = ev_ngroups(*rec);
	uint64_t left = work_left(&history->work), before = history->refs;
	uint64_t k = 0;

	left = (left + t->ninsn - 1) / t->ninsn;
	if (n > left)
		n = left;
	if (!first && n > 1)
		k = same_lines(t, rec + 1, n);
	count_weight = k > 1 ? k : 1;
	for (unsigned i = 0; i < groups; i++)
		t->value[i] += rec[1 + i] * count_weight;
	t->times += count_weight;
	history->refs += count_weight * t->nref;
	history->insns += count_weight * t->ninsn;
	if (threshold != UINT32_MAX)
		execute_sampled(t);
	else
		execute(t);
	work_done(history, count_weight * t->ninsn, history->refs - before);
	return count_weight;
}

uint64_t
refs_count(uint32_t id)
{
	return units[id].times + sift_times(id);
}

uint64_t
refs_of(const struct insns_at *at)
{
	return (opt.code ? 1U : 0) + (opt.data ? at->i->nref : 0U);
}
