/*
 * def - definitions: what blocks are in the stream
 *
 * A DEFINITION is a block's id, the ids of its prefixes and of references
 * alone, its items, and its counters where there are any.  It outlives
 * fragments: after a flush the same block comes back with the same ids, if
 * its code is what it was and is mapped as it was.
 */
#include <stdlib.h>
#include <string.h>

#include <htslib/khash.h>

#include "evw.h"
#include "util.h"
#include "xlate.h"

struct def {
	char *items;
	uint32_t *id;			/* id[n] tells n instructions */
	uint8_t *used;			/* groups of the first n */
	uint8_t *count;			/* group of insn i's count, or NOCOUNT */
	uint8_t n, ngroups;
	uint8_t passed;			/* see def_pass */
	app_pc pc;
	uint32_t epoch;			/* of the mappings it was made under */
	uint32_t number;
	uint32_t *cnt;			/* counter of id[n], where there are counters */
	uint32_t (*ref)[4];		/* kind cache: ids of references alone */
	uint8_t (*groups)[4];		/* first group of each, and how many */
};

#define ALONG (1ull << 63)	/* added to a pc: its block along a path */

KHASH_MAP_INIT_INT64(def, struct def *)

static khash_t(def) *defs;	/* pc, perhaps with ALONG -> definition */
static struct def **all;	/* by number */
static size_t ndefs, defcap;
#define NOBODY ~0u
static uint32_t *owner;		/* of each id: its definition's number */
static size_t ownercap;
static uint32_t next_id = 1;
static uint32_t epoch;		/* +1 when mappings of code change */

void
def_mappings_changed(void)
{
	epoch++;
}

uint32_t
def_number(const struct def *d)
{
	return d->number;
}

/* d: whose it is, or NULL */
static uint32_t
new_id(const struct def *d)
{
	if (next_id > 0xffffff)
		die("too many different pieces of code (%u)", next_id);
	owner = xgrow(owner, &ownercap, next_id + 1ul, sizeof *owner);
	owner[next_id] = d != NULL ? d->number : NOBODY;
	return next_id++;
}

struct def *
def_of(uint32_t id)
{
	return id < next_id && owner[id] != NOBODY ? all[owner[id]] : NULL;
}

struct def *
def_at(app_pc pc)
{
	khiter_t k = kh_get(def, defs, pc);

	return k == kh_end(defs) ? NULL : kh_value(defs, k);
}

app_pc
def_pc(const struct def *d)
{
	return d->pc;
}

unsigned
def_length(const struct def *d)
{
	return d->n;
}

uint32_t
def_id(const struct def *d, unsigned n)
{
	return d->id[n];
}

void
def_pass(struct def *d)
{
	d->passed = 1;
}

int
def_was_passed(struct def *d)
{
	unsigned n;

	if (!d->passed)
		return 0;
	d->passed = 0;
	for (n = 1; n <= d->n; n++)
		if (d->id[n] != 0)
			hot_forget_some(d->id[n]);
	return 1;
}

/* The formatter knows what each counter tells. */
static void
new_counter(struct def *d, unsigned n)
{
	uint32_t c = format_ncount;

	if (opt.during != 0)
		format_ninsn[d->id[n]] = (uint8_t)n;
	if (opt.kind != KIND_COUNTS && opt.kind != KIND_CACHE)
		return;
	if (c >= COUNT_IDS)
		die("too many different pieces of code (%u)", c);
	if (d->cnt == NULL)
		d->cnt = xcalloc(d->n + 1u, sizeof *d->cnt);
	d->cnt[n] = c;
	format_countid[c] = d->id[n];
	format_ninsn[c] = (uint8_t)n;
	__atomic_store_n(&format_ncount, c + 1, __ATOMIC_RELEASE);
}

static struct def *
make_def(const struct block *b, const struct groups *g)
{
	struct def *d = xcalloc(1, sizeof *d + (b->n + 1) * 6ul);
	unsigned i, j;

	d->id = (uint32_t *)(void *)(d + 1);
	d->used = (uint8_t *)(d->id + b->n + 1);
	d->count = d->used + b->n + 1;

	d->items = text_items(b, g);
	d->n = (uint8_t)b->n;
	d->pc = b->pc;
	d->ngroups = (uint8_t)g->n;
	d->epoch = epoch;
	memcpy(d->used, g->used, b->n + 1u);
	memset(d->count, NOCOUNT, b->n);
	for (i = 0; i < b->n; i++)
		for (j = 0; j < b->in[i].nref; j++)
			if (b->in[i].special != SP_GATHER &&
			    g->ref[i][j].count != NOCOUNT)
				d->count[i] = g->ref[i][j].count;
	d->number = (uint32_t)ndefs;
	all = xgrow(all, &defcap, ndefs + 1, sizeof *all);
	all[ndefs++] = d;
	d->id[d->n] = new_id(d);
	new_counter(d, d->n);
	if (evw_block(format_writer, d->id[d->n], d->items, d->ngroups,
	    d->n) < 0)
		die("block %x at %#llx: a definition that cannot be",
		    d->id[d->n], (unsigned long long)b->pc);
	return d;
}

