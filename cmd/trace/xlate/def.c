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

#include "evpack.h"
#include "evw.h"
#include "stream/stream.h"
#include "xlate/defs.h"
#include "xlate/parts.h"
#include "xlate/xlate.h"
#include "hash.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"

const struct def_more def_no_more;

/* An id and the number of its instructions, in one word. */
static uint32_t
make_entry(uint32_t id, unsigned n)
{
	return id | n << ID_BITS;
}

#define ON_PATH (1ull << 63)	/* added to a pc: its block along a path */

static struct def **all;	/* by number */
static size_t ndefs, capdefs;
#define ROOM 16384u		/* for others than the store's, at first */
static struct def **limbos;	/* those of owners in limbo */
static size_t nlimbos, caplimbos;
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
	    owner_key(def_more_of(d)->owner);
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

void
def_enter(const struct def *d)
{
	uint64_t key = key_of(d->number);
	khiter_t k;
	int new;

	k = kh_put(def, defs, want(key), &new);
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

unsigned
def_index(const struct def *d, unsigned n)
{
	unsigned k = 0;

	while (k < d->nid && def_entry_length(d->id[k]) != n)
		k++;
	return k;
}

uint32_t
def_id(const struct def *d, unsigned n)
{
	unsigned k = def_index(d, n);

	return k < d->nid ? def_entry_id(d->id[k]) : 0;
}

uint32_t
def_counter(const struct def *d, unsigned n)
{
	unsigned k = def_index(d, n);

	return k < d->nid && counter_is(*def_counter_at(d, k),
	    def_entry_id(d->id[k])) ? *def_counter_at(d, k) : NO_COUNTER;
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
		sample_halve(def_entry_id(d->id[k]));
	return true;
}

/* The counter of the id at index k: a new one if another id took it over. */
static uint32_t
counter(struct def *d, unsigned k)
{
	static const uint8_t none[NDO];
	uint32_t id = def_entry_id(d->id[k]);
	unsigned n = def_entry_length(d->id[k]);
	uint32_t *c = def_counter_at(d, k);
	const uint8_t (*does)[NDO] = def_more_of(d)->does;

	if (!counter_is(*c, id))
		*c = counter_new(id, n, does == NULL ? none : does[n]);
	if (d->limbo)
		counter_hold(*c);
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
		memcpy(id + n, def_counter_at(d, 0), d->nid * sizeof *id);
	names_lock();
	d->id = id;
	names_unlock();
	d->capid = (uint8_t)n;
}

uint32_t
def_add_id(struct def *d, unsigned n, uint32_t id)
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

/* Room for one, with npacked bytes of items and, where need be, with `more'. */
static struct def *
def_room(size_t npacked, const struct def_more *more)
{
	bool has = opt->kind->alone ||
	    memcmp(more, &def_no_more, sizeof *more) != 0;
	size_t n = has ? sizeof *more : 0;
	char *p = xkeep(n + offsetof(struct def, packed) + npacked);
	struct def *d = (struct def *)(void *)(p + n);

	memcpy(p, more, n);
	*d = (struct def){ .more = has };
	return d;
}

struct def *
def_new(const struct def_parts *p)
{
	const struct def_more *more = p->more == NULL ? &def_no_more : p->more;
	struct def *d = def_room(p->npacked, more);
	uint32_t by = more->owner, id;

	memcpy(d->packed, p->packed, p->npacked);
	d->npacked = (uint16_t)p->npacked;
	d->n = (uint8_t)p->n;
	d->pc = p->pc;
	d->ngroups = (uint8_t)p->ngroups;
	d->epoch = epoch;
	names_lock();
	d->number = p->number == NO_NUMBER ? (uint32_t)ndefs++ : p->number;
	all = xgrow(all, &capdefs, ndefs, sizeof *all);
	all[d->number] = d;
	room_for(d, p->exits);
	id = def_add_id(d, d->n, p->id);
	names_unlock();
	if (evw_block_packed(stream_writer, id, d->packed, d->ngroups,
	    d->n) < 0)
		die("block %x at %#llx: a definition that cannot be", id,
		    (unsigned long long)p->pc);
	if (by != 0)
		evw_note(stream_writer, id, by, context_write_owner);
	d->limbo = context_in_limbo(by);
	if (d->limbo) {
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
	return def_new(&(struct def_parts){ .pc = b->pc, .more = more,
	    .n = b->n, .ngroups = g->n, .packed = packed, .npacked = npacked,
	    .exits = exits, .number = NO_NUMBER });
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
	def_enter(d);
	return d;
}

uint32_t
def_id_for(struct def *d, unsigned n, unsigned used)
{
	uint32_t id;

	if (n == 0)
		return 0;
	id = def_id(d, n);
	if (id == 0) {
		id = def_add_id(d, n, 0);
		if (evw_prefix(stream_writer, id, def_entry_id(d->id[0]), n,
		    used) < 0)
			die("prefix %x: a definition that cannot be", id);
	}
	return id;
}

uint32_t
def_counter_for(struct def *d, unsigned n)
{
	return counter(d, def_index(d, n));
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
	more.does = def_more_of(d)->does;
	t = def_new(&(struct def_parts){ .pc = d->pc, .more = &more,
	    .n = d->n, .ngroups = d->ngroups, .packed = d->packed,
	    .npacked = d->npacked, .exits = d->nid, .number = NO_NUMBER });
	def_enter(t);
	return t;
}

/* How often a thread has executed id k of a block in limbo; then it has not. */
static uint64_t
take_all(unsigned slot, struct def *d, unsigned k)
{
	uint32_t id = def_entry_id(d->id[k]), c = *def_counter_at(d, k);

	return counter_take_held(slot, id, def_entry_length(d->id[k])) +
	    (counter_is(c, id) ? counter_take(slot, c) : 0);
}

/* def_move, of one block. */
static bool
move_block(unsigned slot, struct def *d, uint32_t by)
{
	unsigned k, n;
	uint64_t times;
	struct def *t;

	for (k = 0; k < d->nid; k++) {
		if (!counters_left(DEF_COUNTERS))
			return false;
		n = def_entry_length(d->id[k]);
		times = take_all(slot, d, k);
		if (times == 0)
			continue;
		t = twin(d, by);
		def_id_for(t, n, 0);
		counter_add(slot, def_counter_for(t, n), times);
		counters_move(slot, def_entry_id(d->id[0]),
		    def_entry_id(t->id[0]), n);
	}
	return true;
}

bool
def_move(unsigned slot, uint32_t limbo, uint32_t by)
{
	unsigned i;

	for (i = 0; i < nlimbos; i++)
		if (def_more_of(limbos[i])->owner == limbo &&
		    !move_block(slot, limbos[i], by))
			return false;
	return true;
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
		uint32_t id = all[i] == NULL ? 0 : def_entry_id(all[i]->id[0]);

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

struct def *
def_numbered(uint32_t number)
{
	return number < ndefs ? all[number] : NULL;
}

uint32_t
def_make_room(uint32_t n, bool entered)
{
	uint32_t first = (uint32_t)ndefs;

	if (defs == NULL)
		defs = kh_init(def);
	if (entered)
		kh_resize(def, defs, 2 * (kh_size(defs) + n));
	if (all == NULL) {	/* by pages that nobody has touched */
		capdefs = n + ROOM;
		all = xcalloc(capdefs, sizeof *all);
	} else {
		all = xgrow(all, &capdefs, ndefs + n, sizeof *all);
		memset(all + ndefs, 0, n * sizeof *all);
	}
	ndefs += n;
	return first;
}

bool
def_told(uint32_t number, struct def_told *told)
{
	const struct def *d = def_numbered(number);
	uint32_t known;

	if (d == NULL)
		return false;
	known = def_more_of(d)->known;
	*told = (struct def_told){ def_entry_id(d->id[0]), d->n, known != 0,
	    known == 0 ? 0 : known - 1, d->packed };
	return true;
}

uint64_t
def_refs(uint32_t def, unsigned n)
{
	const struct def *d = def_numbered(def);
	const uint8_t (*does)[NDO] = d == NULL ? NULL : def_more_of(d)->does;

	return does == NULL || n > d->n ? 0 :
	    does[n][DO_READ] | (uint64_t)does[n][DO_WRITE] << 8;
}

/* Make the ids of all exits before the code is written. */
void
def_ids(struct def *d, struct xlate *x)
{
	const uint8_t (*does)[NDO] = def_more_of(d)->does;
	unsigned i;

	memset(x->id, 0, sizeof x->id);
	if (does != NULL)
		memcpy(x->does, does, (x->b->n + 1u) * sizeof *does);
	for (i = 0; i < x->b->n; i++)
		if (is_exit(&x->b->in[i]) || i + 1 == x->b->n) {
			x->id[i + 1] = def_id_for(d, i + 1, x->g->used[i + 1]);
			if (opt->kind->counters)
				x->cnt[i + 1] = def_counter_for(d, i + 1);
		}
}
