/*
 * cluster.h - random numbers, k-means, trials, runs
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stddef.h>
#include <stdint.h>

#include "simpoint.h"

/* rand.c: the combined generator */
struct rnd {
	int64_t a, b, last;	/* the two streams, the last output */
	int64_t tab[32];
};
void rnd_seed(struct rnd *r, int32_t seed);	/* begin; 0 and 1 are equal */
float rnd_uniform(struct rnd *r);		/* 0 <= u < 1, 24 bits */
size_t rnd_index(struct rnd *r, size_t n);	/* biased, as SimPoint's */
size_t rnd_fair(struct rnd *r, size_t n);	/* without bias */
double rnd_real(struct rnd *r);			/* 0 <= u < 1, some 62 bits */

/* near.c, kmeans.c: one thread's clustering */
struct km {
	const struct vecs *v;
	size_t k, kp;		/* centres; rounded up for vector code */
	double *c, *next;	/* k rows of dim: centres now, centres next */
	double *p, *nextp;	/* the centres' shares of the weight */
	double *ct;		/* c transposed: dim rows of kp */
	double *acc;		/* kp distances */
	double *cnorm;		/* sparse: squared length of each centre */
	uint32_t *sup;		/* sparse: dimensions where c is not 0, ... */
	size_t *nsup;		/* ... their number for each centre */
	int *lab;		/* per vector: nearest centre, ... */
	double *up;		/* ... upper bound of the distance to it, */
	double *lo;		/* ... lower bound to any other centre, */
	double *d2;		/* ... exact square of its distance */
	const struct vecs *labelled;	/* the vectors of lab, up, lo */
	double *half, *move;	/* per centre: see kmeans.c */
};
struct near {
	int c;			/* the nearest centre, the first of several */
	double up, lo;		/* bounds of the distances to it, to others */
};
/* Allocate a clustering of these vectors, for up to `most' centres. */
void km_set(struct km *m, const struct vecs *v, size_t most);
/* Use k centres from here on, at most those that km_set allocated. */
void km_choose(struct km *m, size_t k);
/* Free all that km_set allocated. */
void km_free(struct km *m);
/* Call this after the centres changed, before any other near_ function. */
void near_prepare(struct km *m);
/* Find vector i's nearest centre. */
void near_all(struct km *m, size_t i, struct near *r);
/* An upper bound of vector i's distance from centre c. */
double near_one(const struct km *m, size_t i, size_t c);
/* The square of vector i's distance from centre c, bit for bit. */
double near_exact(const struct km *m, size_t i, size_t c);
/* The square of the distance of vectors i and j. */
double near_pair(const struct vecs *v, size_t i, size_t j);
/* Set lab and the bounds of all vectors, without those of a round before. */
void km_label(struct km *m);
/*
 * Iterate from centres c and shares p until no round changes them, or for iters
 * updates. Returns how many updates changed something; lab then belongs to c,
 * and with -bugs mend p to lab.
 */
size_t kmeans(struct km *m, size_t iters);
/* Give each vector of a centre without a share to the nearest one that has. */
void km_settle(struct km *m);

/* plain.c: the same for what is not finite, or has a weight below 0 */

/* Is some value not finite, or some weight not finite or below 0? */
bool plain_needed(const struct vecs *v);
/* Have these vectors handled by plain.c, which needs them dense. */
void plain_dense(struct vecs *v);
/* What km_label and kmeans do, for such vectors. */
void plain_label(struct km *m);
size_t plain_kmeans(struct km *m, size_t iters);

/* init.c: the first centres, and the sample */

/* Set the k first centres as -initkm says; m->v has all vectors. */
void init_centres(struct km *m, int32_t seed);
/* Set the shares of the first centres, by the vectors nearest to them. */
void init_shares(struct km *m);
/*
 * Centres from a file of labels: the weighted mean of the vectors with each
 * label. The caller keeps the matrix; dies if the file is wrong.
 */
struct matrix *init_from_labels(const struct vecs *v, const char *name);
/* Draw `want' different vectors by weight; they keep their order. */
struct vecs *sample_draw(const struct vecs *v, size_t want, int32_t seed);

/* run.c: trials, the best trial of each run, the choice of k */
struct trial {
	size_t run, nr, k;	/* run and nr (trial of the run) from 0 */
	int32_t seed;
	size_t iters;		/* updates that changed something */
	double bic, distortion;
	double *cdist, *p;	/* per cluster: distortion, share */
};
struct k_run {			/* a value of k */
	size_t k, first;	/* first: its first trial */
	const struct trial *best;
};
struct result {			/* one clustering */
	size_t run, k, n;
	const double *p;	/* per cluster: share, ... */
	long *rep;		/* ... its simpoint, an interval; -1: none */
	int *lab;		/* per vector: cluster, ... */
	double *dist;		/* ... distance from its centre */
	struct matrix init, fin;	/* first and last centres */
};
extern struct k_run *runs;
extern size_t nruns;
extern const struct trial *const *trials;
extern size_t ntrials;
/*
 * Do all runs: for the options' values of k, or from the first centres ctrs if
 * that is not NULL. k-means works on the sample only. Returns the index of the
 * chosen run; SIZE_MAX: none can be chosen, as scores are infinite.
 */
size_t run_all(const struct vecs *all, const struct vecs *sample,
    const struct matrix *ctrs);
/* Repeat a run's best trial, for its centres and labels. */
void run_result(size_t run, struct result *r);

/* score.c: set distortion, cdist and bic of a trial that has p and k */
void score(const struct vecs *v, struct trial *t, const int *lab,
    const double *d2);

#endif
