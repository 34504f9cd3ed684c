/*
 * evread - read event text, events(5)
 *
 * Executions are evexec.c's.
 *
 * Invariants:
 *  (1) those of evbuf.h
 *  (2) After an error or the end nothing is read any more.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evline.h"
#include "evr.h"
#include "in.h"
#include "mem.h"
#include "meter.h"
#include "prog.h"

#define MAXLINE	EVBUF_MAXLINE

/* ---- the buffer ---- */

static int
truncated(struct evr *r)
{
	size_t n = strlen(in_name(r->b.in)) + 60;

	r->error = xmalloc(n);
	snprintf(r->error, n, "%s: truncated after %" PRIu64 " executions",
	    in_name(r->b.in), r->nexec);
	r->cut = in_told_cut(r->b.in);
	r->state = FAILED;
	return -1;
}

/* Not a byte came; that what is compressed ends early was told. */
static int
nothing(struct evr *r)
{
	evr_bad(r, "empty input");
	r->cut = in_told_cut(r->b.in);
	return -1;
}

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
	return c >= 0 ? c : evr_bad(r, "a line of more than %d bytes",
	    EVBUF_MAXLINE);
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
			return evr_bad(r, "kind cache needs two powers of two, "
			    "sets of its table and bytes of a line, and the "
			    "ways of a set, 1 to 8");
		if (*s != '\0')
			break;
		return 0;
	}
	return evr_bad(r, "unknown kind of stream");
}

static int
version(struct evr *r, const char *line)
{
	if (strncmp(line, "H quern-events ", 15) != 0)
		return evr_bad(r, "not an event stream: no `H quern-events'");
	if ((line[15] != '1' && line[15] != '2') || line[16] != '\0')
		return evr_bad(r, "version %.20s of event streams, neither 1 "
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
		return evr_bad(r, "H contexts: not a number");
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
		return evr_bad(r, "an H line behind other lines");
	}
	if (e->line[1] != ' ' ||
	    evline_text(r->text, e->line + 2, false) == NULL)
		return evr_bad(r, "malformed H line");
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
		return evr_bad(r, "malformed E line");
	e->text = how == 6 ? "exit" : "signal";
	if (e->num[1] != r->nexec)
		return evr_bad(r, "the end mark counts %" PRIu64 " executions, "
		    "but %" PRIu64 " were told", e->num[1], r->nexec);
	if (evbuf_follows(&r->b)) {
		r->lineno++;
		return evr_bad(r, "text behind the end mark");
	}
	r->state = ENDED;
	return 'E';
}

