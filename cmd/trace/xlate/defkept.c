/*
 * defkept - definitions for the store, from it, and of threads that stop
 *
 * A definition is packed with the numbers that its code has, and is made again
 * with them.  Of those on the shelf (stream/shelf.c) only text is there: one is
 * made when a thread stops inside its block.
 */
#include <string.h>

#include "evpack.h"
#include "evw.h"
#include "stream/stream.h"
#include "xlate/defpack.h"
#include "xlate/defs.h"
#include "xlate/parts.h"
#include "xlate/xlate.h"

static uint32_t firstkept, nkept;	/* the numbers of the store's */

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
def_reserve(uint32_t n, uint32_t ids, def_shelved *on_shelf)
{
	firstkept = def_make_room(n, on_shelf == NULL);
	nkept = n;
	shelved_begin(firstkept, n, on_shelf);
	unpack_ids(def_ids_used(), ids);
	def_ids_from(ids);
	return firstkept;
}

bool
def_can_pack(uint32_t number, app_pc pc)
{
	const struct def *d = def_numbered(number);

	return d != NULL && d->pc == pc && def_more_of(d)->owner == 0 &&
	    d->apart == d->path && !d->unlisted &&
	    def_more_of(d)->known == 0 &&
	    def_more_of(d)->nref <= REFS_PACKED && d->nid <= d->n + 1;
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
		if (counter_is(*def_counter_at(d, k), def_entry_id(d->id[k])))
			u->cnt[u->p.ncnt++] = (struct packed_number){
			    *def_counter_at(d, k),
			    (uint16_t)def_entry_length(d->id[k]), 0 };
	for (k = 1; k <= d->n; k++)
		pack_rounds(def_entry_id(d->id[0]), k, u);
}

static void
pack_ids(const struct def *d, struct unpacked *u)
{
	uint32_t id;
	unsigned k, n;

	for (k = 0; k < d->nid; k++) {
		id = def_entry_id(d->id[k]);
		n = def_entry_length(d->id[k]);
		u->id[u->p.nid++] = (struct packed_number){ id, (uint16_t)n,
		    (uint16_t)extent_of(d, n).used };
	}
	for (k = 0; k < def_more_of(d)->nref; k++) {
		id = def_listed_id(d, k);
		u->ref[u->p.nref++] = (struct packed_ref){ id,
		    evw_ref_of(stream_writer, id) };
	}
}

size_t
def_pack(uint32_t number, app_pc pc, uint8_t *to)
{
	static struct unpacked u;
	const struct def *d;

	if (!def_can_pack(number, pc))
		return 0;
	d = def_numbered(number);
	memset(&u, 0, sizeof u);
	u.p.npacked = d->npacked;
	u.p.n = d->n;
	u.p.ngroups = d->ngroups;
	u.p.on_path = d->path;
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
		def_id_for(d, u->cnt[i].n, 0);
		*def_counter_at(d, def_index(d, u->cnt[i].n)) = u->cnt[i].c;
		counter_put(u->cnt[i].c, def_id(d, u->cnt[i].n), u->cnt[i].n);
	}
	for (i = 0; i < u->p.nround; i++)
		(u->round[i].used ? counter_put_missed : counter_put_rounds)
		    (u->round[i].c, def_entry_id(d->id[0]), u->round[i].n);
}

/* The ids of prefixes and references; false: they are not what they were. */
static bool
put_ids(struct def *d, const struct unpacked *u)
{
	uint32_t block = def_entry_id(d->id[0]), id;
	unsigned i;

	for (i = 1; i < u->p.nid; i++) {
		id = u->id[i].c;
		if (!unpack_is_free(id) || def_id(d, u->id[i].n) != 0)
			return false;
		def_add_id(d, u->id[i].n, id);
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
		def_list_ref(d, u->p.nref, id, r->n - 1, def_listed_as(r));
	}
	return true;
}

bool
def_unpack(const uint8_t *from, size_t n, app_pc pc, uint32_t ncounter,
    uint32_t number)
{
	static struct unpacked u;
	struct packed *p = &u.p;
	struct def *d;

	if (number >= nkept || !unpack(&u, &from, n, ncounter))
		return false;
	d = def_new(&(struct def_parts){ .pc = pc, .n = p->n,
	    .ngroups = p->ngroups, .packed = from, .npacked = p->npacked,
	    .exits = p->nid > p->ncnt ? p->nid : p->ncnt,
	    .id = p->nid == 0 ? 0 : u.id[0].c,
	    .number = firstkept + number });
	d->path = d->apart = p->on_path != 0;
	if (!put_ids(d, &u))
		return false;
	if (!def_on_shelf())
		put_counters(d, &u);
	def_enter(d);
	return true;
}

/*
 * A definition by its number, or NULL.  One that was on the shelf, until the
 * counters were used up, is made, with an id and counters of its own.
 */
static struct def *
off_shelf(uint32_t number)
{
	static struct ev_ref ref[255];
	const uint8_t *p;
	struct ev_each e;
	size_t n;

	if (number >= def_end() || def_numbered(number) != NULL)
		return def_numbered(number);
	p = shelved_packed(number, &n);
	if (p == NULL)
		return NULL;
	evpack_each(&e, def_packed_items(p), ref);
	ev_next_insn(&e);
	def_unpack(p, n, e.insn.addr, area.maxcount, number - firstkept);
	return def_numbered(number);
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
	d = off_shelf(def);
	if (d == NULL || n > d->n)
		return area.boot.countbytes != 0 ? NO_COUNTER : 0;
	x = extent_of(d, n);
	step = n == 0 ? 0 : 4 + 8u * x.used;
	if (rep != 0 && x.count != NOCOUNT)
		countat = 4 + 8u * x.count;
	*sizes = step | countat << 16 | (uint64_t)(4 + 8u * d->ngroups) << 32;
	id = def_id_for(d, n, x.used);
	if (!opt->kind->counters)
		return id;
	/* the counter; and the record of an interrupted repeated instruction */
	*sizes = 0;
	id = rep != 0 && n > 0 ? def_listed_ref(d, n - 1, TOGETHER) : 0;
	if (id != 0)
		*sizes = record_head(id, x.used - x.before) |
		    (uint64_t)(4 + 8u * (x.count - x.before)) << 32;
	return n == 0 ? NO_COUNTER : def_counter_for(d, n);
}
