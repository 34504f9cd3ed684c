/*
 * evwids - write event text, events(5): the definitions of ids
 *
 * They are registered by one thread, perhaps, and written by another one,
 * before the first line that uses them.
 */
#include "evwids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evpack.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

/* ---- registered ---- */

/* An id's instruction and its reference. */
static struct evw_ref
ref_of(const struct evw *w, const struct evw_cold *c)
{
	struct evw_ref r;

	if (cold_letter(c) == SCATTERED)
		return *cold_more(w, c)->ref;
	memset(&r, 0, sizeof r);
	r.n = c->insn;
	r.k = c->k;
	r.stays = c->group == NO_GROUP;
	r.ngroups = r.stays ? 0 : c->ngroups;
	for (unsigned i = 0; i < r.ngroups && i < sizeof r.group; i++)
		r.group[i] = (uint8_t)(c->group + i);
	return r;
}

void
evw_reserve(struct evw *w)
{
	if (w->cold != NULL)
		return;
	w->hot = xreserve(EVW_MAXID + 1ul, sizeof *w->hot,
	    "table of ids");
	w->cold = xreserve(EVW_MAXID + 1ul, sizeof *w->cold,
	    "table of ids");
	w->values = xreserve(EVW_VALUES, sizeof *w->values,
	    "table of values");
	w->nvalues = EVW_LANES;		/* 0 is none */
	w->valuepages.size = EVW_VALUES * sizeof *w->values;
	w->hotpages.size = (EVW_MAXID + 1ul) * sizeof *w->hot;
	w->coldpages.size = (EVW_MAXID + 1ul) * sizeof *w->cold;
}

/* The entry of an id that is not defined yet, or NULL. */
static struct evw_cold *
new_id(struct evw *w, uint32_t id)
{
	struct evw_cold *c;

	evw_reserve(w);
	if (id == 0 || id > EVW_MAXID)
		return NULL;
	xtouch(w->hot, &w->hotpages, (id + 1ul) * sizeof *w->hot);
	xtouch(w->cold, &w->coldpages, (id + 1ul) * sizeof *w->cold);
	c = &w->cold[id];
	return c->state == UNKNOWN ? c : NULL;
}

/* The entry of a block that is defined, or NULL. */
static const struct evw_cold *
known_block(struct evw *w, uint32_t id)
{
	const struct evw_cold *b;

	if (id == 0 || id > EVW_MAXID)
		return NULL;
	b = &w->cold[id];
	return cold_letter(b) == BLOCK || cold_letter(b) == PACKED ? b : NULL;
}

/* Give the entry more room. */
static union evw_named *
new_more(struct evw *w, struct evw_cold *c)
{
	uint32_t n = w->nrest++;

	if (w->rest[n / EVW_MORE] == NULL)
		w->rest[n / EVW_MORE] = xcalloc(1, sizeof **w->rest);
	c->at = n & EVW_MAXID;
	return cold_more(w, c);
}

static void
publish(struct evw_cold *c, int as)
{
	atomic_store_explicit(&c->state, (uint8_t)as, memory_order_release);
}

/* The entry of a new block, or NULL. */
static struct evw_cold *
new_block(struct evw *w, uint32_t id, unsigned ngroups, unsigned ninsn)
{
	struct evw_cold *c = new_id(w, id);

	if (c == NULL || ngroups > EVW_MAXGROUPS || ninsn == 0 ||
	    ninsn > UINT16_MAX)
		return NULL;
	c->n = (uint16_t)ninsn;
	c->ngroups = (uint8_t)ngroups;
	return c;
}

int
evw_block(struct evw *w, uint32_t id, const char *items, unsigned ngroups,
    unsigned ninsn)
{
	struct evw_cold *c = new_block(w, id, ngroups, ninsn);

	if (c == NULL)
		return -1;
	new_more(w, c)->items = items;
	publish(c, BLOCK);
	return 0;
}

int
evw_block_packed(struct evw *w, uint32_t id, const uint8_t *packed,
    unsigned ngroups, unsigned ninsn)
{
	struct evw_cold *c = new_block(w, id, ngroups, ninsn);

	if (c == NULL)
		return -1;
	new_more(w, c)->packed = packed;
	publish(c, PACKED);
	return 0;
}

void
evw_note(struct evw *w, uint32_t id, uint32_t note, void (*noted)(struct evw *,
    uint32_t id, uint32_t note))
{
	if (cold_letter(&w->cold[id]) != PACKED)
		return;
	w->noted = noted;
	*cold_id(w, &w->cold[id]) = note;
}

int
evw_prefix(struct evw *w, uint32_t id, uint32_t block, unsigned n,
    unsigned ngroups)
{
	struct evw_cold *c = new_id(w, id);
	const struct evw_cold *b = known_block(w, block);

	if (c == NULL || b == NULL || n == 0 || n >= b->n ||
	    ngroups > b->ngroups)
		return -1;
	c->at = block & EVW_MAXID;
	c->n = (uint16_t)n;
	c->ngroups = (uint8_t)ngroups;
	publish(c, PREFIX);
	return 0;
}

