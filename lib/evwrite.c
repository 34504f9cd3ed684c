/*
 * evwrite - write event text, events(5)
 *
 * The hot loop is evw_records. A record costs a few ns: its entry in a table
 * is 16 bytes (the id's digits, its number of groups, where its block's values
 * are), a field is made of two looks into a table of three digits each and one
 * 8-byte store, without a branch on its length or sign.
 *
 * Invariants:
 *  (1) The buffer ends in an unfinished line (without "*n" and newline)
 *	exactly when w->prev is not 0; prev and last[] are that line's header
 *	and differences. Whoever writes anything else calls finish() first.
 *  (2) A hot entry has digits (len != 0) only after its B, P or Q line was
 *	written. Only the writing thread touches hot entries and values.
 *  (3) A cold entry is written by the registering thread before it stores
 *	the state WAITING with release order, and only read afterwards, but
 *	for the writing thread's step from WAITING to WRITTEN.
 *  (4) Between lines there is room for one whole line, MAXEXEC bytes.
 */
#include "evw.h"

#include <sys/mman.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "util.h"

/* more than out holds, so that it passes a full buffer straight on */
#define BUFSIZE		(272 << 10)
/* id, 255 fields of sign and 16 digits, "*", 16 digits, newline; stores of 8 */
#define MAXEXEC		(6 + 255 * 17 + 18 + 16)

enum { UNKNOWN, WAITING, WRITTEN };

/* What a record needs. The digits are stored as 8 bytes, len of them count. */
struct hot {
	char digit[6];
	uint8_t len;
	uint8_t odd;		/* 255 - ngroups; not used while len is 0 */
	uint64_t *value;
};

/* What the first execution needs, 24 bytes. */
struct cold {
	union {
		const char *items;	/* B */
		struct evw_ref *ref;	/* Q */
	};
	uint32_t block;		/* P, Q */
	uint32_t n;		/* B: instructions; P: of the prefix */
	_Atomic uint8_t state;
	char letter;
	uint8_t ngroups;
};

struct evw {
	struct out *out;
	char *buf;
	char *p;		/* the end of what was written */
	struct hot *hot;
	struct cold *cold;
	uint32_t prev;		/* header of the unfinished line, or 0 */
	uint64_t more;		/* repeats of it */
	uint64_t told;		/* executions */
	uint32_t maxid;		/* of those defined in the text */
	uint64_t *room;		/* for values of blocks to come */
	size_t nroom;
	uint64_t last[EVW_MAXGROUPS];
	char error[100];
};

/* ---- numbers ---- */

/* The digits of a < 2^32 in the low bytes, the first one in byte 0. */
static inline uint64_t
digits(uint64_t a, unsigned n)
{
	uint64_t x = a, big;

	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
	x = __builtin_bswap64(x);
	big = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	x += 0x3030303030303030 + big * ('a' - '0' - 10);
	return x >> (-8 * n & 63);
}

/* How many digits a number has; 0 has none. */
static inline unsigned
ndigits(uint64_t a)
{
	if (a >> 60)
		return 16;
	return (66 - (unsigned)__builtin_clzll(a << 1 | 1)) >> 2;
}

static inline char *
put_hex(char *p, uint64_t a)
{
	unsigned n;
	uint64_t x;

	if (a >> 32 != 0) {
		n = ndigits(a >> 32);
		x = digits(a >> 32, n);
		memcpy(p, &x, 8);
		p += n;
		x = digits(a & 0xffffffff, 8);
		memcpy(p, &x, 8);
		return p + 8;
	}
	n = a == 0 ? 1 : ndigits(a);
	x = digits(a, n);
	memcpy(p, &x, 8);
	return p + n;
}

/* The three digits of each number below 4096, the first in the low byte. */
static uint32_t three[4096];

static void
make_three(void)
{
	for (uint64_t i = 0; i < 4096; i++)
		three[i] = (uint32_t)digits(i, 3);
}

/* One field: the sign, or `.`, is chosen by arithmetic, not by branches. */
static inline char *
put_field(char *p, uint64_t diff)
{
	uint64_t s = (uint64_t)((int64_t)diff >> 63);
	uint64_t a = (diff ^ s) - s, x;
	unsigned n;

	if (__builtin_expect(a >> 24 != 0, 0)) {
		*p = s ? '-' : '+';
		return put_hex(p + 1, a);
	}
	n = (66 - (unsigned)__builtin_clzll(a << 1 | 1)) >> 2;
	x = (three[a >> 12] | (uint64_t)three[a & 4095] << 24) >>
	    (48 - 8 * n);
	*p = (char)('+' + (s & 2) + (a == 0) * 3);
	memcpy(p + 1, &x, 8);
	return p + 1 + n;
}

/* ---- the buffer ---- */

static char *
spill(struct evw *w, char *p)
{
	out_write(w->out, w->buf, (size_t)(p - w->buf));
	return w->buf;
}

static char *
put_more(struct evw *w, char *p)
{
	*p++ = '*';
	p = put_hex(p, w->more);
	w->more = 0;
	return p;
}

/* The end of the unfinished line, if there is one. */
static inline __attribute__((always_inline)) char *
finish(struct evw *w, char *p)
{
	if (w->prev == 0)
		return p;
	if (__builtin_expect(w->more != 0, 0))
		p = put_more(w, p);
	*p++ = '\n';
	w->prev = 0;
	if (__builtin_expect(p > w->buf + BUFSIZE - MAXEXEC, 0))
		p = spill(w, p);
	return p;
}

static char *
put_text(struct evw *w, char *p, const char *text, size_t len)
{
	if ((size_t)(p - w->buf) + len > BUFSIZE - MAXEXEC)
		p = spill(w, p);
	memcpy(p, text, len);
	return p + len;
}

