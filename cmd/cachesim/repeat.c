/*
 * repeat - run many equal rounds, and leave most of them out
 *
 * A round is an execution that a line repeats, or one of a repeated
 * instruction. Each of its references moves by so many bytes from round to
 * round, most by none.
 *
 * Where none moves, the first-level caches are after each round as they are
 * after the first: a set has the lines that the round used last, in this
 * order, then what it had before. So what they miss is the same from the
 * second round on, and what LL misses of that from the third one on.
 *
 * Else there is a period, a number of rounds in which each reference moves by
 * a multiple of what a way of each cache holds: it comes back to the same
 * sets, and to lines that are as far from those before as it moves. If all
 * lines in the caches are so, too, all periods to come miss what the last one
 * did. "So" means:
 *
 *	(1) References that move differently have nothing in common: the bytes
 *	    that they touch from the first round to the last, and one period
 *	    beyond, are spans that do not overlap, by whole lines.
 *	(2) A line in a span, in a set that something moving comes to, has
 *	    moved by what its span moves in a period. All others are where
 *	    they were. The order in each set is the same.
 *
 * Then a look-up of a line finds it after the period where its counterpart
 * was found before, or misses like that. Where spans overlap, which is in the
 * rounds around an encounter, fewer rounds are taken at once.
 */
#include "cachesim.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "sum.h"

#define NEST	2		/* a repeated instruction, in a line's rounds */

struct span {
	uint64_t from, to;	/* bytes, both inclusive */
	uint64_t by;
};

/* One of the caches, by sets; 0 is no line, else 1 + its number. */
struct sets {
	uint64_t sets, ways;
	unsigned shift;		/* log2 of the line size */
	uint64_t (*line)(uint64_t set, uint64_t way);	/* newest first */
	void (*move)(uint64_t set, uint64_t way, uint64_t line);
};

static struct sets cache[2];	/* D1, LL */
static uint64_t longest;	/* of all line sizes */

static struct {
	struct span *span;	/* by address */
	size_t nspan, capspan;
	uint64_t *was[2];	/* lines, by cache */
	uint64_t *misses;
	int64_t *extra, *rounds;
	uint64_t *found;
	size_t capmisses, capextra, caprounds, capfound;
	unsigned nfound;
} state[NEST];

void
repeat_init(const struct geometry g[NCACHE])
{
	cache[0] = (struct sets){ g[D1].size / g[D1].line / g[D1].assoc,
	    g[D1].assoc, (unsigned)__builtin_ctzll(g[D1].line), l1_set_line,
	    l1_set_move };
	cache[1] = (struct sets){ g[LL].size / g[LL].line / g[LL].assoc,
	    g[LL].assoc, (unsigned)__builtin_ctzll(g[LL].line), ll_set_line,
	    ll_set_move };
	for (int i = 0; i < NCACHE; i++)
		if (g[i].line > longest)
			longest = g[i].line;
}

/* ---- spans ---- */

