/*
 * tally - costs by object and code
 */

#include <stdlib.h>
#include <string.h>

#include "dataprof.h"
#include "func.h"
#include "hash.h"
#include "khash.h"
#include "mem.h"

KHASH_MAP_INIT_INT64(number, uint32_t)

static khash_t(number) *links;		/* object, link-time address -> code */
static struct data_code *code;
static size_t ncode, capcode;

static khash_t(number) *rows;		/* code, object -> row */
static struct recent {
	uint64_t key;
	size_t row;		/* + 1; 0: none */
} recent[1024];
struct tally_row *tally_rows;
static size_t nrow, caprow;
uint32_t tally_named = 1;

static uint32_t *
entry(khash_t(number) **h, uint64_t key, bool *made)
{
	khint_t k;
	int new;

	if (*h == NULL)
		*h = kh_init(number);
	k = kh_put(number, *h, key * HASH_MULTIPLIER, &new);
	*made = new != 0;
	return &kh_val(*h, k);
}

/* ---- code ---- */

static uint32_t
new_code(const struct func *fn, uint64_t addr)
{
	code = xgrow(code, &capcode, ncode + 1, sizeof *code);
	code[ncode] = (struct data_code){ fn, addr };
	return (uint32_t)ncode++;
}

uint32_t
tally_code(uint64_t addr)
{
	struct func_place at;
	uint32_t *n;
	bool made;

	func_place(addr, &at);
	if (at.fn->ob == 0)
		return new_code(at.fn, addr);
	n = entry(&links, (addr - at.slide) ^ (uint64_t)at.fn->ob << 48,
	    &made);
	if (made)
		*n = new_code(at.fn, addr - at.slide);
	return *n;
}

void
tally_code_named(uint32_t n, const struct func *fn)
{
	code[n].fn = fn;
	tally_named++;
}

void
tally_names_end(void)
{
	for (size_t i = 0; i < nrow; i++)
		if (object_at(tally_rows[i].object)->class == DATA_CODE &&
		    dp.by != BY_PAGE)
			tally_rows[i].object = object_code(DATA_CODE,
			    code[tally_rows[i].code].fn);
}

const struct data_code *
tally_code_at(uint32_t n)
{
	return &code[n];
}

/* ---- rows ---- */

static size_t
find_row(uint32_t c, uint32_t object)
{
	uint32_t *n;
	bool made;

	n = entry(&rows, (uint64_t)c << 32 | object, &made);
	if (!made)
		return *n;
	tally_rows = xgrow(tally_rows, &caprow, nrow + 1, sizeof *tally_rows);
	tally_rows[nrow] = (struct tally_row){ .code = c, .object = object,
	    .cost = xcalloc(dp.ncol, sizeof(int64_t)) };
	return *n = (uint32_t)nrow++;
}

size_t
tally_row(uint32_t c, uint32_t object)
{
	uint64_t key = (uint64_t)c << 32 | object;
	struct recent *r = &recent[key * HASH_MULTIPLIER >> 54];

	if (r->row == 0 || r->key != key)
		*r = (struct recent){ key, 1 + find_row(c, object) };
	return r->row - 1;
}

void
tally_add(size_t n, const int64_t *cost, uint64_t refs)
{
	struct tally_row *r = &tally_rows[n];

	r->refs += refs;
	for (unsigned i = 0; i < dp.ncol; i++)
		sum_add(&r->cost[i], cost[i]);
}

size_t
tally_count(void)
{
	return nrow;
}

struct tally_row
tally_get(size_t n)
{
	struct tally_row *r = &tally_rows[n];

	for (unsigned i = 0; i < 2; i++) {
		if (r->count[i] == 0)
			continue;
		r->refs += (uint64_t)r->count[i];
		sum_add(&r->cost[i], r->count[i]);
		r->count[i] = 0;
	}
	return *r;
}

/* ---- what is at an address ---- */

/*
 * Kind all: the same is true of the rest of the page, which has no list of
 * blocks; but its last word may be the header of a block on the next one.
 */
static void
around(uint64_t addr, struct data_place *p)
{
	uint64_t lo = page_start(addr), hi = lo + PAGE - sizeof(uint64_t);

	if (!dp.walks || addr >= hi)
		return;
	p->lo = lo;
	p->hi = hi;
	p->nowhere = true;
	images_cut(addr, p);
}

static uint32_t
nowhere(uint64_t addr, struct data_place *p)
{
	static uint32_t heap, other;	/* + 1 */
	uint32_t header;

	if (block_header(addr, &header))
		return header;
	if (heap == 0) {
		heap = 1 + object_get(DATA_HEAP, "",
		    "(free, or between objects)");
		other = 1 + object_get(DATA_OTHER, "", dp.allocs ?
		    "(memory that no call allocated)" : "(not known: "
		    "allocations are not told, which needs trace --allocs)");
	}
	if (block_page(addr))
		return heap - 1;
	around(addr, p);
	return other - 1;
}

size_t
tally_find(unsigned thread, uint64_t addr, unsigned size, uint32_t c,
    bool hold, struct data_place *p)
{
	enum data_class class;

	p->lo = p->hi = 0;
	p->nowhere = false;
	if (!images_local(addr, size, p) &&
	    !stack_find(thread, addr, code[c].fn, p) &&
	    !(block_find(addr, true, p) && !p->pages) &&
	    !images_find(addr, size, p) && !block_find(addr, true, p)) {
		if (hold)
			return TALLY_HOLD;
		if (!block_find(addr, false, p))
			p->object = nowhere(addr, p);
	}
	if (dp.by == BY_PAGE) {
		class = object_at(p->object)->class;
		p->object = object_page(class, addr);
		if (!p->nowhere)
			p->lo = p->hi = 0;
	}
	return tally_row(c, p->object);
}

size_t
tally_own(uint32_t c)
{
	return tally_row(c, object_code(DATA_STACK, code[c].fn));
}
