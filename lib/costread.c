/*
 * costread.c - the cost text: reader
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
 * a name is what follows the =, to the letter.
 *
 * The end mark: Cachegrind's files end with summary:, those of Callgrind and
 * of ours with totals:; without it they were cut.  Other writers of the
 * format need not have one.  Where there is one, the self costs of the part
 * must add up to it, so a cut number is noticed too.
 */
#include "cost.h"

#include <htslib/khash.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in.h"
#include "util.h"

KHASH_INIT(id, uint64_t, uint64_t, 1, kh_int64_hash_func, kh_int64_hash_equal)

enum space { OB, FL, FN, NSPACE };

enum pend { PEND_NONE, PEND_CALL, PEND_JUMP };

struct costread {
	struct in *in;
	char *line;
	size_t len;
	bool held;		/* look at this line again */
	bool any;		/* the head has begun */
	bool told;		/* COST_PART was given for this part */
	bool magic;		/* "# callgrind format" */
	bool callgrind;		/* a key that only Callgrind's have */
	bool totals, summary;	/* seen in this part */
	unsigned part;		/* from 1 */
	khash_t(id) *ids[NSPACE];	/* id -> name | part it was given in << 32 */

	uint32_t ob, fl, file;	/* as last said by ob=, fl=, and fl= fi= fe= */
	uint32_t fn;
	bool fn_known;
	struct cost_pos pos;	/* of the last cost line */

	/* of the call or jump that is being told */
	uint32_t cob, cfi, cfn, jfi, jfn;
	uint32_t ctx, cctx, jctx;	/* of the last name, of cfn=, of jfn= */
	bool has_cob, has_cfi, has_cfn, has_jfi, has_jfn;
	enum pend pend;
	struct cost next;

	int64_t n[COST_EVMAX], sum[COST_EVMAX], total[COST_EVMAX], given[COST_EVMAX];
};

void
costr_die(struct costr *r, const char *fmt, ...)
{
	char msg[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	die("%s:%" PRIu64 ": %s", r->name, (uint64_t)in_lineno(r->d->in), msg);
}

/* at most 40 bytes of a line, for messages */
static const char *
shown(const char *s)
{
	static char buf[48];

	snprintf(buf, sizeof buf, strlen(s) > 40 ? "%.40s..." : "%s", s);
	return buf;
}

static inline bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline const char *
blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

static const char *
number_slow(struct costr *r, const char *p, uint64_t *out)
{
	uint64_t v = 0;
	const char *start = p;
	unsigned d;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		for (p += 2;; p++) {
			if (*p >= '0' && *p <= '9')
				d = *p - '0';
			else if ((*p | 32) >= 'a' && (*p | 32) <= 'f')
				d = (*p | 32) - 'a' + 10;
			else
				break;
			if (v >> 60)
				costr_die(r, "%s: more than 64 bits", shown(start));
			v = v << 4 | d;
		}
		if (p == start + 2)
			costr_die(r, "bad number '%s'", shown(start));
	} else {
		for (; *p >= '0' && *p <= '9'; p++)
			if (__builtin_mul_overflow(v, 10, &v) ||
			    __builtin_add_overflow(v, *p - '0', &v))
				costr_die(r, "%s: more than 64 bits", shown(start));
		if (p == start)
			costr_die(r, "bad number '%s'", shown(start));
	}
	*out = v;
	return p;
}

static inline const char *
number(struct costr *r, const char *p, uint64_t *out)
{
	const char *start = p;
	uint64_t v = 0;
	unsigned d;

	for (; (d = *p - '0') <= 9; p++)
		v = v * 10 + d;
	if (p == start || p - start > 19 || (*p | 32) == 'x')
		return number_slow(r, start, out);
	*out = v;
	return p;
}

