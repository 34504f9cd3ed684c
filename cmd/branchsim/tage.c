/*
 * tage - TAGE for conditional branches, ITTAGE for indirect ones
 *
 * TAGE: a bimodal table, and tables with tags that are indexed by the address
 * and by ever longer parts of the history of outcomes. The longest history
 * with a matching tag predicts. When it is wrong, an entry with a longer
 * history is made. The sizes are those of the L-TAGE of 2007 (A. Seznec, The
 * L-TAGE Branch Predictor, Journal of Instruction-Level Parallelism 9), which
 * has a loop predictor besides; the method is that of A. Seznec, P. Michaud,
 * A case for (partially) tagged geometric history length branch prediction,
 * same journal, 8, 2006.
 *
 * ITTAGE: the same with targets instead of counters, as the latter paper
 * proposes; the history has bits of indirect targets besides outcomes.
 *
 * A history of length L is folded to the width of an index by xor. When a bit
 * comes in, the fold is rotated, the bit is put in, and the one that became
 * older than L is taken out at the place to which it has been rotated.
 */
#include "branchsim.h"

#include <string.h>

#define NBITS	1024	/* of history kept; more than the longest */

struct past {
	uint8_t bit[NBITS];	/* outcomes, in a circle */
	unsigned at;		/* where the next goes */
};

struct fold {
	uint32_t x;
	uint8_t width, out;	/* out: where the oldest bit is by then */
};

static inline void
fold_bit(struct fold *f, unsigned in, unsigned out)
{
	uint32_t x = (f->x << 1 | in) ^ out << f->out;

	x ^= x >> f->width;
	f->x = x & ((1U << f->width) - 1);
}

/* Three folds of one length: for the index, and two for the tag. */
struct folds {
	unsigned len;
	struct fold index, tag, tag2;
};

static void
fold_init(struct fold *f, unsigned len, unsigned width)
{
	f->x = 0;
	f->width = (uint8_t)width;
	f->out = (uint8_t)(len % width);
}

static void
folds_init(struct folds *f, unsigned len, unsigned index, unsigned tag)
{
	f->len = len;
	fold_init(&f->index, len, index);
	fold_init(&f->tag, len, tag);
	fold_init(&f->tag2, len, tag - 1);
}

static inline __attribute__((always_inline)) void
push(struct past *h, struct folds *f, unsigned n, unsigned in)
{
	h->bit[h->at % NBITS] = (uint8_t)in;
	for (unsigned i = 0; i < n; i++) {
		unsigned out = h->bit[(h->at - f[i].len) % NBITS];

		fold_bit(&f[i].index, in, out);
		fold_bit(&f[i].tag, in, out);
		fold_bit(&f[i].tag2, in, out);
	}
	h->at++;
}

/* Numbers without a pattern, the same in every run. */
static uint32_t random_state = 2463534242U;

static uint32_t
some(void)
{
	uint32_t x = random_state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return random_state = x;
}

/* ---- TAGE ---- */

#define NTABLE	12
#define BASE	14		/* log2 of the bimodal table's predictions */
#define SHARE	2		/* 4 of which share a bit of hysteresis */
#define AGING	REPEAT_AGE	/* branches between losses of usefulness */

static const struct {
	unsigned history, log, tag;
} size[NTABLE] = {
	{ 4, 10, 7 }, { 6, 10, 7 }, { 10, 11, 8 }, { 16, 11, 8 },
	{ 25, 11, 9 }, { 40, 11, 10 }, { 64, 10, 11 }, { 101, 10, 12 },
	{ 160, 10, 12 }, { 254, 10, 13 }, { 403, 9, 14 }, { 640, 9, 15 },
};

struct entry {
	int8_t counter;		/* -4..3; taken if not negative */
	uint8_t useful;		/* 0..3 */
	uint16_t tag;
};

static struct past outcomes;
static struct folds folds[NTABLE];
static uint32_t path;			/* low bits of addresses */
static uint8_t base_taken[1 << BASE], base_sure[1 << (BASE - SHARE)];
static struct entry table[NTABLE][1 << 11];
static int trust_other;		/* < 0: a weak new entry beats the next one */
static uint32_t age;
static uint64_t moves;		/* of usefulness, by what was predicted */

