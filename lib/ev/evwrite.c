/*
 * evwrite - write event text, events(5)
 *
 * The hot loops are in evwrec.c, the invariants in evwrec.h. This file has
 * what happens rarely, and what needs no records.
 *
 * The registering thread writes a cold entry, and then stores its state, a
 * letter, with release order. From then on the entry is only read, except that
 * the writing thread adds WRITTEN to the state.
 */
#include "evw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evpack.h"
#include "evwrec.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

/* A state: what the id names, and whether its definition is in the text. */
enum { UNKNOWN, BLOCK = 'B', PACKED = 'b', PREFIX = 'P', REF = 'Q',
    SCATTERED = 'q', LEAVE = 'Z', SPECIAL = 'D', WRITTEN = 0x80 };

/* What the first execution needs, 8 bytes: there is one for each id. */
struct evw_cold {
	uint32_t at : 24;	/* PREFIX, REF: the block; else see more_of */
	uint32_t group : 8;	/* REF: the first of its groups, which are
				 * neighbours; or NO_GROUP: it stays */
	union {
		uint16_t n;	/* instructions; LEAVE: 'i' or 'd' */
		struct {	/* REF */
			uint8_t insn, k;
		};
	};
	uint8_t ngroups;
	_Atomic uint8_t state;
};
_Static_assert(sizeof(struct evw_cold) == 8, "one for each id");
#define NO_GROUP 255u

/* And what others than PREFIX and REF need, who are fewer. */
union evw_named {
	const char *items;	/* BLOCK */
	const uint8_t *packed;	/* PACKED: see evpack.h */
	struct evw_ref *ref;	/* SCATTERED */
	void (*special)(struct evw *, const uint32_t *);
};
struct evw_more {
	union evw_named named[EVW_MORE];
	uint32_t id[EVW_MORE];	/* SCATTERED: the block; PACKED: its note */
};

static int
letter(const struct evw_cold *c)
{
	return c->state & ~WRITTEN;
}

static union evw_named *
more_of(const struct evw *w, const struct evw_cold *c)
{
	return &w->rest[c->at / EVW_MORE]->named[c->at % EVW_MORE];
}

static uint32_t *
id_of(const struct evw *w, const struct evw_cold *c)
{
	return &w->rest[c->at / EVW_MORE]->id[c->at % EVW_MORE];
}

/* The block that a prefix or a reference belongs to; else 0. */
static uint32_t
block_of(const struct evw *w, const struct evw_cold *c)
{
	int as = letter(c);

	return as == PREFIX || as == REF ? c->at :
	    as == SCATTERED ? *id_of(w, c) : 0;
}

/* An id's instruction and its reference. */
static struct evw_ref
ref_of(const struct evw *w, const struct evw_cold *c)
{
	struct evw_ref r;

	if (letter(c) == SCATTERED)
		return *more_of(w, c)->ref;
	memset(&r, 0, sizeof r);
	r.n = c->insn;
	r.k = c->k;
	r.stays = c->group == NO_GROUP;
	r.ngroups = r.stays ? 0 : c->ngroups;
	for (unsigned i = 0; i < r.ngroups && i < sizeof r.group; i++)
		r.group[i] = (uint8_t)(c->group + i);
	return r;
}

/* ---- the buffer ---- */

static char *
put_text(struct evw *w, char *p, const char *text, size_t len)
{
	if ((size_t)(p - w->buf) + len > EVW_BUFSIZE - EVW_MAXEXEC)
		p = evwrec_spill(w, p);
	memcpy(p, text, len);
	return p + len;
}

struct evw *
evw_open(struct out *out)
{
	struct evw *w = xcalloc(1, sizeof *w);
	unsigned way = EVWREC_WAYS - 1;

	evwrec_init();
	while (evwrec_way(way) == NULL)
		way--;
	w->way = evwrec_way(way);
	w->single = evwrec_single_way(way);
	w->out = out;
	w->buf = xmalloc(EVW_BUFSIZE);
	w->p = w->buf;
	return w;
}

