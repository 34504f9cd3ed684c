/*
 * def - definitions of blocks in the stream
 *
 * A DEFINITION is a block's id, the ids of its prefixes and of single
 * references, its items, and its counters if the kind has them.  It outlives
 * fragments: when a block is translated again after a flush it keeps its ids,
 * unless its code or the mappings of code have changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <htslib/khash.h>

#include "evpack.h"
#include "evw.h"
#include "util.h"
#include "stream/stream.h"
#include "xlate/defpack.h"
#include "xlate/parts.h"
#include "xlate/xlate.h"

/*
 * There are several for each block that ever runs: small, and never freed.  An
 * entry of id[] is an id and its number of instructions: make_entry().
 */
struct def {
	app_pc pc;
	uint32_t *id;		/* entries; that of the whole block is first;
				 * behind the room for them, their counters */
	uint32_t epoch;		/* when it was made */
	uint32_t number;
	uint16_t npacked;	/* bytes of packed */
	uint8_t nid, capid;
	uint8_t n, ngroups;
	bool passed : 1;	/* see def_pass */
	bool apart : 1;		/* its code is not straight */
	bool path : 1;		/* it goes along a path */
	bool unlisted : 1;	/* not all ids of references are in ref */
	bool more : 1;		/* a struct def_more is before it */
	uint8_t packed[];	/* its items */
};

/* What few definitions have, but in kind cache or with --contexts. */
struct def_more {
	uint32_t *ref;		/* kind cache: ids of single references, see
				 * ref_word */
	const uint8_t (*does)[NDO];	/* by number of first instructions, or
					 * NULL */
	uint32_t known;		/* names of code that were known then, + 1 */
	uint32_t owner;
	uint16_t nref, capref;
};

static const struct def_more *
more_of(const struct def *d)
{
	static const struct def_more none;

	return d->more ? (const struct def_more *)(const void *)d - 1 : &none;
}

/* An id and the number of its instructions, in one word. */
static uint32_t
make_entry(uint32_t id, unsigned n)
{
	return id | n << ID_BITS;
}

static uint32_t
entry_id(uint32_t entry)
{
	return entry & (NIDS - 1);
}

static unsigned
entry_length(uint32_t entry)
{
	return entry >> ID_BITS;
}

/* Where the counter of the id at index k is kept, if the kind has counters. */
static uint32_t *
counter_at(const struct def *d, unsigned k)
{
	return &d->id[d->capid + k];
}

/*
 * The id of reference k of instruction i, see def_ref_id, as its distance from
 * the block's.
 */
#define REF_BITS 23
static uint32_t
ref_word(uint32_t distance, unsigned i, unsigned k)
{
	return distance | i << REF_BITS | k << 30;
}
_Static_assert(MAX_INSN <= 1u << (30 - REF_BITS), "ref_word");

#define ON_PATH (1ull << 63)	/* added to a pc: its block along a path */

static struct def **all;	/* by number */
static size_t ndefs, capdefs;
static struct def **limbos;	/* those of owners in limbo */
static size_t nlimbos, caplimbos;
#define NO_NUMBER ~0u
static uint32_t epoch;		/* +1 when mappings of code change */

/*
 * The latest definition by its key: the block's pc, ON_PATH, its owner's key.
 * A bucket has the hash of the key, above the definition's number; the key that
 * is looked for has the number WANTED.
 */
#define WANTED ~0u
static uint64_t wanted;

static uint64_t
key_of(uint32_t number)
{
	const struct def *d;

	if (number == WANTED)
		return wanted;
	d = all[number];
	return (d->path ? d->pc | ON_PATH : d->pc) +
	    owner_key(more_of(d)->owner);
}

static inline khint_t
bucket_hash(uint64_t e)
{
	return (khint_t)(e >> 32);
}

static inline bool
bucket_equal(uint64_t a, uint64_t b)
{
	return a >> 32 == b >> 32 && key_of((uint32_t)a) == key_of((uint32_t)b);
}

KHASH_INIT(def, uint64_t, char, 0, bucket_hash, bucket_equal)
static khash_t(def) *defs;

static uint64_t
want(uint64_t key)
{
	wanted = key;
	return (uint64_t)hash_address(key) << 32 | WANTED;
}

