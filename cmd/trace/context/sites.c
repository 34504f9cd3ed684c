/*
 * sites - places of calls and jumps: their functions, segments and keys
 */

#include "context/context.h"
#include "context/parts.h"
#include "hash.h"
#include "khash.h"
#include "mem.h"

KHASH_INIT(place, uint64_t, const struct func_place *, 1, hash_address,
    kh_int64_hash_equal)

static khash_t(place) *places;	/* of addresses, as they are mapped now */

const struct func_place *
sites_place(uint64_t pc)
{
	struct func_place at;
	khint_t k;
	int made;

	if (places == NULL)
		places = kh_init(place);
	k = kh_put(place, places, pc, &made);
	if (made != 0) {
		func_place(pc, &at);
		kh_val(places, k) = func_same_place(&at);
	}
	return kh_val(places, k);
}

void
sites_mapped(void)
{
	if (places != NULL)
		kh_clear(place, places);
}

/* ----------------------------------------------------------------- segments */

KHASH_MAP_INIT_INT64(seg, struct walk_seg *)

static khash_t(seg) *segs;	/* by address of the instruction, and flow */

static char
flow_of(enum move m)
{
	return m == MOVE_CALL ? 'L' : m == MOVE_RETURN ? 'R' :
	    m == MOVE_IJUMP ? 'I' : 0;
}

struct walk_seg *
sites_seg(app_pc pc, uint8_t len, enum move m)
{
	uint8_t flow = (uint8_t)flow_of(m);
	struct walk_seg *s;
	khint_t k;
	int made;

	if (segs == NULL)
		segs = kh_init(seg);
	k = kh_put(seg, segs, pc ^ (uint64_t)flow << 56, &made);
	if (made != 0)
		kh_val(segs, k) = xkeep(sizeof *s);
	s = kh_val(segs, k);
	s->at = sites_place(pc);
	s->addr = pc;
	s->len = len & 15;
	s->flow = flow;
	return s;
}

/* --------------------------------------------------------------------- keys */

static inline khint_t
site_hash(struct site k)
{
	return (khint_t)((k.pc ^ k.target * 0x94d049bb133111ebull) *
	    HASH_MULTIPLIER >> 32);
}

#define same_site(a, b) ((a).pc == (b).pc && (a).target == (b).target)
KHASH_INIT(site, struct site, uint32_t, 1, site_hash, same_site)

static khash_t(site) *numbers;	/* of sites, from 1 */
static struct site *sites;	/* by number */
static size_t capsites;

/* A key is its site's number, with its bits spread; and back. */
#define SPREAD		0x1e3779b1u
#define SPREAD_BACK	0xe8b2f51u
#define KEYS		0x7fffffffu
_Static_assert((SPREAD * SPREAD_BACK & KEYS) == 1, "spread and back");

const struct site *
sites_of(uint32_t key)
{
	uint32_t n = key * SPREAD_BACK & KEYS;

	return numbers == NULL || n == 0 || n > kh_size(numbers) ? NULL :
	    &sites[n];
}

/* The number of a site, which may be new. */
static uint32_t
site_number(struct site key)
{
	uint32_t n;
	khint_t k;
	int made;

	if (numbers == NULL)
		numbers = kh_init(site);
	k = kh_put(site, numbers, key, &made);
	if (made == 0)
		return kh_val(numbers, k);
	n = kh_val(numbers, k) = kh_size(numbers);
	sites = xgrow(sites, &capsites, n + 1UL, sizeof *sites);
	sites[n] = key;
	return n;
}

void
context_jump_called(app_pc pc)
{
	context_lock();
	sites[site_number((struct site){ pc, 0, false })].calls = true;
	context_unlock();
}

bool
context_jump_calls(app_pc pc)
{
	bool calls;

	context_lock();
	calls = sites[site_number((struct site){ pc, 0, false })].calls;
	context_unlock();
	return calls;
}

uint32_t
context_key(app_pc pc, app_pc target)
{
	uint32_t n;

	context_lock();
	n = site_number((struct site){ pc, target, false });
	context_unlock();
	return n * SPREAD & KEYS;
}