/* One prediction, and what it was made of. */
struct look {
	struct entry *entry[NTABLE];	/* where the branch's entries are */
	uint16_t tag[NTABLE];
	int first, second;	/* longest tables that match; -1: bimodal */
	bool taken;		/* what is predicted */
	bool first_taken, second_taken;
	uint32_t base;
};

static inline bool
is_weak(const struct entry *e)
{
	return e->counter == 0 || e->counter == -1;
}

static inline bool
predicted_by(const struct look *l, int t)
{
	return t < 0 ? base_taken[l->base] : l->entry[t]->counter >= 0;
}

/* The path's bits up to a table's history, mixed differently by table. */
static inline uint32_t
mix_path(unsigned t)
{
	unsigned n = size[t].history < 16 ? size[t].history : 16;
	uint32_t x = path & ((1U << n) - 1);

	x = x ^ x >> size[t].log;
	return x << t % size[t].log ^ x >> (size[t].log - t % size[t].log);
}

static void
look_up(struct look *l, uint64_t addr)
{
	l->base = (uint32_t)addr & ((1U << BASE) - 1);
	l->first = l->second = -1;
	for (unsigned t = 0; t < NTABLE; t++) {
		const struct folds *f = &folds[t];
		uint32_t pc = (uint32_t)(addr ^ addr >> 32), i;

		i = pc ^ pc >> (t + 1) ^ pc >> size[t].log ^ f->index.x ^
		    mix_path(t);
		l->entry[t] = &table[t][i & ((1U << size[t].log) - 1)];
		l->tag[t] = (uint16_t)((pc ^ f->tag.x ^ f->tag2.x << 1) &
		    ((1U << size[t].tag) - 1));
		if (l->entry[t]->tag == l->tag[t]) {
			l->second = l->first;
			l->first = (int)t;
		}
	}
	l->first_taken = predicted_by(l, l->first);
	l->second_taken = predicted_by(l, l->second);
	l->taken = l->first_taken;
	if (l->first >= 0 && trust_other >= 0 &&
	    is_weak(l->entry[l->first]) && l->entry[l->first]->useful == 0)
		l->taken = l->second_taken;
}

static void
count(int8_t *c, bool up, int most)
{
	if (up && *c < most)
		++*c;
	if (!up && *c > -most - 1)
		--*c;
}

/* Make an entry with a longer history, if there is room. */
static void
allocate(const struct look *l, bool taken)
{
	int from = l->first + 1, t;

	/* now and then leave one or two tables out, so that not all go there */
	for (unsigned r = some(); from < NTABLE - 1 && r % 4 == 0; r /= 4)
		from++;
	for (t = from; t < NTABLE && l->entry[t]->useful != 0; t++)
		;
	if (t == NTABLE) {
		for (t = l->first + 1; t < NTABLE; t++)
			if (l->entry[t]->useful > 0) {
				l->entry[t]->useful--;
				moves++;
			}
		return;
	}
	*l->entry[t] = (struct entry){ taken ? 0 : -1, 0, l->tag[t] };
}

static void
learn_base(uint32_t i, bool taken)
{
	uint8_t *sure = &base_sure[i >> SHARE];

	if (base_taken[i] == taken)
		*sure = 1;
	else if (*sure)
		*sure = 0;
	else
		base_taken[i] = taken;
}

static void
learn(const struct look *l, bool taken)
{
	struct entry *e = l->first < 0 ? NULL : l->entry[l->first];

	if (e == NULL) {
		learn_base(l->base, taken);
	} else {
		if (is_weak(e) && e->useful == 0 &&
		    l->first_taken != l->second_taken) {
			if (l->second_taken == taken && trust_other < 7)
				trust_other++;
			if (l->second_taken != taken && trust_other > -8)
				trust_other--;
		}
		if (e->useful == 0 && l->second >= 0)
			count(&l->entry[l->second]->counter, taken, 3);
		else if (e->useful == 0)
			learn_base(l->base, taken);
		count(&e->counter, taken, 3);
		if (l->first_taken != l->second_taken) {
			if (l->first_taken == taken && e->useful < 3) {
				e->useful++;
				moves++;
			}
			if (l->first_taken != taken && e->useful > 0) {
				e->useful--;
				moves++;
			}
		}
	}
	if (l->taken != taken && l->first < NTABLE - 1 &&
	    !(e != NULL && is_weak(e) && l->first_taken == taken))
		allocate(l, taken);
	if (++age % AGING == 0)
		for (unsigned t = 0; t < NTABLE; t++)
			for (unsigned i = 0; i < 1U << size[t].log; i++)
				table[t][i].useful >>= 1;
}