/* The latest definition of a key, or NULL. */
static struct def *
find(uint64_t key)
{
	khiter_t k = kh_get(def, defs, want(key));

	return k == kh_end(defs) ? NULL : all[(uint32_t)kh_key(defs, k)];
}

/* Enter the latest definition of its key. */
static void
enter(const struct def *d)
{
	uint64_t key = key_of(d->number);
	khiter_t k;
	int new;

	k = kh_put(def, defs, want(key), &new);
	if (new < 0)
		die("definitions:");
	kh_key(defs, k) = (uint64_t)hash_address(key) << 32 | d->number;
}

void
def_mappings_changed(void)
{
	flags_forget();
	epoch++;
}

uint32_t
def_number(const struct def *d)
{
	return d->number;
}

struct def *
def_of(uint32_t id)
{
	const uint8_t *packed = evw_packed(stream_writer, id);

	return packed == NULL ? NULL : (struct def *)(uintptr_t)(packed -
	    offsetof(struct def, packed));
}

struct def *
def_at(app_pc pc)
{
	return find(pc);
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

/* The index of the id of the first n instructions; d->nid: there is none. */
static unsigned
index_of(const struct def *d, unsigned n)
{
	unsigned k = 0;

	while (k < d->nid && entry_length(d->id[k]) != n)
		k++;
	return k;
}

uint32_t
def_id(const struct def *d, unsigned n)
{
	unsigned k = index_of(d, n);

	return k < d->nid ? entry_id(d->id[k]) : 0;
}

uint32_t
def_counter(const struct def *d, unsigned n)
{
	unsigned k = index_of(d, n);

	return k < d->nid && counter_is(*counter_at(d, k),
	    entry_id(d->id[k])) ? *counter_at(d, k) : NO_COUNTER;
}

void
def_pass(struct def *d)
{
	d->passed = true;
}

bool
def_was_passed(struct def *d)
{
	unsigned k;

	if (!d->passed)
		return false;
	d->passed = false;
	for (k = 0; k < d->nid; k++)
		sample_halve(entry_id(d->id[k]));
	return true;
}

/* The counter of the id at index k: a new one if another id took it over. */
static uint32_t
counter(struct def *d, unsigned k)
{
	static const uint8_t none[NDO];
	uint32_t id = entry_id(d->id[k]);
	unsigned n = entry_length(d->id[k]);
	uint32_t *c = counter_at(d, k);
	const uint8_t (*does)[NDO] = more_of(d)->does;

	if (!counter_is(*c, id))
		*c = counter_new(id, n, does == NULL ? none : does[n]);
	return *c;
}

/* Make room for n ids, and for their counters if the kind has them. */
static void
room_for(struct def *d, unsigned n)
{
	bool counts = opt->kind->counters;
	uint32_t *id = xkeep(n * sizeof *id * (counts ? 2 : 1));

	if (d->nid != 0)
		memcpy(id, d->id, d->nid * sizeof *id);
	if (d->nid != 0 && counts)
		memcpy(id + n, counter_at(d, 0), d->nid * sizeof *id);
	names_lock();
	d->id = id;
	names_unlock();
	d->capid = (uint8_t)n;
}

/* Make an id of the first n instructions: this one, or a new one if it is 0. */
static uint32_t
add_id(struct def *d, unsigned n, uint32_t id)
{
	if (id == 0)
		id = def_new_id();
	if (d->nid == d->capid)
		room_for(d, 2u * d->capid < MAX_INSN + 1 ? 2u * d->capid :
		    MAX_INSN + 1);
	d->id[d->nid++] = make_entry(id, n);
	if (opt->during != 0 || progress_on)
		lengths_tell(id, n);
	return id;
}

/* Can a block that goes on behind this instruction also be left there? */
static bool
is_exit(const struct insn *in)
{
	return (in->flow != FLOW_NONE && in->flow != FLOW_JUMP &&
	    in->flow != FLOW_CALL) || block_tests(in);
}

/* Room for one, with npacked bytes of items; more: what else it has, or 0. */
static struct def *
def_room(size_t npacked, const struct def_more *more)
{
	static const struct def_more none;
	bool has = opt->kind->alone || memcmp(more, &none, sizeof none) != 0;
	size_t n = has ? sizeof *more : 0;
	char *p = xkeep(n + offsetof(struct def, packed) + npacked);
	struct def *d = (struct def *)(void *)(p + n);

	memcpy(p, more, n);
	*d = (struct def){ .more = has };
	return d;
}

/*
 * A definition of n instructions, without ids but that of the whole: this one,
 * or a new one if it is 0; with a number, or a new one if it is NO_NUMBER.
 */
static struct def *
new_def(app_pc pc, const struct def_more *more, unsigned n, unsigned ngroups,
    const uint8_t *packed, size_t npacked, unsigned exits, uint32_t id,
    uint32_t number)
{
	struct def *d = def_room(npacked, more);
	uint32_t by = more->owner;

	memcpy(d->packed, packed, npacked);
	d->npacked = (uint16_t)npacked;
	d->n = (uint8_t)n;
	d->pc = pc;
	d->ngroups = (uint8_t)ngroups;
	d->epoch = epoch;
	names_lock();
	d->number = number == NO_NUMBER ? (uint32_t)ndefs++ : number;
	all = xgrow(all, &capdefs, ndefs, sizeof *all);
	all[d->number] = d;
	room_for(d, exits);
	id = add_id(d, d->n, id);
	names_unlock();
	if (evw_block_packed(stream_writer, id, d->packed, d->ngroups,
	    d->n) < 0)
		die("block %x at %#llx: a definition that cannot be", id,
		    (unsigned long long)pc);
	if (by != 0)
		evw_note(stream_writer, id, by, context_write_owner);
	if (context_in_limbo(by)) {
		limbos = xgrow(limbos, &caplimbos, nlimbos + 1, sizeof *limbos);
		limbos[nlimbos++] = d;
	}
	return d;
}

static struct def *
make_def(const struct block *b, const struct groups *g, const uint8_t *packed,
    size_t npacked, const struct def_more *more)
{
	unsigned i, exits = 1;

	for (i = 0; i + 1 < b->n; i++)
		exits += is_exit(&b->in[i]);
	return new_def(b->pc, more, b->n, g->n, packed, npacked, exits, 0,
	    NO_NUMBER);
}

/* Have two instructions at one address the same bytes?  Named code has none. */
static bool
same_bytes(const struct ev_each *a, const struct ev_each *b)
{
	if (a->code == NULL || b->code == NULL)
		return a->code == b->code;
	return a->insn.len == b->insn.len &&
	    memcmp(a->code, b->code, a->insn.len) == 0;
}

/*
 * The first instruction that another has replaced: *start is where the straight
 * piece of code begins that it is in, *end its own address.  false: there is
 * none, as far as both blocks go the same way.
 */
static bool
find_change(const struct block *b, const uint8_t *packed,
    const struct def *old, app_pc *start, app_pc *end)
{
	static struct ev_ref ref[255];
	struct ev_each e, was;
	unsigned i;

	evpack_each(&e, packed, ref);
	evpack_each(&was, old->packed, ref);
	*start = *end = b->pc;
	for (i = 0; i < b->n && i < old->n; i++) {
		ev_next_insn(&e);
		ev_next_insn(&was);
		if (e.insn.addr != was.insn.addr)
			return false;
		if (e.insn.addr != *end)
			*start = *end = e.insn.addr;
		if (!same_bytes(&e, &was))
			return true;
		*end += e.insn.len;
	}
	return false;
}

/*
 * Code made at run time was replaced. Where no object is mapped a U line says
 * so: the functions there are others now.
 */
static void
tell_change(const struct block *b, const uint8_t *packed,
    const struct def *old)
{
	app_pc start, end;
	char line[64];

	if (opt->contexts != 0 ||
	    !find_change(b, packed, old, &start, &end) || maps_named(start))
		return;
	snprintf(line, sizeof line, "U %llx %llx\n",
	    (unsigned long long)start, (unsigned long long)end + 1);
	format_text(xstrdup(line));
}

/* The definition of the block just collected. */
struct def *
def_find(const struct block *b, const struct groups *g,
    const struct kind *kind, uint32_t by)
{
	static uint8_t packed[TEXT_MOST];
	struct def_more more;
	struct def *d;
	size_t n;
	bool made;

	if (b->n == 0 || !kind->tells)
		return NULL;
	if (defs == NULL)
		defs = kh_init(def);
	d = find((b->path ? b->pc | ON_PATH : b->pc) + owner_key(by));
	n = text_pack(packed, b, g, kind, &made);
	if (d != NULL) {
		if (d->npacked == n && memcmp(packed, d->packed, n) != 0)
			text_keep_constants(b, packed, d->packed);
		if (d->epoch == epoch && d->npacked == n &&
		    memcmp(packed, d->packed, n) == 0)
			return d;
		if (made)
			tell_change(b, packed, d);
	}
	memset(&more, 0, sizeof more);
	more.owner = by;
	more.does = refs_first_do(b);
	if (made)
		more.known = (uint32_t)names_known() + 1;
	d = make_def(b, g, packed, n, &more);
	d->path = b->path;
	d->apart = b->npiece != 0;
	enter(d);
	return d;
}

/*
 * The id of the first n instructions, which use so many groups; made if there
 * is none yet.  0 if n is 0.
 */
static uint32_t
id_for(struct def *d, unsigned n, unsigned used)
{
	uint32_t id;

	if (n == 0)
		return 0;
	id = def_id(d, n);
	if (id == 0) {
		id = add_id(d, n, 0);
		if (evw_prefix(stream_writer, id, entry_id(d->id[0]), n,
		    used) < 0)
			die("prefix %x: a definition that cannot be", id);
	}
	return id;
}

static uint32_t
counter_of(struct def *d, unsigned n)
{
	return counter(d, index_of(d, n));
}

/* The same code as an owner's. */
static struct def *
twin(const struct def *d, uint32_t by)
{
	struct def *t = find(d->pc + owner_key(by));
	struct def_more more;

	if (t != NULL && t->epoch == d->epoch && t->npacked == d->npacked &&
	    memcmp(t->packed, d->packed, d->npacked) == 0)
		return t;
	memset(&more, 0, sizeof more);
	more.owner = by;
	more.does = more_of(d)->does;
	t = new_def(d->pc, &more, d->n, d->ngroups, d->packed, d->npacked,
	    d->nid, 0, NO_NUMBER);
	enter(t);
	return t;
}

void
def_move(unsigned slot, uint32_t limbo, uint32_t by)
{
	struct def *d, *t;
	unsigned i, k, n;
	uint64_t times;

	for (i = 0; i < nlimbos; i++) {
		d = limbos[i];
		for (k = 0; more_of(d)->owner == limbo && k < d->nid; k++) {
			n = entry_length(d->id[k]);
			if (!counter_is(*counter_at(d, k),
			    entry_id(d->id[k])))
				continue;
			times = counter_take(slot, *counter_at(d, k));
			if (times == 0 || !counters_left(2))
				continue;
			t = twin(d, by);
			id_for(t, n, 0);
			counter_add(slot, counter_of(t, n), times);
			counters_move(slot, entry_id(d->id[0]),
			    entry_id(t->id[0]), n);
		}
	}
}

/* Is some of its code in [start, end)? */
static bool
overlaps(const struct def *d, uint64_t start, uint64_t end)
{
	static struct ev_ref ref[255];
	struct ev_each e;
	unsigned i;

	if (d->pc - start < end - start)
		return true;
	evpack_each(&e, d->packed, ref);
	for (i = 0; d->apart && i < d->n; i++) {
		ev_next_insn(&e);
		if (e.insn.addr - start < end - start)
			return true;
	}
	return false;
}

char *
def_lines(uint64_t start, uint64_t end)
{
	char *text = NULL;
	size_t i, n = 0, cap = 0;

	for (i = 0; i < ndefs && opt->last == 0; i++) {
		uint32_t id = all[i] == NULL ? 0 : entry_id(all[i]->id[0]);

		if (id == 0 || !overlaps(all[i], start, end) ||
		    evw_written(stream_writer, id))
			continue;
		text = xgrow(text, &cap, n + 16, 1);
		n += (size_t)sprintf(text + n, "=%x\n", id);
	}
	return text;
}

uint32_t
def_end(void)
{
	return (uint32_t)ndefs;
}

bool
def_told(uint32_t number, struct def_told *told)
{
	const struct def *d = number < ndefs ? all[number] : NULL;
	uint32_t known;

	if (d == NULL)
		return false;
	known = more_of(d)->known;
	*told = (struct def_told){ entry_id(d->id[0]), d->n, known != 0,
	    known == 0 ? 0 : known - 1, d->packed };
	return true;
}

/*
 * Under which number the id of an instruction's reference is listed: its own.
 * What repeated ones have together, with their count, is listed apart.
 */
#define TOGETHER 3u

static unsigned
listed_as(const struct evw_ref *r)
{
	return !r->stays && r->ngroups > 1 ? TOGETHER : r->k;
}

/* The id of a single reference, or 0. */
static uint32_t
ref_id(const struct def *d, unsigned i, unsigned k)
{
	const struct def_more *m = more_of(d);
	uint32_t word = ref_word(0, i, k);
	unsigned j;

	for (j = 0; j < m->nref; j++)
		if (m->ref[j] >> REF_BITS == word >> REF_BITS)
			return entry_id(d->id[0]) + (m->ref[j] ^ word);
	return 0;
}

/* About so many references of a block get an id. */
static unsigned
refs_of(const struct block *b)
{
	unsigned i, n = 2 + b->n / 4;	/* fetches, too */

	for (i = 0; i < b->n; i++)
		n += b->in[i].nref < 3 ? b->in[i].nref : 3;
	return n;
}

/* room: for the first one, about how many there will be */
static void
add_ref(struct def *d, unsigned room, uint32_t id, unsigned i, unsigned k)
{
	struct def_more *m = (struct def_more *)(void *)d - 1;
	uint32_t *old = m->ref, distance = id - entry_id(d->id[0]);

	if (distance >> REF_BITS != 0) {
		d->unlisted = true;	/* it gets another one each time */
		return;
	}
	if (m->nref == m->capref) {
		m->capref = old == NULL ? (uint16_t)room :
		    (uint16_t)(m->capref * 2);
		m->ref = xkeep(m->capref * sizeof *m->ref);
		if (old != NULL)
			memcpy(m->ref, old, m->nref * sizeof *old);
	}
	m->ref[m->nref++] = ref_word(distance, i, k);
}

/* The runtime packs these values into records, and readers unpack them. */
_Static_assert(PLACES == EV_PLACES && PLACE_SECOND == EV_SECOND &&
    1 << PLACE_BITS == EV_PLACES + EV_SECOND, "values of a Q that stays");

static bool
is_repeated(const struct insn *in)
{
	return in->special == SP_REP || in->special == SP_REPCMP;
}

/*
 * The id of reference k (from 1; 0: the fetch) of instruction i (from 0) of
 * the block being translated.  Each element of a gather has its own, and
 * repeated references, besides the one that they have together.
 */
uint32_t
def_ref_id(struct def *d, const struct xlate *x, unsigned i, unsigned k,
    bool stays)
{
	struct evw_ref r;
	const struct insn *in = &x->b->in[i];
	const struct groups *gr = x->g;
	unsigned g, j, at;
	uint32_t id;

	at = is_repeated(in) && !stays && k > 0 ? TOGETHER : k;
	id = at <= 3 && in->special != SP_GATHER ? ref_id(d, i, at) : 0;
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
	} else if (k > 0 && !stays && is_repeated(in)) {
		r.ngroups = gr->used[i + 1] - g;
		for (j = 0; j < r.ngroups; j++)
			r.group[j] = (uint8_t)(g + j);
	} else if (k > 0 && !stays && gr->ref[i][k - 1].group != NOGROUP) {
		r.ngroups = 1;
		r.group[0] = gr->ref[i][k - 1].group;
	}
	id = def_new_id();
	if (evw_ref(stream_writer, id, entry_id(d->id[0]), r) < 0)
		die("reference %x: a definition that cannot be", id);
	if (at <= 3 && in->special != SP_GATHER)
		add_ref(d, more_of(d)->ref == NULL ? refs_of(x->b) : 0, id, i,
		    at);
	else
		d->unlisted = true;
	return id;
}

