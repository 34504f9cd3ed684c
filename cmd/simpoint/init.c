/*
 * init - choose the first centres, and the sample of vectors
 *
 *	samp	k random vectors, SimPoint's way: a vector may come twice, and
 *		the index is biased (rand.c)
 *	ff	the first as for samp, then k - 1 times the vector furthest from
 *		all centres before
 *	uniform	k different vectors, with equal chances
 *	kpp	k-means++ (Arthur and Vassilvitskii, SODA 2007): the first with
 *		equal chances, each further one with a chance proportional to
 *		the square of its distance from the centres before
 *
 * First centres always come from all vectors; only k-means works on a sample.
 */
#include "cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

static void
centre_is(struct km *m, size_t c, size_t i)
{
	vec_copy(m->v, i, m->c + c * m->v->dim);
}

/*
 * Update d2[i], the square of the distance from the nearest of the centres so
 * far; this is the c-th.  What is no number for the first one remains so.
 */
static void
nearer(struct km *m, size_t c, size_t centre)
{
	double d2;
	size_t i;

	for (i = 0; i < m->v->n; i++) {
		d2 = near_pair(m->v, i, centre);
		if (c == 0 || d2 < m->d2[i])
			m->d2[i] = d2;
	}
}

static size_t
furthest(const struct km *m)
{
	size_t i, far = 0;

	for (i = 1; i < m->v->n; i++)
		if (m->d2[i] > m->d2[far])
			far = i;
	return far;
}

static size_t
by_square(const struct km *m, struct rnd *r)
{
	double sum = 0, want;
	size_t i, last = 0;

	for (i = 0; i < m->v->n; i++)
		sum += m->v->w[i] * m->d2[i];
	if (!(sum > 0))
		return rnd_fair(r, m->v->n);
	want = rnd_real(r) * sum;
	for (sum = 0, i = 0; i < m->v->n; i++) {
		if (m->v->w[i] * m->d2[i] == 0)
			continue;
		last = i;
		sum += m->v->w[i] * m->d2[i];
		if (sum > want)
			break;
	}
	return last;
}

/* ff, kpp: one vector, then repeatedly one far from those before. */
static void
spread(struct km *m, struct rnd *r)
{
	size_t c, i, n = m->v->n;

	i = opt.initkm == INIT_FF ? rnd_index(r, n) : rnd_fair(r, n);
	for (c = 0;; c++) {
		centre_is(m, c, i);
		if (c + 1 == m->k)
			break;
		nearer(m, c, i);
		i = opt.initkm == INIT_FF ? furthest(m) : by_square(m, r);
	}
}

/* A vector may come again only when all n are used. */
static void
uniform(struct km *m, struct rnd *r)
{
	size_t c, i, n = m->v->n;

	for (c = 0; c < m->k; c++) {
		if (c % n == 0)
			memset(m->lab, 0, n * sizeof *m->lab);
		do
			i = rnd_fair(r, n);
		while (m->lab[i]);
		m->lab[i] = 1;
		centre_is(m, c, i);
	}
}

/* Set the k first centres; m->v is all vectors. */
void
init_centres(struct km *m, int32_t seed)
{
	struct rnd r;
	size_t c;

	rnd_seed(&r, seed);
	if (opt.initkm == INIT_SAMP)
		for (c = 0; c < m->k; c++)
			centre_is(m, c, rnd_index(&r, m->v->n));
	else if (opt.initkm == INIT_UNIFORM)
		uniform(m, &r);
	else
		spread(m, &r);
}

/*
 * A first centre's share is the weight of the vectors nearest to it, over the
 * sum of all shares, which rounding keeps from being 1.
 */
void
init_shares(struct km *m)
{
	double sum = 0;
	size_t c, i;

	km_label(m);
	memset(m->p, 0, m->k * sizeof *m->p);
	for (i = 0; i < m->v->n; i++)
		m->p[m->lab[i]] += m->v->w[i];
	for (c = 0; c < m->k; c++)
		sum += m->p[c];
	for (c = 0; c < m->k; c++)
		m->p[c] /= sum;
}

