/*
 * evwrec.h - make execution lines of records; the internals of the writer
 *
 * Inside lib only: what evwline.c, evwids.c and evwrite.c share with
 * the ways to make lines of records: evwrec.c, and those of evwlanes.h.
 *
 * Invariants:
 *  (1) The buffer ends in an unfinished line (without "*n" and newline)
 *	exactly when w->prev is not 0; prev and last[] are that line's header
 *	and differences. Any function that writes anything else calls
 *	evwrec_finish() first.
 *  (2) A hot entry has digits (len != 0) only after its B, P or Q line was
 *	written. Only the writing thread touches hot entries and values.
 *  (3) Between lines there is room for one whole line, EVW_MAXEXEC bytes.
 *  (4) From each entry's value on, EVW_LANES values may be read and written
 *	back unchanged, even if they belong to other entries.
 */
#ifndef EVWREC_H
#define EVWREC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ev.h"
#include "evw.h"
#include "mem.h"

/* more than out's buffer, so that out writes a full buffer without a copy */
#define EVW_BUFSIZE	(272 << 10)
/*
 * id, 255 fields of sign and 16 digits, "*", 16 digits, newline; and 64 for
 * stores that write more bytes than count
 */
#define EVW_MAXEXEC	(6 + 255 * 17 + 18 + 64)
#define EVW_LANES	8

/* Entries of cold ids that need more have it by so many. */
#define EVW_MORE	4096

/* What a record needs. The digits are copied as 8 bytes, len of them count. */
struct evw_hot {
	char digit[6];
	uint8_t len;
	uint8_t check;		/* 255 - ngroups; not used while len is 0 */
	uint32_t value;		/* index of its values; 0: it has none yet */
};
_Static_assert(sizeof(struct evw_hot) == 12, "one for each id");

#define EVW_VALUES	(1ul << 27)	/* in all; reserved, not used at once */

struct evw {
	void (*noted)(struct evw *, uint32_t id, uint32_t note);
	struct out *out;
	const uint32_t *(*way)(struct evw *, const uint32_t *,
	    const uint32_t *);	/* the best of evwrec_way, */
	const uint32_t *(*single)(struct evw *, const uint32_t *,
	    const uint32_t *);	/* of evwrec_single_way */
	char *buf;
	char *p;		/* the end of what was written */
	struct evw_hot *hot;
	struct evw_cold *cold;
	struct touched hotpages, coldpages;
	struct evw_more *rest[(EVW_MAXID + 1) / EVW_MORE];
	uint32_t nrest;
	uint32_t prev;		/* header of the unfinished line, or 0 */
	uint64_t more;		/* repeats of it */
	uint64_t nexec;		/* executions written */
	bool calls;		/* the stream is of kind calls */
	uint32_t maxid;		/* of those defined in the text */
	uint64_t *values;
	size_t nvalues;
	struct touched valuepages;
	uint32_t ones;		/* for values of references that stay */
	uint32_t nones;		/* not 0: there are such references */
	uint64_t last[EVW_MAXGROUPS + EVW_LANES];
	char error[100];
};

/* The last values of a hot entry, a word for each group. */
static inline uint64_t *
evw_values(const struct evw *w, const struct evw_hot *h)
{
	return w->values + h->value;
}

/* ---- numbers ---- */

/* The digits of a < 2^32 in the low bytes, the first one in byte 0. */
static inline uint64_t
evw_digits(uint64_t a, unsigned n)
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

/* How many hexadecimal digits a number has; 0 has none. */
static inline unsigned
evw_ndigits(uint64_t a)
{
	if (a >> 60)
		return 16;
	return (66 - (unsigned)__builtin_clzll(a << 1 | 1)) >> 2;
}

/*
 * Write a number's hexadecimal digits, 0 as one, and return where they end. It
 * may write up to 8 bytes more than these.
 */
static inline char *
evw_puthex(char *p, uint64_t a)
{
	unsigned n;
	uint64_t x;

	if (a >> 32 != 0) {
		n = evw_ndigits(a >> 32);
		x = evw_digits(a >> 32, n);
		memcpy(p, &x, 8);
		p += n;
		x = evw_digits(a & 0xffffffff, 8);
		memcpy(p, &x, 8);
		return p + 8;
	}
	n = a == 0 ? 1 : evw_ndigits(a);
	x = evw_digits(a, n);
	memcpy(p, &x, 8);
	return p + n;
}