static int
by_from(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Does a value that moves reach 0, or go round, within n rounds? */
static bool
goes_round(uint64_t value, uint64_t by, uint64_t n)
{
	if (by == 0)
		return false;
	return (int64_t)by < 0 ? value / -by <= n : (-value - 1) / by <= n;
}

/* The bytes that a reference touches in n rounds; false: they go round. */
static bool
span_of(const struct repeat_ref *r, uint64_t n, struct span *s)
{
	uint64_t last = r->addr + r->size - 1, far = r->by * n;

	if (last < r->addr || (r->is_value && goes_round(r->value, r->by, n)))
		return false;
	*s = (struct span){ r->addr, last, r->by };
	if ((int64_t)r->by < 0) {
		if (goes_round(r->addr, r->by, n))
			return false;
		s->from += far;
	} else {
		if (goes_round(last, r->by, n))
			return false;
		s->to += far;
	}
	s->from &= -longest;
	s->to |= longest - 1;
	return true;
}

/* Spans of n rounds, those that move alike joined. false: others overlap. */
static bool
find_spans(const struct cache_repeat *r, uint64_t n)
{
	struct span *s, *last;
	size_t *k = &state[r->nested].nspan;

	s = state[r->nested].span = xgrow(state[r->nested].span,
	    &state[r->nested].capspan, r->nref + 1, sizeof *s);
	*k = 0;
	for (size_t i = 0; i < r->nref; i++)
		if (!span_of(&r->ref[i], n, &s[(*k)++]))
			return false;
	qsort(s, *k, sizeof *s, by_from);
	last = s;
	for (size_t i = 1; i < *k; i++) {
		if (s[i].from > last->to) {
			*++last = s[i];
			continue;
		}
		if (s[i].by != last->by)
			return false;
		if (s[i].to > last->to)
			last->to = s[i].to;
	}
	*k = *k == 0 ? 0 : (size_t)(last - s) + 1;
	return true;
}

/* How far the span with this byte moves. */
static uint64_t
moves_by(const struct cache_repeat *r, uint64_t addr)
{
	const struct span *s = state[r->nested].span;
	size_t lo = 0, hi = state[r->nested].nspan;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s[mid].to < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < state[r->nested].nspan && s[lo].from <= addr ?
	    s[lo].by : 0;
}

/* ---- sets ---- */

/* Does a reference that moves ever touch this set? */
static bool
touches(const struct repeat_ref *r, const struct sets *c, uint64_t set)
{
	uint64_t way = c->sets << c->shift, off, lines, step = r->by & -r->by;

	if (r->by == 0)
		return false;
	if (step > way)
		step = way;
	step >>= c->shift;
	if (step <= 1)
		return true;
	off = r->addr & (((uint64_t)1 << c->shift) - 1);
	lines = ((off + r->size - 1) >> c->shift) + 1;
	return ((set - (r->addr >> c->shift)) & (step - 1)) < lines;
}

static bool
is_touched(const struct cache_repeat *r, const struct sets *c, uint64_t set)
{
	for (size_t i = 0; i < r->nref; i++)
		if (touches(&r->ref[i], c, set))
			return true;
	return false;
}

/* Where a line is after n rounds, if a moving reference comes to its set. */
static uint64_t
moved(const struct cache_repeat *r, const struct sets *c, uint64_t line,
    uint64_t n)
{
	uint64_t by;

	if (line == 0)
		return 0;
	by = moves_by(r, (line - 1) << c->shift);
	return ((line - 1 + (by * n >> c->shift)) &
	    ~(uint64_t)0 >> c->shift) + 1;
}

/* Is it where the other one is after a period, in the same span? */
static bool
is_moved(const struct cache_repeat *r, const struct sets *c, uint64_t is,
    uint64_t was, uint64_t period)
{
	return is == moved(r, c, was, period) && (is == 0 ||
	    moves_by(r, (is - 1) << c->shift) ==
	    moves_by(r, (was - 1) << c->shift));
}

static bool
same_set(const struct cache_repeat *r, const struct sets *c, uint64_t set,
    const uint64_t *was, uint64_t period)
{
	bool same = true, alike = true;

	for (uint64_t w = 0; w < c->ways && (same || alike); w++) {
		uint64_t is = c->line(set, w);

		same &= is == was[w];
		alike = alike && is_moved(r, c, is, was[w], period);
	}
	return alike || (same && !is_touched(r, c, set));
}

static void
keep_lines(const struct cache_repeat *r)
{
	for (int i = 0; i < 2; i++) {
		const struct sets *c = &cache[i];
		uint64_t **was = &state[r->nested].was[i], *p;

		if (*was == NULL)
			*was = ll_reserve(c->sets * c->ways * sizeof **was);
		p = *was;
		for (uint64_t set = 0; set < c->sets; set++)
			for (uint64_t w = 0; w < c->ways; w++)
				*p++ = c->line(set, w);
	}
}

static bool
same_lines(const struct cache_repeat *r, uint64_t period)
{
	for (int i = 0; i < 2; i++) {
		const struct sets *c = &cache[i];
		const uint64_t *was = state[r->nested].was[i];

		for (uint64_t set = 0; set < c->sets; set++, was += c->ways)
			if (!same_set(r, c, set, was, period))
				return false;
	}
	return true;
}

/* Move all lines to where they are n rounds later. */
static void
move_lines(const struct cache_repeat *r, uint64_t n)
{
	for (int i = 0; i < 2; i++) {
		const struct sets *c = &cache[i];

		for (uint64_t set = 0; set < c->sets; set++) {
			if (!is_touched(r, c, set))
				continue;
			for (uint64_t w = 0; w < c->ways; w++)
				c->move(set, w,
				    moved(r, c, c->line(set, w), n));
		}
	}
}

/* ---- what is counted ---- */

static void
keep_found(int nested)
{
	uint64_t *n;

	n = state[nested].found = xgrow(state[nested].found,
	    &state[nested].capfound, nfound + 1, sizeof *n);
	state[nested].nfound = nfound;
	for (unsigned i = 0; i < nfound; i++)
		n[i] = found[i].n;
}

static int64_t *
keep_odd(int64_t *to, size_t *cap, const int64_t *from, size_t n)
{
	to = xgrow(to, cap, n + 1, sizeof *to);
	if (from == NULL)
		memset(to, 0, n * sizeof *to);
	else
		memcpy(to, from, n * sizeof *to);
	return to;
}

static void
keep_counts(const struct cache_repeat *r)
{
	const struct block_extras *o = r->cold != NULL ? cold_has(r->cold) :
	    NULL;
	int k = r->nested;
	uint64_t *m;

	ll_drain();
	m = state[k].misses = xgrow(state[k].misses, &state[k].capmisses,
	    2 * r->nmisses + 1, sizeof *m);
	for (size_t i = 0; i < r->nmisses; i++) {
		*m++ = misses_all(&r->misses[i].l1);
		*m++ = misses_all(&r->misses[i].ll);
	}
	keep_found(k);
	if (r->cold == NULL)
		return;
	state[k].extra = keep_odd(state[k].extra, &state[k].capextra,
	    o == NULL ? NULL : o->extra, r->cold->block->nref);
	state[k].rounds = keep_odd(state[k].rounds, &state[k].caprounds,
	    o == NULL ? NULL : o->rounds, r->cold->block->ninsn);
}

static void
add_odd(int64_t *n, const int64_t *was, size_t k, uint64_t times)
{
	for (size_t i = 0; n != NULL && i < k; i++)
		sum_add(&n[i], sum_times(n[i] - was[i], (int64_t)times));
}

/* Add what was counted since then, so many times. */
static void
add_counts(const struct cache_repeat *r, uint64_t times)
{
	const struct block_extras *o = r->cold != NULL ? cold_has(r->cold) :
	    NULL;
	int k = r->nested;
	const uint64_t *m = state[k].misses;

	ll_drain();
	for (size_t i = 0; i < r->nmisses; i++, m += 2) {
		uint8_t *first = &r->misses[i].l1, *ll = &r->misses[i].ll;

		misses_add(first, (misses_all(first) - m[0]) * times);
		misses_add(ll, (misses_all(ll) - m[1]) * times);
	}
	for (unsigned i = 0; i < nfound; i++)
		found[i].n += times * (found[i].n -
		    (i < state[k].nfound ? state[k].found[i] : 0));
	if (o == NULL)
		return;
	add_odd(o->extra, state[k].extra, r->cold->block->nref, times);
	add_odd(o->rounds, state[k].rounds, r->cold->block->ninsn, times);
}

/* ---- rounds ---- */

/* The references are n rounds further on. */
static void
advance(struct cache_repeat *r, uint64_t n)
{
	for (size_t i = 0; i < r->nref; i++) {
		r->ref[i].addr += r->ref[i].by * n;
		r->ref[i].value += r->ref[i].by * n;
	}
}

/* Run n rounds. */
static void
go(struct cache_repeat *r, uint64_t n)
{
	r->rounds(r, n);
	advance(r, n);
}

/* Leave n rounds out. */
static void
leave_out(struct cache_repeat *r, uint64_t n)
{
	r->left_out(r, n);
	advance(r, n);
}

/* n rounds, in all of which spans do not overlap. */
static void
periods(struct cache_repeat *r, uint64_t n, uint64_t period, uint64_t wait)
{
	uint64_t times;

	while (n / 2 > wait + period) {
		go(r, wait);
		keep_counts(r);
		keep_lines(r);
		go(r, period);
		ll_drain();
		n -= wait + period;
		if (!same_lines(r, period)) {
			wait *= 2;
			continue;
		}
		times = n / period;
		add_counts(r, times);
		move_lines(r, times * period);
		leave_out(r, times * period);
		n -= times * period;
	}
	go(r, n);
}

static uint64_t
period_of(const struct cache_repeat *r)
{
	uint64_t most = 1;

	for (size_t i = 0; i < r->nref; i++)
		for (int k = 0; k < 2 && r->ref[i].by != 0; k++) {
			uint64_t way = cache[k].sets << cache[k].shift;
			uint64_t step = r->ref[i].by & -r->ref[i].by;

			if (step < way && way / step > most)
				most = way / step;
		}
	return most;
}

/* A look at all lines should take no longer than the rounds before it. */
uint64_t
repeat_least(void)
{
	return cache[0].sets * cache[0].ways + cache[1].sets * cache[1].ways +
	    REPEAT_FIRST;
}

void
repeat(struct cache_repeat *r, uint64_t n)
{
	uint64_t period = period_of(r), wait = repeat_least() / 2, some;

	wait = (wait + period - 1) & -period;
	for (; n > 2 * (wait + period); n -= some) {
		some = n;
		while (some > 2 * (wait + period) &&
		    !find_spans(r, some + period))
			some /= 2;
		if (some > 2 * (wait + period))
			periods(r, some, period, wait);
		else
			go(r, some);
	}
	go(r, n);
}

void
repeat_alike(struct cache_repeat *r, uint64_t n)
{
	if (n <= 4) {
		r->rounds(r, n);
		return;
	}
	r->rounds(r, 2);
	keep_counts(r);
	r->rounds(r, 1);
	add_counts(r, n - 3);
	r->left_out(r, n - 3);
}
