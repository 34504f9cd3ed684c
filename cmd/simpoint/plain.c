/*
 * plain - k-means of vectors that are no numbers, or have such weights
 *
 * An interval whose values add up to 0 is divided by that, as by SimPoint, and
 * every comparison with what comes of it is false.  What is proved of bounds
 * does not hold there, so nothing is saved here: all distances are computed,
 * and compared in SimPoint's order.  Vectors are dense.
 */
#include "cluster.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

static bool
all_finite(const double *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

bool
plain_needed(const struct vecs *v)
{
	size_t i;

	if (!all_finite(v->x ? v->x : v->val, v->x ? v->n * v->dim :
	    v->from[v->n]))
		return true;
	for (i = 0; i < v->n; i++)
		if (!(v->w[i] >= 0 && v->w[i] < INFINITY))
			return true;
	return false;
}

void
plain_dense(struct vecs *v)
{
	size_t i, cells;

	v->plain = true;
	if (v->x)
		return;
	if (__builtin_mul_overflow(v->n, v->dim, &cells))
		die("%zu vectors of %zu dimensions do not fit into memory",
		    v->n, v->dim);
	v->x = xcalloc(cells, sizeof *v->x);
	for (i = 0; i < v->n; i++)
		for (size_t j = v->from[i]; j < v->from[i + 1]; j++)
			v->x[i * v->dim + v->at[j]] = v->val[j];
}

/* The first centre, unless another one is nearer. */
void
plain_label(struct km *m)
{
	double least, d2;
	size_t c, i;

	for (i = 0; i < m->v->n; i++) {
		m->lab[i] = 0;
		least = near_exact(m, i, 0);
		for (c = 1; c < m->k; c++) {
			d2 = near_exact(m, i, c);
			if (d2 < least) {
				least = d2;
				m->lab[i] = (int)c;
			}
		}
	}
	m->labelled = m->v;
}

/* While centres move: the first one that is at any distance at all. */
static size_t
nearest(const struct km *m, size_t i)
{
	double least = DBL_MAX, d2;
	size_t c, found = 0;

	for (c = 0; c < m->k; c++) {
		d2 = near_exact(m, i, c);
		if (d2 < least) {
			least = d2;
			found = c;
		}
	}
	return found;
}

/* next = the means of what is nearest to each centre */
static void
update(struct km *m)
{
	size_t dim = m->v->dim, c, d, i;
	const double *x = m->v->x;
	double *row;

	memset(m->next, 0, m->k * dim * sizeof *m->next);
	memset(m->nextp, 0, m->k * sizeof *m->nextp);
	for (i = 0; i < m->v->n; i++, x += dim) {
		c = nearest(m, i);
		row = m->next + c * dim;
		for (d = 0; d < dim; d++)
			row[d] += x[d] * m->v->w[i];
		m->nextp[c] += m->v->w[i];
	}
	for (c = 0; c < m->k; c++)
		for (d = 0; d < dim && m->nextp[c] > 0; d++)
			m->next[c * dim + d] /= m->nextp[c];
}

static bool
moves(const struct km *m)
{
	size_t n = m->k * m->v->dim, i;

	for (i = 0; i < n; i++)
		if (m->next[i] != m->c[i])
			return true;
	return false;
}

/* What is no number moves for ever, though no bit of it changes. */
static bool
stays(const struct km *m)
{
	return memcmp(m->next, m->c, m->k * m->v->dim * sizeof *m->c) == 0 &&
	    memcmp(m->nextp, m->p, m->k * sizeof *m->p) == 0;
}

size_t
plain_kmeans(struct km *m, size_t iters)
{
	double *t;
	size_t done = 0;

	while (done < iters) {
		update(m);
		if (!moves(m)) {
			memcpy(m->p, m->nextp, m->k * sizeof *m->p);
			break;
		}
		if (stays(m)) {
			done = iters;
			break;
		}
		if (++done == iters)
			break;
		t = m->c;
		m->c = m->next;
		m->next = t;
		t = m->p;
		m->p = m->nextp;
		m->nextp = t;
	}
	plain_label(m);
	return done;
}
