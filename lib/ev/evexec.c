/*
 * evexec - batches of executions of event text
 *
 * evscan turns executions into words, at most 8 KiB of text at a time, so that
 * text and words are in the L1 cache until the caller has used them. Then
 * evcheck makes records of the words: it replaces each line's id by the head of
 * its records, after comparing the number of fields with that of the id. If
 * anything in the text is wrong, the reader scans its lines one by one up to
 * the wrong one.
 */
#include <inttypes.h>
#include <string.h>

#include "evr.h"

#define ALONE	48	/* bytes of a line that is scanned alone */

/* Make records of all words of a new scan; -1: a line does not fit its id. */
static int
check(struct evr *r)
{
	evcheck_begin(r->scan);
	return evcheck(r->scan, r->def.head);
}

/* Report what is wrong with the execution line at p. */
static int
bad_line(struct evr *r, size_t len)
{
	const char *at;
	const struct ev_def *d;
	unsigned n;

	if (evscan_line(r->scan, r->b.p, len, &at) < 0)
		return evr_bad(r, "malformed execution at `%.*s'",
		    (int)(r->b.p + len - 1 - at < 20 ?
		    r->b.p + len - 1 - at : 20), at);
	d = evdef_find(&r->def, r->scan->word[0]);
	if (d == NULL)
		return evr_bad(r, "undefined id %" PRIx64, r->scan->word[0]);
	n = r->scan->nword - r->scan->npiece;
	if (r->scan->npiece == 2 && n == d->ngroups &&
	    r->scan->piece[1] == (EVSCAN_STAR | (r->scan->nword - 1)))
		return evr_bad(r, "%" PRIx64 " repeats, more than %" PRIx64,
		    r->scan->word[r->scan->nword - 1], EV_MOST);
	if (r->scan->npiece > 2 || n == d->ngroups)
		return evr_bad(r, "malformed execution: `*' belongs at its "
		    "end");
	return evr_bad(r, "%u fields, but id %" PRIx64 " has %u", n,
	    r->scan->word[0], d->ngroups);
}

/* The length of the good lines before the first bad one in n bytes at p. */
static size_t
good_lines(struct evr *r, size_t n)
{
	const char *line = r->b.p, *end = r->b.p + n, *at, *nl;

	for (; line < end; line = nl + 1) {
		nl = memchr(line, '\n', (size_t)(end - line));
		if (evscan_line(r->scan, line, (size_t)(nl + 1 - line),
		    &at) < 0 || check(r) < 0)
			break;
	}
	return (size_t)(line - r->b.p);
}

/* Scan one line alone, with another kind of line behind it; 0: it is not. */
static size_t
scan_alone(struct evr *r)
{
	size_t n = (size_t)(r->b.lines - r->b.p);
	const char *nl = memchr(r->b.p, '\n', n < ALONE ? n : ALONE), *at;

	if (nl == NULL || nl + 1 == r->b.lines || nl[1] < 'A' || nl[1] > 'Z')
		return 0;
	n = (size_t)(nl + 1 - r->b.p);
	if (evscan_line(r->scan, r->b.p, n, &at) < 0)
		return 0;
	r->scan->malformed = false;
	return n;
}

/* Has each outcome its instruction, and does none need what a line can say? */
static bool
outcomes_fit(const struct evr *r)
{
	const struct ev_out *o = r->scan->out, *end = o + r->scan->nout;
	const struct ev_def *d;

	for (; o < end; o++) {
		d = o->at == EV_OUT_BEFORE ? ev_last(r) :
		    evdef_get(&r->def, ev_id(r->scan->word[o->at]));
		if (d == NULL || o->insn > d->n)
			return false;
	}
	return true;
}

/* The whole lines at p that one scan takes, in bytes; 0: a line is too long. */
static size_t
whole_lines(const struct evr *r)
{
	size_t n = (size_t)(r->b.lines - r->b.p);
	const char *nl;

	if (n <= EVSCAN_TEXT)
		return n;
	nl = memrchr(r->b.p, '\n', EVSCAN_TEXT);
	return nl == NULL ? 0 : (size_t)(nl + 1 - r->b.p);
}

/* Scan executions with outcomes among them; 0: it is not as simple as that. */
static size_t
scan_outcomes(struct evr *r, size_t n)
{
	size_t taken = evout_scan(r->scan, &r->lists[0], r->b.p, n);

	return taken != 0 && check(r) == 0 && outcomes_fit(r) ? taken : 0;
}

/* Scan the executions at p; returns the bytes scanned. 0: there are none. */
static size_t
scan(struct evr *r)
{
	size_t n = whole_lines(r), taken;
	const char *nl;

	if (n == 0)
		return 0;
	if (r->lists != NULL && (taken = scan_outcomes(r, n)) != 0)
		return taken;
	taken = scan_alone(r);
	if (taken == 0)
		taken = evscan_text(r->scan, r->b.p, n);
	if (taken == 0)
		return 0;
	if (r->scan->malformed || check(r) < 0) {
		taken = good_lines(r, n);
		if (taken == 0) {
			nl = memchr(r->b.p, '\n', n);
			bad_line(r, (size_t)(nl + 1 - r->b.p));
			return 0;
		}
		evscan_text(r->scan, r->b.p, taken);
		check(r);
	}
	return taken;
}

int
evexec_next(struct evr *r, struct ev *e)
{
	size_t taken, n;

	if (*r->b.p < '0')
		return 0;
	if (r->kind == EV_BRANCHES)
		return evr_bad(r, "an execution, but kind branches has only "
		    "sums");
	r->scan = evbuf_scanned(&r->b, &taken);
	if (r->scan == NULL || evcheck(r->scan, r->def.head) < 0 ||
	    !outcomes_fit(r)) {
		r->scan = &r->own;
		taken = *r->b.p == 'O' ? 0 : scan(r);
	}
	if (taken == 0)
		return r->state == FAILED ? -1 : 0;
	e->line = r->b.p;
	e->len = taken;
	e->rec = r->scan->word;
	e->end = r->scan->word + r->scan->nword;
	e->out = r->scan->out;
	e->nout = r->scan->nout;
	r->b.p += taken;
	r->lineno += r->scan->nline + r->scan->nout;
	r->nexec += r->scan->nexec;
	if (r->nexec > INT64_MAX)
		return evr_bad(r, "more than 2^63 executions");
	/* The last line's id is in its last piece, or the one before a `*`. */
	n = r->scan->npiece - 1;
	if (r->scan->piece[n] & EVSCAN_STAR)
		n--;
	r->before = r->last[r->thread];
	r->last[r->thread] = ev_id(r->scan->word[r->scan->piece[n]]);
	return EV_EXECS;
}
