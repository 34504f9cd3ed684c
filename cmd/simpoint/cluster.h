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
void rnd_seed(struct rnd *r, int32_t seed);
float rnd_uniform(struct rnd *r);		/* 0 <= u < 1, 24 bits */
size_t rnd_index(struct rnd *r, size_t n);	/* biased, as SimPoint's */
size_t rnd_fair(struct rnd *r, size_t n);	/* every index alike */
double rnd_real(struct rnd *r);			/* 0 <= u < 1, some 62 bits */

/* near.c, kmeans.c: one thread's work on one clustering */
struct km {
	const struct vecs *v;
	size_t k, kp;		/* centres; the same, rounded up for vector code */
	double *c, *next;	/* k rows of dim: centres now, and of the update */
	double *p, *nextp;	/* their shares of the weight */
	double *ct;		/* c transposed: dim rows of kp */
	double *acc;		/* kp distances */
	double *cnorm;		/* sparse: squared length of each centre */
	uint32_t *sup;		/* sparse: where each centre is not 0, ... */
	size_t *nsup;		/* ... how often */
	int *lab;		/* per vector: nearest centre, ... */
	double *up, *lo;	/* ... at most so far from it, at least from others */
	double *d2;		/* ... the square of its distance, exactly */
	const struct vecs *labelled;	/* lab, up and lo are of these, and of c */
	double *half, *move;	/* per centre */
};
struct near {
	int c;			/* the nearest centre, the first of several */
	double up, lo;		/* bounds of the distances to it, to any other */
};
void km_set(struct km *m, const struct vecs *v, size_t most);
void km_choose(struct km *m, size_t k);
void km_free(struct km *m);
void near_prepare(struct km *m);
void near_all(struct km *m, size_t i, struct near *r);
double near_one(const struct km *m, size_t i, size_t c);
double near_exact(const struct km *m, size_t i, size_t c);
double near_pair(const struct vecs *v, size_t i, size_t j);
void km_label(struct km *m);
size_t kmeans(struct km *m, size_t iters);

/* init.c */
void init_centres(struct km *m, int32_t seed);
void init_shares(struct km *m);
struct matrix *init_from_labels(const struct vecs *v, const char *name);
struct vecs *sample_draw(const struct vecs *v, size_t want, int32_t seed);

/* run.c: trials, the best of each run, the choice of k */
struct trial {
	size_t run, nr, k;	/* run and trial from 0 */
	int32_t seed;
	size_t iters;		/* updates that changed something */
	double bic, distortion;
	double *cdist, *p;	/* per cluster: distortion, share */
};
struct run {
	size_t k, first;	/* trial */
	const struct trial *best;
};
struct result {			/* of one clustering */
	size_t run, k, n;
	const double *p;	/* per cluster: share, ... */
	long *rep;		/* ... its interval, -1: none */
	int *lab;		/* per vector: cluster, ... */
	double *dist;		/* ... distance from its centre */
	struct matrix init, fin;
};
extern struct run *runs;
extern size_t nruns;
extern const struct trial *const *trials;
extern size_t ntrials;
size_t run_all(const struct vecs *all, const struct vecs *sample,
    const struct matrix *ctrs);
void run_result(size_t run, struct result *r);

/* score.c */
void score(const struct vecs *v, struct trial *t, const int *lab,
    const double *d2);

#endif