void
evw_raw(struct evw *w, const char *line, size_t len)
{
	char *p = evwrec_finish(w, w->p);

	if (len > EVW_MAXLINE)
		die("a line of %zu bytes, at most %d", len, EVW_MAXLINE);
	if (len == 12 && memcmp(line, "H kind calls", 12) == 0)
		w->calls = true;
	/* entries and exits count as executions */
	if (w->calls && len > 0 && strchr("NVX", *line) != NULL)
		w->nexec++;
	p = put_text(w, p, line, len);
	*p++ = '\n';
	w->p = p;
}

void
evw_text(struct evw *w, const char *text, size_t len, uint64_t n)
{
	char *p = evwrec_finish(w, w->p);
	size_t some;

	for (; len > 0; len -= some, text += some) {
		some = len < EVW_MAXLINE ? len : EVW_MAXLINE;
		p = put_text(w, p, text, some);
	}
	w->p = p;
	w->nexec += n;
}

void
evw_line(struct evw *w, const char *fmt, ...)
{
	va_list ap;
	char some[512], *line = some;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(some, sizeof some, fmt, ap);
	va_end(ap);
	if (len < 0)
		die("line:");
	if ((size_t)len >= sizeof some) {
		line = xmalloc((size_t)len + 1);
		va_start(ap, fmt);
		vsnprintf(line, (size_t)len + 1, fmt, ap);
		va_end(ap);
	}
	evw_raw(w, line, (size_t)len);
	if (line != some)
		free(line);
}

void
evw_flush(struct evw *w)
{
	w->p = evwrec_spill(w, evwrec_finish(w, w->p));
	out_flush(w->out);
}

uint64_t
evw_executions(const struct evw *w)
{
	return w->nexec;
}

void
evw_told(struct evw *w, uint64_t n)
{
	w->nexec += n;
}

void
evw_end(struct evw *w, const char *how, int status)
{
	evw_line(w, "E %s %d %" PRIu64, how, status, w->nexec);
	evw_flush(w);
}

const char *
evw_error(const struct evw *w)
{
	return w->error[0] != '\0' ? w->error : NULL;
}

/* ---- definitions ---- */

