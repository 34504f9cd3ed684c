/*
 * score - the score of a clustering
 *
 * It is the Bayesian information criterion of D. Pelleg and A. Moore
 * ("X-means", ICML 2000), with weights, as in the SimPoint 3.0 paper: the
 * likelihood of the vectors under spherical clusters of one variance, less half
 * of ln n for each free parameter.  The unit of distortions is the mean weight.
 */
#include "cluster.h"

#include <math.h>

static const double pi = 3.14159265358979;

static double
sum_weights(const struct vecs *v)
{
	double s = 0;
	size_t i;

	for (i = 0; i < v->n; i++)
		s += v->w[i];
	return s;
}

/* Set distortion, cdist and bic; p and k are set already. */
void
score(const struct vecs *v, struct trial *t, const int *lab, const double *d2)
{
	double n = (double)v->n, dim = (double)v->wide, k = (double)t->k;
	double all = sum_weights(v), mean = all / n;
	double sum = 0, variance, likelihood, params;
	size_t c, i;

	for (c = 0; c < t->k; c++)
		t->cdist[c] = 0;
	for (i = 0; i < v->n; i++) {
		sum += v->w[i] * d2[i];
		t->cdist[lab[i]] += v->w[i] * d2[i];
	}
	for (c = 0; c < t->k; c++)
		t->cdist[c] /= mean;
	t->distortion = sum / mean;
	variance = t->distortion / (dim * n);
	likelihood = -dim * (log(2 * pi * variance) + 1) / 2 - log(all);
	for (i = 0; i < v->n; i++)
		if (t->p[lab[i]] > 0)
			likelihood += log(t->p[lab[i]]) * v->w[i] / all;
	params = (k - 1) + k * dim + 1;
	t->bic = likelihood * n - params / 2 * log(n);
}