static inline const char *
subpos(struct costr *r, const char *p, uint64_t *v)
{
	uint64_t d;

	if (*p == '*')
		return p + 1;
	if (*p == '+') {
		p = number(r, p + 1, &d);
		if (__builtin_add_overflow(*v, d, v))
			costr_die(r, "position beyond 64 bits");
	} else if (*p == '-') {
		p = number(r, p + 1, &d);
		if (__builtin_sub_overflow(*v, d, v))
			costr_die(r, "position below 0");
	} else {
		p = number(r, p, v);
	}
	return p;
}

static inline const char *
field_end(struct costr *r, const char *p)
{
	if (*p && !is_blank(*p))
		costr_die(r, "junk '%s'", shown(p));
	return blanks(p);
}

/* *pos is the one before, and then this one; as many fields as there are */
static const char *
position(struct costr *r, const char *p, struct cost_pos *pos, bool whole)
{
	unsigned have = r->head.positions;
	uint64_t line = pos->line;

	if (have & COST_INSTR)
		p = field_end(r, subpos(r, p, &pos->addr));
	if (have & COST_BB && (*p || whole))
		p = field_end(r, subpos(r, p, &pos->bb));
	if (have & COST_LINE && (*p || whole))
		p = field_end(r, subpos(r, p, &line));
	if (line > UINT32_MAX)
		costr_die(r, "line number %" PRIu64 " is too large", line);
	pos->line = line;
	return p;
}

static void
counts(struct costr *r, const char *p, int64_t *n)
{
	size_t i = 0, nev = r->head.nev;
	uint64_t v;
	bool neg;

	while (*p) {
		if (i == nev)
			costr_die(r, "more counts than events (%zu)", nev);
		neg = *p == '-';
		if (*p == '.' && r->head.format == COST_CACHEGRIND) {
			v = 0;
			p++;
		} else {
			p = number(r, p + neg, &v);
		}
		if (v > INT64_MAX)
			costr_die(r, "count %" PRIu64 " is too large", v);
		if (neg && !r->head.is_diff)
			costr_die(r, "negative count -%" PRIu64, v);
		n[i++] = neg ? -(int64_t)v : (int64_t)v;
		if (*p == ' ')
			p++;
		if (*p && (unsigned)(*p - '0') > 9)
			p = p[-1] == ' ' ? blanks(p) : field_end(r, p);
	}
	while (i < nev)
		n[i++] = 0;
}

static inline void
add_self(struct costr *r)
{
	struct costread *d = r->d;
	size_t i, nev = r->head.nev;
	unsigned over = 0;

	for (i = 0; i < nev; i++)
		over |= __builtin_add_overflow(d->sum[i], d->n[i], &d->sum[i]);
	if (over)
		costr_die(r, "a sum of the costs is beyond 64 bits");
}

/*
 * The usual line: a line number, single blanks, counts of up to 18 digits.
 * False, and nothing done, for any other.
 */
static inline bool
quick(const struct costr *r, uint32_t *line, int64_t *n)
{
	const char *p = r->d->line, *start = p;
	size_t i, nev = r->head.nev;
	uint64_t v = 0;
	unsigned d;

	for (; (d = (unsigned char)*p - '0') <= 9; p++)
		v = v * 10 + d;
	if (p == start || p - start > 9)
		return false;
	*line = v;
	for (i = 0; i < nev && *p == ' '; i++) {
		d = (unsigned char)p[1] - '0';
		if (d > 9)
			return false;
		if ((unsigned char)p[2] <= ' ') {
			n[i] = d;
			p += 2;
			continue;
		}
		v = d;
		start = p;
		for (p += 2; (d = (unsigned char)*p - '0') <= 9; p++)
			v = v * 10 + d;
		if (p - start > 19)
			return false;
		n[i] = v;
	}
	for (; i < nev; i++)
		n[i] = 0;
	return *p == '\0';
}

static void
need_fn(struct costr *r)
{
	struct costread *d = r->d;

	if (d->fn_known)
		return;
	d->fn = costfn_add(r->nm, (struct costfn){ d->ob, d->fl, 0, 0 });
	d->fn_known = true;
}

