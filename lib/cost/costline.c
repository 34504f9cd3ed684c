/*
 * costline - the cost text: lines of the body
 */
#include "cost.h"

#include <inttypes.h>
#include <string.h>

#include "costread.h"
#include "prog.h"

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
				costr_die(r, "%s: more than 64 bits",
				    cost_shown(start));
			v = v << 4 | d;
		}
		if (p == start + 2)
			costr_die(r, "bad number '%s'", cost_shown(start));
	} else {
		for (; *p >= '0' && *p <= '9'; p++)
			if (__builtin_mul_overflow(v, 10, &v) ||
			    __builtin_add_overflow(v, *p - '0', &v))
				costr_die(r, "%s: more than 64 bits",
				    cost_shown(start));
		if (p == start)
			costr_die(r, "bad number '%s'", cost_shown(start));
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
		costr_die(r, "junk '%s'", cost_shown(p));
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

const char *
cost_counts(struct costr *r, const char *p, int64_t *n)
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
	return p;
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
	return p == r->d->line + r->d->len;
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

enum cost_kind
cost_line(struct costr *r, struct cost *c)
{
	struct costread *d = r->d;
	const char *p = d->line;
	uint32_t line;

	if (d->totals)
		costr_die(r, "costs after the end mark");
	if (d->pend == PEND_NONE && d->fn_known &&
	    r->head.positions == COST_LINE && quick(r, &line, d->n)) {
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
		costr_die(r, "bad line number '%s'", cost_shown(p));
	p = position(r, p, &d->pos, true);
	if (d->pend == PEND_NONE) {
		need_fn(r);
		p = cost_counts(r, p, d->n);
		add_self(r);
		c->kind = COST_SELF;
	} else if (d->pend == PEND_CALL) {
		p = cost_counts(r, p, d->n);
		*c = d->next;
	} else {
		if (*p)
			costr_die(r, "counts on the line of a jump");
		*c = d->next;
	}
	if (p != d->line + d->len)
		costr_die(r, "a zero byte");
	d->pend = PEND_NONE;
	c->fn = d->fn;
	c->file = d->file;
	c->pos = d->pos;
	c->n = d->n;
	return c->kind;
}

static uint32_t
string(struct costr *r, const char *p)
{
	size_t len = cost_undo_text((char *)p, r->d->line + r->d->len - p);

	return costnames_add(r->nm, p, len);
}

/* What is behind fn= and such words: "name", "(id) name" or "(id)". */
static uint32_t
name(struct costr *r, const char *p, enum cost_space sp)
{
	struct costread *d = r->d;
	khash_t(id) *ids = d->ids[sp];
	uint64_t id;
	uint32_t nm;
	khiter_t it;
	int made;

	d->ctx = 0;
	if (r->head.format == COST_CACHEGRIND)
		return string(r, p);
	p = blanks(p);
	if (p[0] != '(' || p[1] < '0' || p[1] > '9')
		return string(r, p);
	p = number(r, p + 1, &id);
	if (*p != ')')
		costr_die(r, "bad name number '%s'", cost_shown(p));
	if (r->by_id && id >= UINT32_MAX)
		costr_die(r, "name number %" PRIu64 " is too large", id);
	d->ctx = r->by_id ? id + 1 : 0;
	if (*++p == '\0') {
		it = kh_get(id, ids, id);
		if (it == kh_end(ids))
			costr_die(r, "name (%" PRIu64 ") was not defined", id);
		return kh_val(ids, it);
	}
	nm = string(r, blanks(p));
	it = kh_put(id, ids, id, &made);
	if (!made && kh_val(ids, it) >> 32 == d->part &&
	    (uint32_t)kh_val(ids, it) != nm)
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
		costr_die(r, "junk '%s'", cost_shown(p));
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
		costr_die(r, "junk '%s'", cost_shown(p));
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

void
cost_word(struct costr *r)
{
	struct costread *d = r->d;
	const char *eq = strchr(d->line, '=');
	enum word w;

	if (strlen(d->line) != d->len)
		costr_die(r, "a zero byte");
	w = eq ? word(d->line, eq - d->line) : NWORD;
	if (w == NWORD)
		costr_die(r, "unknown line '%s'", cost_shown(d->line));
	body_word(r, w, eq + 1);
}

