/*
 * cache - one cache or TLB: look-ups and replacement
 *
 * A set of up to FEW ways is searched, and the line that leaves is found by
 * looking at all ways. In a set of more, a table says where a line is, and for
 * lru and fifo a list tells which is the oldest.
 */
#include "cpu.h"
#include "memsim.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <string.h>

#include "hash.h"
#include "khash.h"
#include "mem.h"

#define FEW	128
#define WORD	64

static bool has_wide;		/* instructions for 8 ways at a time */

KHASH_INIT(where, uint64_t, uint32_t, 1, hash_address, kh_int64_hash_equal)

struct many {
	khash_t(where) *where;		/* NULL: sets are searched */
	/* lru, fifo: slots, by set and by slot; each plus 1, 0: none */
	uint32_t *newest, *oldest, *newer, *older;
	uint32_t *nbits;		/* bit-plru: bits that are 1, by set */
	uint32_t *nused;		/* and no lower way has bit 0 */
};

static void *
room(uint64_t n, size_t size)
{
	return xreserve(n, size, "memory for a cache");
}

static void
new_tree(struct cache *c)
{
	for (unsigned way = 0; way < c->ways; way++) {
		uint64_t path = 0, away = 0;
		unsigned half = c->ways / 2, at = 1, low = 0;

		for (; half != 0; half /= 2) {
			path |= (uint64_t)1 << at;
			if (way < low + half) {
				away |= (uint64_t)1 << at;
				at = 2 * at;
			} else {
				low += half;
				at = 2 * at + 1;
			}
		}
		c->keep[way] = ~path;
		c->away[way] = away;
	}
}

/* Bits of a set in one word are as good as few ways. */
static bool
is_many(const struct cache *c)
{
	return c->ways > (c->policy == TREE || c->policy == BIT ? WORD : FEW);
}

static bool
is_listed(const struct cache *c)
{
	return c->ways > FEW && (c->policy == LRU || c->policy == FIFO);
}

static void
new_many(struct cache *c, uint64_t slots)
{
	struct many *m = c->many = xkeep(sizeof *m);

	m->where = kh_init(where);
	if (is_listed(c)) {
		m->newest = room(c->sets, sizeof *m->newest);
		m->oldest = room(c->sets, sizeof *m->oldest);
		m->newer = room(slots, sizeof *m->newer);
		m->older = room(slots, sizeof *m->older);
	} else if (c->policy == BIT) {
		m->nbits = room(c->sets, sizeof *m->nbits);
		m->nused = room(c->sets, sizeof *m->nused);
	}
}

/* How a policy notes use.  No default: the compiler asks for a new one's. */
static enum note
note_of(enum policy policy)
{
	switch (policy) {
	case LRU:
		return NOTE_STAMP;
	case FIFO:
	case RANDOM:
		return NOTE_NONE;
	case TREE:
		return NOTE_TREE;
	case BIT:
		return NOTE_BIT;
	case SRRIP:
	case BRRIP:
	case DRRIP:
		return NOTE_RRIP;
	case NPOLICY:
		break;
	}
	return NOTE_NONE;
}

static void
new_policy(struct cache *c, uint64_t slots)
{
	c->note = (uint8_t)note_of(c->policy);
	c->words = 1;
	if (is_many(c)) {
		new_many(c, slots);
		c->words = (c->ways + 63) / 64;
		if (c->policy == LRU || c->policy == TREE || c->policy == BIT)
			c->note = NOTE_MANY;
	}
	if ((c->policy == LRU || c->policy == FIFO) && !is_listed(c))
		c->stamp = room(slots, sizeof *c->stamp);
	if (c->policy == TREE || c->policy == BIT)
		c->bits = room((uint64_t)c->sets * c->words, sizeof *c->bits);
	if (c->policy == TREE && !is_many(c))
		new_tree(c);
	c->full = ~(uint64_t)0 >> (-c->ways & 63);
	if (c->note == NOTE_RRIP)
		c->rrpv = room(slots, 1);
}