static int
thread_line(struct evr *r, uint64_t tid)
{
	int new;
	khint_t k = kh_put(tid, r->tid, tid, &new);

	if (new) {
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
		evr_bad(r, "undefined id %" PRIx64, e->num[0]);
		return NULL;
	}
	if (d->letter == 'Q' || d->letter == 'Z') {
		evr_bad(r, "%c: id %" PRIx64 " is no block's", *e->line,
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
		return evr_bad(r, "%c: id %" PRIx64 " is no block's", *e->line,
		    e->num[0]);
	if (e->num[1] == 0 || e->num[1] > d->n)
		return evr_bad(r, "%c: id %" PRIx64 " has no instruction %"
		    PRIx64, *e->line, e->num[0], e->num[1]);
	return *e->line;
}

/* Names, and lines, of code made at run time. */
static int
names_line(struct evr *r, struct ev *e)
{
	char why[EV_WHY];

	if (evnames_line(&r->names, &r->def, e, why) < 0)
		return evr_bad(r, "%s", why);
	return *e->line;
}

/* A line whose letter means an entry or a log in kind calls. */
static int
varying_line(struct evr *r, struct ev *e)
{
	const struct ev_def *d;
	char why[EV_WHY];

	if (*e->line == 'R' || (*e->line == 'X' && r->kind == EV_BRANCHES))
		return sum_line(r, e);
	if (*e->line == 'D' && !evctx_in_state(e))
		return 'D';
	if (*e->line == 'G' || *e->line == 'L')
		return names_line(r, e);
	if (evctx_line(&r->ctx, e, r->kind, r->thread, why) < 0)
		return evr_bad(r, "%s", why);
	if (*e->line != 'F')
		return *e->line;
	d = block_id(r, e);
	if (d != NULL && d->letter != 'B')
		return evr_bad(r, "F: id %" PRIx64 " is no block's", e->num[0]);
	return d == NULL ? -1 : 'F';
}

/* Does what an O line is about have its instruction, or its label one? */
static int
outcome_line(struct evr *r, const struct ev *e)
{
	const struct ev_def *d = ev_last(r);

	if (e->num[1] != 0 && !(r->kind & (EV_ALL | EV_BLOCKS)))
		return evr_bad(r, "O: a label, but the stream is not of kind "
		    "all");
	if (e->num[1] > r->nlabel + (e->num[0] != 0))
		return evr_bad(r, "O: label %" PRIx64 " is not one of %" PRIx32,
		    e->num[1], r->nlabel);
	if (e->num[0] == 0 && e->num[1] != 0)
		return 'O';
	if (d == NULL || e->num[0] == 0 || e->num[0] > d->n ||
	    d->letter == 'Z')
		return evr_bad(r, "O: the thread's last execution has no "
		    "instruction %" PRIx64, e->num[0]);
	if (d->letter == 'Q' && e->num[0] != d->n)
		return evr_bad(r, "O: the last reference is of instruction %"
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
			return evr_bad(r, "J: malformed or unknown mark");
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
		if (e->num[1] > INT64_MAX - r->nexec)
			return evr_bad(r, "more than 2^63 executions");
		r->nexec += e->num[1];
		break;
	case 'Y':
		if (e->num[0] == EV_EXIT && e->nnum == 1) {
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
	char why[EV_WHY];
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
		return evr_bad(r, "%s", why);
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
		return evr_bad(r, "O @: the stream is not of kind cache");
	if (ev_hex(&s, &e->num[0]) < 0 || (*s != ' ' && *s != '\0'))
		return evr_bad(r, "O @: not an id at `%.20s'", e->line + 3);
	d = evdef_find(&r->def, e->num[0]);
	if (d == NULL || d->letter != 'Q')
		return evr_bad(r, "O: id %" PRIx64 " is no reference's",
		    e->num[0]);
	e->id = ev_id(r->def.head[e->num[0]]);
	e->text = list = s + (*s == ' ');
	e->textlen = strlen(e->text);
	while ((more = ev_outcome(&list, name, &n)) > 0)
		;
	if (more < 0)
		return evr_bad(r, "O @: malformed events");
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
	char why[EV_WHY];

	for (const char *s = e->line; s < e->line + e->len; s++)
		if (*s < 0x20 || *s > 0x7e)
			return evr_bad(r, "byte \\%03o in a line",
			    (unsigned char)*s);
	switch (*e->line) {
	case 'B':
	case 'P':
	case 'Q':
	case 'Z':
		if (*e->line >= 'Q' && r->kind != EV_CACHE)
			return evr_bad(r, "%c: the stream is not of kind cache",
			    *e->line);
		e->id = evdef_line(&r->def, e->line);
		if (e->id == 0)
			return evr_bad(r, "%s: `%.20s'", r->def.why, r->def.at);
		return *e->line;
	case 'E':
		return end_line(r, e);
	case 'H':
		return head_line(r, e);
	}
	if (e->len == 0)
		return evr_bad(r, "an empty line");
	if (strncmp(e->line, "O @", 3) == 0)
		return standing_line(r, e);
	if (evline_varies(*e->line) && !has_meaning(r, *e->line))
		return evr_bad(r, "%c: the stream is not of kind calls",
		    *e->line);
	if (evline_fields(e, r->kind, r->text, why) == 0)
		return in_order(r, e);
	if (why[0] != '\0')
		return evr_bad(r, "%s", why);
	return evr_bad(r, *e->line < 'A' ? "not a line: `%.20s'" :
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
		evr_bad(r, "H contexts: the stream is of kind %s",
		    kind_name[__builtin_ctz(r->kind)]);
		return false;
	}
	if (r->accept & EV_ROUNDS && r->version == 1 &&
	    r->kind & (EV_BLOCKS | EV_COUNTS | EV_CACHE | EV_BRANCHES))
		old = " and version 1";
	else if (r->kind & r->accept)
		return true;
	r->lineno = 1;
	evr_bad(r, "a stream of kind %s%s does not tell %s%s",
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
			return nothing(r);
		return truncated(r);
	}
	if (*r->b.p != 'H' && !r->began) {
		if (r->lineno == 1)
			return evr_bad(r, "not an event stream: no "
			    "`H quern-events'");
		if (!accepted(r))
			return -1;
	}
	c = *r->b.p < 'A' || *r->b.p > 'Z' ||
	    (*r->b.p == 'O' && r->lists != NULL) ? evexec_next(r, e) :
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
		return evr_bad(r, "a line of more than %d bytes", MAXLINE);
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
