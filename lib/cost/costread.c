/*
 * costread - the cost text: reader
 *
 * Reads Callgrind's grammar whole (header keys known and unknown, names
 * compressed in their three spaces of numbers, positions instr, bb and line,
 * absolute or relative, several parts) and Cachegrind's, of every age:
 *
 *	events: Ir Dr			events: Ir
 *	ob=(1) /usr/bin/x		fl=x.c
 *	fl=(1) x.c			fn=main
 *	fn=(1) main			16 400
 *	16 400 12			summary: 400
 *	cfn=(2) work
 *	calls=1 +10
 *	* 6000 320
 *	totals: 400 12
 *
 * A file is Cachegrind's if it has cmd: and nothing of Callgrind's own.  There
 * a name is all that follows the =.  Its command is as it was, newlines
 * included, so between cmd: and the body what is no header line is the command.
 *
 * The end mark: Cachegrind's files end with summary:, each part of Callgrind's
 * and of ours with totals:; without it, or its newline, they were cut.  Of ours
 * a comment tells before totals: whether another part follows.  Other writers
 * of the format need not have an end mark.  Where there is one, the self costs
 * of the part must add up to it.
 */
#include "cost.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costread.h"
#include "in.h"
#include "mem.h"
#include "prog.h"

/* The longest command with newlines: twice what Linux accepts. */
enum { MAXCMD = 8 << 20 };

void
costr_partial(struct costr *r)
{
	r->partial = true;
	in_allow_cut(r->d->in);
}

static bool
is_cachegrind(const struct costr *r)
{
	return !r->d->callgrind && !r->d->magic && r->d->own_cmd;
}

/* Die if no events: line came before this line, or NULL: before the end. */
static void
want_events(struct costr *r, const char *line)
{
	if (r->head.nev)
		return;
	if (!line && in_lineno(r->d->in) == 0) {
		if (in_told_cut(r->d->in))
			exit(die_status);
		die("%s: empty input", r->name);
	}
	if (line && !strncmp(line, "H quern-events ", 15))
		costr_die(r, "events, not costs: needs a simulator before "
		    "this, as in cachesim %s", r->name);
	costr_die(r, "no events: line before this");
}

/* Find the events of this part among those of the first. */
static void
number_events(struct costr *r)
{
	struct costread *d = r->d;
	size_t i, k;

	if (!d->nfirst) {
		d->nfirst = r->head.nev;
		d->first = xcalloc(d->nfirst, sizeof *d->first);
		for (i = 0; i < d->nfirst; i++)
			d->first[i] = xstrdup(r->head.ev[i].name);
	}
	for (i = 0; i < r->head.nev; i++) {
		for (k = 0; k < d->nfirst; k++)
			if (!strcmp(d->first[k], r->head.ev[i].name))
				break;
		d->column[i] = k < d->nfirst ? k : COST_EVMAX;
	}
}

static enum cost_kind
begin(struct costr *r, struct cost *c, const char *line)
{
	struct costread *d = r->d;

	want_events(r, line);
	costhead_done(&r->head);
	number_events(r);
	if (is_cachegrind(r))
		r->head.format = COST_CACHEGRIND;
	if (d->cmdlen)
		r->head.cmd = costnames_get(r->nm,
		    costnames_add(r->nm, d->cmd, d->cmdlen));
	d->cmdlen = 0;
	d->in_cmd = false;
	d->told = true;
	memset(&d->pos, 0, sizeof d->pos);
	memset(d->sum, 0, sizeof d->sum);
	c->kind = COST_PART;
	return COST_PART;
}

/* Does each part of it end with an end mark? */
static bool
has_marks(const struct costr *r)
{
	const char *by = r->head.creator;

	return is_cachegrind(r) || (by && (!strncmp(by, "callgrind-", 10) ||
	    !strncmp(by, "quern", 5)));
}

static void
truncated(struct costr *r, const char *what)
{
	if (!r->partial)
		costr_die(r, "truncated: %s", what);
	/* that compressed data ends early was told */
	if (!in_told_cut(r->d->in))
		warn("%s:%" PRIu64 ": truncated: %s", r->name,
		    (uint64_t)in_lineno(r->d->in), what);
	r->truncated = true;
}