struct cache *
cache_new(const struct part *p)
{
	struct cache *c = xkeep(sizeof *c);
	uint64_t slots;

#ifdef __x86_64__
	has_wide = cpu_has(AVX512F, "avx512f");
#endif
	c->policy = p->policy;
	c->ways = (uint32_t)p->ways;
	c->sets = (uint32_t)p->sets;
	c->keyshift = p->tlb ? 2 : 0;
	while ((uint64_t)1 << c->wshift < c->ways)
		c->wshift++;
	if ((c->sets & (c->sets - 1)) == 0)
		c->setmask = c->sets - 1;
	slots = (uint64_t)c->sets << c->wshift;
	c->entry = room(slots, sizeof *c->entry);
	c->free = room(c->sets, sizeof *c->free);
	/* others are asked for what is nowhere near, in vain for a hint */
	c->nhint = slots <= 1 << 16 && p->level == 1 ? CACHE_NHINT - 1 : 0;
	c->hint = room(c->nhint + 1, sizeof *c->hint);
	c->nalike = room(c->nhint + 1, sizeof *c->nalike);
	c->random = p->seed;
	c->duel = 511;
	new_policy(c, slots);
	return c;
}

/* ---- look-ups ---- */

static inline uint64_t
set_of(const struct cache *c, uint64_t key)
{
	key >>= c->keyshift;
	return (c->sets & (c->sets - 1)) == 0 ? key & c->setmask :
	    key % c->sets;
}

#define WIDE	8		/* ways that are worth it */

#ifdef __x86_64__

/* 8 ways a step: no branch depends on where it is. */
__attribute__((target("avx512f")))
static uint32_t
search_wide(const uint64_t *e, uint32_t ways, uint64_t want, uint32_t slot)
{
	const __m512i flags = _mm512_set1_epi64(~(long long)CACHE_FLAGS);
	const __m512i tag = _mm512_set1_epi64((long long)want);

	for (uint32_t w = 0; w < ways; w += 8) {
		__mmask8 some = ways - w < 8 ? (__mmask8)((1U << (ways - w)) -
		    1) : 0xff;
		unsigned at = _mm512_mask_cmpeq_epi64_mask(some,
		    _mm512_and_si512(_mm512_maskz_loadu_epi64(some, e + w),
		    flags), tag);

		if (at != 0)
			return slot + w + (uint32_t)__builtin_ctz(at);
	}
	return CACHE_NONE;
}

__attribute__((target("avx512f")))
static uint32_t
oldest_wide(const uint64_t *stamp, uint32_t ways)
{
	__m512i least = _mm512_set1_epi64(-1);
	__mmask8 some;
	unsigned at;

	for (uint32_t w = 0; w < ways; w += 8) {
		some = ways - w < 8 ? (__mmask8)((1U << (ways - w)) - 1) : 0xff;
		least = _mm512_mask_min_epu64(least, some, least,
		    _mm512_maskz_loadu_epi64(some, stamp + w));
	}
	least = _mm512_set1_epi64((long long)_mm512_reduce_min_epu64(least));
	for (uint32_t w = 0; ; w += 8) {
		some = ways - w < 8 ? (__mmask8)((1U << (ways - w)) - 1) : 0xff;
		at = _mm512_mask_cmpeq_epi64_mask(some,
		    _mm512_maskz_loadu_epi64(some, stamp + w), least);
		if (at != 0)
			return w + (uint32_t)__builtin_ctz(at);
	}
}

#else

#define search_wide(e, ways, want, slot)	CACHE_NONE
#define oldest_wide(stamp, ways)	0

#endif

static uint32_t
search(struct cache *c, uint64_t key)
{
	uint64_t want = (key + 1) << 2;
	uint32_t slot, at = CACHE_NONE;
	const uint64_t *e;
	khint_t k;

	if (c->many != NULL) {
		k = kh_get(where, c->many->where, key);
		return k == kh_end(c->many->where) ? CACHE_NONE :
		    kh_val(c->many->where, k);
	}
	slot = (uint32_t)(set_of(c, key) << c->wshift);
	e = c->entry + slot;
	if (has_wide && c->ways >= WIDE)
		return search_wide(e, c->ways, want, slot);
	for (uint32_t w = 0; w < c->ways; w++)
		if ((e[w] & ~(uint64_t)CACHE_FLAGS) == want)
			at = slot + w;
	return at;
}

/* Where the cache has hints: which one is that of a key. */
static inline uint64_t
hint_of(const struct cache *c, uint64_t key)
{
	return key >> c->keyshift & c->nhint;
}

/* Is there one line with the bits of a hint, and does that lead there? */
static inline bool
is_only(const struct cache *c, uint64_t hint)
{
	uint64_t entry = c->entry[c->hint[hint]];

	return c->nalike[hint] == 1 && entry != 0 &&
	    hint_of(c, (entry >> 2) - 1) == hint;
}

