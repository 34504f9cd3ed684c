/*
 * evread - read event text, events(5)
 *
 * evscan turns executions into words, at most 8 KiB of text at a time, so that
 * text and words are in the L1 cache until the caller has used them. Then
 * evcheck makes records of the words: it replaces each line's id by the head of
 * its records, after comparing the number of fields with that of the id. If
 * anything in the text is wrong, the reader scans its lines one by one up to
 * the wrong one.
 *
 * Invariants:
 *  (1) those of evbuf.h
 *  (2) After an error or the end nothing is read any more.
 */
#include "ev.h"

#include <htslib/khash.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evbuf.h"
#include "evctx.h"
#include "evdef.h"
#include "evline.h"
#include "evnames.h"
#include "evout.h"
#include "evscan.h"
#include "evstand.h"
#include "in.h"
#include "meter.h"
#include "util.h"

#define MAXLINE	EVBUF_MAXLINE
#define ALONE	48	/* bytes of a line that is scanned alone */

KHASH_MAP_INIT_INT64(tid, uint32_t)

enum { READING, ENDED, FAILED };

struct evr {
	struct evbuf b;
	uint64_t lineno;	/* of the line at p, from 1 */
	uint64_t nexec;		/* executions so far */
	int state;
	bool began;		/* a line that is not H has been read */
	unsigned version;	/* of the grammar, 1 or 2 */
	unsigned kind, accept;
	const char *why;	/* what only the kinds in accept tell */
	uint64_t fsets, fsize, fways;	/* kind cache: trace's table */
	char *text;		/* the line's text, unescaped */
	khash_t(tid) *tid;	/* thread id -> thread number */
	uint64_t now;		/* tid of the running thread */
	unsigned thread, nthread;	/* its number; numbers so far */
	bool named;		/* there was a T line */
	uint32_t nlabel;	/* labels that O lines gave */
	uint32_t *last;		/* by thread: its last execution's id, or 0 */
	size_t caplast;
	uint32_t before;	/* the running one's before the last batch */
	struct evdef def;
	struct evctx ctx;
	struct evnames names;
	struct evstand stand;
	struct evscan *scan;	/* what is read: own, or one of b's */
	struct evscan own;
	struct evout_lists *lists;	/* own's, then b's; or NULL */
	char *error;
};

/* ---- errors ---- */

static int
fail(struct evr *r, const char *fmt, va_list ap)
{
	char why[400];
	size_t n;

	vsnprintf(why, sizeof why, fmt, ap);
	n = strlen(why) + strlen(in_name(r->b.in)) + 32;
	r->error = xmalloc(n);
	snprintf(r->error, n, "%s:%" PRIu64 ": %s", in_name(r->b.in), r->lineno,
	    why);
	r->state = FAILED;
	return -1;
}

__attribute__((format(printf, 2, 3)))
static int
bad(struct evr *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(r, fmt, ap);
	va_end(ap);
	return -1;
}

int
ev_bad(struct evr *r, const char *fmt, ...)
{
	va_list ap;

	if (r->state == FAILED)
		return -1;
	/* lineno already counts the line in question */
	r->lineno--;
	va_start(ap, fmt);
	fail(r, fmt, ap);
	va_end(ap);
	return -1;
}

void
ev_bad_out(struct evr *r, const struct ev *e, const struct ev_out *o,
    const char *fmt, ...)
{
	const struct ev_out *last = e->out + e->nout;
	const uint64_t *rec = ev_out_end(e, o);
	va_list ap;

	if (r->state == FAILED)
		return;
	for (; rec < e->end; rec = ev_skip(rec))
		r->lineno--;
	r->lineno -= (uint64_t)(last - o);
	va_start(ap, fmt);
	fail(r, fmt, ap);
	va_end(ap);
}

static int
truncated(struct evr *r)
{
	size_t n = strlen(in_name(r->b.in)) + 60;

	r->error = xmalloc(n);
	snprintf(r->error, n, "%s: truncated after %" PRIu64 " executions",
	    in_name(r->b.in), r->nexec);
	r->state = FAILED;
	return -1;
}

const char *
ev_error(const struct evr *r)
{
	return r->error;
}

/* ---- opening, closing, properties ---- */

