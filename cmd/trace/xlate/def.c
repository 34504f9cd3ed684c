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

#include "evpack.h"
#include "evw.h"
#include "util.h"
#include "stream/stream.h"
#include "xlate/xlate.h"

/* The id of reference k of instruction i, see def_ref_id. */
struct refid {
	uint32_t id;
	uint8_t i, k;
};

/*
 * There are several for each block that ever runs: small, and never freed. An
 * id stands with the number of instructions that it tells: told().
 */
struct def {
	app_pc pc;
	uint32_t *id;			/* that of all instructions first */
	uint32_t *cnt;			/* their counters, where there are any */
	struct refid *ref;		/* kind cache: ids of references alone */
	uint32_t epoch;			/* of the mappings it was made under */
	uint32_t number;
	uint16_t nref, capref;
	uint16_t npacked;		/* bytes of packed */
	uint8_t nid, capid;
	uint8_t n, ngroups;
	uint8_t passed;			/* see def_pass */
	uint8_t packed[];		/* its items */
};

/* An id and how many instructions it tells, in one word. */
static uint32_t
told(uint32_t id, unsigned n)
{
	return id | n << ID_BITS;
}

static uint32_t
told_id(uint32_t entry)
{
	return entry & (NIDS - 1);
}

static unsigned
told_length(uint32_t entry)
{
	return entry >> ID_BITS;
}

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

/*
 * Ids that a block may need, one for each exit, fetch, and reference or element
 * of a gather; and some for threads that are stopped while there are few.
 */
#define IDS_MOST (MAX_INSN * 18 + 65536)

bool
def_ids_left(void)
{
	uint32_t most = opt->debug & DEBUG_FEWIDS ? 1u << 17 : NIDS;

	return next_id + IDS_MOST <= most;
}

/* d: whose it is, or NULL */
static uint32_t
new_id(const struct def *d)
{
	if (next_id >= NIDS)
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

/* Where the id that tells n instructions stands; nid: nowhere. */
static unsigned
place_of(const struct def *d, unsigned n)
{
	unsigned k = 0;

	while (k < d->nid && told_length(d->id[k]) != n)
		k++;
	return k;
}

uint32_t
def_id(const struct def *d, unsigned n)
{
	unsigned k = place_of(d, n);

	return k < d->nid ? told_id(d->id[k]) : 0;
}

void
def_pass(struct def *d)
{
	d->passed = 1;
}

int
def_was_passed(struct def *d)
{
	unsigned k;

	if (!d->passed)
		return 0;
	d->passed = 0;
	for (k = 0; k < d->nid; k++)
		sample_halve(told_id(d->id[k]));
	return 1;
}

/* The counter of the id at k: a new one if its last is told and used again. */
static uint32_t
counter(struct def *d, unsigned k)
{
	uint32_t id = told_id(d->id[k]);

	if (!counter_is(d->cnt[k], id))
		d->cnt[k] = counter_new(id, told_length(d->id[k]));
	return d->cnt[k];
}

/* Room for n ids; where there are counters, for theirs. */
static void
room_for(struct def *d, unsigned n)
{
	bool counts = opt->kind->counters;
	uint32_t *id = xkeep(n * sizeof *id * (counts ? 2 : 1));

	if (d->nid != 0)
		memcpy(id, d->id, d->nid * sizeof *id);
	if (d->nid != 0 && d->cnt != NULL)
		memcpy(id + n, d->cnt, d->nid * sizeof *id);
	d->id = id;
	d->cnt = counts ? id + n : NULL;
	d->capid = (uint8_t)n;
}

/* A new id, which tells n instructions. */
static uint32_t
add_id(struct def *d, unsigned n)
{
	uint32_t id = new_id(d);

	if (d->nid == d->capid)
		room_for(d, 2u * d->capid < MAX_INSN + 1 ? 2u * d->capid :
		    MAX_INSN + 1);
	d->id[d->nid++] = told(id, n);
	if (opt->during != 0)
		format_length(id, n);
	return id;
}

/* May the block be left behind it, though it goes on? */
static int
is_exit(const struct insn *in)
{
	return in->flow == FLOW_COND || in->flow == FLOW_RET;
}

static struct def *
make_def(const struct block *b, const struct groups *g, const uint8_t *packed,
    size_t npacked)
{
	struct def *d = xkeep(sizeof *d + npacked);
	unsigned i, exits = 1;
	uint32_t id;

	memcpy(d->packed, packed, npacked);
	d->npacked = (uint16_t)npacked;
	d->n = (uint8_t)b->n;
	d->pc = b->pc;
	d->ngroups = (uint8_t)g->n;
	d->epoch = epoch;
	d->number = (uint32_t)ndefs;
	all = xgrow(all, &defcap, ndefs + 1, sizeof *all);
	all[ndefs++] = d;
	for (i = 0; i + 1 < b->n; i++)
		exits += is_exit(&b->in[i]);
	room_for(d, exits);
	id = add_id(d, d->n);
	if (evw_block_packed(stream_writer, id, d->packed, d->ngroups,
	    d->n) < 0)
		die("block %x at %#llx: a definition that cannot be", id,
		    (unsigned long long)b->pc);
	return d;
}

/* The definition of the block just collected. */
struct def *
def_find(const struct block *b, const struct groups *g,
    const struct kind *kind)
{
	static uint8_t packed[TEXT_MOST];
	size_t n;
	struct def *d;
	khiter_t k;
	int new;

	if (b->n == 0 || !kind->tells)
		return NULL;
	if (defs == NULL)
		defs = kh_init(def);
	k = kh_put(def, defs, b->npiece == 0 ? b->pc : b->pc | ALONG, &new);
	n = text_pack(packed, b, g, kind);
	if (!new) {
		d = kh_value(defs, k);
		if (d->epoch == epoch && d->npacked == n &&
		    memcmp(packed, d->packed, n) == 0)
			return d;
	}
	d = make_def(b, g, packed, n);
	kh_value(defs, k) = d;
	return d;
}

/*
 * The id that tells the first n instructions, which use so many groups; 0 for
 * none.
 */
static uint32_t
id_for(struct def *d, unsigned n, unsigned used)
{
	uint32_t id;

	if (n == 0)
		return 0;
	id = def_id(d, n);
	if (id == 0) {
		id = add_id(d, n);
		if (evw_prefix(stream_writer, id, told_id(d->id[0]), n, used) < 0)
			die("prefix %x: a definition that cannot be", id);
	}
	return id;
}

static uint32_t
counter_of(struct def *d, unsigned n)
{
	return counter(d, place_of(d, n));
}

/* The id of a reference alone, or 0. */
static uint32_t
ref_id(const struct def *d, unsigned i, unsigned k)
{
	unsigned j;

	for (j = 0; j < d->nref; j++)
		if (d->ref[j].i == i && d->ref[j].k == k)
			return d->ref[j].id;
	return 0;
}

static void
add_ref(struct def *d, struct refid r)
{
	struct refid *old = d->ref;

	if (d->nref == d->capref) {
		d->capref = d->capref == 0 ? 4 : (uint16_t)(d->capref * 2);
		d->ref = xkeep(d->capref * sizeof *d->ref);
		if (old != NULL)
			memcpy(d->ref, old, d->nref * sizeof *old);
	}
	d->ref[d->nref++] = r;
}

/* What the runtime puts into records, readers take apart. */
_Static_assert(PLACES == EV_PLACES && PLACE_SECOND == EV_SECOND &&
    1 << PLACE_BITS == EV_PLACES + EV_SECOND, "values of a Q that stays");

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
	unsigned g, j;
	uint32_t id;

	id = k <= 3 && in->special != SP_GATHER ? ref_id(d, i, k) : 0;
	if (id != 0)
		return id;
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
	if (evw_ref(stream_writer, id, told_id(d->id[0]), r) < 0)
		die("reference %x: a definition that cannot be", id);
	if (k <= 3 && in->special != SP_GATHER)
		add_ref(d, (struct refid){ id, (uint8_t)i, (uint8_t)k });
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
		if (evw_leave(stream_writer, *p, which) < 0)
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
		if (is_exit(&x->b->in[i]) || i + 1 == x->b->n) {
			x->id[i + 1] = id_for(d, i + 1, x->g->used[i + 1]);
			if (d->cnt != NULL)
				x->cnt[i + 1] = counter_of(d, i + 1);
		}
}