uint32_t
cache_find(struct cache *c, uint64_t key)
{
	uint64_t at = hint_of(c, key);
	uint16_t *hint = &c->hint[at];
	uint32_t slot;

	if (c->nhint == 0)
		return search(c, key);
	if (c->entry[*hint] >> 2 == key + 1)
		return *hint;
	if (c->nalike[at] == 0 || is_only(c, at))
		return CACHE_NONE;
	slot = search(c, key);
	if (slot != CACHE_NONE)
		*hint = (uint16_t)slot;
	return slot;
}

void
cache_soon(const struct cache *c, uint64_t key)
{
	uint64_t slot = set_of(c, key) << c->wshift;

	__builtin_prefetch(c->entry + slot);
	if (c->stamp != NULL)
		__builtin_prefetch(c->stamp + slot);
	if (c->ways > 8) {
		__builtin_prefetch(c->entry + slot + 8);
		if (c->stamp != NULL)
			__builtin_prefetch(c->stamp + slot + 8);
	}
}

/* ---- sets of many ways ---- */

static void
unlist(struct cache *c, uint32_t slot)
{
	struct many *m = c->many;
	uint32_t set = slot >> c->wshift;
	uint32_t newer = m->newer[slot], older = m->older[slot];

	*(newer != 0 ? &m->older[newer - 1] : &m->newest[set]) = older;
	*(older != 0 ? &m->newer[older - 1] : &m->oldest[set]) = newer;
}

static void
list_newest(struct cache *c, uint32_t slot)
{
	struct many *m = c->many;
	uint32_t set = slot >> c->wshift, was = m->newest[set];

	m->newer[slot] = 0;
	m->older[slot] = was;
	m->newest[set] = slot + 1;
	*(was != 0 ? &m->newer[was - 1] : &m->oldest[set]) = slot + 1;
}

static void
touch_tree(struct cache *c, uint64_t *bits, uint32_t way)
{
	uint32_t half = c->ways / 2, low = 0, at = 1;

	for (; half != 0; half /= 2) {
		uint64_t bit = (uint64_t)1 << (at & 63);

		if (way < low + half) {
			bits[at / 64] |= bit;
			at = 2 * at;
		} else {
			bits[at / 64] &= ~bit;
			low += half;
			at = 2 * at + 1;
		}
	}
}

static void
touch_bits(struct cache *c, uint32_t set, uint32_t way)
{
	uint64_t *bits = c->bits + (uint64_t)set * c->words;
	struct many *m = c->many;

	if (bits[way / 64] >> (way & 63) & 1)
		return;
	bits[way / 64] |= (uint64_t)1 << (way & 63);
	if (++m->nbits[set] < c->ways)
		return;
	memset(bits, 0, c->words * sizeof *bits);
	bits[way / 64] |= (uint64_t)1 << (way & 63);
	m->nbits[set] = 1;
	m->nused[set] = 0;
}

void
cache_touch_many(struct cache *c, uint32_t slot)
{
	uint32_t set = slot >> c->wshift, way = slot - (set << c->wshift);

	if (c->policy == TREE) {
		touch_tree(c, c->bits + (uint64_t)set * c->words, way);
	} else if (c->policy == BIT) {
		touch_bits(c, set, way);
	} else if (c->many->newest[set] != slot + 1) {
		unlist(c, slot);
		list_newest(c, slot);
	}
}

/* ---- what leaves ---- */

static uint32_t
oldest(const struct cache *c, uint32_t base)
{
	uint32_t way = 0;

	if (is_listed(c))
		return c->many->oldest[base >> c->wshift] - 1 - base;
	if (has_wide && c->ways >= WIDE)
		return oldest_wide(c->stamp + base, c->ways);
	for (uint32_t w = 1; w < c->ways; w++)
		if (c->stamp[base + w] < c->stamp[base + way])
			way = w;
	return way;
}

static uint32_t
random_way(struct cache *c)
{
	uint64_t x = c->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	c->random = x;
	return (uint32_t)((x >> 11) % c->ways);
}

static uint32_t
tree_way(const struct cache *c, uint32_t set)
{
	const uint64_t *bits = c->bits + (uint64_t)set * c->words;
	uint32_t half = c->ways / 2, way = 0, at = 1;

	for (; half != 0; half /= 2) {
		unsigned high = bits[at / 64] >> (at & 63) & 1;

		way += high * half;
		at = 2 * at + high;
	}
	return way;
}

