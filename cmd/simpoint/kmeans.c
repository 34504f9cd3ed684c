/*
 * kmeans - Lloyd's iteration, without most of the distances
 *
 * Each round gives every vector to its nearest centre and moves each centre to
 * the weighted mean of its vectors, until no coordinate changes.  Most vectors
 * stay with their centre, and bounds often prove that without computing
 * distances (G. Hamerly, "Making k-means even faster", SDM 2010): UP bounds the
 * distance to the own centre from above, LO the distances to all others from
 * below.  When centres move, the bounds loosen by the distances moved.  While
 * UP < LO, or UP is less than half the distance from the own centre to the
 * nearest other one, the label does not change.
 *
 * The labels must be those of the rounded sums, so a bound counts only if it
 * holds by more than the largest possible rounding error (slack).
 *
 * Two bugs of SimPoint are kept: an empty cluster's centre becomes the origin,
 * and when the limit of rounds is reached, the result is the centres before the
 * last update (had it converged, both would be equal).  "-bugs mend" moves an
 * empty centre to the vector furthest from its own, if some vector is not
 * at its centre; it takes the last centres, and the shares of the last labels.
 */
#include "cluster.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TINY 1e-140	/* below it, squares may underflow: no bound counts */
#define ULPS 1e-14	/* more than the rounding error of a few operations */

static double
slack(const struct km *m)
{
	return fmax(1e-9, 16 * DBL_EPSILON * (double)m->v->dim);
}

/* Find each vector's nearest centre, without bounds of a round before. */
void
km_label(struct km *m)
{
	struct near r;
	size_t i;

	if (m->v->plain) {
		plain_label(m);
		return;
	}
	near_prepare(m);
	for (i = 0; i < m->v->n; i++) {
		near_all(m, i, &r);
		m->lab[i] = r.c;
		m->up[i] = r.up;
		m->lo[i] = r.lo;
	}
	m->labelled = m->v;
}

/* half[c]: half the distance from centre c to the nearest other one */
static void
half_distances(struct km *m)
{
	size_t dim = m->v->dim, a, b, d;
	double s, t;

	for (a = 0; a < m->k; a++)
		m->half[a] = INFINITY;
	for (a = 0; a < m->k; a++)
		for (b = a + 1; b < m->k; b++) {
			for (s = 0, d = 0; d < dim; d++) {
				t = m->c[a * dim + d] - m->c[b * dim + d];
				s += t * t;
			}
			s = sqrt(s) / 2;
			m->half[a] = fmin(m->half[a], s);
			m->half[b] = fmin(m->half[b], s);
		}
}

/* Do the same as km_label, with the help of bounds of the round before. */
static void
label_again(struct km *m)
{
	double most = 0, second = 0, way, bound, loose = 1 + slack(m);
	struct near r;
	size_t c, i, far = 0;

	for (c = 0; c < m->k; c++)
		if (m->move[c] > most) {
			second = most;
			most = m->move[c];
			far = c;
		} else if (m->move[c] > second)
			second = m->move[c];
	half_distances(m);
	for (i = 0; i < m->v->n; i++) {
		c = (size_t)m->lab[i];
		way = (c == far ? second : most) * loose;
		m->up[i] = m->up[i] * (1 + ULPS) + m->move[c] * loose;
		m->lo[i] = m->lo[i] * (1 - ULPS) - way;
		bound = fmax(m->lo[i], m->half[c]);
		if (m->up[i] * loose < bound && bound > TINY)
			continue;
		m->up[i] = near_one(m, i, c);
		if (m->up[i] * loose < bound && bound > TINY)
			continue;
		near_all(m, i, &r);
		m->lab[i] = r.c;
		m->up[i] = r.up;
		m->lo[i] = r.lo;
	}
}

/* row += w * vector i */
static inline void
add_dense(double *row, const double *x, double w, size_t dim)
{
	size_t d;

	for (d = 0; d < dim; d++)
		row[d] += x[d] * w;
}

static void
add_vec(const struct vecs *v, size_t i, double *row)
{
	double w = v->w[i];
	size_t j;

	if (v->x && v->dim == 15)
		add_dense(row, v->x + i * 15, w, 15);
	else if (v->x)
		add_dense(row, v->x + i * v->dim, w, v->dim);
	else
		for (j = v->from[i]; j < v->from[i + 1]; j++)
			row[v->at[j]] += v->val[j] * w;
}

