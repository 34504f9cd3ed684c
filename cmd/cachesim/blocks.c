/*
 * blocks - turn definitions into what the simulator runs on
 *
 * Code lines are numbered from 1. A block has the list of those that its
 * fetches touch, in order. The list omits a line that the fetch before it
 * touched, since touching the newest line of a set again changes nothing.
 */
#include "cachesim.h"

#include <sys/mman.h>

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"

/* The code line that is looked up: in the table it has number 0. */
static uint64_t looked_up;

static inline uint64_t
line_of(uint32_t number)
{
	return number == 0 ? looked_up : l1_code_line[number];
}

static inline khint_t
line_hash(uint32_t number)
{
	return hash_address(line_of(number));
}

static inline bool
line_equal(uint32_t a, uint32_t b)
{
	return line_of(a) == line_of(b);
}

KHASH_INIT(line, uint32_t, char, 0, line_hash, line_equal)

bool cut_wide;
struct cache_unit *unit;
uint64_t *record;
struct fastref *record_ref;
struct cold_block *cold_block;
static uint32_t ncold;
static uint64_t nrecord, nref;
static uint64_t capunit = 1 << 24, capcold = 1 << 24;	/* of 24 bits */
static uint64_t caprecord = (uint64_t)1 << 31;
static uint64_t capref = (uint64_t)1 << 31;
static struct touched units, records, refs, colds;
static khash_t(line) *lines;		/* their numbers */
static unsigned ishift;			/* log2 of I1's line size */
static uint64_t dline;			/* D1's line size */
static bool dsmall;			/* D1 may take the short way */
static struct evr *events;
static uint64_t shortest;		/* of all line sizes */

/*
 * Address space for *n things, all 0; where it is limited, for as many as a
 * quarter of what is left has room for: others need some, too.
 */
static void *
blocks_room(uint64_t *n, size_t size)
{
	char *p;

	for (;; *n /= 2) {
		p = mmap(NULL, 4 * *n * size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED) {
			munmap(p + *n * size, 3 * *n * size);
			return p;
		}
		if (*n < 1 << 12)
			die("memory for blocks: mmap:");
	}
}

void
blocks_init(const struct geometry g[NCACHE], struct evr *r)
{
	events = r;
	ishift = (unsigned)__builtin_ctzll(g[I1].line);
	shortest = dline = g[D1].line;
	dsmall = dline <= 256 && l1_ways(&g[D1]) <= L1_DLINES;
	for (int i = 0; i < NCACHE; i++)
		if (g[i].line < shortest)
			shortest = g[i].line;
	lines = kh_init(line);
	/* None of these may move; unused pages take no memory. */
	unit = blocks_room(&capunit, sizeof *unit);
	cold_block = blocks_room(&capcold, sizeof *cold_block);
	record = blocks_room(&caprecord, sizeof *record);
	record_ref = blocks_room(&capref, sizeof *record_ref);
	units.size = capunit * sizeof *unit;
	colds.size = capcold * sizeof *cold_block;
	records.size = caprecord * sizeof *record;
	refs.size = capref * sizeof *record_ref;
}

static uint32_t
line_number(uint64_t line)
{
	khint_t k;
	int new;

	looked_up = line;
	k = kh_put(line, lines, 0, &new);
	if (new != 0)
		kh_key(lines, k) = l1_new_line(line);
	return kh_key(lines, k);
}

/* ---- the parts of a block ---- */

static struct block_extras **extras;	/* they do not move */
static size_t capextras;
static uint32_t nextras;

struct block_extras *
cold_extras(struct cold_block *c)
{
	if (c->extras == 0) {
		extras = xgrow(extras, &capextras, nextras + 1, sizeof *extras);
		extras[nextras++] = xkeep(sizeof **extras);
		c->extras = nextras;
	}
	return extras[c->extras - 1];
}

struct block_extras *
cold_has(const struct cold_block *c)
{
	return c->extras == 0 ? NULL : extras[c->extras - 1];
}

void
blocks_visit(struct visit *v, const struct ev_block *b, uint32_t insn)
{
	const struct ev_insn *i = &b->insn[insn];
	uint64_t a = i->addr >> ishift, z = (i->addr + i->len - 1) >> ishift;

	v->a = line_number(a);
	v->b = (z == a ? 0 : line_number(z)) & 0xfffffff;
	v->len = i->len & 15;
	v->off = (uint32_t)(i->addr - (a << ishift));
	v->insn = (uint16_t)insn;
	v->ref = i->ref;
}

/* Make the visits of all instructions, and room for all misses. */
static void
visits(struct cold_block *c)
{
	static struct visit *v;
	static size_t cap;
	const struct ev_block *b = c->block;
	uint64_t last = 0, a, z;

	for (uint32_t i = 0; i < b->ninsn; i++) {
		const struct ev_insn *in = &b->insn[i];

		a = in->addr >> ishift;
		z = (in->addr + in->len - 1) >> ishift;
		if (i != 0 && a == last && z == last)
			continue;
		v = xgrow(v, &cap, c->nvisit + 1, sizeof *v);
		blocks_visit(&v[c->nvisit++], b, i);
		last = z;
	}
	c->visit = xkeep(c->nvisit * sizeof *v + (c->nvisit + b->nref) *
	    sizeof(struct misses));
	memcpy(c->visit, v, c->nvisit * sizeof *v);
}

static uint32_t *touch;
static size_t captouch;