static enum cost_kind
cost_line(struct costr *r, struct cost *c)
{
	struct costread *d = r->d;
	const char *p = d->line;
	uint32_t line;

	if (d->totals)
		costr_die(r, "costs after the end mark");
	if (d->pend == PEND_NONE && d->fn_known && r->head.positions == COST_LINE &&
	    quick(r, &line, d->n)) {
		d->pos.line = line;
		add_self(r);
		c->kind = COST_SELF;
		c->fn = d->fn;
		c->file = d->file;
		c->pos = d->pos;
		c->n = d->n;
		return COST_SELF;
	}
	if (r->head.format == COST_CACHEGRIND && (unsigned)(*p - '0') > 9)
		costr_die(r, "bad line number '%s'", shown(p));
	p = position(r, p, &d->pos, true);
	if (d->pend == PEND_NONE) {
		need_fn(r);
		counts(r, p, d->n);
		add_self(r);
		c->kind = COST_SELF;
	} else if (d->pend == PEND_CALL) {
		counts(r, p, d->n);
		*c = d->next;
	} else {
		if (*p)
			costr_die(r, "counts on the line of a jump");
		*c = d->next;
	}
	d->pend = PEND_NONE;
	c->fn = d->fn;
	c->file = d->file;
	c->pos = d->pos;
	c->n = d->n;
	return c->kind;
}

/* What is behind fn= and its kin: "name", "(id) name" or "(id)". */
static uint32_t
name(struct costr *r, const char *p, enum space sp)
{
	struct costread *d = r->d;
	khash_t(id) *ids = d->ids[sp];
	uint64_t id;
	uint32_t nm;
	khiter_t it;
	int made;

	d->ctx = 0;
	if (strlen(p) != (size_t)(d->line + d->len - p))
		costr_die(r, "a zero byte in a name");
	if (r->head.format == COST_CACHEGRIND)
		return costnames_str(r->nm, p);
	p = blanks(p);
	if (p[0] != '(' || p[1] < '0' || p[1] > '9')
		return costnames_str(r->nm, p);
	p = number(r, p + 1, &id);
	if (*p != ')')
		costr_die(r, "bad name number '%s'", shown(p));
	if (r->by_id && id >= UINT32_MAX)
		costr_die(r, "name number %" PRIu64 " is too large", id);
	d->ctx = r->by_id ? id + 1 : 0;
	if (*++p == '\0') {
		it = kh_get(id, ids, id);
		if (it == kh_end(ids))
			costr_die(r, "name (%" PRIu64 ") was not defined", id);
		return kh_val(ids, it);
	}
	nm = costnames_str(r->nm, blanks(p));
	it = kh_put(id, ids, id, &made);
	if (made < 0)
		die("out of memory");
	if (!made && kh_val(ids, it) >> 32 == d->part && (uint32_t)kh_val(ids, it) != nm)
		costr_die(r, "name (%" PRIu64 ") is defined twice", id);
	kh_val(ids, it) = (uint64_t)d->part << 32 | nm;
	return nm;
}

static void
calls(struct costr *r, const char *p)
{
	struct costread *d = r->d;
	struct cost *c = &d->next;
	struct costfn f = costfn_get(r->nm, d->fn);
	uint64_t n;
	bool neg;

	if (!d->has_cfn)
		costr_die(r, "calls= without cfn=");
	p = blanks(p);
	neg = *p == '-';
	p = field_end(r, number(r, p + neg, &n));
	if (n > INT64_MAX)
		costr_die(r, "count %" PRIu64 " is too large", n);
	if (neg && !r->head.is_diff)
		costr_die(r, "negative count -%" PRIu64, n);
	memset(c, 0, sizeof *c);
	c->kind = COST_CALL;
	c->count[0] = neg ? -(int64_t)n : (int64_t)n;
	c->to = d->pos;
	if (*p)
		p = position(r, p, &c->to, false);
	else
		memset(&c->to, 0, sizeof c->to);
	if (*p)
		costr_die(r, "junk '%s'", shown(p));
	c->callee = costfn_add(r->nm, (struct costfn){
	    d->has_cob ? d->cob : f.ob, d->has_cfi ? d->cfi : d->file, d->cfn,
	    d->cctx });
	d->has_cob = d->has_cfi = d->has_cfn = false;
	d->pend = PEND_CALL;
}

