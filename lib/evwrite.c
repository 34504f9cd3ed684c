/*
 * evwrite - write event text, events(5)
 *
 * The hot loops are in evwrec.c, the invariants in evwrec.h; here is all
 * that happens rarely, and what goes without records.
 *
 * A cold entry is written by the registering thread before it stores the
 * state WAITING with release order, and only read afterwards, but for the
 * writing thread's step from WAITING to WRITTEN.
 */
#include "evw.h"

#include <sys/mman.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evwrec.h"
#include "out.h"
#include "util.h"

enum { UNKNOWN, WAITING, WRITTEN };

/* What the first execution needs, 24 bytes. */
struct evw_cold {
	union {
		const char *items;	/* B */
		struct evw_ref *ref;	/* Q */
	};
	uint32_t block;		/* P, Q */
	uint32_t n;		/* B: instructions; P: of the prefix; Z: 'i', 'd' */
	_Atomic uint8_t state;
	char letter;
	uint8_t ngroups;
};

/* ---- the buffer ---- */

char *
evwrec_spill(struct evw *w, char *p)
{
	out_write(w->out, w->buf, (size_t)(p - w->buf));
	return w->buf;
}

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
	/* kind calls: entries and exits are what is counted */
	if (len > 0 && (*line == 'N' || *line == 'X' || *line == 'V'))
		w->told++;
	p = put_text(w, p, line, len);
	*p++ = '\n';
	w->p = p;
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
	return w->told;
}

void
evw_told(struct evw *w, uint64_t n)
{
	w->told += n;
}

void
evw_end(struct evw *w, const char *how, int status)
{
	evw_line(w, "E %s %d %" PRIu64, how, status, w->told);
	evw_flush(w);
}

const char *
evw_error(const struct evw *w)
{
	return w->error[0] != '\0' ? w->error : NULL;
}

/* ---- definitions ---- */

static void *
reserve(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("table of ids: mmap:");
	return p;
}

/* The entry of a new id, or NULL. */
static struct evw_cold *
fresh(struct evw *w, uint32_t id)
{
	struct evw_cold *c;

	if (w->cold == NULL) {
		w->hot = reserve(((size_t)EVW_MAXID + 1) * sizeof *w->hot);
		w->cold = reserve(((size_t)EVW_MAXID + 1) * sizeof *w->cold);
	}
	if (id == 0 || id > EVW_MAXID)
		return NULL;
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
	return b->state != UNKNOWN && b->letter == 'B' ? b : NULL;
}

static void
publish(struct evw_cold *c)
{
	atomic_store_explicit(&c->state, WAITING, memory_order_release);
}

int
evw_block(struct evw *w, uint32_t id, const char *items, unsigned ngroups,
    unsigned ninsn)
{
	struct evw_cold *c = fresh(w, id);

	if (c == NULL || ngroups > EVW_MAXGROUPS || ninsn == 0)
		return -1;
	c->letter = 'B';
	c->items = items;
	c->n = ninsn;
	c->ngroups = (uint8_t)ngroups;
	publish(c);
	return 0;
}

int
evw_prefix(struct evw *w, uint32_t id, uint32_t block, unsigned n,
    unsigned ngroups)
{
	struct evw_cold *c = fresh(w, id);
	const struct evw_cold *b = known_block(w, block);

	if (c == NULL || b == NULL || n == 0 || n >= b->n ||
	    ngroups > b->ngroups)
		return -1;
	c->letter = 'P';
	c->block = block;
	c->n = n;
	c->ngroups = (uint8_t)ngroups;
	publish(c);
	return 0;
}

int
evw_ref(struct evw *w, uint32_t id, uint32_t block, struct evw_ref ref)
{
	struct evw_cold *c = fresh(w, id);
	const struct evw_cold *b = known_block(w, block);

	if (c == NULL || b == NULL || ref.n == 0 || ref.n > b->n)
		return -1;
	for (unsigned i = 0; i < ref.ngroups; i++)
		if (i == sizeof ref.group || ref.group[i] >= b->ngroups ||
		    (i != 0 && ref.group[i] <= ref.group[i - 1]))
			return -1;
	c->letter = 'Q';
	c->block = block;
	c->n = ref.n;
	c->ngroups = (uint8_t)(ref.stays ? 1 : ref.ngroups);
	c->ref = xmalloc(sizeof *c->ref);
	*c->ref = ref;
	publish(c);
	return 0;
}

int
evw_leave(struct evw *w, uint32_t id, char which)
{
	struct evw_cold *c = fresh(w, id);

	if (c == NULL)
		return -1;
	c->letter = 'Z';
	c->n = (unsigned char)which;
	c->ngroups = 1;
	publish(c);
	return 0;
}

/* Those of a block have a line of memory, or several, of their own. */
static uint64_t *
new_values(struct evw *w, unsigned n)
{
	uint64_t *v;

	n = n == 0 ? EVW_LANES : (n + EVW_LANES - 1) & -(unsigned)EVW_LANES;
	if (n > w->nroom) {
		w->nroom = 8192;
		w->room = reserve((w->nroom + EVW_LANES) * sizeof *w->room);
	}
	v = w->room;
	w->room += n;
	w->nroom -= n;
	return v;
}