/* ---- ITTAGE ---- */

#define NITABLE	8
#define ILOG	9		/* log2 of each table's entries */
#define ITAG	12
#define TARGETBITS 5		/* of a target in the history */

static const unsigned ihistory[NITABLE] = { 4, 8, 16, 32, 60, 110, 200, 360 };

struct ientry {
	uint64_t target;
	uint16_t tag;
	uint8_t sure;		/* 0..3 */
	uint8_t useful;		/* 0, 1 */
};

static struct past where;
static struct folds ifolds[NITABLE];
static uint64_t ibase[1 << ILOG];
static struct ientry itable[NITABLE][1 << ILOG];

/* One prediction of a target, and what it is made of. */
struct ilook {
	struct ientry *entry[NITABLE];	/* where the branch's entries are */
	uint16_t tag[NITABLE];
	int longest;		/* table that matches; -1: none */
	struct ientry *first, *second;	/* of the longest two; or NULL */
	uint64_t *base;		/* its last target, with no history */
};

static void
look_up_target(struct ilook *l, uint64_t addr)
{
	uint32_t pc = (uint32_t)(addr ^ addr >> 32);

	l->base = &ibase[addr & ((1 << ILOG) - 1)];
	l->longest = -1;
	l->first = l->second = NULL;
	for (int t = 0; t < NITABLE; t++) {
		const struct folds *f = &ifolds[t];
		struct ientry *e = &itable[t][(pc ^ pc >> (t + 1) ^
		    pc >> ILOG ^ f->index.x) & ((1 << ILOG) - 1)];

		l->entry[t] = e;
		l->tag[t] = (uint16_t)((pc ^ f->tag.x ^ f->tag2.x << 1) &
		    ((1 << ITAG) - 1));
		if (e->tag == l->tag[t] && e->target != 0) {
			l->second = l->first;
			l->first = e;
			l->longest = t;
		}
	}
}

static uint64_t
guess_target(const struct ilook *l)
{
	if (l->first == NULL)
		return *l->base;
	return l->first->sure == 0 && l->second != NULL ? l->second->target :
	    l->first->target;
}

static void
learn_target(const struct ilook *l, uint64_t target)
{
	struct ientry *e = l->first;

	if (e != NULL && e->target == target) {
		e->sure += e->sure < 3;
		e->useful |= (l->second != NULL ? l->second->target :
		    *l->base) != target;
	} else if (e != NULL) {
		if (e->sure > 0)
			e->sure--;
		else
			e->target = target;
		e->useful = 0;
	}
	if (e == NULL || e->sure == 0)
		*l->base = target;
}

/* Make an entry with a longer history, if there is room. */
static void
allocate_target(const struct ilook *l, uint64_t target)
{
	int t = l->longest + 1 + (int)(some() % 2);

	while (t < NITABLE && l->entry[t]->useful != 0)
		l->entry[t++]->useful = some() % 4 != 0;
	if (t < NITABLE)
		*l->entry[t] = (struct ientry){ target, l->tag[t], 0, 0 };
}

static bool
tage_indirect(uint64_t addr, uint64_t target)
{
	uint32_t mixed = (uint32_t)(target ^ target >> TARGETBITS ^
	    target >> 13);
	struct ilook l;
	bool wrong;

	look_up_target(&l, addr);
	wrong = guess_target(&l) != target;
	learn_target(&l, target);
	if (wrong)
		allocate_target(&l, target);
	for (unsigned k = 0; k < TARGETBITS; k++)
		push(&where, ifolds, NITABLE, mixed >> k & 1);
	push(&outcomes, folds, NTABLE, mixed & 1);
	return wrong;
}

