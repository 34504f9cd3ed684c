/*
 * json - write all results for other programs
 *
 *	{ "intervals": 950, "dimensions": 15, "instructions": 950000000,
 *	  "runs": [ { "run": 1, "k": 1, "best": 1,
 *		"trials": [ { "seed": ... } ] } ],
 *	  "run": 4, "k": 5,
 *	  "simpoints": [ { "phase": 0, "interval": 17, "weight": 0.25, ... } ],
 *	  "labels": [ 0, 0, 1, ... ] }
 *
 * A number that is not finite is null.
 */
#include "cluster.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "out.h"
#include "prog.h"

static json_t *
real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* A number of instructions, usually a whole number. */
static json_t *
amount(double v)
{
	return v >= 0 && v < 0x1p53 && v == floor(v) ?
	    json_integer((json_int_t)v) : real(v);
}

static json_t *
count(size_t n)
{
	return json_integer((json_int_t)n);
}

static void
put(json_t *to, const char *key, json_t *value)
{
	if (json_object_set_new(to, key, value) < 0)
		die("json: out of memory");
}

static void
add(json_t *to, json_t *value)
{
	if (json_array_append_new(to, value) < 0)
		die("json: out of memory");
}

static json_t *
trial_object(const struct trial *t)
{
	json_t *j = json_object();

	put(j, "seed", json_integer(t->seed));
	put(j, "iterations", count(t->iters));
	put(j, "bic", real(t->bic));
	put(j, "distortion", real(t->distortion));
	return j;
}

static json_t *
run_array(void)
{
	json_t *list = json_array(), *j, *inner;
	size_t r, t;

	for (r = 0; r < nruns; r++) {
		j = json_object();
		put(j, "run", count(r + 1));
		put(j, "k", count(runs[r].k));
		put(j, "best", count(runs[r].best->nr + 1));
		inner = json_array();
		for (t = runs[r].first; t < ntrials && trials[t]->run == r; t++)
			add(inner, trial_object(trials[t]));
		put(j, "trials", inner);
		add(list, j);
	}
	return list;
}

static json_t *
simpoint_object(const struct result *r, size_t c, double all)
{
	json_t *j = json_object();
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += r->lab[i] == (int)c;
	put(j, "phase", count(c));
	put(j, "weight", real(r->p[c] / all));
	put(j, "intervals", count(n));
	if (r->rep[c] < 0)
		return j;
	put(j, "interval", json_integer(r->rep[c]));
	put(j, "distance", real(r->dist[r->rep[c]]));
	return j;
}

/* Start and length of a simpoint, in instructions. */
static void
put_extent(json_t *j, const double *sum, long rep)
{
	double start = 0;
	long i;

	for (i = 0; i < rep; i++)
		start += sum[i];
	put(j, "start", amount(start));
	put(j, "length", amount(sum[rep]));
}

static json_t *
simpoint_array(const struct result *r, const double *sum)
{
	json_t *list = json_array(), *j;
	double all = 0;
	size_t c;

	for (c = 0; c < r->k; c++)
		if (r->p[c] > 0)
			all += r->p[c];
	for (c = 0; c < r->k; c++) {
		if (!(r->p[c] > 0))
			continue;
		j = simpoint_object(r, c, all);
		if (sum && r->rep[c] >= 0)
			put_extent(j, sum, r->rep[c]);
		add(list, j);
	}
	return list;
}

static int
to_out(const char *text, size_t n, void *out)
{
	out_write(out, text, n);
	return 0;
}

void
json_write(const struct result *r, const struct fv *f)
{
	json_t *top = json_object(), *labels = json_array();
	struct out *o = out_open(opt.json);
	double insns = 0;
	size_t i;

	put(top, "intervals", count(r->n));
	put(top, "dimensions", count(r->fin.wide));
	for (i = 0; i < r->n && f->sum; i++)
		insns += f->sum[i];
	if (f->sum)
		put(top, "instructions", amount(insns));
	put(top, "runs", run_array());
	put(top, "run", count(r->run + 1));
	put(top, "k", count(r->k));
	put(top, "simpoints", simpoint_array(r, f->sum));
	for (i = 0; i < r->n; i++)
		add(labels, json_integer(r->lab[i]));
	put(top, "labels", labels);
	if (json_dump_callback(top, to_out, o, JSON_INDENT(1) |
	    JSON_REAL_PRECISION(17)) < 0)
		die("json: out of memory");
	out_ch(o, '\n');
	json_decref(top);
	out_close(o);
}