/* The lowest way whose bit is 0. */
static uint32_t
bit_way(const struct cache *c, uint32_t set)
{
	const uint64_t *bits = c->bits + (uint64_t)set * c->words;
	uint32_t word, way;

	for (word = c->many != NULL ? c->many->nused[set] : 0;
	    word < c->words && ~bits[word] == 0; word++)
		;
	if (c->many != NULL)
		c->many->nused[set] = word;
	if (word == c->words)
		return 0;
	way = word * 64 + (uint32_t)__builtin_ctzll(~bits[word]);
	return way < c->ways ? way : 0;
}

static uint32_t
rrip_way(struct cache *c, uint32_t base)
{
	uint8_t *v = c->rrpv + base, *at, most = 0;

	at = memchr(v, 3, c->ways);
	if (at != NULL)
		return (uint32_t)(at - v);
	for (uint32_t w = 0; w < c->ways; w++)
		if (v[w] > most)
			most = v[w];
	for (uint32_t w = 0; w < c->ways; w++)
		v[w] = (uint8_t)(v[w] + 3 - most);
	return (uint32_t)((uint8_t *)memchr(v, 3, c->ways) - v);
}

/* The way of a full set whose line leaves. */
static inline uint32_t
way_to_leave(struct cache *c, uint32_t set, uint32_t base)
{
	switch ((enum policy)c->policy) {
	case LRU:
	case FIFO:
		return oldest(c, base);
	case RANDOM:
		return random_way(c);
	case TREE:
		return tree_way(c, set);
	case BIT:
		return bit_way(c, set);
	case SRRIP:
	case BRRIP:
	case DRRIP:
		return rrip_way(c, base);
	case NPOLICY:
		break;
	}
	return 0;
}

uint32_t
cache_place(struct cache *c, uint64_t key)
{
	uint32_t set = (uint32_t)set_of(c, key), base = set << c->wshift;

	for (uint32_t w = c->free[set]; w < c->ways; w++)
		if (c->entry[base + w] == 0) {
			c->free[set] = w;
			return base + w;
		}
	c->free[set] = c->ways;
	return base + way_to_leave(c, set, base);
}

/* ---- what comes ---- */

/* Is a line in this set of drrip brought in as by brrip? */
static bool
duel(struct cache *c, uint32_t set)
{
	if (set % 64 == 0) {
		c->duel += c->duel < 1023;
		return false;
	}
	if (set % 64 == 63 || (c->sets < 64 && set == c->sets - 1)) {
		c->duel -= c->duel > 0;
		return true;
	}
	return c->duel > 511;
}

static uint8_t
new_rrpv(struct cache *c, uint32_t set)
{
	bool bimodal = c->policy == BRRIP ||
	    (c->policy == DRRIP && duel(c, set));

	return !bimodal || ++c->bimodal % 32 == 0 ? 2 : 3;
}

void
cache_fill(struct cache *c, uint32_t slot, uint64_t key, unsigned flags)
{
	khint_t k;
	int new;

	c->entry[slot] = (key + 1) << 2 | flags;
	if (c->nhint != 0) {
		c->hint[hint_of(c, key)] = (uint16_t)slot;
		c->nalike[hint_of(c, key)]++;
	}
	if (c->many != NULL) {
		k = kh_put(where, c->many->where, key, &new);
		kh_val(c->many->where, k) = slot;
	}
	if (is_listed(c))
		list_newest(c, slot);
	else if (c->policy == FIFO)
		c->stamp[slot] = ++c->now;
	else if (c->note == NOTE_RRIP)
		c->rrpv[slot] = new_rrpv(c, slot >> c->wshift);
	else
		cache_touch(c, slot);
}

void
cache_remove(struct cache *c, uint32_t slot)
{
	uint32_t set = slot >> c->wshift, way = slot - (set << c->wshift);

	if (c->many != NULL)
		kh_del(where, c->many->where, kh_get(where, c->many->where,
		    cache_key(c, slot)));
	if (is_listed(c))
		unlist(c, slot);
	if (c->nhint != 0)
		c->nalike[hint_of(c, cache_key(c, slot))]--;
	c->entry[slot] = 0;
	if (way < c->free[set])
		c->free[set] = way;
}
