/*
 * defrefs - ids of single references, in kind cache
 *
 * A miss of trace's table is told by an id of its own, which says which
 * reference of which block it is.  The definition lists these ids by their
 * distance from the block's, so that a block that is translated again finds
 * them; what does not fit into that list gets another id each time.
 */
#include <string.h>

#include "ev.h"
#include "evw.h"
#include "look.h"
#include "stream/stream.h"
#include "xlate/defs.h"
#include "xlate/parts.h"
#include "xlate/xlate.h"
#include "mem.h"
#include "prog.h"

/*
 * An id is listed in one word: its distance from the block's, i, and the number
 * k under which instruction i has it.
 */
#define REF_BITS 23
static uint32_t
ref_word(uint32_t distance, unsigned i, unsigned k)
{
	return distance | i << REF_BITS | k << 30;
}
_Static_assert(MAX_INSN <= 1u << (30 - REF_BITS), "ref_word");

unsigned
def_listed_as(const struct evw_ref *r)
{
	return !r->stays && r->ngroups > 1 ? TOGETHER : r->k;
}

uint32_t
def_listed_ref(const struct def *d, unsigned i, unsigned k)
{
	const struct def_more *m = def_more_of(d);
	uint32_t word = ref_word(0, i, k);
	unsigned j;

	for (j = 0; j < m->nref; j++)
		if (m->ref[j] >> REF_BITS == word >> REF_BITS)
			return def_entry_id(d->id[0]) + (m->ref[j] ^ word);
	return 0;
}

uint32_t
def_listed_id(const struct def *d, unsigned index)
{
	return def_entry_id(d->id[0]) +
	    (def_more_of(d)->ref[index] & ((1u << REF_BITS) - 1));
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

void
def_list_ref(struct def *d, unsigned expected, uint32_t id, unsigned i,
    unsigned k)
{
	struct def_more *m = (struct def_more *)(void *)d - 1;
	uint32_t *old = m->ref, distance = id - def_entry_id(d->id[0]);

	if (distance >> REF_BITS != 0) {
		d->unlisted = true;	/* it gets another one each time */
		return;
	}
	if (m->nref == m->capref) {
		m->capref = (uint16_t)(old == NULL ? expected : m->capref * 2u);
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

/* The groups of an element, of a repeated instruction, or of a reference. */
static void
find_groups(struct evw_ref *r, const struct xlate *x, unsigned i)
{
	const struct insn *in = &x->b->in[i];
	const struct groups *gr = x->g;
	unsigned k = r->k, j;

	if (k == 0)
		return;
	if (in->special == SP_GATHER) {
		r->ngroups = 1;
		r->group[0] = (uint8_t)(gr->gather[i] + k - 1);
	} else if (is_repeated(in)) {
		r->ngroups = gr->used[i + 1] - gr->used[i];
		for (j = 0; j < r->ngroups; j++)
			r->group[j] = (uint8_t)(gr->used[i] + j);
	} else if (gr->ref[i][k - 1].group != NOGROUP) {
		r->ngroups = 1;
		r->group[0] = gr->ref[i][k - 1].group;
	}
}

/* Register a new id of reference k of instruction i. */
static uint32_t
new_ref(struct def *d, const struct xlate *x, unsigned i, unsigned k,
    bool stays)
{
	uint32_t id = def_new_id(), block = def_entry_id(d->id[0]);
	struct evw_ref r;
	int bad;

	if (stays && x->b->in[i].special != SP_GATHER) {
		bad = evw_ref_stays(stream_writer, id, block, i + 1, k);
	} else {
		memset(&r, 0, sizeof r);
		r.n = i + 1;
		r.k = k;
		r.stays = stays;
		find_groups(&r, x, i);
		bad = evw_ref(stream_writer, id, block, r);
	}
	if (bad < 0)
		die("reference %x: a definition that cannot be", id);
	return id;
}

/*
 * The id of reference k (from 1; 0: the fetch) of instruction i (from 0) of
 * the block being translated.  Each element of a gather has its own, and so has
 * a repeated reference, besides the one that those of an instruction share.
 * Each is asked for once, so a new definition does not list it yet.
 */
uint32_t
def_ref_id(struct def *d, const struct xlate *x, unsigned i, unsigned k,
    bool stays)
{
	const struct insn *in = &x->b->in[i];
	unsigned at = is_repeated(in) && !stays && k > 0 ? TOGETHER : k;
	bool listed = at <= 3 && in->special != SP_GATHER;
	uint32_t id = 0;

	if (listed && x->was_listed)
		id = def_listed_ref(d, i, at);
	if (id != 0)
		return id;
	id = new_ref(d, x, i, k, stays);
	if (listed)
		def_list_ref(d, def_more_of(d)->ref == NULL ?
		    refs_of(x->b) : 0, id, i, at);
	else
		d->unlisted = true;
	return id;
}
