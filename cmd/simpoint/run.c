/*
 * run - trials, runs, and the choice of k
 *
 * A run is one value of k, a trial of it one seed; the trial with the highest
 * score is the run's best.  The scores of all runs span a range: the smallest k
 * whose score reaches the threshold's share of that range is chosen.
 *
 * Without a list of k, a bisection searches for it: it tries 1, the highest and
 * the middle, then halves the interval where the threshold is crossed.
 *
 * Trials do not depend on each other, so threads take them one by one.  Each
 * writes into a struct trial of its own, so results do not depend on the order
 * of threads.
 *
 * As in SimPoint, trial j of run r has the seed seedkm + r * trials + 2 j (its
 * log says + j).
 */
#include "cluster.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

struct k_run *runs;
size_t nruns;
const struct trial *const *trials;
size_t ntrials;

static const struct vecs *all, *part;	/* all vectors; those for k-means */
static const struct matrix *given;	/* first centres, or NULL */
static struct trial **trial;		/* ntrials of them */
static size_t caprun, captrial;
static size_t done;			/* number of trials before this batch */
static atomic_size_t next;		/* first trial that no thread took */
static atomic_size_t ready;		/* number of finished trials */

/* Allocate a thread's memory, enough for the highest k. */
static void
set_up(struct km *m)
{
	size_t most = 0, i;

	for (i = done; i < ntrials; i++)
		if (trial[i]->k > most)
			most = trial[i]->k;
	km_set(m, all, most);
}

/* Set the first centres and their shares. */
static void
begin(struct km *m, const struct trial *t)
{
	m->v = all;
	m->labelled = NULL;
	km_choose(m, t->k);
	if (given)
		memcpy(m->c, given->x, t->k * all->dim * sizeof *m->c);
	else
		init_centres(m, t->seed);
	init_shares(m);
}

/* Cluster.  Sets m->lab and m->d2 of all vectors; returns the updates. */
static size_t
cluster(struct km *m)
{
	size_t iters, i;

	m->v = part;
	iters = kmeans(m, opt.iters);
	if (part != all) {
		m->v = all;
		km_label(m);
	}
	if (opt.mend)
		km_settle(m);
	for (i = 0; i < all->n; i++)
		m->d2[i] = near_exact(m, i, (size_t)m->lab[i]);
	return iters;
}

static void
one_trial(struct km *m, struct trial *t)
{
	begin(m, t);
	t->iters = cluster(m);
	t->p = xcalloc(t->k, sizeof *t->p);
	memcpy(t->p, m->p, t->k * sizeof *t->p);
	t->cdist = xcalloc(t->k, sizeof *t->cdist);
	score(all, t, m->lab, m->d2);
}

/* A thread: take trials until none is left; one of them shows progress. */
static void *
work(void *shows_progress)
{
	struct km m = { 0 };
	size_t i;

	set_up(&m);
	while ((i = atomic_fetch_add(&next, 1)) < ntrials) {
		one_trial(&m, trial[i]);
		atomic_fetch_add(&ready, 1);
		if (shows_progress && progress_due())
			progress("%zu of %zu trials", atomic_load(&ready),
			    ntrials);
	}
	km_free(&m);
	return NULL;
}