static const char *
jump_count(struct costr *r, const char *p, int64_t *out)
{
	bool neg = *p == '-';
	uint64_t n;

	p = number(r, p + neg, &n);
	if (n > INT64_MAX)
		costr_die(r, "count %" PRIu64 " is too large", n);
	if (neg && !r->head.is_diff)
		costr_die(r, "negative count -%" PRIu64, n);
	*out = neg ? -(int64_t)n : (int64_t)n;
	return p;
}

/*
 * "jump=N target" and, as it is written, "jcnd=FOLLOWED/EXECUTED target".
 * The manual's form is "jcnd=EXECUTED FOLLOWED target".
 */
static void
jump(struct costr *r, const char *p, bool cond)
{
	struct costread *d = r->d;
	struct cost *c = &d->next;
	struct costfn f = costfn_get(r->nm, d->fn);

	memset(c, 0, sizeof *c);
	c->kind = COST_JUMP;
	c->cond = cond;
	p = jump_count(r, blanks(p), &c->count[0]);
	c->count[1] = c->count[0];
	if (cond && *p == '/')
		p = jump_count(r, p + 1, &c->count[0]);
	else if (cond)
		p = jump_count(r, field_end(r, p), &c->count[1]);
	p = field_end(r, p);
	c->to = d->pos;
	p = position(r, p, &c->to, true);
	if (*p)
		costr_die(r, "junk '%s'", shown(p));
	c->tofile = d->has_jfi ? d->jfi : d->file;
	c->callee = d->fn;
	if (d->has_jfn)
		c->callee = costfn_add(r->nm,
		    (struct costfn){ f.ob, c->tofile, d->jfn, d->jctx });
	d->has_jfi = d->has_jfn = false;
	d->pend = PEND_JUMP;
}

enum word { W_FN, W_FL, W_FI, W_FE, W_OB, W_COB, W_CFI, W_CFL, W_CFN, W_CALLS,
    W_RCALLS, W_JUMP, W_JCND, W_JFI, W_JFN, W_BB, NWORD };

static const char *const words[NWORD] = {
	"fn", "fl", "fi", "fe", "ob", "cob", "cfi", "cfl", "cfn", "calls",
	"rcalls", "jump", "jcnd", "jfi", "jfn", "bb"
};

static enum word
word(const char *p, size_t len)
{
	int w;

	for (w = 0; w < NWORD; w++)
		if (strlen(words[w]) == len && !memcmp(words[w], p, len))
			break;
	return w;
}

static void	/* table */
body_word(struct costr *r, enum word w, const char *p)
{
	struct costread *d = r->d;
	uint32_t nm;

	if (r->head.format == COST_CACHEGRIND && w > W_FL)
		costr_die(r, "%s= in a file of Cachegrind's", words[w]);
	if (d->totals)
		costr_die(r, "%s= after the end mark", words[w]);
	if (d->pend != PEND_NONE)
		costr_die(r, "%s= has no cost line",
		    d->pend == PEND_CALL ? "calls" : "jump");
	switch (w) {
	case W_FN:
		d->file = d->fl;
		nm = name(r, p, FN);
		d->fn = costfn_add(r->nm,
		    (struct costfn){ d->ob, d->fl, nm, d->ctx });
		d->fn_known = true;
		break;
	case W_FL:
		d->fl = d->file = name(r, p, FL);
		if (r->head.format == COST_CACHEGRIND) {
			d->fn = costfn_add(r->nm, (struct costfn){ 0, d->fl,
			    costnames_add(r->nm, "???", 3), 0 });
			d->fn_known = true;
		}
		break;
	case W_FI:
	case W_FE:
		d->file = name(r, p, FL);
		break;
	case W_OB:
		d->ob = name(r, p, OB);
		d->fn_known = false;
		break;
	case W_COB:
		d->cob = name(r, p, OB);
		d->has_cob = true;
		break;
	case W_CFI:
	case W_CFL:
		d->cfi = name(r, p, FL);
		d->has_cfi = true;
		break;
	case W_CFN:
		d->cfn = name(r, p, FN);
		d->cctx = d->ctx;
		d->has_cfn = true;
		break;
	case W_CALLS:
	case W_RCALLS:
		need_fn(r);
		calls(r, p);
		break;
	case W_JUMP:
	case W_JCND:
		need_fn(r);
		jump(r, p, w == W_JCND);
		break;
	case W_JFI:
		d->jfi = name(r, p, FL);
		d->has_jfi = true;
		break;
	case W_JFN:
		d->jfn = name(r, p, FN);
		d->jctx = d->ctx;
		d->has_jfn = true;
		break;
	case W_BB:	/* where a block lies and how often it ran: no cost */
	case NWORD:
		break;
	}
}