uint64_t
def_refs(uint32_t def, unsigned n)
{
	const struct def *d = def < ndefs ? all[def] : NULL;
	const uint8_t (*does)[NDO] = d == NULL ? NULL : more_of(d)->does;

	return does == NULL || n > d->n ? 0 :
	    does[n][DO_READ] | (uint64_t)does[n][DO_WRITE] << 8;
}

/* Make the ids of all exits before the code is written. */
void
def_ids(struct def *d, struct xlate *x)
{
	const uint8_t (*does)[NDO] = more_of(d)->does;
	unsigned i;

	memset(x->id, 0, sizeof x->id);
	if (does != NULL)
		memcpy(x->does, does, (x->b->n + 1u) * sizeof *does);
	for (i = 0; i < x->b->n; i++)
		if (is_exit(&x->b->in[i]) || i + 1 == x->b->n) {
			x->id[i + 1] = id_for(d, i + 1, x->g->used[i + 1]);
			if (opt->kind->counters)
				x->cnt[i + 1] = counter_of(d, i + 1);
		}
}

static struct def *numbered(uint32_t);

/*
 * Groups that the first n instructions use, that those before the last of them
 * use, and the group of the last one's count.
 */
struct prefix_groups {
	unsigned used, before, count;
};

static struct prefix_groups
extent_of(const struct def *d, unsigned n)
{
	static struct ev_ref ref[255];
	struct prefix_groups x = { 0, 0, NOCOUNT };
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
	uint64_t step, countat = 0;
	struct prefix_groups x;
	struct def *d;
	uint32_t id;

	*sizes = 0;
	if (shelved_part(def, n, &id))
		return id;
	d = numbered(def);
	if (d == NULL || n > d->n)
		return area.boot.countbytes != 0 ? NO_COUNTER : 0;
	x = extent_of(d, n);
	step = n == 0 ? 0 : 4 + 8u * x.used;
	if (rep != 0 && x.count != NOCOUNT)
		countat = 4 + 8u * x.count;
	*sizes = step | countat << 16 | (uint64_t)(4 + 8u * d->ngroups) << 32;
	id = id_for(d, n, x.used);
	if (!opt->kind->counters)
		return id;
	/* the counter; and the record of an interrupted repeated instruction */
	*sizes = 0;
	id = rep != 0 && n > 0 ? ref_id(d, n - 1, TOGETHER) : 0;
	if (id != 0)
		*sizes = record_head(id, x.used - x.before) |
		    (uint64_t)(4 + 8u * (x.count - x.before)) << 32;
	return n == 0 ? NO_COUNTER : counter_of(d, n);
}