/* sum += n, of which the sum has the events of the first part */
static void
add_part(struct costr *r, int64_t *sum, const int64_t *n, const char *what)
{
	const size_t *column = r->d->column;
	size_t i;

	for (i = 0; i < r->head.nev; i++)
		if (column[i] < COST_EVMAX && __builtin_add_overflow(
		    sum[column[i]], n[i], &sum[column[i]]))
			costr_die(r, "the sum of the %s is beyond 64 bits",
			    what);
}

static void
add_sums(struct costr *r)
{
	struct costread *d = r->d;

	r->has_summary &= d->summary;
	if (d->summary)
		add_part(r, r->summary, d->given, "summaries");
	add_part(r, r->total, d->sum, "parts");
}

/* The end of a part: was it whole? */
static void
finish(struct costr *r, bool last)
{
	struct costread *d = r->d;
	const char *mark = is_cachegrind(r) ? "summary:" : "totals:";
	size_t i;

	if (d->pend != PEND_NONE && !r->partial)
		costr_die(r, "truncated: %s= has no cost line",
		    d->pend == PEND_CALL ? "calls" : "jump");
	if (d->finished && !last)
		return;
	if (!d->totals && has_marks(r))
		truncated(r, is_cachegrind(r) ? "no summary: line" :
		    "no totals: line");
	else if (d->more && last)
		truncated(r, "another part should follow");
	if (d->finished)
		return;
	for (i = 0; d->totals && i < r->head.nev; i++)
		if (d->total[i] != d->sum[i])
			costr_die(r, "%s says %" PRId64 " %s, but the costs "
			    "add up to %" PRId64, mark, d->total[i],
			    r->head.ev[i].name, d->sum[i]);
	add_sums(r);
	d->pend = PEND_NONE;
}

/* inherits: keep what its header also says of later parts of the same file. */
static void
new_part(struct costr *r, bool inherits)
{
	const char *by = r->head.creator, *cmd = r->head.cmd;
	const char *pid = r->head.pid;
	struct costread *d = r->d;

	costhead_init(&r->head);	/* what it had is the caller's now */
	if (inherits) {
		r->head.creator = by;
		r->head.cmd = cmd;
		r->head.pid = pid;
	}
	d->any = d->told = d->callgrind = d->totals = d->summary = false;
	d->own_cmd = d->more = d->another = d->finished = false;
	d->ob = d->fl = d->file = 0;
	d->fn_known = false;
	d->has_cob = d->has_cfi = d->has_cfn = d->has_jfi = d->has_jfn = false;
	d->in_cmd = false;
	d->cmdlen = 0;
	d->part++;
}

/* "summary:" is the end mark of Cachegrind's, "totals:" of Callgrind's */
static void
sums(struct costr *r, const char *p, bool totals)
{
	struct costread *d = r->d;

	want_events(r, d->line);
	p = blanks(p);
	if (!totals) {
		d->summary = true;
		cost_counts(r, p, d->given);
	}
	if (totals || r->head.format == COST_CACHEGRIND) {
		if (d->pend != PEND_NONE)
			costr_die(r, "%s= has no cost line",
			    d->pend == PEND_CALL ? "calls" : "jump");
		cost_counts(r, p, d->total);
		d->totals = true;
	}
}

/* Of "key: value" the colon; NULL for anything else. */
static inline const char *
key_end(const char *p)
{
	if ((*p | 32) < 'a' || (*p | 32) > 'z')
		return NULL;
	while (((*p | 32) >= 'a' && (*p | 32) <= 'z') ||
	    (*p >= '0' && *p <= '9') || *p == '_' || *p == '-')
		p++;
	return *p == ':' ? p : NULL;
}

static bool
is_key(const char *line, const char *colon)
{
	char key[32] = "";

	if (colon && colon - line < (ptrdiff_t)sizeof key)
		memcpy(key, line, colon - line);
	return costhead_key(key);
}

static void
add_command(struct costread *d, const char *s)
{
	size_t len = strlen(s);

	d->cmd = xgrow(d->cmd, &d->capcmd, d->cmdlen + len + 1, 1);
	memcpy(d->cmd + d->cmdlen, s, len + 1);
	d->cmdlen += len;
}