static enum cost_kind
begin(struct costr *r, struct cost *c)
{
	struct costread *d = r->d;

	if (!r->head.nev)
		costr_die(r, "no events: line before this");
	costhead_done(&r->head);
	if (!d->callgrind && !d->magic && r->head.cmd)
		r->head.format = COST_CACHEGRIND;
	d->told = true;
	memset(&d->pos, 0, sizeof d->pos);
	memset(d->sum, 0, sizeof d->sum);
	c->kind = COST_PART;
	return COST_PART;
}

static bool
has_mark(const struct costr *r)
{
	const char *by = r->head.creator;

	if (r->head.format == COST_CACHEGRIND)
		return r->d->summary;
	return r->d->totals || !by || (strncmp(by, "callgrind-", 10) &&
	    strncmp(by, "quern", 5));
}

/* The end of a part: was it whole? */
static void
finish(struct costr *r)
{
	struct costread *d = r->d;
	const char *mark = r->head.format == COST_CACHEGRIND ? "summary:" : "totals:";
	size_t i;

	if (d->pend != PEND_NONE && !r->partial)
		costr_die(r, "truncated: %s= has no cost line",
		    d->pend == PEND_CALL ? "calls" : "jump");
	if (!has_mark(r) && !r->partial)
		costr_die(r, "truncated: no %s line", mark);
	if (!has_mark(r)) {
		warn("%s:%" PRIu64 ": truncated: no %s line", r->name,
		    (uint64_t)in_lineno(d->in), mark);
		r->truncated = true;
	}
	for (i = 0; d->totals && i < r->head.nev; i++)
		if (d->total[i] != d->sum[i])
			costr_die(r, "%s says %" PRId64 " %s, but the costs add up"
			    " to %" PRId64, mark, d->total[i], r->head.ev[i].name,
			    d->sum[i]);
	r->has_summary &= d->summary;
	for (i = 0; d->summary && i < r->head.nev; i++)
		if (__builtin_add_overflow(r->summary[i], d->given[i], &r->summary[i]))
			costr_die(r, "the sum of the summaries is beyond 64 bits");
	for (i = 0; i < r->head.nev; i++)
		if (__builtin_add_overflow(r->total[i], d->sum[i], &r->total[i]))
			costr_die(r, "the sum of the parts is beyond 64 bits");
	d->pend = PEND_NONE;
}

static void
new_part(struct costr *r)
{
	struct costread *d = r->d;

	costhead_init(&r->head);
	d->any = d->told = d->callgrind = d->totals = d->summary = false;
	d->ob = d->fl = d->file = 0;
	d->fn_known = false;
	d->has_cob = d->has_cfi = d->has_cfn = d->has_jfi = d->has_jfn = false;
	d->part++;
}

