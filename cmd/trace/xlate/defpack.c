/*
 * defpack - definitions as the store keeps them: bytes, and whether they can be
 *
 * What is read here comes from a file: each number is within bounds, or nothing
 * of the definition is believed.
 */
#include <string.h>

#include "stream/stream.h"
#include "xlate/defpack.h"

static uint32_t fixed[2];	/* these ids and those between: the code's */

bool
def_ids_are_fixed(void)
{
	return opt->kind->records || opt->kind->alone;
}

bool
def_on_shelf(void)
{
	return opt->kind->counters && opt->kind->intervals;
}

/* How many bytes come behind p, but for the items. */
static size_t
sizes(const struct packed *p)
{
	return ((size_t)p->nid + p->ncnt + p->nround) *
	    sizeof(struct packed_number) + p->nref * sizeof(struct packed_ref);
}

size_t
def_packed_size(const uint8_t *from, size_t n)
{
	struct packed p;
	size_t size;

	if (n < sizeof p)
		return 0;
	memcpy(&p, from, sizeof p);
	size = sizeof p + sizes(&p) + p.npacked;
	return size <= n && p.n != 0 && p.n <= MAX_INSN && p.nid <= p.n + 1 &&
	    p.ncnt <= p.n + 1 && p.nround <= 2 * p.n && p.nref <= REFS_PACKED ?
	    size : 0;
}

static uint8_t *
append(uint8_t *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return to + n;
}

size_t
pack(const struct unpacked *u, const uint8_t *items, uint8_t *to)
{
	const struct packed *p = &u->p;
	uint8_t *end = append(to, p, sizeof *p);

	end = append(end, u->id, p->nid * sizeof *u->id);
	end = append(end, u->cnt, p->ncnt * sizeof *u->cnt);
	end = append(end, u->round, p->nround * sizeof *u->round);
	end = append(end, u->ref, p->nref * sizeof *u->ref);
	end = append(end, items, p->npacked);
	return (size_t)(end - to);
}

void
unpack_ids(uint32_t first, uint32_t end)
{
	fixed[0] = first;
	fixed[1] = end;
}

static const uint8_t *
take(void *to, const uint8_t *from, size_t n)
{
	memcpy(to, from, n);
	return from + n;
}

bool
unpack_is_free(uint32_t id)
{
	return id >= fixed[0] && id < fixed[1] &&
	    !evw_known(stream_writer, id);
}

/* Are the numbers in bounds? */
static bool
check_numbers(const struct unpacked *u, uint32_t ncounter)
{
	const struct packed *p = &u->p;
	unsigned i;

	for (i = 0; i < p->nid; i++)
		if (!unpack_is_free(u->id[i].c) || u->id[i].n > p->n)
			return false;
	for (i = 0; i < p->nref; i++)
		if (!unpack_is_free(u->ref[i].id) || u->ref[i].r.n == 0 ||
		    u->ref[i].r.n > p->n || u->ref[i].r.k > 3)
			return false;
	for (i = 0; i < p->ncnt; i++)
		if (u->cnt[i].c >= ncounter || u->cnt[i].n == 0 ||
		    u->cnt[i].n > p->n)
			return false;
	for (i = 0; i < p->nround; i++)
		if (u->round[i].c + 1ull >= ncounter + u->round[i].used ||
		    u->round[i].used > opt->kind->learns ||
		    u->round[i].n - 1u >= p->n)
			return false;
	return (p->nid == 0) != def_ids_are_fixed() &&
	    (p->ncnt == 0) != opt->kind->counters &&
	    (p->nid == 0 || u->id[0].n == p->n) &&
	    (p->ncnt == 0 || u->cnt[0].n == p->n);
}

bool
unpack(struct unpacked *u, const uint8_t **from, size_t n, uint32_t ncounter)
{
	struct packed *p = &u->p;
	const uint8_t *at = *from;

	if (def_packed_size(at, n) == 0)
		return false;
	at = take(p, at, sizeof *p);
	at = take(u->id, at, p->nid * sizeof *u->id);
	at = take(u->cnt, at, p->ncnt * sizeof *u->cnt);
	at = take(u->round, at, p->nround * sizeof *u->round);
	*from = take(u->ref, at, p->nref * sizeof *u->ref);
	return check_numbers(u, ncounter);
}

const uint8_t *
def_packed_items(const uint8_t *from)
{
	struct packed p;

	memcpy(&p, from, sizeof p);
	return from + sizeof p + sizes(&p);
}

int
def_packed_text(const uint8_t *from, char *text)
{
	struct packed p;

	memcpy(&p, from, sizeof p);
	return evpack_items(text, TEXT_ROOM, def_packed_items(from), p.n);
}

bool
def_packed_overlaps(const uint8_t *from, uint64_t start, uint64_t end)
{
	static struct ev_ref ref[255];
	struct ev_each e;
	struct packed p;
	unsigned i;

	memcpy(&p, from, sizeof p);
	evpack_each(&e, def_packed_items(from), ref);
	for (i = 0; i < (p.on_path ? p.n : 1u); i++) {
		ev_next_insn(&e);
		if (e.insn.addr - start < end - start)
			return true;
	}
	return false;
}

/* The counter of the whole is the first. */
uint32_t
def_packed_counter(const uint8_t *from)
{
	struct packed p;
	struct packed_number c;

	memcpy(&p, from, sizeof p);
	memcpy(&c, from + sizeof p + p.nid * sizeof c, sizeof c);
	return c.c;
}

uint32_t
def_packed_part(const uint8_t *from, unsigned n)
{
	struct packed_number c;
	struct packed p;
	unsigned i;

	memcpy(&p, from, sizeof p);
	from += sizeof p + p.nid * sizeof c;
	for (i = 0; i < p.ncnt; i++) {
		memcpy(&c, from + i * sizeof c, sizeof c);
		if (c.n == n)
			return c.c;
	}
	return NO_COUNTER;
}

unsigned
def_packed_length(const uint8_t *from)
{
	struct packed p;

	memcpy(&p, from, sizeof p);
	return p.n;
}

void
def_packed_counts(const uint8_t *from, size_t n, uint32_t at,
    struct shelf_count *count)
{
	static struct unpacked u;
	unsigned i;

	if (!unpack(&u, &from, n, counters_used()))
		return;
	for (i = 0; i < u.p.ncnt; i++)
		count[u.cnt[i].c] = (struct shelf_count){ i == 0 ? at :
		    u.cnt[0].c, (uint8_t)u.cnt[i].n, i == 0 ? SHELF_BLOCK :
		    SHELF_PREFIX, { 0, 0 } };
	for (i = 0; i < 2u * u.p.nround; i++)
		count[u.round[i / 2].c + i % 2] = (struct shelf_count){
		    u.cnt[0].c, (uint8_t)u.round[i / 2].n,
		    i % 2 == 0 ? SHELF_ROUNDS : SHELF_NONE, { 0, 0 } };
}