/* The events: line had before was part of the command. */
static void
take_back_events(struct costr *r)
{
	size_t i;

	if (!r->d->cmdlen)
		add_command(r->d, r->head.cmd);
	if (r->head.nev)
		add_command(r->d, "\nevents:");
	for (i = 0; i < r->head.nev; i++) {
		add_command(r->d, " ");
		add_command(r->d, r->head.ev[i].name);
	}
	r->head.nev = 0;
}

/* Behind events:, does the body of a file of Cachegrind's begin? */
static bool
is_body(const char *s)
{
	return !*s || *s == '#' || (*s >= '0' && *s <= '9') ||
	    !strncmp(s, "fl=", 3) || !strncmp(s, "fn=", 3) ||
	    !strncmp(s, "summary:", 8);
}

/* A line of the header: is it part of the command? */
static bool
more_command(struct costr *r)
{
	struct costread *d = r->d;
	const char *colon = key_end(d->line);

	if (!d->in_cmd || d->cmdlen > MAXCMD || is_key(d->line, colon))
		return false;
	if (is_cachegrind(r) ? r->head.nev && is_body(d->line) :
	    colon || r->head.nev || *d->line == '\0' || *d->line == '#')
		return false;
	if (strlen(d->line) != d->len)
		costr_die(r, "a zero byte in the header");
	take_back_events(r);
	add_command(d, "\n");
	add_command(d, d->line);
	return true;
}

/* key: value.  True: look at this line again, a part begins. */
static bool
head_line(struct costr *r, const char *colon)
{
	struct costread *d = r->d;
	size_t len = colon - d->line;
	const char *wrong;
	char key[32];
	bool totals, known;

	if (strlen(d->line) != d->len)
		costr_die(r, "a zero byte in the header");
	snprintf(key, sizeof key, "%.*s", len < sizeof key ? (int)len : 0,
	    d->line);
	totals = !strcmp(key, "totals");
	if (totals || !strcmp(key, "summary")) {
		if (!d->told && (totals || !(d->callgrind || d->magic)))
			return true;
		sums(r, colon + 1, totals);
		return false;
	}
	known = costhead_key(key);
	if (d->told && !known)
		costr_die(r, "unknown line '%s'", cost_shown(d->line));
	if (d->told) {
		bool other = d->another || is_cachegrind(r) ||
		    !strcmp(key, "version");

		finish(r, other);
		new_part(r, !other);
	}
	d->any = true;
	if (known && strcmp(key, "desc") && strcmp(key, "cmd") &&
	    strcmp(key, "events"))
		d->callgrind = true;
	if (!strcmp(key, "events") && r->head.nev && d->in_cmd &&
	    is_cachegrind(r))
		take_back_events(r);
	wrong = costhead_set(&r->head, r->nm, key, colon + 1);
	if (wrong)
		costr_die(r, "%s", wrong);
	d->own_cmd |= !strcmp(key, "cmd");
	d->in_cmd = !strcmp(key, "cmd") || (d->in_cmd && is_cachegrind(r));
	if (has_marks(r))
		in_whole_lines(d->in);
	return false;
}

static bool
get_line(struct costr *r)
{
	struct costread *d = r->d;

	if (d->held) {
		d->held = false;
		return true;
	}
	d->line = in_line(d->in, &d->len);
	if (!d->line)
		return false;
	while (d->len && d->line[d->len - 1] == '\r')
		d->line[--d->len] = '\0';
	return true;
}

void
costr_sums(const struct costr *r, const struct cost_head *h,
    const int64_t *sums, int64_t *n)
{
	for (size_t i = 0; i < r->d->nfirst; i++)
		n[costhead_find(h, r->d->first[i])] = sums[i];
}

void
costr_late(struct costr *r, struct cost_head *h)
{
	for (size_t i = 0; i < r->nlate; i++)
		costhead_desc(h, r->late[i]);
	r->nlate = 0;
}