struct evr *
ev_open(struct in *in)
{
	struct evr *r = xcalloc(1, sizeof *r);

	in_allow_cut(in);
	evdef_open(&r->def);
	evbuf_open(&r->b, in, r->def.head);
	r->lineno = 1;
	r->kind = EV_ALL;
	r->accept = ~(unsigned)EV_ROUNDS;
	r->text = xmalloc(MAXLINE + 1);
	r->tid = kh_init(tid);
	r->last = xgrow(NULL, &r->caplast, 1, sizeof *r->last);
	r->last[0] = 0;
	r->nthread = 1;
	in_meter(in);
	return r;
}

void
ev_accept(struct evr *r, unsigned kinds, const char *why)
{
	r->accept = kinds;
	r->why = why;
}

void
ev_lean(struct evr *r)
{
	r->def.lean = true;
}

void
ev_lean_calls(struct evr *r)
{
	r->def.lean = r->def.calls = true;
}

void
ev_standing(struct evr *r)
{
	r->stand.known = true;
}

_Static_assert(EV_LISTS == 2 << EVOUT_BITS, "two have lists");

void
ev_outcomes(struct evr *r)
{
	if (r->lists != NULL || !(r->kind & (EV_ALL | EV_BLOCKS)))
		return;
	r->lists = xcalloc(2, sizeof *r->lists);
	r->lists[1].first = 1U << EVOUT_BITS;
	r->b.lists = &r->lists[1];
}

const char *
ev_list(const struct evr *r, unsigned list)
{
	return r->lists[list >> EVOUT_BITS].list[list %
	    (1U << EVOUT_BITS)].text;
}

void
ev_modify_writes(struct evr *r)
{
	r->def.writes = true;
}

void
ev_keep(struct evr *r, struct ev_block *b)
{
	evdef_keep(&r->def, b);
}

void
ev_free(struct evr *r)
{
	evbuf_close(&r->b);
	evdef_close(&r->def);
	evctx_close(&r->ctx);
	evnames_close(&r->names);
	evstand_close(&r->stand);
	kh_destroy(tid, r->tid);
	free(r->text);
	free(r->last);
	free(r->lists);
	free(r->error);
	free(r);
}

int
ev_close(struct evr *r)
{
	int status = r->state == ENDED && !in_lacked() ? 0 : 2;

	meter_end();
	if (r->error != NULL)
		warn("%s", r->error);
	ev_free(r);
	return status;
}

const struct ev_def *
ev_def(const struct evr *r, uint32_t id)
{
	return evdef_get(&r->def, id);
}

unsigned
ev_kind(const struct evr *r)
{
	return r->kind;
}

void
ev_filter(const struct evr *r, uint64_t *sets, uint64_t *linesize,
    uint64_t *ways)
{
	*sets = r->fsets;
	*linesize = r->fsize;
	*ways = r->fways;
}

bool
ev_contexts(const struct evr *r)
{
	return r->ctx.told;
}

uint64_t
ev_executions(const struct evr *r)
{
	return r->nexec;
}

unsigned
ev_thread(const struct evr *r)
{
	return r->thread;
}

const struct ev_def *
ev_last(const struct evr *r)
{
	uint32_t id = r->last[r->thread];

	return id == 0 ? NULL : evdef_get(&r->def, id);
}

const struct ev_def *
ev_out_def(const struct evr *r, const struct ev *e, const struct ev_out *o)
{
	return evdef_get(&r->def, o->at == EV_OUT_BEFORE ? r->before :
	    ev_id(e->rec[o->at]));
}

uint32_t
ev_last_id(const struct evr *r)
{
	return r->last[r->thread];
}

const uint8_t *
ev_code(const struct evr *r, uint32_t insn)
{
	return insn < r->def.ncode && r->def.code[insn].known ?
	    r->def.code[insn].byte : NULL;
}

/* ---- the buffer ---- */

/* Show progress, for regular files only; on a pipe the writer does. */
static void
progress(struct evr *r)
{
	double n = (double)r->nexec / 1e6;
	uint64_t size;

	if (!meter_due() || (size = in_size(r->b.in)) == 0)
		return;
	meter_line("%.0f M executions, %.1f M a second, %.0f %%", n,
	    n / (double)meter_seconds(),
	    100.0 * (double)in_offset(r->b.in) / (double)size);
}