/* Are its groups neighbours, and its numbers small, as they mostly are? */
static bool
has_short_form(const struct evw_ref *r)
{
	return r->n <= UINT8_MAX && r->k <= UINT8_MAX && (r->stays ||
	    r->ngroups <= 1 || (unsigned)r->group[r->ngroups - 1] -
	    r->group[0] == r->ngroups - 1);
}

/* In short form: reference k of instruction n. */
static int
put_ref(struct evw_cold *c, uint32_t block, unsigned n, unsigned k,
    unsigned group)
{
	c->at = block & EVW_MAXID;
	c->insn = (uint8_t)n;
	c->k = (uint8_t)k;
	c->group = (uint8_t)group;
	publish(c, REF);
	return 0;
}

int
evw_ref(struct evw *w, uint32_t id, uint32_t block, struct evw_ref ref)
{
	struct evw_cold *c = new_id(w, id);
	const struct evw_cold *b = known_block(w, block);
	union evw_named *m;

	if (c == NULL || b == NULL || ref.n == 0 || ref.n > b->n)
		return -1;
	for (unsigned i = 0; i < ref.ngroups; i++)
		if (i == sizeof ref.group || ref.group[i] >= b->ngroups ||
		    (i != 0 && ref.group[i] <= ref.group[i - 1]))
			return -1;
	c->ngroups = (uint8_t)(ref.stays ? 1 : ref.ngroups);
	if (!has_short_form(&ref)) {
		m = new_more(w, c);
		*cold_id(w, c) = block;
		m->ref = xmalloc(sizeof *m->ref);
		*m->ref = ref;
		publish(c, SCATTERED);
		return 0;
	}
	return put_ref(c, block, ref.n, ref.k, ref.stays ? NO_GROUP :
	    ref.ngroups == 0 ? 0 : ref.group[0]);
}

int
evw_ref_stays(struct evw *w, uint32_t id, uint32_t block, unsigned n,
    unsigned k)
{
	struct evw_cold *c;
	const struct evw_cold *b;

	if (n > UINT8_MAX || k > UINT8_MAX)
		return evw_ref(w, id, block, (struct evw_ref){ .n = n, .k = k,
		    .stays = true });
	c = new_id(w, id);
	b = known_block(w, block);
	if (c == NULL || b == NULL || n == 0 || n > b->n)
		return -1;
	c->ngroups = 1;
	return put_ref(c, block, n, k, NO_GROUP);
}

struct evw_ref
evw_ref_of(struct evw *w, uint32_t id)
{
	return ref_of(w, &w->cold[id]);
}

int
evw_leave(struct evw *w, uint32_t id, char which)
{
	struct evw_cold *c = new_id(w, id);

	if (c == NULL)
		return -1;
	c->n = (unsigned char)which;
	c->ngroups = 1;
	publish(c, LEAVE);
	return 0;
}

int
evw_special(struct evw *w, uint32_t id, unsigned n, void (*special)(struct
    evw *, const uint32_t *))
{
	struct evw_cold *c = new_id(w, id);

	if (c == NULL || n > EVW_MAXGROUPS)
		return -1;
	c->ngroups = (uint8_t)n;
	new_more(w, c)->special = special;
	publish(c, SPECIAL);
	return 0;
}

/* ---- written ---- */

/* Room for the values of a block: whole cache lines of its own. */
static uint32_t
new_values(struct evw *w, unsigned n)
{
	size_t at = w->nvalues;

	n = n == 0 ? EVW_LANES : (n + EVW_LANES - 1) & -(unsigned)EVW_LANES;
	if (at + n + EVW_LANES > EVW_VALUES)
		die("too many addresses of blocks are told (%zu)", at);
	xtouch(w->values, &w->valuepages, (at + n + EVW_LANES) *
	    sizeof *w->values);
	w->nvalues += n;
	return (uint32_t)at;
}

/* Room for the one value of a reference that stays. */
static uint32_t
new_value(struct evw *w)
{
	if (w->nones <= 1) {
		w->nones = 512;
		w->ones = new_values(w, w->nones);
	}
	return w->ones + --w->nones;
}

/* Write "1 "; evw_puthex stores 8 bytes at a time. */
static char *
put_number(char *p, uint32_t n)
{
	p = evw_puthex(p, n);
	*p++ = ' ';
	return p;
}

/* Write "B 1 " or the like. */
static char *
put_head(char *p, char which, uint32_t id)
{
	*p++ = which;
	*p++ = ' ';
	return put_number(p, id);
}

static void
put_packed(struct evw *w, uint32_t id, const struct evw_cold *c)
{
	char *text = xmalloc(EVW_MAXLINE), *p = put_head(text, 'B', id);
	int n = evpack_items(p, (size_t)(text + EVW_MAXLINE - p),
	    cold_more(w, c)->packed, c->n);

	if (n < 0)
		die("block %x: longer than a line", id);
	evw_raw(w, text, (size_t)(p - text + n));
	free(text);
}