static void
comment(struct costr *r)
{
	struct costread *d = r->d;

	if (!strncmp(d->line, "# callgrind format", 18)) {
		d->magic |= !d->any;
		d->another = d->told;
	} else if (d->any && !strcmp(d->line, COST_MORE)) {
		d->more = true;
	} else if (d->told && !strncmp(d->line, COST_LATE,
	    sizeof COST_LATE - 1)) {
		d->len = cost_undo_text(d->line, d->len);
		r->late = xgrow(r->late, &r->caplate, r->nlate + 1,
		    sizeof *r->late);
		r->late[r->nlate++] = costnames_get(r->nm, costnames_str(r->nm,
		    d->line + sizeof COST_LATE - 1));
	}
}

static enum cost_kind
ended(struct costr *r, struct cost *c)
{
	struct costread *d = r->d;

	if (!d->told && d->any && d->part > 1 && r->partial && !r->head.nev)
		truncated(r, "a part ends in its header");
	else if (!d->told && (d->any || d->part == 1))
		return begin(r, c, NULL);
	if (d->told)
		finish(r, true);
	new_part(r, false);
	d->any = false;
	c->kind = COST_END;
	return COST_END;
}

/* The line was the end mark of a part that another one follows. */
static bool
is_ended(struct costr *r, struct cost *c)
{
	struct costread *d = r->d;

	if (!r->each_end || !d->totals || !d->more || d->finished)
		return false;
	finish(r, false);
	d->finished = true;
	c->kind = COST_ENDED;
	return true;
}

enum cost_kind
costr_next(struct costr *r, struct cost *c)
{
	struct costread *d = r->d;
	const char *colon;

	while (get_line(r)) {
		char ch = d->line[0];

		if (!d->told && more_command(r))
			continue;
		if ((ch >= '0' && ch <= '9') || ch == '+' || ch == '-' ||
		    ch == '*') {
			if (d->told)
				return cost_line(r, c);
		} else if (ch == '#' || ch == '\0') {
			if (d->len && ch == '\0')
				costr_die(r, "a zero byte");
			comment(r);
			continue;
		} else if ((colon = key_end(d->line))) {
			if (!head_line(r, colon)) {
				if (is_ended(r, c))
					return COST_ENDED;
				continue;
			}
		} else if (d->told) {
			cost_word(r);
			if (!r->each_fn || strncmp(d->line, "fn=", 3))
				continue;
			c->kind = COST_FN;
			c->fn = d->fn;
			c->file = d->file;
			return COST_FN;
		} else if (is_blank(ch) && !*blanks(d->line)) {
			continue;
		}
		d->held = true;
		return begin(r, c, d->line);
	}
	return ended(r, c);
}

struct costr *
costr_open(const char *name, struct costnames *nm)
{
	struct costr *r = xcalloc(1, sizeof *r);
	int i;

	r->d = xcalloc(1, sizeof *r->d);
	r->d->in = in_open(name);
	in_dated(r->d->in);
	r->name = in_name(r->d->in);
	r->nm = nm;
	r->has_summary = true;
	for (i = 0; i < NSPACE; i++)
		r->d->ids[i] = kh_init(id);
	new_part(r, false);
	return r;
}

void
costr_close(struct costr *r)
{
	size_t i;

	for (i = 0; i < NSPACE; i++)
		kh_destroy(id, r->d->ids[i]);
	for (i = 0; i < r->d->nfirst; i++)
		free(r->d->first[i]);
	free(r->d->first);
	in_close(r->d->in);
	free(r->d->cmd);
	free(r->late);
	free(r->d);
	free(r);
}

static uint32_t
renamed(const struct costnames *from, struct costnames *to, uint32_t name)
{
	return costnames_str(to, costnames_get(from, name));
}

static uint32_t
renamed_fn(const struct costnames *from, struct costnames *to, uint32_t fn)
{
	struct costfn f = costfn_get(from, fn);

	f.ob = renamed(from, to, f.ob);
	f.fl = renamed(from, to, f.fl);
	f.fn = renamed(from, to, f.fn);
	return costfn_add(to, f);
}

void
costr_rename(struct costr *r, struct costnames *to, struct cost *c)
{
	struct costread *d = r->d;
	struct costnames *from = r->nm;

	d->fl = renamed(from, to, d->fl);
	d->file = renamed(from, to, d->file);
	if (d->fn_known)
		d->fn = renamed_fn(from, to, d->fn);
	c->file = renamed(from, to, c->file);
	c->fn = renamed_fn(from, to, c->fn);
	r->nm = to;
}
