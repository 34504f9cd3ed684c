/*
 * near - distances between vectors and centres
 *
 * A distance that is a result is summed over the dimensions in order, each
 * squared difference rounded by itself (near_exact; near_all for dense
 * vectors).  Eight centres are summed side by side, which changes no bit.
 *
 * Sparse vectors (noProject) have thousands of dimensions, and hundreds of them
 * are not 0 in a vector.  For them, |x - c|^2 = |x|^2 + |c|^2 - 2 x.c is
 * computed first, over the vector's pairs only, with a bound of its rounding
 * error.  Then exact sums compare only the centres that may be nearest within
 * that error.  They skip dimensions in which both are 0, which add nothing.
 */
#include "cluster.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

#define LANES 8		/* centres summed side by side */

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)),
    aligned(sizeof(double)), may_alias));

static size_t
round_up(size_t k)
{
	return (k + LANES - 1) / LANES * LANES;
}

/* Allocate for up to `most' centres of these vectors. */
void
km_set(struct km *m, const struct vecs *v, size_t most)
{
	size_t kp = round_up(most), cells;

	m->v = v;
	if (__builtin_mul_overflow(kp, v->dim, &cells) ||
	    cells > SIZE_MAX / sizeof *m->c)
		die("%zu centres of %zu dimensions do not fit into memory",
		    most, v->dim);
	m->c = xcalloc(cells, sizeof *m->c);
	m->next = xcalloc(cells, sizeof *m->next);
	m->ct = xcalloc(cells, sizeof *m->ct);
	m->p = xcalloc(kp, sizeof *m->p);
	m->nextp = xcalloc(kp, sizeof *m->nextp);
	m->acc = xcalloc(kp, sizeof *m->acc);
	m->half = xcalloc(kp, sizeof *m->half);
	m->move = xcalloc(kp, sizeof *m->move);
	if (!v->x) {
		m->cnorm = xcalloc(kp, sizeof *m->cnorm);
		m->sup = xcalloc(cells, sizeof *m->sup);
		m->nsup = xcalloc(kp, sizeof *m->nsup);
	}
	m->lab = xcalloc(v->n, sizeof *m->lab);
	m->up = xcalloc(v->n, sizeof *m->up);
	m->lo = xcalloc(v->n, sizeof *m->lo);
	m->d2 = xcalloc(v->n, sizeof *m->d2);
	km_choose(m, most);
}

void
km_choose(struct km *m, size_t k)
{
	m->k = k;
	m->kp = round_up(k);
}

/* Each batch of trials has new threads, so memory is freed. */
void
km_free(struct km *m)
{
	free(m->c);
	free(m->next);
	free(m->ct);
	free(m->p);
	free(m->nextp);
	free(m->acc);
	free(m->half);
	free(m->move);
	free(m->cnorm);
	free(m->sup);
	free(m->nsup);
	free(m->lab);
	free(m->up);
	free(m->lo);
	free(m->d2);
}

/* To be called after the centres changed, before any other near_ function. */
void
near_prepare(struct km *m)
{
	size_t dim = m->v->dim, c, d;
	const double *row;
	double s;

	for (c = 0; c < m->k; c++)
		for (d = 0; d < dim; d++)
			m->ct[d * m->kp + c] = m->c[c * dim + d];
	if (m->v->x)
		return;
	for (c = 0; c < m->k; c++) {
		row = m->c + c * dim;
		m->nsup[c] = 0;
		for (s = 0, d = 0; d < dim; d++)
			if (row[d] != 0) {
				m->sup[c * dim + m->nsup[c]++] = (uint32_t)d;
				s += row[d] * row[d];
			}
		m->cnorm[c] = s;
	}
}

/* acc[c] = the squared distance of row x from each centre */
static void
dense_squares(const struct km *m, const double *x, double *acc)
{
	size_t dim = m->v->dim, kp = m->kp, b, d;
	const double *col;
	lanes sum, t;

	for (b = 0; b < kp; b += LANES) {
		sum = (lanes){ 0 };
		for (d = 0, col = m->ct + b; d < dim; d++, col += kp) {
			t = x[d] - *(const lanes *)col;
			sum += t * t;
		}
		*(lanes *)(acc + b) = sum;
	}
}

static void
dense_all(struct km *m, size_t i, struct near *r)
{
	double best, second = INFINITY, s;
	size_t c;

	dense_squares(m, m->v->x + i * m->v->dim, m->acc);
	best = m->acc[0];
	r->c = 0;
	for (c = 1; c < m->k; c++) {
		s = m->acc[c];
		if (s < best) {
			second = best;
			best = s;
			r->c = (int)c;
		} else if (s < second)
			second = s;
	}
	r->up = sqrt(best);
	r->lo = sqrt(second);
}

static double
dense_exact(const double *x, const double *c, size_t dim)
{
	double s = 0, t;
	size_t d;

	for (d = 0; d < dim; d++) {
		t = x[d] - c[d];
		s += t * t;
	}
	return s;
}