void
evw_define_prefix(struct evw *w, uint32_t id, uint32_t block, unsigned n)
{
	char text[48], *p = put_head(text, 'P', id);

	p = put_number(p, block);
	p = evw_puthex(p, n);
	evw_raw(w, text, (size_t)(p - text));
}

void
evw_define_block(struct evw *w, uint32_t id, const char *items, size_t n)
{
	char head[32];
	size_t len = (size_t)(put_head(head, 'B', id) - head);
	char *p = evwrec_finish(w, w->p);

	if (len + n > EVW_MAXLINE)
		die("block %x: longer than a line", id);
	p = evwrec_text(w, p, head, len);
	p = evwrec_text(w, p, items, n);
	*p++ = '\n';
	w->p = p;
}

/* Write the line of a reference alone; returns the index of its values. */
static uint32_t
put_alone(struct evw *w, uint32_t id, const struct evw_cold *c)
{
	struct evw_ref r = ref_of(w, c);
	uint32_t block = cold_block(w, c);
	uint32_t value = w->hot[id].value;
	char text[64], *p = put_head(text, 'Q', id);

	p = put_number(p, block);
	p = put_number(p, r.n);
	p = evw_puthex(p, r.k);
	if (r.stays) {
		*p++ = ' ';
		*p++ = 's';
	}
	evw_raw(w, text, (size_t)(p - text));
	if (!r.stays)
		return w->hot[block].value + r.group[0];
	if (value == 0)
		value = new_value(w);
	w->values[value] = 0;
	return value;
}

static void
put_definition(struct evw *w, uint32_t id, const struct evw_cold *c)
{
	struct evw_hot *h = &w->hot[id];

	switch (cold_letter(c)) {
	case BLOCK:
	case PACKED:
		if (cold_letter(c) == PACKED)
			put_packed(w, id, c);
		else
			evw_line(w, "B %x %s", id, cold_more(w, c)->items);
		if (cold_letter(c) == PACKED && *cold_id(w, c) != 0)
			w->noted(w, id, *cold_id(w, c));
		if (h->value == 0)
			h->value = new_values(w, c->ngroups);
		memset(evw_values(w, h), 0, c->ngroups * sizeof *w->values);
		break;
	case PREFIX:
		evw_define_prefix(w, id, c->at, c->n);
		h->value = w->hot[c->at].value;
		break;
	case LEAVE:
		evw_line(w, "Z %x %c", id, (int)c->n);
		if (h->value == 0)
			h->value = new_values(w, 1);
		w->values[h->value] = 0;
		break;
	default:
		h->value = put_alone(w, id, c);
	}
}

int
evwids_define(struct evw *w, uint32_t id)
{
	struct evw_cold *c = &w->cold[id];
	struct evw_hot *h = &w->hot[id];
	uint8_t state = atomic_load_explicit(&c->state, memory_order_acquire);
	char text[9] = "";
	uint64_t x;

	if (state == UNKNOWN)
		return -1;
	if (state & WRITTEN)
		return 0;
	if (cold_block(w, c) != 0)
		evwids_define(w, cold_block(w, c));
	c->state = state | WRITTEN;
	if (id > w->maxid)
		w->maxid = id;
	put_definition(w, id, c);
	/*
	 * Scattered groups may have no values in a row: the entry stays without
	 * digits, and scattered() writes each of its records.
	 */
	if (state == SCATTERED)
		return 0;
	x = evw_digits(id, evw_ndigits(id));
	memcpy(text, &x, 8);
	memcpy(h->digit, text, sizeof h->digit);
	h->check = (uint8_t)(255 - c->ngroups);
	h->len = (uint8_t)evw_ndigits(id);
	return 0;
}

bool
evw_known(const struct evw *w, uint32_t id)
{
	return w->cold != NULL && id <= EVW_MAXID &&
	    w->cold[id].state != UNKNOWN;
}

const uint8_t *
evw_packed(const struct evw *w, uint32_t id)
{
	const struct evw_cold *c;

	if (!evw_known(w, id))
		return NULL;
	c = &w->cold[id];
	if (cold_block(w, c) != 0)
		c = &w->cold[cold_block(w, c)];
	return cold_letter(c) == PACKED ? cold_more(w, c)->packed : NULL;
}

bool
evw_written(const struct evw *w, uint32_t id)
{
	return w->cold != NULL && id <= EVW_MAXID &&
	    w->cold[id].state & WRITTEN;
}

void
evw_define(struct evw *w, uint32_t id)
{
	if (w->cold != NULL && id <= EVW_MAXID)
		evwids_define(w, id);
}

void
evw_again(struct evw *w, struct out *out)
{
	for (uint32_t id = 1; id <= w->maxid; id++)
		if (w->cold[id].state & WRITTEN) {
			w->hot[id].len = 0;
			publish(&w->cold[id], cold_letter(&w->cold[id]));
		}
	w->out = out;
	w->p = w->buf;
	w->prev = 0;
	w->more = w->nexec = 0;
}