/*
 * A reference alone whose groups are not neighbours has no one place for its
 * values: its entry stays without digits, and odd() writes it each time.
 */
static int
is_odd(const struct evw_cold *c)
{
	return c->letter == 'Q' && !c->ref->stays && c->ngroups > 1 &&
	    c->ref->group[c->ngroups - 1] - c->ref->group[0] !=
	    c->ngroups - 1;
}

/* Write the line that defines an id, its block's first. -1: undefined. */
static int
define(struct evw *w, uint32_t id)
{
	struct evw_cold *c = &w->cold[id];
	struct evw_hot *h = &w->hot[id];
	char text[9] = "";
	uint64_t x;

	switch (atomic_load_explicit(&c->state, memory_order_acquire)) {
	case UNKNOWN:
		return -1;
	case WRITTEN:
		return 0;
	}
	if (c->letter == 'P' || c->letter == 'Q')
		define(w, c->block);
	c->state = WRITTEN;
	if (id > w->maxid)
		w->maxid = id;
	if (c->letter == 'B') {
		evw_line(w, "B %x %s", id, c->items);
		if (h->value == NULL)
			h->value = new_values(w, c->ngroups);
		memset(h->value, 0, c->ngroups * sizeof *h->value);
	} else if (c->letter == 'P') {
		evw_line(w, "P %x %x %x", id, c->block, c->n);
		h->value = w->hot[c->block].value;
	} else if (c->letter == 'Z') {
		evw_line(w, "Z %x %c", id, (int)c->n);
		if (h->value == NULL)
			h->value = new_values(w, 1);
		*h->value = 0;
	} else {
		evw_line(w, "Q %x %x %x %x%s", id, c->block, c->n, c->ref->k,
		    c->ref->stays ? " s" : "");
		if (!c->ref->stays)
			h->value = w->hot[c->block].value +
			    (c->ngroups != 0 ? c->ref->group[0] : 0);
		else if (h->value == NULL)
			h->value = new_values(w, 1);
		if (c->ref->stays)
			*h->value = 0;
	}
	if (is_odd(c))
		return 0;
	x = evw_digits(id, evw_ndigits(id));
	memcpy(text, &x, 8);
	memcpy(h->digit, text, sizeof h->digit);
	h->odd = (uint8_t)(255 - c->ngroups);
	h->len = (uint8_t)evw_ndigits(id);
	return 0;
}

void
evw_again(struct evw *w, struct out *out)
{
	for (uint32_t id = 1; id <= w->maxid; id++)
		if (w->cold[id].state == WRITTEN) {
			w->hot[id].len = 0;
			publish(&w->cold[id]);
		}
	w->out = out;
	w->p = w->buf;
	w->prev = 0;
	w->more = w->told = 0;
}

/* ---- executions ---- */

/* A reference alone with scattered groups, the slow way. */
static void
odd(struct evw *w, uint32_t id, const uint32_t *r)
{
	const struct evw_cold *c = &w->cold[id];
	uint64_t diff[sizeof c->ref->group];

	for (unsigned i = 0; i < c->ngroups; i++) {
		uint64_t *v = &w->hot[c->block].value[c->ref->group[i]], now;

		memcpy(&now, r + 1 + 2 * i, 8);
		diff[i] = now - *v;
		*v = now;
	}
	evw_exec(w, id, c->ngroups, diff, 0);
}

/* A record that the hot loop cannot take: 1 taken, 0 try again, -1 error. */
static int
uncommon(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	uint32_t id = *r & EVW_MAXID;
	unsigned n = *r >> 24;

	if (id == 0 || w->cold == NULL || define(w, id) < 0) {
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
	if (w->hot[id].len == 0) {
		odd(w, id, r);
		return 1;
	}
	return 0;
}

const uint32_t *
evw_records(struct evw *w, const uint32_t *from, const uint32_t *to)
{
	const uint32_t *r = from, *end;
	int took;

	w->error[0] = '\0';
	for (;;) {
		if (w->hot != NULL)
			r = w->way(w, r, to);
		if (r >= to || *r == 0)
			return r;
		took = uncommon(w, r, to);
		if (took < 0)
			return r;
		end = r + 1 + 2 * (*r >> 24);
		r = took > 0 ? end : evwrec_plain(w, r, end);
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

int
evw_total(struct evw *w, uint32_t id, uint64_t n)
{
	if (id == 0 || id > EVW_MAXID || w->cold == NULL || define(w, id) < 0)
		return -1;
	evw_line(w, "W %x %" PRIx64, id, n);
	w->told += n;
	return 0;
}

void
evw_exec(struct evw *w, uint32_t id, unsigned ngroups, const uint64_t *diff,
    uint64_t more)
{
	uint32_t head = ngroups << 24 | id;
	char *p;

	w->told += more + 1;
	if (head == w->prev &&
	    memcmp(diff, w->last, ngroups * sizeof *diff) == 0) {
		w->more += more + 1;
		return;
	}
	p = evw_puthex(evwrec_finish(w, w->p), id);
	for (unsigned i = 0; i < ngroups; i++) {
		w->last[i] = diff[i];
		p = evwrec_field(p, diff[i]);
	}
	w->prev = head;
	w->more = more;
	w->p = p;
}
