/*
 * simpoint - find a program's phases in its frequency vectors
 *
 *	$ simpoint -k 2 -saveSimpoints p -saveSimpointWeights w
 *
 *	T:1:20 :3:4		$ cat p		$ cat w
 *	T:1:20 :3:4		2 0		0.333333 0
 *	T:2:24			0 1		0.666667 1
 *
 * Each line is an interval of the program and says how often each block ran.
 * simpoint projects these vectors onto few dimensions and clusters them by
 * k-means.  Each cluster is a phase; the interval nearest to its centre, the
 * simpoint, represents it, and its share of the intervals is the weight.
 *
 * Method and file formats are those of SimPoint 3.2 (T. Sherwood et al., ASPLOS
 * 2002; G. Hamerly et al., "SimPoint 3.0: Faster and more flexible program
 * phase analysis", JILP 7, 2005), and so is every bit of the results.
 */
#include "cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"

static struct fv fv;
static struct vecs vecs;

static void
load_matrix(void)
{
	struct matrix m = { 0 };

	if (opt.vectxt)
		matrix_read_text(&m, opt.vectxt);
	else
		matrix_read_binary(&m, opt.vecbin);
	vecs.n = m.rows;
	vecs.dim = m.cols;
	vecs.x = m.x;
	vecs.w = m.w;
}

/* Is it SimPoint that divides by a sum of 0, or comes to infinity? */
static bool
keeps_odd(void)
{
	return opt.fv && !opt.mend;
}

/* Turn the lengths of intervals, or weights of vectors, into shares. */
static void
shares(double *w)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < vecs.n; i++) {
		if (!(w[i] >= 0 && w[i] < INFINITY) && !keeps_odd())
			die("interval %zu: weight %g", i, w[i]);
		sum += w[i];
	}
	if (!(sum > 0 && sum < INFINITY) && !keeps_odd())
		die("the sum of weights is %g", sum);
	for (i = 0; i < vecs.n; i++)
		vecs.w[i] = w[i] / sum;
}

static void
weigh(void)
{
	double *length = fv.sum ? fv.sum : vecs.w;
	size_t i;

	if (!vecs.w)
		vecs.w = xcalloc(vecs.n, sizeof *vecs.w);
	if (opt.weights_in)
		vecs.w = weights_read(opt.weights_in, vecs.n);
	else if (!opt.fixedlength)
		shares(length);
	else
		for (i = 0; i < vecs.n; i++)
			vecs.w[i] = 1 / (double)vecs.n;
}

static void
check_finite(void)
{
	if (!plain_needed(&vecs))
		return;
	if (!keeps_odd())
		die("a vector has a value that is not finite");
	plain_dense(&vecs);
}

static void
save_input(void)
{
	struct matrix *m = &fv.proj;
	size_t i;

	if (opt.projtxt_out || opt.projbin_out) {
		/* the format has weights, though the rows have none */
		m->w = xcalloc(m->rows, sizeof *m->w);
		for (i = 0; i < m->rows; i++)
			m->w[i] = 1 / (double)m->rows;
	}
	if (opt.projtxt_out)
		matrix_write_text(m, opt.projtxt_out);
	if (opt.projbin_out)
		matrix_write_binary(m, opt.projbin_out);
	if (opt.vectxt_out)
		vecs_write_text(&vecs, opt.vectxt_out);
	if (opt.vecbin_out)
		vecs_write_binary(&vecs, opt.vecbin_out);
	if (opt.weights_out)
		weights_write(vecs.w, vecs.n, opt.weights_out);
}

static void
read_input(void)
{
	if (opt.vectxt || opt.vecbin)
		load_matrix();
	else
		fv_read(&fv, &vecs);
	if (opt.join)
		fv_join(&vecs);
	if (vecs.n > INT32_MAX)
		die("%zu intervals are too many", vecs.n);
	weigh();
	check_finite();
	vecs.wide = vecs.dim;
	note("Vectors: %zux%zu\n", vecs.n, vecs.dim);
	if (!opt.ctrs_in)
		vecs_squeeze(&vecs);
	if (opt.initkm == INIT_SAMP && vecs.n % 8 == 0 && !opt.ctrs_in &&
	    !opt.labels_in)
		warn("%zu intervals, a multiple of 8: -initkm samp prefers "
		    "some of them as first centres (-initkm uniform does not)",
		    vecs.n);
}

static const struct matrix *
first_centres(void)
{
	struct matrix *m;

	if (opt.labels_in)
		return init_from_labels(&vecs, opt.labels_in);
	if (!opt.ctrs_in)
		return NULL;
	m = xcalloc(1, sizeof *m);
	matrix_read_text(m, opt.ctrs_in);
	if (m->cols != vecs.dim)
		die("%s: %zu dimensions, the vectors have %zu", opt.ctrs_in,
		    m->cols, vecs.dim);
	return m;
}

/* Warn of known bugs that changed the result. */
static void
warn_bugs(const struct result *r)
{
	size_t c, empty = 0;

	if (opt.mend)
		return;
	for (c = 0; c < r->k; c++)
		empty += r->p[c] == 0;
	if (empty > 0)
		warn("%zu of %zu clusters are empty, their centres at the "
		    "origin, as for SimPoint 3.2 (-bugs mend moves them)",
		    empty, r->k);
	if (opt.iters > 0 && runs[r->run].best->iters == opt.iters)
		warn("%zu iterations were not enough: the centres are those "
		    "before the last, as for SimPoint 3.2 (-bugs mend takes "
		    "the last)", opt.iters);
}

static void
save_run(size_t run, bool last)
{
	struct result r;
	char suffix[64] = "";

	memset(&r, 0, sizeof r);
	run_result(run, &r);
	if (opt.saveall)
		snprintf(suffix, sizeof suffix, ".run_%zu_k_%zu", run + 1,
		    r.k);
	save_result(&r, suffix);
	if (!last)
		return;
	warn_bugs(&r);
	log_result(&r);
	if (opt.regions)
		regions_write(&r, &fv);
	if (opt.json)
		json_write(&r, &fv);
	if (opt.plot)
		plot_write(&r, &fv);
}

/*
 * No run is better than others.  What does not depend on the choice is written,
 * as by SimPoint; returns the status.
 */
static int
no_choice(void)
{
	warn("no clustering can be chosen: some, or all, fit the intervals "
	    "exactly, and so have no score (-bugs mend takes the smallest of "
	    "those)");
	if (opt.regions || opt.json || opt.plot)
		return 2;
	return opt.saveall || !(opt.simpoints || opt.weights || opt.labels ||
	    opt.initctrs || opt.finalctrs) ? 0 : 2;
}

int
main(int argc, char **argv)
{
	const struct vecs *part = &vecs;
	size_t chosen, r;
	int status = 0;

	prog_init(argv[0]);
	opts_parse(argc, argv);
	opts_check();
	if (opt.quiet)
		note_quiet();
	out_hold();
	log_options(argc, argv);
	read_input();
	if (opt.sample > 0 && opt.sample < vecs.n)
		part = sample_draw(&vecs, opt.sample, opt.seedsample);
	chosen = run_all(&vecs, part, first_centres());
	if (chosen == SIZE_MAX)
		status = no_choice();
	save_input();
	for (r = 0; r < nruns && opt.saveall; r++)
		if (r != chosen)
			save_run(r, false);
	if (chosen != SIZE_MAX)
		save_run(chosen, true);
	log_close();
	out_publish();
	return status;
}