/* Centres from labels: the weighted mean of the vectors with each label. */
struct matrix *
init_from_labels(const struct vecs *v, const char *name)
{
	struct matrix *m = xcalloc(1, sizeof *m);
	int *lab = labels_read(name, v->n, &m->rows);
	size_t i, j, d;
	double *row;

	m->cols = v->dim;
	m->x = xcalloc(m->rows * m->cols, sizeof *m->x);
	m->w = xcalloc(m->rows, sizeof *m->w);
	for (i = 0; i < v->n; i++) {
		row = m->x + (size_t)lab[i] * v->dim;
		if (v->x)
			for (d = 0; d < v->dim; d++)
				row[d] += v->x[i * v->dim + d] * v->w[i];
		else
			for (j = v->from[i]; j < v->from[i + 1]; j++)
				row[v->at[j]] += v->val[j] * v->w[i];
		m->w[lab[i]] += v->w[i];
	}
	for (i = 0; i < m->rows; i++)
		for (d = 0; d < v->dim && m->w[i] != 0; d++)
			m->x[i * v->dim + d] /= m->w[i];
	return m;
}

/*
 * Sampling: the vectors divide [0, 1) into slices as long as their weights, in
 * order of falling weight.  A random number falls into the slice of a vector.
 */
#define VAIN 100000000	/* give up after so many draws of chosen vectors */

struct slice {
	double w, end;
	size_t i;
};

static int
heavier(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->w != y->w)
		return x->w < y->w ? 1 : -1;
	return x->i < y->i ? 1 : -1;
}

static size_t
slice_of(const struct slice *s, size_t n, double u)
{
	size_t lo = 0, hi = n, mid;

	for (;;) {
		mid = (lo + hi) / 2;
		if (s[mid].end < u)
			lo = mid + 1;
		else if (mid > 0 && s[mid - 1].end > u)
			hi = mid;
		else
			return mid;
	}
}

static struct vecs *
subset(const struct vecs *v, const bool *chosen, size_t want)
{
	struct vecs *s = xcalloc(1, sizeof *s);
	size_t i, j, pairs = 0;
	double sum = 0;

	s->dim = v->dim;
	s->wide = v->wide;
	s->used = v->used;
	s->plain = v->plain;
	s->w = xcalloc(want, sizeof *s->w);
	if (v->x)
		s->x = xcalloc(want * v->dim, sizeof *s->x);
	else {
		s->from = xcalloc(want + 1, sizeof *s->from);
		s->at = xcalloc(v->from[v->n], sizeof *s->at);
		s->val = xcalloc(v->from[v->n], sizeof *s->val);
		s->norm = xcalloc(want, sizeof *s->norm);
	}
	for (i = 0; i < v->n; i++) {
		if (!chosen[i])
			continue;
		if (v->x)
			vec_copy(v, i, s->x + s->n * v->dim);
		else {
			for (j = v->from[i]; j < v->from[i + 1]; j++) {
				s->at[pairs] = v->at[j];
				s->val[pairs++] = v->val[j];
			}
			s->norm[s->n] = v->norm[i];
			s->from[s->n + 1] = pairs;
		}
		sum += v->w[i];
		s->w[s->n++] = v->w[i];
	}
	for (i = 0; i < s->n; i++)
		s->w[i] /= sum;
	return s;
}

struct vecs *
sample_draw(const struct vecs *v, size_t want, int32_t seed)
{
	struct slice *s = xcalloc(v->n, sizeof *s);
	bool *chosen = xcalloc(v->n, sizeof *chosen);
	size_t i, have = 0, some = 0, vain = 0;
	double sum = 0;
	struct rnd r;

	for (i = 0; i < v->n; i++) {
		s[i].w = v->w[i];
		s[i].i = i;
		some += v->w[i] > 0;
	}
	if (some < want)
		die("-sampleSize %zu: only %zu intervals have a weight",
		    want, some);
	qsort(s, v->n, sizeof *s, heavier);
	for (i = 0; i < v->n; i++)
		s[i].end = sum += s[i].w;
	s[v->n - 1].end = 1;
	rnd_seed(&r, seed);
	while (have < want) {
		i = s[slice_of(s, v->n, (double)rnd_uniform(&r))].i;
		vain = chosen[i] ? vain + 1 : 0;
		if (vain > VAIN)
			die("-sampleSize %zu: after %zu intervals the others "
			    "have too little weight to be drawn", want, have);
		have += !chosen[i];
		chosen[i] = true;
	}
	free(s);
	return subset(v, chosen, want);
}