/* ---------------------------------------------------------------- the store */

static uint32_t firstkept, nkept;	/* the numbers of the store's */

uint32_t
def_reserve(uint32_t n, uint32_t ids, def_shelved *on_shelf)
{
	if (defs == NULL)
		defs = kh_init(def);
	if (on_shelf == NULL &&
	    kh_resize(def, defs, 2 * (kh_size(defs) + n)) < 0)
		die("definitions:");
	all = xgrow(all, &capdefs, ndefs + n, sizeof *all);
	memset(all + ndefs, 0, n * sizeof *all);
	firstkept = (uint32_t)ndefs;
	nkept = n;
	shelved_begin(firstkept, n, on_shelf);
	ndefs += n;
	unpack_ids(def_ids_used(), ids);
	def_ids_from(ids);
	return firstkept;
}

bool
def_can_pack(uint32_t number, app_pc pc)
{
	const struct def *d = number < ndefs ? all[number] : NULL;

	return d != NULL && d->pc == pc && more_of(d)->owner == 0 &&
	    !d->apart && !d->unlisted && more_of(d)->known == 0 &&
	    more_of(d)->nref <= REFS_PACKED && d->nid <= d->n + 1;
}

/* A repeated instruction has rounds, and may have mispredictions, too. */
static void
pack_rounds(uint32_t block, unsigned n, struct unpacked *u)
{
	struct packed_number *to = u->round + u->p.nround;
	uint32_t c;

	if (counters_find_missed(block, n, &c))
		*to++ = (struct packed_number){ c, (uint16_t)n, 1 };
	if (counters_find(block, n, &c))
		*to++ = (struct packed_number){ c, (uint16_t)n, 0 };
	u->p.nround = (uint8_t)(to - u->round);
}

