/*
 * evwrec - make execution lines of records: the plain way
 *
 * A record costs a few ns. All it needs is a table entry of 12 bytes: the id's
 * digits, its number of groups, where its block's values are.
 *
 * This way runs on all processors.  It makes a field from two lookups in a
 * table of three digits each and one 8-byte store, without a branch on its
 * length or sign. But it needs a loop over the fields, and processors predict
 * badly how often such a loop goes round.
 *
 * evwavx2.c and evwavx512.c make several fields at once, evwone.c takes records
 * of one value, and evwway.c says which of them this processor can run.
 */
#include "evwlanes.h"

#include "out.h"

uint32_t evwrec_three[4096];

void
evwrec_init(void)
{
	for (uint64_t i = 0; i < 4096; i++)
		evwrec_three[i] = (uint32_t)evw_digits(i, 3);
}

char *
evwrec_spill(struct evw *w, char *p)
{
	out_write(w->out, w->buf, (size_t)(p - w->buf));
	return w->buf;
}

/* End the unfinished line, and write the same line again. */
static __attribute__((noinline, cold)) char *
once_more(struct evw *w, char *p)
{
	*p++ = '\n';
	if (p > w->buf + EVW_BUFSIZE - EVW_MAXEXEC)
		p = evwrec_spill(w, p);
	p = evw_puthex(p, ev_id(w->prev));
	for (unsigned i = 0; i < ev_ngroups(w->prev); i++)
		p = evwrec_field(p, w->last[i]);
	return p;
}

/*
 * Write the repeats of the unfinished line. A line holds EV_MOST of them; more
 * take further lines like it. Those need last[], which a running evwrec_fn may
 * have in registers; but then its line has fewer repeats.
 */
char *
evwrec_more(struct evw *w, char *p)
{
	for (; w->more > EV_MOST; w->more -= EV_MOST + 1) {
		*p++ = '*';
		p = once_more(w, evw_puthex(p, EV_MOST));
	}
	if (w->more != 0) {
		*p++ = '*';
		p = evw_puthex(p, w->more);
	}
	w->more = 0;
	return p;
}

char *
evwrec_end(struct evw *w, char *p, uint32_t prev, uint64_t more)
{
	w->prev = prev;
	w->more = more;
	return evwrec_finish(w, p);
}

const uint32_t *
evwrec_plain(struct evw *w, const uint32_t *r, const uint32_t *to)
{
	char *p = w->p;
	uint64_t *value, *last = w->last, nexec = 0, now, diff;
	uint32_t head;

	while (r < to && (head = evwrec_head(r)) != 0) {
		unsigned n = ev_ngroups(head);
		const struct evw_hot *h = w->hot + ev_id(head);

		if (__builtin_expect(h->len == 0 || h->check != 255 - n ||
		    to - r < 1 + 2 * (ptrdiff_t)n, 0))
			break;
		nexec++;
		value = evw_values(w, h);
		if (head == w->prev && evwrec_repeats(w, r, value, n)) {
			w->more++;
			r += 1 + 2 * n;
			continue;
		}
		p = evwrec_finish(w, p);
		memcpy(p, h->digit, 8);
		p += h->len;
		for (unsigned i = 0; i < n; i++) {
			memcpy(&now, r + 1 + 2 * i, 8);
			diff = now - value[i];
			value[i] = now;
			last[i] = diff;
			p = evwrec_field(p, diff);
		}
		w->prev = head;
		r += 1 + 2 * n;
	}
	w->nexec += nexec;
	w->p = p;
	return r;
}
