/*
 * evwrite - write event text, events(5): executions
 *
 * The hot loops are in evwrec.c, the invariants in evwrec.h.  This file has
 * what happens rarely, and what needs no records.
 */
#include "evw.h"

#include <stdio.h>
#include <string.h>

#include "evwids.h"

/* Write a record of a reference alone whose groups are scattered. */
static void
scattered(struct evw *w, uint32_t id, const uint32_t *r)
{
	const struct evw_cold *c = &w->cold[id];
	const struct evw_ref *ref = cold_more(w, c)->ref;
	uint64_t *value = evw_values(w, &w->hot[cold_block(w, c)]);
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
	    evwids_define(w, id) < 0)) {
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
		cold_more(w, &w->cold[id])->special(w, r + 1);
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

const char *
evw_error(const struct evw *w)
{
	return w->error[0] != '\0' ? w->error : NULL;
}

int
evw_count(struct evw *w, uint32_t id, uint64_t n)
{
	if (id == 0 || id > EVW_MAXID || w->cold == NULL ||
	    evwids_define(w, id) < 0)
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

	if (id == 0 || id > EVW_MAXID || w->cold == NULL ||
	    evwids_define(w, id) < 0)
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
	w->p = evwrec_text(w, evwrec_finish(w, w->p), line, len);
	memcpy(w->last, diff, ngroups * sizeof *diff);
	w->prev = head;
	w->more = 0;
}
