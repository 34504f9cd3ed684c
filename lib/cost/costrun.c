/*
 * costrun - entries of the cost table, packed
 *
 * Most counts are small, many events are 0 in a whole function, and a line is
 * near the line before.  So a run holds column after column, each with as many
 * bytes for a value (0, 1, 2, 4 or 8) as its largest value needs.  Of the key's
 * words the differences from the entry before are stored.  If only few values
 * of a column are large, each has its own length, 0 to 8, in half a byte; these
 * come before the values.  Nine events of a line take a dozen bytes instead of
 * eighty, and packing takes a few instructions for each.
 */
#include "costsum.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

enum { VARIED = 9, SLACK = 8 };	/* such a column; behind all columns */

void
rows_room(struct cost_rows *r, size_t n, const struct cost_layout *lay)
{
	r->key = xgrow(r->key, &r->capkey, n * lay->nkey, sizeof *r->key);
	r->cnt = xgrow(r->cnt, &r->capcnt, n * lay->ncnt, sizeof *r->cnt);
}

/* How many bytes n signed values, step apart, need; u is the or of them all. */
static unsigned
width(uint64_t u, const int64_t *v, size_t n, size_t step)
{
	if (u >> 63)	/* of a negative value the bits unlike its sign count */
		for (u = 1; n--; v += step)
			u |= (uint64_t)(*v ^ *v >> 63);
	return u >> 31 ? 8 : u >> 15 ? 4 : u >> 7 ? 2 : u != 0;
}

/* bytes for one signed value */
static inline unsigned
length(int64_t v)
{
	uint64_t u = (uint64_t)(v ^ v >> 63);

	return v == 0 ? 0 : u == 0 ? 1 :
	    (unsigned)(64 - __builtin_clzll(u)) / 8 + 1;
}

/* bytes for such a column where each value has its own length */
static size_t
varied(const int64_t *v, size_t n, size_t step)
{
	size_t bytes = (n + 1) / 2, i;

	for (i = 0; i < n; i++, v += step)
		bytes += length(*v);
	return bytes;
}

/* Each store writes eight bytes; the next value overwrites the unused ones. */
static unsigned char *
put_varied(unsigned char *p, const int64_t *v, size_t n, size_t step)
{
	unsigned char *len = p;
	unsigned w;
	size_t i;

	p += (n + 1) / 2;
	for (i = 0; i < n; i++, v += step, p += w) {
		w = length(*v);
		len[i / 2] = (unsigned char)(i % 2 ? len[i / 2] | w << 4 : w);
		memcpy(p, v, 8);
	}
	return p;
}

static const unsigned char *
get_varied(const unsigned char *p, int64_t *v, size_t n, size_t step)
{
	const unsigned char *len = p;
	uint64_t u;
	unsigned w;
	size_t i;

	p += (n + 1) / 2;
	for (i = 0; i < n; i++, v += step, p += w) {
		w = len[i / 2] >> i % 2 * 4 & 15;
		memcpy(&u, p, 8);
		*v = w == 0 ? 0 : (int64_t)(u << (64 - 8 * w)) >> (64 - 8 * w);
	}
	return p;
}

/* n values, each step words behind the last */
static unsigned char *
put_column(unsigned char *p, const int64_t *v, size_t n, size_t step,
    unsigned w)
{
	size_t i;

	switch (w) {
	case 1:
		for (i = 0; i < n; i++, v += step)
			*p++ = (unsigned char)*v;
		break;
	case 2:
		for (i = 0; i < n; i++, v += step, p += 2)
			memcpy(p, v, 2);
		break;
	case 4:
		for (i = 0; i < n; i++, v += step, p += 4)
			memcpy(p, v, 4);
		break;
	case 8:
		for (i = 0; i < n; i++, v += step, p += 8)
			memcpy(p, v, 8);
		break;
	case VARIED:
		p = put_varied(p, v, n, step);
		break;
	}
	return p;
}

static const unsigned char *
get_column(const unsigned char *p, int64_t *v, size_t n, size_t step,
    unsigned w)
{
	int16_t h;
	int32_t l;
	size_t i;

	switch (w) {
	case 0:
		for (i = 0; i < n; i++, v += step)
			*v = 0;
		break;
	case 1:
		for (i = 0; i < n; i++, v += step)
			*v = (signed char)*p++;
		break;
	case 2:
		for (i = 0; i < n; i++, v += step, p += 2) {
			memcpy(&h, p, 2);
			*v = h;
		}
		break;
	case 4:
		for (i = 0; i < n; i++, v += step, p += 4) {
			memcpy(&l, p, 4);
			*v = l;
		}
		break;
	case 8:
		for (i = 0; i < n; i++, v += step, p += 8)
			memcpy(v, p, 8);
		break;
	case VARIED:
		p = get_varied(p, v, n, step);
		break;
	}
	return p;
}