/* "summary:" is the end mark of Cachegrind's, "totals:" of Callgrind's */
static void
sums(struct costr *r, const char *p, bool totals)
{
	struct costread *d = r->d;

	if (!r->head.nev)
		costr_die(r, "no events: line before this");
	p = blanks(p);
	if (!totals) {
		d->summary = true;
		counts(r, p, d->given);
	}
	if (totals || r->head.format == COST_CACHEGRIND) {
		if (d->pend != PEND_NONE)
			costr_die(r, "%s= has no cost line",
			    d->pend == PEND_CALL ? "calls" : "jump");
		counts(r, p, d->total);
		d->totals = true;
	}
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
	snprintf(key, sizeof key, "%.*s", len < sizeof key ? (int)len : 0, d->line);
	totals = !strcmp(key, "totals");
	if (totals || !strcmp(key, "summary")) {
		if (!d->told && (totals || !(d->callgrind || d->magic)))
			return true;
		sums(r, colon + 1, totals);
		return false;
	}
	known = costhead_key(key);
	if (d->told && !known)
		costr_die(r, "unknown line '%s'", shown(d->line));
	if (d->told) {
		finish(r);
		new_part(r);
	}
	d->any = true;
	if (known && strcmp(key, "desc") && strcmp(key, "cmd") &&
	    strcmp(key, "events"))
		d->callgrind = true;
	wrong = costhead_set(&r->head, r->nm, key, colon + 1);
	if (wrong)
		costr_die(r, "%s", wrong);
	return false;
}

static void
body_line(struct costr *r)
{
	struct costread *d = r->d;
	const char *eq = strchr(d->line, '=');
	enum word w;

	w = eq ? word(d->line, eq - d->line) : NWORD;
	if (w == NWORD)
		costr_die(r, "unknown line '%s'", shown(d->line));
	body_word(r, w, eq + 1);
}

/* Of "key: value" the colon; NULL for anything else. */
static const char *
key_end(const char *p)
{
	if ((*p | 32) < 'a' || (*p | 32) > 'z')
		return NULL;
	while (((*p | 32) >= 'a' && (*p | 32) <= 'z') || (*p >= '0' && *p <= '9') ||
	    *p == '_' || *p == '-')
		p++;
	return *p == ':' ? p : NULL;
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
	if (d->len && d->line[d->len - 1] == '\r')
		d->line[--d->len] = '\0';
	return true;
}

static enum cost_kind
ended(struct costr *r, struct cost *c)
{
	struct costread *d = r->d;

	if (!d->told && (d->any || d->part == 1))
		return begin(r, c);
	if (d->told)
		finish(r);
	new_part(r);
	d->any = false;
	c->kind = COST_END;
	return COST_END;
}

enum cost_kind
costr_next(struct costr *r, struct cost *c)
{
	struct costread *d = r->d;
	const char *colon;

	while (get_line(r)) {
		char ch = d->line[0];

		if ((ch >= '0' && ch <= '9') || ch == '+' || ch == '-' || ch == '*') {
			if (d->told)
				return cost_line(r, c);
		} else if (ch == '#' || ch == '\0') {
			if (d->len && ch == '\0')
				costr_die(r, "a zero byte");
			if (!strncmp(d->line, "# callgrind format", 18))
				d->magic = true;
			continue;
		} else if ((colon = key_end(d->line))) {
			if (!head_line(r, colon))
				continue;
		} else if (d->told) {
			body_line(r);
			continue;
		} else if (is_blank(ch) && !*blanks(d->line)) {
			continue;
		}
		d->held = true;
		return begin(r, c);
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
	r->name = in_name(r->d->in);
	r->nm = nm;
	r->has_summary = true;
	for (i = 0; i < NSPACE; i++) {
		r->d->ids[i] = kh_init(id);
		if (!r->d->ids[i])
			die("out of memory");
	}
	new_part(r);
	return r;
}

void
costr_close(struct costr *r)
{
	int i;

	for (i = 0; i < NSPACE; i++)
		kh_destroy(id, r->d->ids[i]);
	in_close(r->d->in);
	free(r->head.desc);
	free(r->head.derived);
	free(r->d);
	free(r);
}