/* The entry of an id that is not defined yet, or NULL. */
static struct evw_cold *
new_id(struct evw *w, uint32_t id)
{
	struct evw_cold *c;

	if (w->cold == NULL) {
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
	return letter(b) == BLOCK || letter(b) == PACKED ? b : NULL;
}

/* Give the entry more room. */
static union evw_named *
new_more(struct evw *w, struct evw_cold *c)
{
	uint32_t n = w->nrest++;

	if (w->rest[n / EVW_MORE] == NULL)
		w->rest[n / EVW_MORE] = xcalloc(1, sizeof **w->rest);
	c->at = n & EVW_MAXID;
	return more_of(w, c);
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
	if (letter(&w->cold[id]) != PACKED)
		return;
	w->noted = noted;
	*id_of(w, &w->cold[id]) = note;
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
		*id_of(w, c) = block;
		m->ref = xmalloc(sizeof *m->ref);
		*m->ref = ref;
		publish(c, SCATTERED);
		return 0;
	}
	c->at = block & EVW_MAXID;
	c->insn = (uint8_t)ref.n;
	c->k = (uint8_t)ref.k;
	c->group = ref.stays ? NO_GROUP : ref.ngroups == 0 ? 0 :
	    ref.group[0];
	publish(c, REF);
	return 0;
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

/* Write "B 1 " or the like; evw_puthex stores 8 bytes at a time. */
static char *
put_head(char *p, char which, uint32_t id)
{
	*p++ = which;
	*p++ = ' ';
	p = evw_puthex(p, id);
	*p++ = ' ';
	return p;
}

static void
put_packed(struct evw *w, uint32_t id, const struct evw_cold *c)
{
	char text[EVW_MAXLINE], *p = put_head(text, 'B', id);
	int n = evpack_items(p, (size_t)(text + sizeof text - p),
	    more_of(w, c)->packed, c->n);

	if (n < 0)
		die("block %x: longer than a line", id);
	evw_raw(w, text, (size_t)(p - text + n));
}

void
evw_define_prefix(struct evw *w, uint32_t id, uint32_t block, unsigned n)
{
	char text[48], *p = put_head(text, 'P', id);

	p = evw_puthex(p, block);
	*p++ = ' ';
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
	p = put_text(w, p, head, len);
	p = put_text(w, p, items, n);
	*p++ = '\n';
	w->p = p;
}

/* Write the line of a reference alone; returns the index of its values. */
static uint32_t
put_alone(struct evw *w, uint32_t id, const struct evw_cold *c)
{
	struct evw_ref r = ref_of(w, c);
	uint32_t block = block_of(w, c);
	uint32_t value = w->hot[id].value;

	evw_line(w, "Q %x %x %x %x%s", id, block, r.n, r.k,
	    r.stays ? " s" : "");
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

	switch (letter(c)) {
	case BLOCK:
	case PACKED:
		if (letter(c) == PACKED)
			put_packed(w, id, c);
		else
			evw_line(w, "B %x %s", id, more_of(w, c)->items);
		if (letter(c) == PACKED && *id_of(w, c) != 0)
			w->noted(w, id, *id_of(w, c));
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

/* Write the line that defines an id, its block's first. -1: undefined. */
static int
define(struct evw *w, uint32_t id)
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
	if (block_of(w, c) != 0)
		define(w, block_of(w, c));
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
	if (block_of(w, c) != 0)
		c = &w->cold[block_of(w, c)];
	return letter(c) == PACKED ? more_of(w, c)->packed : NULL;
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
		define(w, id);
}

void
evw_again(struct evw *w, struct out *out)
{
	for (uint32_t id = 1; id <= w->maxid; id++)
		if (w->cold[id].state & WRITTEN) {
			w->hot[id].len = 0;
			publish(&w->cold[id], letter(&w->cold[id]));
		}
	w->out = out;
	w->p = w->buf;
	w->prev = 0;
	w->more = w->nexec = 0;
}

/* ---- executions ---- */

/* Write a record of a reference alone whose groups are scattered. */
static void
scattered(struct evw *w, uint32_t id, const uint32_t *r)
{
	const struct evw_cold *c = &w->cold[id];
	const struct evw_ref *ref = more_of(w, c)->ref;
	uint64_t *value = evw_values(w, &w->hot[block_of(w, c)]);
	uint64_t diff[sizeof ref->group];

	for (unsigned i = 0; i < c->ngroups; i++) {
		uint64_t *v = ref->stays ? evw_values(w, &w->hot[id]) :
		    &value[ref->group[i]], now;

		memcpy(&now, r + 1 + 2 * i, 8);
		diff[i] = now - *v;
		*v = now;
	}
	evw_exec(w, id, c->ngroups, diff, 0);
}

/*
 * Handle a record at which the hot loop stopped: 1: it is written, 0: its id
 * is defined now, try again, -1: it is invalid.
 */
static int
uncommon(struct evw *w, const uint32_t *r, uint32_t head, const uint32_t *to)
{
	uint32_t id = ev_id(head);
	unsigned n = ev_ngroups(head);

	if (id == 0 || w->cold == NULL || (w->cold[id].state != SPECIAL &&
	    define(w, id) < 0)) {
		snprintf(w->error, sizeof w->error,
		    "record with undefined id %x", id);
		return -1;
	}
	if (n != w->cold[id].ngroups) {
		snprintf(w->error, sizeof w->error,
		    "record of id %x with %u values instead of %u", id, n,
		    w->cold[id].ngroups);
		return -1;
	}
	if (to - r < 1 + 2 * (ptrdiff_t)n) {
		snprintf(w->error, sizeof w->error,
		    "record of id %x is cut", id);
		return -1;
	}
	if (w->cold[id].state == SPECIAL) {
		more_of(w, &w->cold[id])->special(w, r + 1);
		return 1;
	}
	if (w->hot[id].len == 0) {
		scattered(w, id, r);
		return 1;
	}
	return 0;
}

/* Write records up to one that needs uncommon(). */
static const uint32_t *
common(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	const uint32_t *end, *next;
	uint32_t head;

	if (w->nones == 0)
		return w->way(w, r, to);
	for (;; r = next) {
		r = w->single(w, r, to);
		if (r >= to || (head = evwrec_head(r)) == 0 ||
		    to - r < 1 + 2 * ev_ngroups(head))
			return r;
		end = r + 1 + 2 * ev_ngroups(head);
		next = w->way(w, r, end);
		if (next == r)
			return r;
	}
}

const uint32_t *
evw_records(struct evw *w, const uint32_t *from, const uint32_t *to)
{
	const uint32_t *r = from, *end;
	uint32_t head;
	int written;

	w->error[0] = '\0';
	for (;;) {
		if (w->hot != NULL)
			r = common(w, r, to);
		if (r >= to || (head = evwrec_head(r)) == 0)
			return r;
		written = uncommon(w, r, head, to);
		if (written < 0)
			return r;
		end = r + 1 + 2 * ev_ngroups(head);
		r = written > 0 ? end : evwrec_plain(w, r, end);
	}
}

int
evw_count(struct evw *w, uint32_t id, uint64_t n)
{
	if (id == 0 || id > EVW_MAXID || w->cold == NULL || define(w, id) < 0)
		return -1;
	if (n != 0)
		evw_exec(w, id, 0, NULL, n - 1);
	return 0;
}

/* A line about a block, which is defined first if need be. */
static int
sums_line(struct evw *w, char letter, uint32_t id, const uint64_t *v,
    unsigned n)
{
	char line[80], *p = line;

	if (id == 0 || id > EVW_MAXID || w->cold == NULL || define(w, id) < 0)
		return -1;
	*p++ = letter;
	*p++ = ' ';
	p = evw_puthex(p, id);
	for (; n > 0; n--) {
		*p++ = ' ';
		p = evw_puthex(p, *v++);
	}
	evw_raw(w, line, (size_t)(p - line));
	return 0;
}

int
evw_total(struct evw *w, uint32_t id, uint64_t n)
{
	if (sums_line(w, 'W', id, &n, 1) < 0)
		return -1;
	w->nexec += n;
	return 0;
}

int
evw_rounds(struct evw *w, uint32_t id, unsigned n, uint64_t rounds,
    uint64_t none)
{
	return sums_line(w, 'R', id, (uint64_t [3]){ n, rounds, none }, 3);
}

int
evw_missed(struct evw *w, uint32_t id, unsigned n, uint64_t missed)
{
	return sums_line(w, 'X', id, (uint64_t [2]){ n, missed }, 2);
}

/* One more execution equal to the last one, if it is that. */
static inline bool
repeats(struct evw *w, uint32_t head, const uint64_t *diff, uint64_t more)
{
	unsigned ngroups = ev_ngroups(head);

	w->nexec += more + 1;
	if (head != w->prev || (ngroups != 0 &&
	    memcmp(diff, w->last, ngroups * sizeof *diff) != 0))
		return false;
	w->more += more + 1;
	return true;
}

void
evw_exec(struct evw *w, uint32_t id, unsigned ngroups, const uint64_t *diff,
    uint64_t more)
{
	uint32_t head = ev_head(ngroups, id);
	char *p;

	if (repeats(w, head, diff, more))
		return;
	p = evw_puthex(evwrec_finish(w, w->p), id);
	for (unsigned i = 0; i < ngroups; i++) {
		w->last[i] = diff[i];
		p = evwrec_field(p, diff[i]);
	}
	w->prev = head;
	w->more = more;
	w->p = p;
}

void
evw_exec_line(struct evw *w, uint32_t id, unsigned ngroups,
    const uint64_t *diff, const char *line, size_t len)
{
	uint32_t head = ev_head(ngroups, id);

	if (repeats(w, head, diff, 0))
		return;
	w->p = put_text(w, evwrec_finish(w, w->p), line, len);
	memcpy(w->last, diff, ngroups * sizeof *diff);
	w->prev = head;
	w->more = 0;
}