static void
pack_counters(const struct def *d, struct unpacked *u)
{
	unsigned k;

	for (k = 0; k < d->nid; k++)
		if (counter_is(*counter_at(d, k), entry_id(d->id[k])))
			u->cnt[u->p.ncnt++] = (struct packed_number){
			    *counter_at(d, k),
			    (uint16_t)entry_length(d->id[k]), 0 };
	for (k = 1; k <= d->n; k++)
		pack_rounds(entry_id(d->id[0]), k, u);
}

static void
pack_ids(const struct def *d, struct unpacked *u)
{
	const struct def_more *m = more_of(d);
	unsigned k, n;

	for (k = 0; k < d->nid; k++) {
		n = entry_length(d->id[k]);
		u->id[u->p.nid++] = (struct packed_number){ entry_id(d->id[k]),
		    (uint16_t)n, (uint16_t)extent_of(d, n).used };
	}
	for (k = 0; k < m->nref; k++) {
		n = entry_id(d->id[0]) + (m->ref[k] & ((1u << REF_BITS) - 1));
		u->ref[u->p.nref++] = (struct packed_ref){ n,
		    evw_ref_of(stream_writer, n) };
	}
}

size_t
def_pack(uint32_t number, app_pc pc, uint8_t *to)
{
	static struct unpacked u;
	const struct def *d;

	if (!def_can_pack(number, pc))
		return 0;
	d = all[number];
	memset(&u, 0, sizeof u);
	u.p.npacked = d->npacked;
	u.p.n = d->n;
	u.p.ngroups = d->ngroups;
	if (opt->kind->counters)
		pack_counters(d, &u);
	if (def_ids_are_fixed())
		pack_ids(d, &u);
	if (opt->kind->counters && (u.p.ncnt == 0 || u.cnt[0].n != d->n))
		return 0;
	return pack(&u, d->packed, to);
}