/* nextp = the weights of each centre's vectors */
static void
weigh(struct km *m)
{
	memset(m->nextp, 0, m->k * sizeof *m->nextp);
	for (size_t i = 0; i < m->v->n; i++)
		m->nextp[m->lab[i]] += m->v->w[i];
}

/* next = the weighted sums of each centre's vectors */
static void
add_up(struct km *m)
{
	memset(m->next, 0, m->k * m->v->dim * sizeof *m->next);
	for (size_t i = 0; i < m->v->n; i++)
		add_vec(m->v, i, m->next + (size_t)m->lab[i] * m->v->dim);
}

/* Is a vector where its centre is, but for the rounding of means? */
static bool
is_at_centre(const struct km *m, size_t i, double d2)
{
	size_t dim = m->v->dim;
	const double *row = m->c + (size_t)m->lab[i] * dim;
	double s = 0;

	for (size_t d = 0; d < dim; d++)
		s += row[d] * row[d];
	return d2 <= slack(m) * slack(m) * s;
}

/*
 * Give an empty cluster the vector furthest from its own centre. It leaves some
 * weight there. Equal vectors at their centre are not far from it: they would
 * go to and fro.
 */
static bool
refill(struct km *m, size_t empty)
{
	size_t i, worst = m->v->n;
	double s, most = 0;

	for (i = 0; i < m->v->n; i++) {
		s = near_exact(m, i, (size_t)m->lab[i]);
		if (s > most && m->v->w[i] > 0 &&
		    m->nextp[m->lab[i]] > m->v->w[i] &&
		    !is_at_centre(m, i, s)) {
			most = s;
			worst = i;
		}
	}
	if (worst == m->v->n)
		return false;
	m->lab[worst] = (int)empty;
	m->up[worst] = INFINITY;
	m->lo[worst] = 0;
	weigh(m);
	return true;
}

static void
refill_all(struct km *m)
{
	bool any = false;

	for (size_t c = 0; c < m->k; c++)
		if (m->nextp[c] == 0 && refill(m, c))
			any = true;
	if (any)
		add_up(m);
}

/* next = the weighted means of each centre's vectors */
static void
update(struct km *m)
{
	size_t dim = m->v->dim, c, d;
	double *row;

	weigh(m);
	add_up(m);
	if (opt.mend)
		refill_all(m);
	for (c = 0; c < m->k; c++) {
		row = m->next + c * dim;
		if (m->nextp[c] != 0)
			for (d = 0; d < dim; d++)
				row[d] /= m->nextp[c];
		else if (opt.mend)
			memcpy(row, m->c + c * dim, dim * sizeof *row);
	}
}

/* move[c]: the distance that centre c moves; false: none moves */
static bool
measure_moves(struct km *m)
{
	size_t dim = m->v->dim, c, d;
	double s, t;
	bool any = false;

	for (c = 0; c < m->k; c++) {
		for (s = 0, d = 0; d < dim; d++) {
			t = m->next[c * dim + d] - m->c[c * dim + d];
			any |= t != 0;
			s += t * t;
		}
		m->move[c] = sqrt(s) + TINY;
	}
	return any;
}

static void
swap(double **a, double **b)
{
	double *t = *a;

	*a = *b;
	*b = t;
}

/*
 * Iterate from centres c and shares p until no round changes them.  Returns the
 * number of updates that changed something.  lab then belongs to c.
 */
size_t
kmeans(struct km *m, size_t iters)
{
	size_t done = 0;

	if (m->v->plain)
		return plain_kmeans(m, iters);
	if (m->labelled != m->v)
		km_label(m);
	while (done < iters) {
		update(m);
		if (!measure_moves(m)) {
			/* shares may differ in their last bits */
			swap(&m->p, &m->nextp);
			break;
		}
		if (++done == iters && !opt.mend)
			break;
		swap(&m->c, &m->next);
		swap(&m->p, &m->nextp);
		near_prepare(m);
		label_again(m);
	}
	if (opt.mend) {
		weigh(m);
		swap(&m->p, &m->nextp);
	}
	return done;
}

void
km_settle(struct km *m)
{
	if (m->v->plain)
		return;
	for (size_t i = 0; i < m->v->n; i++) {
		double least = INFINITY, s;

		if (m->p[m->lab[i]] > 0)
			continue;
		for (size_t c = 0; c < m->k; c++) {
			s = m->p[c] > 0 ? near_exact(m, i, c) : INFINITY;
			if (s < least) {
				least = s;
				m->lab[i] = (int)c;
			}
		}
	}
}