/* The sum in order over the dimensions where either is not 0. */
static double
sparse_exact(const struct km *m, size_t i, size_t c)
{
	const struct vecs *v = m->v;
	const uint32_t *sup = m->sup + c * v->dim, *end = sup + m->nsup[c];
	const double *row = m->c + c * v->dim;
	double s = 0, t;
	size_t j;

	for (j = v->from[i]; j < v->from[i + 1]; j++) {
		for (; sup < end && *sup < v->at[j]; sup++) {
			t = 0 - row[*sup];
			s += t * t;
		}
		sup += sup < end && *sup == v->at[j];
		t = v->val[j] - row[v->at[j]];
		s += t * t;
	}
	for (; sup < end; sup++) {
		t = 0 - row[*sup];
		s += t * t;
	}
	return s;
}

/* A bound of the error of x.x + c.c - 2 x.c. */
static double
sparse_error(const struct km *m, size_t i, size_t c)
{
	return 8 * DBL_EPSILON * ((double)m->v->dim + 16) *
	    (m->v->norm[i] + m->cnorm[c]) + DBL_MIN;
}

static double
sparse_square(const struct km *m, size_t i, size_t c)
{
	const struct vecs *v = m->v;
	double dot = 0;
	size_t j;

	for (j = v->from[i]; j < v->from[i + 1]; j++)
		dot += v->val[j] * m->ct[v->at[j] * m->kp + c];
	return v->norm[i] + m->cnorm[c] - 2 * dot;
}

static void
sparse_dots(const struct km *m, size_t i, double *acc)
{
	const struct vecs *v = m->v;
	const double *col;
	size_t b, j;
	lanes sum;

	for (b = 0; b < m->kp; b += LANES) {
		sum = (lanes){ 0 };
		for (j = v->from[i]; j < v->from[i + 1]; j++) {
			col = m->ct + v->at[j] * m->kp + b;
			sum += v->val[j] * *(const lanes *)col;
		}
		*(lanes *)(acc + b) = sum;
	}
}

/* The nearest of the centres within `most': the first with the least sum. */
static int
sparse_settle(const struct km *m, size_t i, double most)
{
	double best = INFINITY, s;
	int found = 0;
	size_t c;

	for (c = 0; c < m->k; c++) {
		if (m->acc[c] - sparse_error(m, i, c) > most)
			continue;
		s = sparse_exact(m, i, c);
		if (s < best) {
			best = s;
			found = (int)c;
		}
	}
	return found;
}

static void
sparse_all(struct km *m, size_t i, struct near *r)
{
	double most = INFINITY, second = INFINITY, e, s;
	size_t c, may = 0;

	sparse_dots(m, i, m->acc);
	r->c = 0;
	for (c = 0; c < m->k; c++) {
		s = m->v->norm[i] + m->cnorm[c] - 2 * m->acc[c];
		m->acc[c] = s;
		e = s + sparse_error(m, i, c);
		if (e < most) {
			most = e;
			r->c = (int)c;
		}
	}
	for (c = 0; c < m->k; c++)
		may += m->acc[c] - sparse_error(m, i, c) <= most;
	if (may > 1)
		r->c = sparse_settle(m, i, most);
	for (c = 0; c < m->k; c++) {
		s = m->acc[c] - sparse_error(m, i, c);
		if ((int)c != r->c && s < second)
			second = s;
	}
	s = m->acc[r->c] + sparse_error(m, i, (size_t)r->c);
	r->up = sqrt(s);
	r->lo = second > 0 ? sqrt(second) : 0;
}

/* Find vector i's nearest centre. */
void
near_all(struct km *m, size_t i, struct near *r)
{
	if (m->v->x)
		dense_all(m, i, r);
	else
		sparse_all(m, i, r);
}

double
near_one(const struct km *m, size_t i, size_t c)
{
	if (m->v->x)
		return sqrt(near_exact(m, i, c));
	return sqrt(sparse_square(m, i, c) + sparse_error(m, i, c));
}

/* The squared distance of vector i from centre c, bit for bit. */
double
near_exact(const struct km *m, size_t i, size_t c)
{
	size_t dim = m->v->dim;

	if (m->v->x)
		return dense_exact(m->v->x + i * dim, m->c + c * dim, dim);
	return sparse_exact(m, i, c);
}

/* The squared distance of two vectors. */
double
near_pair(const struct vecs *v, size_t i, size_t j)
{
	size_t a, b;
	double s = 0, t;

	if (v->x)
		return dense_exact(v->x + i * v->dim, v->x + j * v->dim,
		    v->dim);
	a = v->from[i];
	b = v->from[j];
	while (a < v->from[i + 1] || b < v->from[j + 1]) {
		if (b == v->from[j + 1] ||
		    (a < v->from[i + 1] && v->at[a] < v->at[b]))
			t = v->val[a++];
		else if (a == v->from[i + 1] || v->at[b] < v->at[a])
			t = 0 - v->val[b++];
		else
			t = v->val[a++] - v->val[b++];
		s += t * t;
	}
	return s;
}