/* Counters, and the ids that they are of. */
static void
put_counters(struct def *d, const struct unpacked *u)
{
	unsigned i;

	for (i = 0; i < u->p.ncnt; i++) {
		id_for(d, u->cnt[i].n, 0);
		*counter_at(d, index_of(d, u->cnt[i].n)) = u->cnt[i].c;
		counter_put(u->cnt[i].c, def_id(d, u->cnt[i].n), u->cnt[i].n);
	}
	for (i = 0; i < u->p.nround; i++)
		(u->round[i].used ? counter_put_missed : counter_put_rounds)
		    (u->round[i].c, entry_id(d->id[0]), u->round[i].n);
}

/* The ids of prefixes and references; false: they are not what they were. */
static bool
put_ids(struct def *d, const struct unpacked *u)
{
	uint32_t block = entry_id(d->id[0]), id;
	unsigned i;

	for (i = 1; i < u->p.nid; i++) {
		id = u->id[i].c;
		if (!unpack_is_free(id) || def_id(d, u->id[i].n) != 0)
			return false;
		add_id(d, u->id[i].n, id);
		if (evw_prefix(stream_writer, id, block, u->id[i].n,
		    u->id[i].used) < 0)
			return false;
	}
	for (i = 0; i < u->p.nref; i++) {
		const struct evw_ref *r = &u->ref[i].r;

		id = u->ref[i].id;
		if (!unpack_is_free(id) ||
		    evw_ref(stream_writer, id, block, *r) < 0)
			return false;
		add_ref(d, u->p.nref, id, r->n - 1, listed_as(r));
	}
	return true;
}