/* List the lines that the first n instructions touch; returns how many. */
static uint32_t
touches(const struct cold_block *c, uint32_t n)
{
	uint32_t k = 0, last = 0;

	for (uint32_t i = 0; i < c->nvisit && c->visit[i].insn < n; i++) {
		const struct visit *v = &c->visit[i];

		touch = xgrow(touch, &captouch, k + 2, sizeof *touch);
		if (v->a != last)
			touch[k++] = v->a;
		last = v->a;
		if (v->b != 0)
			touch[k++] = last = v->b;
	}
	return k;
}

/* Can it take the short way? */
static bool
is_plain(const struct ev_block *b, uint32_t ntouch)
{
	unsigned nval = b->ngroups;

	if (!dsmall)
		return false;
	for (uint32_t i = 0; i < b->nref; i++) {
		const struct ev_ref *r = &b->ref[i];

		nval += r->where == EV_FIXED;
		if (r->count != 0 || r->where == EV_BARE ||
		    r->size > dline || (r->where == EV_GROUP &&
		    (int64_t)r->at != (int32_t)r->at))
			return false;
	}
	return nval + ntouch + 2 <= UINT16_MAX;
}

/* Its values, for the short way or only those of the groups. */
static void
make_record(struct ev_block *b, struct cache_unit *u, bool plain)
{
	uint64_t *at = &record[nrecord];
	uint32_t nval = b->ngroups;

	u->rec = (uint32_t)nrecord;
	b->value = at;
	for (uint32_t i = 0; i < b->nref && plain; i++)
		if (b->ref[i].where == EV_FIXED)
			at[nval++] = b->ref[i].at;
	nrecord += nval;
	xtouch(record, &records, nrecord * sizeof *record);
}

/* For the short way: its references, and the lines that are in touch[]. */
static void
make_refs(const struct ev_block *b, struct cache_unit *u, uint32_t ntouch)
{
	uint32_t more = ntouch > 2 ? ntouch - 2 : 0, *t;
	uint32_t nval = b->ngroups, insn = 0;
	struct fastref *f;

	nref += (more + 1) / 2;
	u->ref = (uint32_t)nref;
	f = &record_ref[nref];
	t = (uint32_t *)f;
	nref += b->nref;
	xtouch(record_ref, &refs, nref * sizeof *record_ref);
	for (uint32_t i = 0; i < more; i++)
		*--t = touch[2 + i];
	for (uint32_t i = 0; i < b->nref; i++, f++) {
		const struct ev_ref *r = &b->ref[i];

		while (i >= (uint32_t)b->insn[insn].ref + b->insn[insn].nref)
			insn++;
		f->insn = (uint8_t)(insn < UINT8_MAX ? insn : UINT8_MAX);
		f->most = (uint8_t)(dline - r->size);
		if (r->where == EV_FIXED) {
			f->val = (uint16_t)nval++;
			f->dist = 0;
		} else {
			f->val = r->group;
			f->dist = (int32_t)r->at;
		}
	}
}

/* ---- definitions ---- */

/* A unit may take the short way; its lines are in touch[]. */
static void
set_unit(struct cache_unit *u, uint32_t ntouch, uint32_t n)
{
	u->ntouch = (uint16_t)ntouch;
	u->nref = (uint16_t)n;
	u->touch[0] = touch[0];
	u->touch[1] = ntouch > 1 ? touch[1] : touch[0];
}

static const char *
define_block(struct ev_block *b, unsigned kind)
{
	struct cold_block *c;
	uint32_t ntouch;
	bool plain;

	for (uint32_t i = 0; i < b->nref; i++) {
		if (kind == EV_ALL && b->ref[i].where == EV_BARE)
			return "a reference without its address";
		if (cut_wide && b->ref[i].size > shortest) {
			ev_keep(events, b);
			b->ref[i].size = (uint16_t)shortest;
		}
	}
	c = &cold_block[ncold++];
	xtouch(cold_block, &colds, ncold * sizeof *cold_block);
	c->block = b;
	visits(c);
	ntouch = touches(c, b->ninsn);
	plain = is_plain(b, ntouch);
	if (!plain)
		ev_keep(events, b);
	if (nrecord + b->ngroups + b->nref > caprecord ||
	    nref + ntouch + b->nref > capref || ncold == capcold)
		die("more blocks than there is memory for");
	unit[b->id].cold = ncold - 1;
	make_record(b, &unit[b->id], plain);
	if (!plain)
		return NULL;
	make_refs(b, &unit[b->id], ntouch);
	set_unit(&unit[b->id], ntouch, b->nref);
	return NULL;
}

const char *
blocks_define(const struct ev_def *d, uint32_t id, unsigned kind)
{
	struct ev_block *b = d->block;
	struct cache_unit *u;

	if (id >= capunit)
		die("more blocks than there is memory for");
	xtouch(unit, &units, (id + 1ul) * sizeof *unit);
	if (d->letter == 'B')
		return define_block(b, kind);
	u = &unit[id];
	if (d->letter == 'Q' || d->letter == 'Z')
		return NULL;
	u->rec = unit[b->id].rec;
	u->ref = unit[b->id].ref;
	u->cold = unit[b->id].cold;
	if (d->letter == 'P' && unit[b->id].ntouch != 0)
		set_unit(u, touches(&cold_block[b->number - 1],
		    d->n), b->insn[d->n - 1].ref +
		    (uint32_t)b->insn[d->n - 1].nref);
	return NULL;
}