/* differences, in place, and back */
static void
differ(uint64_t *key, size_t n, size_t nkey)
{
	size_t i;

	for (i = n * nkey; i-- > nkey;)
		key[i] -= key[i - nkey];
}

static void
undiffer(uint64_t *key, size_t n, size_t nkey)
{
	size_t i;

	for (i = nkey; i < n * nkey; i++)
		key[i] += key[i - nkey];
}

/* Returns how many bytes all columns take. */
static size_t
widths(unsigned char *w, const int64_t *v, size_t n, size_t step)
{
	uint64_t any[COST_EVMAX + 1];
	const int64_t *p, *end = v + n * step;
	size_t bytes = 0, least, len, j;

	for (j = 0; j < step; j++)
		any[j] = (uint64_t)v[j];
	for (p = v + step; p < end; p += step)
		for (j = 0; j < step; j++)
			any[j] |= (uint64_t)p[j];
	for (j = 0; j < step; j++, bytes += least) {
		w[j] = any[j] ? width(any[j], v + j, n, step) : 0;
		least = w[j] * n;
		if (w[j] < 2)
			continue;
		len = varied(v + j, n, step);
		if (len > least / 4 * 3)
			continue;
		w[j] = VARIED;
		least = len;
	}
	return bytes;
}

struct cost_run *
run_pack(struct cost_rows *r, const struct cost_layout *lay)
{
	unsigned char w[KEYMAX + COST_EVMAX + 1], *p;
	size_t ncol = lay->nkey + lay->ncnt, bytes = ncol, j;
	int64_t *key = (int64_t *)r->key;
	struct cost_run *run;

	differ(r->key, r->n, lay->nkey);
	bytes += widths(w, key, r->n, lay->nkey);
	bytes += widths(w + lay->nkey, r->cnt, r->n, lay->ncnt);
	run = xmalloc(sizeof *run + bytes + SLACK);
	run->next = NULL;
	run->len = bytes;
	run->n = r->n;
	memcpy(run->data, w, ncol);
	p = run->data + ncol;
	for (j = 0; j < lay->nkey; j++)
		p = put_column(p, key + j, r->n, lay->nkey, w[j]);
	for (j = 0; j < lay->ncnt; j++)
		p = put_column(p, r->cnt + j, r->n, lay->ncnt,
		    w[lay->nkey + j]);
	return run;
}

void
run_unpack(struct cost_rows *r, const struct cost_run *run,
    const struct cost_layout *lay)
{
	const unsigned char *w = run->data, *p = w + lay->nkey + lay->ncnt;
	size_t j;

	r->n = run->n;
	rows_room(r, r->n, lay);
	for (j = 0; j < lay->nkey; j++)
		p = get_column(p, (int64_t *)r->key + j, r->n, lay->nkey, w[j]);
	undiffer(r->key, r->n, lay->nkey);
	for (j = 0; j < lay->ncnt; j++)
		p = get_column(p, r->cnt + j, r->n, lay->ncnt,
		    w[lay->nkey + j]);
}

/* Both are in order, and so is to, of which counts of equal keys are added. */
static void
merge(const struct costsum *t, struct cost_rows *to, const struct cost_rows *a,
    const struct cost_rows *b, const struct cost_layout *lay)
{
	size_t nkey = lay->nkey, ncnt = lay->ncnt, i = 0, j = 0;
	const struct cost_rows *from;
	int c;

	rows_room(to, a->n + b->n, lay);
	for (to->n = 0; i < a->n || j < b->n; to->n++) {
		c = i == a->n ? 1 : j == b->n ? -1 :
		    costkey_cmp(a->key + i * nkey, b->key + j * nkey, nkey);
		from = c <= 0 ? a : b;
		memcpy(to->key + to->n * nkey,
		    from->key + (c <= 0 ? i : j) * nkey,
		    nkey * sizeof *to->key);
		memcpy(to->cnt + to->n * ncnt,
		    from->cnt + (c <= 0 ? i : j) * ncnt,
		    ncnt * sizeof *to->cnt);
		if (c == 0)
			costsum_add(t, to->cnt + to->n * ncnt,
			    b->cnt + j * ncnt, ncnt);
		i += c <= 0;
		j += c >= 0;
	}
}

struct cost_run *
run_merge(struct costsum *t, const struct cost_run *run,
    const struct cost_rows *b, const struct cost_layout *lay)
{
	struct cost_rows *a = &t->spare[0], *both = &t->spare[1];

	run_unpack(a, run, lay);
	merge(t, both, a, b, lay);
	return run_pack(both, lay);
}