bool
def_unpack(const uint8_t *from, size_t n, app_pc pc, uint32_t ncounter,
    uint32_t number)
{
	static struct unpacked u;
	static const struct def_more none;
	struct packed *p = &u.p;
	struct def *d;

	if (number >= nkept || !unpack(&u, &from, n, ncounter))
		return false;
	d = new_def(pc, &none, p->n, p->ngroups, from, p->npacked,
	    p->nid > p->ncnt ? p->nid : p->ncnt,
	    p->nid == 0 ? 0 : u.id[0].c, firstkept + number);
	if (!put_ids(d, &u))
		return false;
	if (!def_on_shelf())
		put_counters(d, &u);
	enter(d);
	return true;
}

/*
 * A definition by its number, or NULL.  One that was on the shelf, until the
 * counters were used up, is made, with an id and counters of its own.
 */
static struct def *
numbered(uint32_t number)
{
	static struct ev_ref ref[255];
	const uint8_t *p;
	struct ev_each e;
	size_t n;

	if (number >= ndefs || all[number] != NULL)
		return number < ndefs ? all[number] : NULL;
	p = shelved_packed(number, &n);
	if (p == NULL)
		return NULL;
	evpack_each(&e, def_packed_items(p), ref);
	ev_next_insn(&e);
	def_unpack(p, n, e.insn.addr, area.maxcount, number - firstkept);
	return all[number];
}