/* Run the trials from `done' on. */
static void
run_batch(void)
{
	size_t n = ntrials - done, i;
	pthread_t *t;

	atomic_store(&next, done);
	if (n > opt.jobs)
		n = opt.jobs;
	t = xcalloc(n, sizeof *t);
	for (i = 1; i < n; i++)
		if (pthread_create(&t[i], NULL, work, NULL) != 0)
			break;
	n = i;
	work(&ready);
	for (i = 1; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	done = ntrials;
	progress_end();
}

static void
add_run(size_t k)
{
	struct trial *t;
	size_t j, n = given ? 1 : opt.nseeds;

	runs = xgrow(runs, &caprun, nruns + 1, sizeof *runs);
	runs[nruns].k = k;
	runs[nruns].first = ntrials;
	runs[nruns].best = NULL;
	trial = xgrow(trial, &captrial, ntrials + n, sizeof *trial);
	for (j = 0; j < n; j++) {
		t = xcalloc(1, sizeof *t);
		t->run = nruns;
		t->nr = j;
		t->k = k;
		/* wraps as 32 bits do */
		t->seed = (int32_t)((uint32_t)opt.seedkm +
		    (uint32_t)(nruns * n) + 2 * (uint32_t)j);
		trial[ntrials++] = t;
	}
	nruns++;
}

/* Run the added runs and set their best trials, the first of several. */
static void
run_added(void)
{
	size_t r = nruns, i;
	struct trial *best;

	run_batch();
	while (r > 0 && !runs[r - 1].best)
		r--;
	for (; r < nruns; r++) {
		best = trial[runs[r].first];
		for (i = runs[r].first; i < ntrials && trial[i]->run == r; i++)
			if (trial[i]->bic > best->bic)
				best = trial[i];
		runs[r].best = best;
		log_run(&runs[r], trial + runs[r].first, i - runs[r].first,
		    all->n);
	}
}

/* Find the runs with the lowest and highest score.  Returns the threshold. */
static double
range(size_t *worst, size_t *best)
{
	double lo, hi;
	size_t r;

	*worst = *best = 0;
	for (r = 1; r < nruns; r++) {
		if (runs[r].best->bic < runs[*worst].best->bic)
			*worst = r;
		if (runs[r].best->bic > runs[*best].best->bic)
			*best = r;
	}
	lo = runs[*worst].best->bic;
	hi = runs[*best].best->bic;
	return lo + opt.bicthreshold * (hi - lo);
}

static void
search(void)
{
	size_t lo = 1, hi = opt.maxk, last = (1 + opt.maxk) / 2, worst, best, k;
	double enough;

	add_run(1);
	add_run(opt.maxk);
	add_run(last);
	for (;;) {
		run_added();
		enough = range(&worst, &best);
		if (best > worst && runs[nruns - 1].best->bic < enough) {
			k = (last + hi) / 2;
			lo = last;
		} else {
			k = (last + lo) / 2;
			hi = last;
		}
		if (hi - lo <= 1)
			break;
		add_run(k);
		last = k;
	}
}

/*
 * Choose a run, the only one anyway; SIZE_MAX: none can be (some scores are
 * infinite).
 */
static size_t
choose(void)
{
	size_t chosen = SIZE_MAX, r, worst, best;
	double enough = range(&worst, &best);

	if (nruns == 1)
		return 0;
	for (r = 0; r < nruns; r++)
		if (runs[r].best->bic >= enough &&
		    (chosen == SIZE_MAX || runs[r].k < runs[chosen].k))
			chosen = r;
	/* distortion 0 makes the score infinite: all vectors are centres */
	for (r = 0; r < nruns && opt.mend; r++)
		if (runs[r].best->distortion == 0 &&
		    (chosen == SIZE_MAX || runs[r].k < runs[chosen].k))
			chosen = r;
	return chosen;
}

/* Do all runs.  Returns the chosen one, or SIZE_MAX. */
size_t
run_all(const struct vecs *v, const struct vecs *sample,
    const struct matrix *ctrs)
{
	size_t i;

	all = v;
	part = sample;
	given = ctrs;
	if (given) {
		add_run(given->rows);
		run_added();
	} else if (opt.nk > 0) {
		for (i = 0; i < opt.nk; i++)
			add_run(opt.k[i]);
		run_added();
	} else
		search();
	trials = (const struct trial *const *)trial;
	return choose();
}

/* Find the interval nearest to each centre, the first of several. */
static void
representatives(struct result *r)
{
	size_t c, i;
	double *least = xcalloc(r->k, sizeof *least);

	r->rep = xcalloc(r->k, sizeof *r->rep);
	for (c = 0; c < r->k; c++)
		r->rep[c] = -1;
	for (i = 0; i < r->n; i++) {
		c = (size_t)r->lab[i];
		if (r->rep[c] < 0 || r->dist[i] < least[c]) {
			r->rep[c] = (long)i;
			least[c] = r->dist[i];
		}
	}
	free(least);
}

void
run_result(size_t run, struct result *r)
{
	const struct trial *t = runs[run].best;
	struct km m = { 0 };
	size_t i, cells = t->k * all->dim;

	km_set(&m, all, t->k);
	begin(&m, t);
	r->run = run;
	r->k = t->k;
	r->n = all->n;
	r->init.rows = r->fin.rows = t->k;
	r->init.cols = r->fin.cols = all->dim;
	r->init.wide = r->fin.wide = all->wide;
	r->init.used = r->fin.used = all->used;
	r->init.x = xcalloc(cells, sizeof *r->init.x);
	r->init.w = xcalloc(t->k, sizeof *r->init.w);
	memcpy(r->init.x, m.c, cells * sizeof *m.c);
	memcpy(r->init.w, m.p, t->k * sizeof *m.p);
	cluster(&m);
	r->fin.x = m.c;
	r->fin.w = m.p;
	r->p = t->p;
	r->lab = m.lab;
	r->dist = m.d2;
	for (i = 0; i < r->n; i++)
		r->dist[i] = sqrt(r->dist[i]);
	representatives(r);
}