struct evw *
evw_open(struct out *out)
{
	struct evw *w = xcalloc(1, sizeof *w);

	if (three[0] == 0)
		make_three();
	w->out = out;
	w->buf = xmalloc(BUFSIZE);
	w->p = w->buf;
	return w;
}

void
evw_raw(struct evw *w, const char *line, size_t len)
{
	char *p = finish(w, w->p);

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
	w->p = spill(w, finish(w, w->p));
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
static struct cold *
fresh(struct evw *w, uint32_t id)
{
	struct cold *c;

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
static const struct cold *
known_block(struct evw *w, uint32_t id)
{
	const struct cold *b;

	if (id == 0 || id > EVW_MAXID)
		return NULL;
	b = &w->cold[id];
	return b->state != UNKNOWN && b->letter == 'B' ? b : NULL;
}

static void
publish(struct cold *c)
{
	atomic_store_explicit(&c->state, WAITING, memory_order_release);
}

int
evw_block(struct evw *w, uint32_t id, const char *items, unsigned ngroups,
    unsigned ninsn)
{
	struct cold *c = fresh(w, id);

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
	struct cold *c = fresh(w, id);
	const struct cold *b = known_block(w, block);

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
	struct cold *c = fresh(w, id);
	const struct cold *b = known_block(w, block);

	if (c == NULL || b == NULL || ref.n == 0 || ref.n > b->n)
		return -1;
	for (unsigned i = 0; i < ref.ngroups; i++)
		if (i == sizeof ref.group || ref.group[i] >= b->ngroups ||
		    (i != 0 && ref.group[i] <= ref.group[i - 1]))
			return -1;
	c->letter = 'Q';
	c->block = block;
	c->n = ref.n;
	c->ngroups = (uint8_t)ref.ngroups;
	c->ref = xmalloc(sizeof *c->ref);
	*c->ref = ref;
	publish(c);
	return 0;
}

static uint64_t *
new_values(struct evw *w, unsigned n)
{
	uint64_t *v;

	if (n > w->nroom) {
		w->nroom = 8192;
		w->room = xcalloc(w->nroom, sizeof *w->room);
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
is_odd(const struct cold *c)
{
	return c->letter == 'Q' && c->ngroups > 1 &&
	    c->ref->group[c->ngroups - 1] - c->ref->group[0] !=
	    c->ngroups - 1;
}

/* Write the line that defines an id, its block's first. -1: undefined. */
static int
define(struct evw *w, uint32_t id)
{
	struct cold *c = &w->cold[id];
	struct hot *h = &w->hot[id];
	char text[9] = "";
	uint64_t x;

	switch (atomic_load_explicit(&c->state, memory_order_acquire)) {
	case UNKNOWN:
		return -1;
	case WRITTEN:
		return 0;
	}
	if (c->letter != 'B')
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
	} else {
		evw_line(w, "Q %x %x %x %x", id, c->block, c->n, c->ref->k);
		h->value = w->hot[c->block].value;
		if (c->ngroups != 0)
			h->value += c->ref->group[0];
	}
	if (is_odd(c))
		return 0;
	x = digits(id, ndigits(id));
	memcpy(text, &x, 8);
	memcpy(h->digit, text, sizeof h->digit);
	h->odd = (uint8_t)(255 - c->ngroups);
	h->len = (uint8_t)ndigits(id);
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
	const struct cold *c = &w->cold[id];
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

/* Is this record the unfinished line again? Then its values are taken. */
static inline int
same_again(const struct evw *w, const uint32_t *r, uint64_t *value, unsigned n)
{
	uint64_t now;

	for (unsigned i = 0; i < n; i++) {
		memcpy(&now, r + 1 + 2 * i, 8);
		if (now - value[i] != w->last[i])
			return 0;
	}
	for (unsigned i = 0; i < n; i++)
		value[i] += w->last[i];
	return 1;
}

const uint32_t *
evw_records(struct evw *w, const uint32_t *from, const uint32_t *to)
{
	const uint32_t *r = from;
	const struct hot *h;
	char *p = w->p;
	uint64_t *value, *last = w->last, told = 0, now, diff;
	uint32_t head;
	unsigned n, i;
	int took;

	w->error[0] = '\0';
	while (r < to && (head = *r) != 0) {
		n = head >> 24;
		h = w->hot + (head & EVW_MAXID);
		if (__builtin_expect(w->hot == NULL || h->len == 0 ||
		    h->odd != 255 - n || to - r < 1 + 2 * (ptrdiff_t)n, 0)) {
			w->p = p;
			took = uncommon(w, r, to);
			p = w->p;
			if (took < 0)
				break;
			if (took > 0)
				r += 1 + 2 * n;
			continue;
		}
		told++;
		if (head == w->prev && same_again(w, r, h->value, n)) {
			w->more++;
			r += 1 + 2 * n;
			continue;
		}
		p = finish(w, p);
		value = h->value;
		memcpy(p, h->digit, 8);
		p += h->len;
		for (i = 0; i < n; i++) {
			memcpy(&now, r + 1 + 2 * i, 8);
			diff = now - value[i];
			value[i] = now;
			last[i] = diff;
			p = put_field(p, diff);
		}
		w->prev = head;
		r += 1 + 2 * n;
	}
	w->told += told;
	w->p = p;
	return r;
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
	p = put_hex(finish(w, w->p), id);
	for (unsigned i = 0; i < ngroups; i++) {
		w->last[i] = diff[i];
		p = put_field(p, diff[i]);
	}
	w->prev = head;
	w->more = more;
	w->p = p;
}