/* The definition of the block just collected. */
struct def *
def_find(const struct block *b, const struct groups *g)
{
	struct def *d;
	char *items;
	khiter_t k;
	int new;

	if (b->n == 0 || opt.kind >= KIND_NONE)
		return NULL;
	if (defs == NULL)
		defs = kh_init(def);
	k = kh_put(def, defs, b->npiece == 0 ? b->pc : b->pc | ALONG, &new);
	if (!new) {
		d = kh_value(defs, k);
		items = text_items(b, g);
		new = d->epoch != epoch || strcmp(items, d->items) != 0;
		free(items);
		if (!new)
			return d;
	}
	d = make_def(b, g);
	kh_value(defs, k) = d;
	return d;
}

/* The id that tells the first n instructions; 0 for none. */
static uint32_t
id_for(struct def *d, unsigned n)
{
	if (n == 0)
		return 0;
	if (d->id[n] == 0) {
		d->id[n] = new_id(d);
		new_counter(d, n);
		if (evw_prefix(format_writer, d->id[n], d->id[d->n], n,
		    d->used[n]) < 0)
			die("prefix %x: a definition that cannot be", d->id[n]);
	}
	return d->id[n];
}

/*
 * The id of reference k (from 1; 0: the fetch) of instruction i (from 0) of
 * the block being translated.  A gather's elements have ids in a row.
 */
uint32_t
def_ref_id(struct def *d, const struct xlate *x, unsigned i, unsigned k,
    int stays)
{
	struct evw_ref r;
	const struct insn *in = &x->b->in[i];
	const struct groups *gr = x->g;
	unsigned g, j, slot = k > 3 ? 3 : k;
	uint32_t id;

	if (d->ref == NULL)
		d->ref = xcalloc(d->n, sizeof *d->ref);
	if (d->ref[i][slot] != 0 && k <= 3 && in->special != SP_GATHER)
		return d->ref[i][slot];
	memset(&r, 0, sizeof r);
	r.n = i + 1;
	r.k = k;
	r.stays = stays;
	g = gr->used[i];
	if (k > 0 && in->special == SP_GATHER) {
		r.ngroups = 1;
		r.group[0] = (uint8_t)(gr->gather[i] + k - 1);
	} else if (k > 0 && (in->special == SP_REP ||
	    in->special == SP_REPCMP)) {
		r.ngroups = gr->used[i + 1] - g;
		for (j = 0; j < r.ngroups; j++)
			r.group[j] = (uint8_t)(g + j);
	} else if (k > 0 && !stays && gr->ref[i][k - 1].group != NOGROUP) {
		r.ngroups = 1;
		r.group[0] = gr->ref[i][k - 1].group;
	}
	id = new_id(d);
	if (evw_ref(format_writer, id, d->id[d->n], r) < 0)
		die("reference %x: a definition that cannot be", id);
	d->ref[i][slot] = id;
	return id;
}

/* The id by which lines of code ('i') or data ('d') leave the table. */
uint32_t
def_leave_id(char which)
{
	static uint32_t id[2];
	uint32_t *p = &id[which == 'd'];

	if (*p == 0) {
		*p = new_id(NULL);
		if (evw_leave(format_writer, *p, which) < 0)
			die("id %x: a definition that cannot be", *p);
	}
	return *p;
}

/* Ids are asked for before the code is written, for every possible exit. */
void
def_ids(struct def *d, struct xlate *x)
{
	unsigned i;

	memset(x->id, 0, sizeof x->id);
	for (i = 0; i < x->b->n; i++)
		if (x->b->in[i].flow == FLOW_COND ||
		    x->b->in[i].flow == FLOW_RET || i + 1 == x->b->n) {
			x->id[i + 1] = id_for(d, i + 1);
			if (d->cnt != NULL)
				x->cnt[i + 1] = d->cnt[i + 1];
		}
}

uint32_t
def_partial(uint32_t def, unsigned n, unsigned rep, uint64_t *sizes)
{
	struct def *d = def < ndefs ? all[def] : NULL;
	uint64_t step, countat = 0;
	uint32_t id;

	*sizes = 0;
	if (d == NULL || n > d->n)
		return 0;
	step = n == 0 ? 0 : 4 + 8u * d->used[n];
	if (rep != 0 && n > 0 && d->count[n - 1] != NOCOUNT)
		countat = 4 + 8u * d->count[n - 1];
	*sizes = step | countat << 16 | (uint64_t)(4 + 8u * d->ngroups) << 32;
	id = id_for(d, n);
	if (d->cnt == NULL)
		return id;
	/* counters: which; and the record of a repeated one that was cut */
	*sizes = 0;
	if (rep != 0 && n > 0 && d->ref != NULL && d->ref[n - 1][1] != 0) {
		step = d->used[n] - d->used[n - 1];
		*sizes = d->ref[n - 1][1] | step << 24 |
		    (uint64_t)(4 + 8u * (unsigned)(d->count[n - 1] -
		    d->used[n - 1])) << 32;
	}
	return n == 0 ? ~0u : d->cnt[n];
}