/*
 * The first n instructions: groups that they, and those before the last, use;
 * the group of the last one's count.
 */
struct extent {
	unsigned used, before, count;
};

static struct extent
extent_of(const struct def *d, unsigned n)
{
	static struct ev_ref ref[255];
	struct extent x = { 0, 0, NOCOUNT };
	struct ev_each e;
	unsigned k;

	evpack_each(&e, d->packed, ref);
	for (k = 0; k < n; k++) {
		x.before = e.insn.ngroups;
		ev_next_insn(&e);
	}
	x.used = e.insn.ngroups;
	for (k = 0; n > 0 && k < e.insn.nref; k++)
		if (ref[k].count != 0)
			x.count = ref[k].count - 1u;
	return x;
}

uint32_t
def_partial(uint32_t def, unsigned n, unsigned rep, uint64_t *sizes)
{
	struct def *d = def < ndefs ? all[def] : NULL;
	uint64_t step, countat = 0;
	struct extent x;
	uint32_t id;

	*sizes = 0;
	if (d == NULL || n > d->n)
		return area.boot.countbytes != 0 ? NO_COUNTER : 0;
	x = extent_of(d, n);
	step = n == 0 ? 0 : 4 + 8u * x.used;
	if (rep != 0 && x.count != NOCOUNT)
		countat = 4 + 8u * x.count;
	*sizes = step | countat << 16 | (uint64_t)(4 + 8u * d->ngroups) << 32;
	id = id_for(d, n, x.used);
	if (d->cnt == NULL)
		return id;
	/* counters: which; and the record of a repeated one that was cut */
	*sizes = 0;
	id = rep != 0 && n > 0 ? ref_id(d, n - 1, 1) : 0;
	if (id != 0)
		*sizes = record_head(id, x.used - x.before) |
		    (uint64_t)(4 + 8u * (x.count - x.before)) << 32;
	return n == 0 ? NO_COUNTER : counter_of(d, n);
}
