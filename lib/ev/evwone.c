/*
 * evwone - make execution lines of records that have one value each
 *
 * In kind cache nearly all records have one value.  They share the lanes of a
 * vector: first the differences are taken, one by one, since they are to each
 * other's values; then the lines are made, four at once.
 */
#include "evwlanes.h"

const uint32_t *
evwrec_single(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	char *p = w->p;
	uint64_t nexec = 0, last = w->last[0], now, diff, s, a, x, *value;
	uint32_t head, prev = w->prev;
	unsigned n;

	for (; to - r >= 3; r += 3) {
		const struct evw_hot *h;

		head = evwrec_head(r);
		h = w->hot + ev_id(head);
		if (__builtin_expect(ev_ngroups(head) != 1 || h->len == 0 ||
		    h->check != 254, 0))
			break;
		__builtin_prefetch((const char *)r + EVWREC_AHEAD);
		memcpy(&now, r + 1, 8);
		value = evw_values(w, h);
		diff = now - *value;
		*value = now;
		nexec++;
		if (head == prev && diff == last) {
			w->more++;
			continue;
		}
		w->prev = prev;
		p = evwrec_finish(w, p);
		prev = head;
		last = diff;
		memcpy(p, h->digit, 8);
		p += h->len;
		s = (uint64_t)((int64_t)diff >> 63);
		a = (diff ^ s) - s;
		if (__builtin_expect(a >> 32 != 0, 0)) {
			p = evwrec_field(p, diff);
			continue;
		}
		n = evw_ndigits(a);
		x = evw_digits(a, n);
		*p = (char)('+' + (s & 2) + (a == 0) * 3);
		memcpy(p + 1, &x, 8);
		p += 1 + n;
	}
	w->last[0] = last;
	w->prev = prev;
	w->nexec += nexec;
	w->p = p;
	return r;
}

#define SLOWLY	4	/* so many the plain way, when one is not as usual */

/*
 * Take the differences, but stop at a record that repeats the last, differs by
 * more than 7 digits, has other than one value, or an id without digits.
 */
static inline unsigned
stage(struct evw *w, const uint32_t *r, size_t most, struct evw_staged *s)
{
	uint64_t last = w->last[0], now, diff, *value;
	uint32_t prev = w->prev, head;
	unsigned n;

	for (n = 0; n < most && n < STAGED; n++, r += 3) {
		const struct evw_hot *h;

		head = evwrec_head(r);
		h = w->hot + ev_id(head);
		if (__builtin_expect(((ev_ngroups(head) ^ 1U) |
		    (h->check ^ 254U)) != 0 || h->len == 0, 0))
			break;
		__builtin_prefetch((const char *)r + EVWREC_AHEAD);
		memcpy(&now, r + 1, 8);
		value = evw_values(w, h);
		diff = now - *value;
		if (__builtin_expect(diff + 0xfffffff > 0x1ffffffe ||
		    (head == prev && diff == last), 0))
			break;
		*value = now;
		memcpy(&s[n].entry, h, sizeof s[n].entry);
		s[n].diff = diff;
		prev = head;
		last = diff;
	}
	w->last[0] = last;
	w->prev = prev;
	w->nexec += n;
	return n;
}

const uint32_t *
evwone_staged(struct evw *w, const uint32_t *r, const uint32_t *to,
    evw_lines_fn *put)
{
	const char *limit = evwlanes_limit(w);
	struct evw_staged s[STAGED] = { 0 };
	const uint32_t *next;
	unsigned n;

	for (;;) {
		/* there is a line to go on behind, and room */
		n = w->prev == 0 || w->more != 0 || w->p >= limit ? 0 :
		    stage(w, r, (size_t)(to - r) / 3, s);
		w->p = put(w->p, s, n);
		r += 3 * n;
		if (n == STAGED)
			continue;
		next = evwrec_single(w, r, to - r < 3 * SLOWLY ? to :
		    r + 3 * SLOWLY);
		if (next == r)
			return r;
		r = next;
	}
}