/* ---- lines of records ---- */

/*
 * A record's header: ev_head(ngroups, id).  Another process may write to the
 * records' memory, so the header is read only once: what was checked is used.
 */
static inline uint32_t
evwrec_head(const uint32_t *r)
{
	return *(const volatile uint32_t *)r;
}

/* Another core wrote the records: prefetch them so many bytes ahead. */
#define EVWREC_AHEAD	1024

/* Does this record repeat the unfinished line? If so, update its values. */
static inline bool
evwrec_repeats(const struct evw *w, const uint32_t *r, uint64_t *value,
    unsigned n)
{
	uint64_t now;

	for (unsigned i = 0; i < n; i++) {
		memcpy(&now, r + 1 + 2 * i, 8);
		if (now - value[i] != w->last[i])
			return false;
	}
	for (unsigned i = 0; i < n; i++)
		value[i] += w->last[i];
	return true;
}

/* The three digits of each number below 4096, the first in the low byte. */
extern uint32_t evwrec_three[4096];
/* Fill that table. Call it first. */
void evwrec_init(void);

/*
 * Write a field at p: sign and digits of a difference, or `.`; up to 17 bytes.
 * Arithmetic, not a branch, chooses `+`, `-` or `.`.  It is not in line, but in
 * each file: a compiler that sees its code leaves vectors in their registers.
 */
static __attribute__((noinline, unused)) char *
evwrec_field(char *p, uint64_t diff)
{
	uint64_t s = (uint64_t)((int64_t)diff >> 63);
	uint64_t a = (diff ^ s) - s, x;
	unsigned n;

	if (__builtin_expect(a >> 24 != 0, 0)) {
		*p = s ? '-' : '+';
		return evw_puthex(p + 1, a);
	}
	n = (66 - (unsigned)__builtin_clzll(a << 1 | 1)) >> 2;
	x = (evwrec_three[a >> 12] |
	    (uint64_t)evwrec_three[a & 4095] << 24) >> (48 - 8 * n);
	*p = (char)('+' + (s & 2) + (a == 0) * 3);
	memcpy(p + 1, &x, 8);
	return p + 1 + n;
}

/*
 * Write "*n" for the repeats at p, or several such lines; returns where the
 * text ends then.
 */
char *evwrec_more(struct evw *, char *p);
/* Write the buffer, which ends at p, to out: it is empty then. */
char *evwrec_spill(struct evw *, char *p);

/*
 * Write records whose entries have digits. Such a function stops at `to`, at a
 * header 0, or at a record that it does not handle, and returns where.
 * evwrec_way gives the implementations: 0, the plain one, which handles all
 * records that match their entries, 1, by AVX2, and 2, by AVX-512; or NULL if
 * this processor cannot run it.
 */
#define EVWREC_WAYS	3
typedef const uint32_t *evwrec_fn(struct evw *, const uint32_t *r,
    const uint32_t *to);
evwrec_fn evwrec_plain;
evwrec_fn *evwrec_way(unsigned way);
/* The same for records of one value, and no others. */
evwrec_fn evwrec_single;
evwrec_fn *evwrec_single_way(unsigned way);

/* Write text at p, between lines, and return where it ends then. */
static inline char *
evwrec_text(struct evw *w, char *p, const char *text, size_t len)
{
	if ((size_t)(p - w->buf) + len > EVW_BUFSIZE - EVW_MAXEXEC)
		p = evwrec_spill(w, p);
	memcpy(p, text, len);
	return p + len;
}

/* End the unfinished line, if there is one. */
static inline __attribute__((always_inline)) char *
evwrec_finish(struct evw *w, char *p)
{
	if (w->prev == 0)
		return p;
	if (__builtin_expect(w->more != 0, 0))
		p = evwrec_more(w, p);
	*p++ = '\n';
	w->prev = 0;
	if (__builtin_expect(p > w->buf + EVW_BUFSIZE - EVW_MAXEXEC, 0))
		p = evwrec_spill(w, p);
	return p;
}

#endif