/* Read until there is a whole line at p. 0: the end, -1: an error. */
static int
fill(struct evr *r)
{
	int c;

	if (r->b.p != r->b.lines)
		return 1;
	c = evbuf_fill(&r->b);
	progress(r);
	return c < 0 ? bad(r, "a line of more than %d bytes", EVBUF_MAXLINE) :
	    c;
}

/* ---- executions ---- */

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
		return bad(r, "malformed execution at `%.*s'",
		    (int)(r->b.p + len - 1 - at < 20 ?
		    r->b.p + len - 1 - at : 20), at);
	d = evdef_find(&r->def, r->scan->word[0]);
	if (d == NULL)
		return bad(r, "undefined id %" PRIx64, r->scan->word[0]);
	n = r->scan->nword - r->scan->npiece;
	if (r->scan->npiece == 2 && n == d->ngroups &&
	    r->scan->piece[1] == (EVSCAN_STAR | (r->scan->nword - 1)))
		return bad(r, "%" PRIx64 " repeats, more than %" PRIx64,
		    r->scan->word[r->scan->nword - 1], EV_MOST);
	if (r->scan->npiece > 2 || n == d->ngroups)
		return bad(r, "malformed execution: `*' belongs at its end");
	return bad(r, "%u fields, but id %" PRIx64 " has %u", n,
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

/* Scan executions with outcomes among them; 0: it is not as simple as that. */
static size_t
scan_outcomes(struct evr *r, size_t n)
{
	const char *nl;
	size_t taken;

	if (n > EVSCAN_TEXT) {
		nl = memrchr(r->b.p, '\n', EVSCAN_TEXT);
		if (nl == NULL)
			return 0;
		n = (size_t)(nl + 1 - r->b.p);
	}
	taken = evout_scan(r->scan, &r->lists[0], r->b.p, n);
	return taken != 0 && check(r) == 0 && outcomes_fit(r) ? taken : 0;
}

/* Scan the executions at p; returns the bytes scanned. 0: there are none. */
static size_t
scan(struct evr *r)
{
	size_t n = (size_t)(r->b.lines - r->b.p), taken;
	const char *nl;

	if (r->lists != NULL && (taken = scan_outcomes(r, n)) != 0)
		return taken;
	taken = scan_alone(r);
	if (taken == 0 && n > EVSCAN_TEXT) {
		nl = memrchr(r->b.p, '\n', EVSCAN_TEXT);
		if (nl == NULL)
			return 0;
		n = (size_t)(nl + 1 - r->b.p);
	}
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

/* Read the executions at p. 0: another kind of line is there. */
static int
executions(struct evr *r, struct ev *e)
{
	size_t taken, n;

	if (*r->b.p < '0')
		return 0;
	if (r->kind == EV_BRANCHES)
		return bad(r, "an execution, but kind branches has only sums");
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
	/* The last line's id is in its last piece, or the one before a `*`. */
	n = r->scan->npiece - 1;
	if (r->scan->piece[n] & EVSCAN_STAR)
		n--;
	r->before = r->last[r->thread];
	r->last[r->thread] = ev_id(r->scan->word[r->scan->piece[n]]);
	return EV_EXECS;
}

/* ---- other lines ---- */

/* Kinds, by the bits of EV_ALL and so on. */
static const char *const kind_name[] = { "all", "blocks", "counts", "cache",
    "calls", "branches" };
#define NKIND (sizeof kind_name / sizeof kind_name[0])

static int
kind(struct evr *r, const char *s)
{
	for (unsigned i = 0; i < NKIND; i++) {
		size_t n = strlen(kind_name[i]);

		if (strncmp(s, kind_name[i], n) != 0)
			continue;
		r->kind = 1U << i;
		s += n;
		if (r->kind == EV_CACHE && (*s++ != ' ' ||
		    evline_decimal(&s, &r->fsets) < 0 || *s++ != ' ' ||
		    evline_decimal(&s, &r->fsize) < 0 || *s++ != ' ' ||
		    evline_decimal(&s, &r->fways) < 0 || r->fways == 0 ||
		    r->fways > EV_PLACES ||
		    r->fsets == 0 || (r->fsets & (r->fsets - 1)) != 0 ||
		    r->fsize == 0 || (r->fsize & (r->fsize - 1)) != 0))
			return bad(r, "kind cache needs two powers of two, "
			    "sets of its table and bytes of a line, and the "
			    "ways of a set, 1 to 8");
		if (*s != '\0')
			break;
		return 0;
	}
	return bad(r, "unknown kind of stream");
}

static int
version(struct evr *r, const char *line)
{
	if (strncmp(line, "H quern-events ", 15) != 0)
		return bad(r, "not an event stream: no `H quern-events'");
	if ((line[15] != '1' && line[15] != '2') || line[16] != '\0')
		return bad(r, "version %.20s of event streams, neither 1 "
		    "nor 2", line + 15);
	r->version = (unsigned)(line[15] - '0');
	return 0;
}

/* H contexts MAX */
static int
contexts(struct evr *r, const char *s)
{
	uint64_t max;

	if (r->version == 1)
		return 0;
	if (evline_decimal(&s, &max) < 0 || *s != '\0')
		return bad(r, "H contexts: not a number");
	r->ctx.told = true;
	return 0;
}

static int
head_line(struct evr *r, struct ev *e)
{
	char *value;

	if (r->lineno == 1) {
		if (version(r, e->line) < 0)
			return -1;
	} else if (r->began) {
		return bad(r, "an H line behind other lines");
	}
	if (e->line[1] != ' ' ||
	    evline_text(r->text, e->line + 2, false) == NULL)
		return bad(r, "malformed H line");
	e->text = r->text;
	value = strchrnul(r->text, ' ');
	if (*value != '\0')
		*value++ = '\0';
	e->value = value;
	if (strcmp(e->text, "kind") == 0 && kind(r, value) < 0)
		return -1;
	if (strcmp(e->text, "contexts") == 0 && contexts(r, value) < 0)
		return -1;
	return 'H';
}

static int
end_line(struct evr *r, struct ev *e)
{
	const char *s = e->line + 1;
	int how = 0;

	if (strncmp(s, " exit ", 6) == 0)
		how = 6;
	else if (strncmp(s, " signal ", 8) == 0)
		how = 8;
	s += how;
	if (how == 0 || evline_decimal(&s, &e->num[0]) < 0 || *s++ != ' ' ||
	    evline_decimal(&s, &e->num[1]) < 0 || *s != '\0')
		return bad(r, "malformed E line");
	e->text = how == 6 ? "exit" : "signal";
	if (e->num[1] != r->nexec)
		return bad(r, "the end mark counts %" PRIu64 " executions, "
		    "but %" PRIu64 " were told", e->num[1], r->nexec);
	if (evbuf_follows(&r->b)) {
		r->lineno++;
		return bad(r, "text behind the end mark");
	}
	r->state = ENDED;
	return 'E';
}

static int
thread_line(struct evr *r, uint64_t tid)
{
	int new;
	khint_t k = kh_put(tid, r->tid, tid, &new);

	if (new < 0)
		die("threads:");
	if (new != 0) {
		/* The first T line names the thread that ran until then. */
		kh_val(r->tid, k) = r->named ? r->nthread++ : 0;
		r->last = xgrow(r->last, &r->caplast, r->nthread,
		    sizeof *r->last);
		if (kh_val(r->tid, k) != 0)
			r->last[r->nthread - 1] = 0;
	}
	r->named = true;
	r->now = tid;
	r->thread = kh_val(r->tid, k);
	return 'T';
}

/* The id of a W, R or F line becomes its number in e->id. */
static const struct ev_def *
block_id(struct evr *r, struct ev *e)
{
	const struct ev_def *d = evdef_find(&r->def, e->num[0]);

	if (d == NULL) {
		bad(r, "undefined id %" PRIx64, e->num[0]);
		return NULL;
	}
	if (d->letter == 'Q' || d->letter == 'Z') {
		bad(r, "%c: id %" PRIx64 " is no block's", *e->line,
		    e->num[0]);
		return NULL;
	}
	e->id = ev_id(r->def.head[e->num[0]]);
	return d;
}

/*
 * R id n rounds none, X id n missed: of an instruction that the block has; the
 * caller sees of which kind it is.
 */
static int
sum_line(struct evr *r, struct ev *e)
{
	const struct ev_def *d = block_id(r, e);

	if (d == NULL)
		return -1;
	if (d->letter != 'B')
		return bad(r, "%c: id %" PRIx64 " is no block's", *e->line,
		    e->num[0]);
	if (e->num[1] == 0 || e->num[1] > d->n)
		return bad(r, "%c: id %" PRIx64 " has no instruction %" PRIx64,
		    *e->line, e->num[0], e->num[1]);
	return *e->line;
}

/* Names, and lines, of code made at run time. */
static int
names_line(struct evr *r, struct ev *e)
{
	char why[EVNAMES_WHY];

	if (evnames_line(&r->names, &r->def, e, why) < 0)
		return bad(r, "%s", why);
	return *e->line;
}

/* A line whose letter means an entry or a log in kind calls. */
static int
varying_line(struct evr *r, struct ev *e)
{
	const struct ev_def *d;
	char why[EVCTX_WHY];

	if (*e->line == 'R' || (*e->line == 'X' && r->kind == EV_BRANCHES))
		return sum_line(r, e);
	if (*e->line == 'D' && !evctx_in_state(e))
		return 'D';
	if (*e->line == 'G' || *e->line == 'L')
		return names_line(r, e);
	if (evctx_line(&r->ctx, e, r->kind, r->thread, why) < 0)
		return bad(r, "%s", why);
	if (*e->line != 'F')
		return *e->line;
	d = block_id(r, e);
	if (d != NULL && d->letter != 'B')
		return bad(r, "F: id %" PRIx64 " is no block's", e->num[0]);
	return d == NULL ? -1 : 'F';
}

/* Does what an O line is about have its instruction, or its label one? */
static int
outcome_line(struct evr *r, const struct ev *e)
{
	const struct ev_def *d = ev_last(r);

	if (e->num[1] != 0 && !(r->kind & (EV_ALL | EV_BLOCKS)))
		return bad(r, "O: a label, but the stream is not of kind all");
	if (e->num[1] > r->nlabel + (e->num[0] != 0))
		return bad(r, "O: label %" PRIx64 " is not one of %" PRIx32,
		    e->num[1], r->nlabel);
	if (e->num[0] == 0 && e->num[1] != 0)
		return 'O';
	if (d == NULL || e->num[0] == 0 || e->num[0] > d->n ||
	    d->letter == 'Z')
		return bad(r, "O: the thread's last execution has no "
		    "instruction %" PRIx64, e->num[0]);
	if (d->letter == 'Q' && e->num[0] != d->n)
		return bad(r, "O: the last reference is of instruction %"
		    PRIx32 ", not %" PRIx64, d->n, e->num[0]);
	if (e->num[1] > r->nlabel)
		r->nlabel++;
	return 'O';
}

/* Act on a line whose meaning depends on those before it. */
static int
in_order(struct evr *r, struct ev *e)
{
	if (r->kind != EV_CALLS && evline_varies(*e->line) && *e->line != 'J')
		return varying_line(r, e);
	switch (*e->line) {
	case 'J':
		if (r->kind != EV_CALLS && evline_mark(e) < 0)
			return bad(r, "J: malformed or unknown mark");
		break;
	case 'O':
		return outcome_line(r, e);
	case 'F':
		kh_clear(tid, r->tid);
		break;
	case 'N':
	case 'V':
	case 'X':
		r->nexec++;
		break;
	case 'T':
		return thread_line(r, e->nnum == 1 ? e->num[0] :
		    e->num[0] ^ e->num[1] << 32);
	case 'W':
		if (block_id(r, e) == NULL)
			return -1;
		r->nexec += e->num[1];
		break;
	case 'Y':
		if (e->num[0] == 60 && e->nnum == 1) {
			khint_t k = kh_get(tid, r->tid, r->now);

			if (k != kh_end(r->tid))
				kh_del(tid, r->tid, k);
		}
		break;
	}
	return *e->line;
}

/* Does this stream have lines with a letter of kind calls? */
static bool
has_meaning(const struct evr *r, char letter)
{
	if (r->kind == EV_CALLS ||
	    (r->version == 2 && strchr("DGJL", letter) != NULL))
		return true;
	if (r->version == 2 && r->kind == EV_BRANCHES)
		return letter == 'R' || letter == 'X';
	return r->version == 2 && r->kind & (EV_COUNTS | EV_CACHE) &&
	    strchr("SAFVNXR", letter) != NULL;
}

/*
 * An O line, of which a stream can have as many as executions: "O", a number,
 * plain text. 0: it is not quite this, and other_line reads it.
 */
static int
plain_outcome(struct evr *r, struct ev *e)
{
	const char *s = e->line + 2, *end = e->line + e->len;

	if (e->line[0] != 'O' || e->line[1] != ' ' ||
	    ev_hex(&s, &e->num[0]) < 0 || *s != ' ')
		return 0;
	e->text = ++s;
	for (; s < end; s++)
		if (*s < 0x20 || *s > 0x7e || *s == '\\')
			return 0;
	e->textlen = (size_t)(s - e->text);
	e->num[1] = 0;
	e->nnum = 2;
	return outcome_line(r, e);
}

/*
 * The same of N and X lines in kind cache, which are short: hexadecimal numbers
 * up to the end of the line, which is not known yet.  The second one can be a
 * difference.
 */
static int
plain_frame(struct evr *r, struct ev *e)
{
	unsigned most = r->b.p[0] == 'N' ? 3 : 1;
	char *line = r->b.p, *s = line + 1;
	char why[EVCTX_WHY];
	bool differs = false;

	if (r->kind != EV_CACHE || !r->ctx.told)
		return 0;
	for (e->nnum = 0; *s == ' ' && e->nnum < most; e->nnum++) {
		s++;
		if (e->nnum == 1 && *s < '0')
			differs = true;
		if ((differs && e->nnum == 1 ? evline_field : ev_hex)
		    ((const char **)&s, &e->num[e->nnum]) < 0)
			return 0;
	}
	if (*s != '\n' || e->nnum < (most == 3 ? 2 : 1))
		return 0;
	*s = '\0';
	e->line = line;
	e->len = (size_t)(s - line);
	e->nids = 0;
	r->b.p = s + 1;
	if (evctx_frame(&r->ctx, e, r->thread, differs, why) < 0)
		return bad(r, "%s", why);
	return *line;
}

/* O @id events; 0: the caller wants what it stands for, and no line. */
static int
standing_line(struct evr *r, struct ev *e)
{
	const char *s = e->line + 3, *list;
	const struct ev_def *d;
	char name[32];
	uint64_t n;
	int more;

	if (r->kind != EV_CACHE)
		return bad(r, "O @: the stream is not of kind cache");
	if (ev_hex(&s, &e->num[0]) < 0 || (*s != ' ' && *s != '\0'))
		return bad(r, "O @: not an id at `%.20s'", e->line + 3);
	d = evdef_find(&r->def, e->num[0]);
	if (d == NULL || d->letter != 'Q')
		return bad(r, "O: id %" PRIx64 " is no reference's", e->num[0]);
	e->id = ev_id(r->def.head[e->num[0]]);
	e->text = list = s + (*s == ' ');
	e->textlen = strlen(e->text);
	while ((more = ev_outcome(&list, name, &n)) > 0)
		;
	if (more < 0)
		return bad(r, "O @: malformed events");
	e->num[0] = e->num[1] = 0;
	e->nnum = 2;
	if (r->stand.known)
		return 'O';
	evstand_set(&r->stand, e->id, d->n, e->text);
	return 0;
}

static int
other_line(struct evr *r, struct ev *e)
{
	char why[EVLINE_WHY];

	for (const char *s = e->line; s < e->line + e->len; s++)
		if (*s < 0x20 || *s > 0x7e)
			return bad(r, "byte \\%03o in a line",
			    (unsigned char)*s);
	switch (*e->line) {
	case 'B':
	case 'P':
	case 'Q':
	case 'Z':
		if (*e->line >= 'Q' && r->kind != EV_CACHE)
			return bad(r, "%c: the stream is not of kind cache",
			    *e->line);
		e->id = evdef_line(&r->def, e->line);
		if (e->id == 0)
			return bad(r, "%s: `%.20s'", r->def.why, r->def.at);
		return *e->line;
	case 'E':
		return end_line(r, e);
	case 'H':
		return head_line(r, e);
	}
	if (e->len == 0)
		return bad(r, "an empty line");
	if (strncmp(e->line, "O @", 3) == 0)
		return standing_line(r, e);
	if (evline_varies(*e->line) && !has_meaning(r, *e->line))
		return bad(r, "%c: the stream is not of kind calls", *e->line);
	if (evline_fields(e, r->kind, r->text, why) == 0)
		return in_order(r, e);
	if (why[0] != '\0')
		return bad(r, "%s", why);
	return bad(r, *e->line < 'A' ? "not a line: `%.20s'" :
	    "unknown letter `%.1s'", e->line);
}

/* " needs kind all or cache": of the kinds that the caller accepts. */
static const char *
wanted(const struct evr *r)
{
	static char text[80];
	unsigned left = r->accept & ((1U << NKIND) - 1);
	int n = snprintf(text, sizeof text, ": needs kind");

	for (unsigned i = 0; i < NKIND; i++) {
		if (!(left & 1U << i))
			continue;
		left &= ~(1U << i);
		n += snprintf(text + n, sizeof text - (size_t)n, " %s%s",
		    kind_name[i], left == 0 ? "" : left & (left - 1) ? "," :
		    " or");
	}
	return text;
}

/* The kind is known now: does the caller accept it? */
static bool
accepted(struct evr *r)
{
	const char *old = "";

	r->began = true;
	if (r->ctx.told && !(r->kind & (EV_COUNTS | EV_CACHE))) {
		bad(r, "H contexts: the stream is of kind %s",
		    kind_name[__builtin_ctz(r->kind)]);
		return false;
	}
	if (r->accept & EV_ROUNDS && r->version == 1 &&
	    r->kind & (EV_BLOCKS | EV_COUNTS | EV_CACHE | EV_BRANCHES))
		old = " and version 1";
	else if (r->kind & r->accept)
		return true;
	r->lineno = 1;
	bad(r, "a stream of kind %s%s does not tell %s%s",
	    kind_name[__builtin_ctz(r->kind)], old, r->why,
	    *old == '\0' ? wanted(r) : "");
	return false;
}

/* The next line, or a batch; 0: a line that the caller need not see. */
static int
read_next(struct evr *r, struct ev *e)
{
	char *nl;
	int c;

	c = fill(r);
	if (c < 0)
		return -1;
	if (c == 0) {
		if (r->lineno == 1 && r->b.end == r->b.p)
			return bad(r, "empty input");
		return truncated(r);
	}
	if (*r->b.p != 'H' && !r->began) {
		if (r->lineno == 1)
			return bad(r, "not an event stream: no "
			    "`H quern-events'");
		if (!accepted(r))
			return -1;
	}
	c = *r->b.p < 'A' || *r->b.p > 'Z' ||
	    (*r->b.p == 'O' && r->lists != NULL) ? executions(r, e) :
	    *r->b.p == 'N' || *r->b.p == 'X' ? plain_frame(r, e) : 0;
	if (c != 0) {
		r->lineno += c == 'N' || c == 'X';
		return c;
	}
	nl = memchr(r->b.p, '\n', (size_t)(r->b.lines - r->b.p));
	e->line = r->b.p;
	e->len = (size_t)(nl - r->b.p);
	e->nids = 0;
	if (e->len > MAXLINE)
		return bad(r, "a line of more than %d bytes", MAXLINE);
	*nl = '\0';
	r->b.p = nl + 1;
	c = plain_outcome(r, e);
	if (c == 0)
		c = other_line(r, e);
	if (c >= 0)
		r->lineno++;
	return c;
}

int
ev_next(struct evr *r, struct ev *e)
{
	int c = 0;

	if (r->state == ENDED)
		evbuf_done(&r->b);	/* memory for what the caller writes */
	if (r->state != READING)
		return r->state == ENDED ? 0 : -1;
	if (!evstand_left(&r->stand)) {
		while (c == 0)
			c = read_next(r, e);
		if (c != EV_EXECS || r->stand.n == 0)
			return c;
		evstand_begin(&r->stand, e);
	}
	return evstand_next(&r->stand, e, &r->last[r->thread]);
}