/* ---- both ---- */

static bool
tage_cond(uint64_t addr, bool taken)
{
	struct look l;

	look_up(&l, addr);
	learn(&l, taken);
	push(&outcomes, folds, NTABLE, taken);
	push(&where, ifolds, NITABLE, taken);
	path = path << 1 | (addr & 1);
	return l.taken != taken;
}

/* ---- states ---- */

static struct tage_state {
	struct past outcomes, where;
	struct folds folds[NTABLE], ifolds[NITABLE];
	uint32_t path, x, age;
	int trust_other;
	uint64_t moves;
	uint8_t base_taken[1 << BASE], base_sure[1 << (BASE - SHARE)];
	uint64_t ibase[1 << ILOG];
	struct entry table[NTABLE][1 << 11];
	struct ientry itable[NITABLE][1 << ILOG];
} state[PREDICT_STATES];

static void
tage_save(int at)
{
	struct tage_state *s = &state[at];

	s->outcomes = outcomes;
	s->where = where;
	memcpy(s->folds, folds, sizeof folds);
	memcpy(s->ifolds, ifolds, sizeof ifolds);
	s->path = path;
	s->x = random_state;
	s->age = age;
	s->trust_other = trust_other;
	s->moves = moves;
	memcpy(s->base_taken, base_taken, sizeof base_taken);
	memcpy(s->base_sure, base_sure, sizeof base_sure);
	memcpy(s->ibase, ibase, sizeof ibase);
	memcpy(s->table, table, sizeof table);
	memcpy(s->itable, itable, sizeof itable);
	stack_save(at);
}

/* Do two histories have the same bits, from the newest back? */
static bool
same_past(const struct past *a, const struct past *b)
{
	for (unsigned i = 1; i <= NBITS; i++)
		if (a->bit[(a->at - i) % NBITS] != b->bit[(b->at - i) % NBITS])
			return false;
	return true;
}

static bool
is_useful(void)
{
	for (unsigned t = 0; t < NTABLE; t++)
		for (unsigned i = 0; i < 1U << size[t].log; i++)
			if (table[t][i].useful != 0)
				return true;
	return false;
}

/*
 * Branches that are predicted the same way each time do not come to an end
 * but by age: it does nothing where nothing is useful, and stays so.
 */
static uint64_t
tage_again(int at)
{
	const struct tage_state *s = &state[at];
	uint32_t older = age - s->age;

	if (s->path != path || s->x != random_state ||
	    s->trust_other != trust_other || !stack_same(at) ||
	    memcmp(s->folds, folds, sizeof folds) != 0 ||
	    memcmp(s->ifolds, ifolds, sizeof ifolds) != 0 ||
	    memcmp(s->table, table, sizeof table) != 0 ||
	    memcmp(s->itable, itable, sizeof itable) != 0 ||
	    memcmp(s->ibase, ibase, sizeof ibase) != 0 ||
	    memcmp(s->base_taken, base_taken, sizeof base_taken) != 0 ||
	    memcmp(s->base_sure, base_sure, sizeof base_sure) != 0 ||
	    !same_past(&s->outcomes, &outcomes) ||
	    !same_past(&s->where, &where))
		return 0;
	if (older % AGING == 0 || (s->moves == moves && !is_useful()))
		return UINT64_MAX;
	if (s->age / AGING != age / AGING)
		return 0;
	return (AGING - 1 - age % AGING) / older;
}

static void
tage_skip(int at, uint64_t times)
{
	age += (age - state[at].age) * (uint32_t)times;
}

static void
tage_init(void)
{
	for (unsigned t = 0; t < NTABLE; t++)
		folds_init(&folds[t], size[t].history, size[t].log,
		    size[t].tag);
	for (unsigned t = 0; t < NITABLE; t++)
		folds_init(&ifolds[t], ihistory[t], ILOG, ITAG);
}

const struct predictor tage = {
	"tage", tage_init, tage_cond, tage_indirect, stack_ret,
	true, tage_save, tage_again, tage_skip
};
