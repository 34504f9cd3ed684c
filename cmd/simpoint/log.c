/*
 * log - SimPoint's log on standard output, and progress
 *
 * The log is for people: it has SimPoint's facts and names, but not its exact
 * text.  There is no log if a result goes to standard output.
 */
#include "cluster.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mem.h"
#include "prog.h"

static bool shown;		/* the terminal shows a line of progress */

void
log_options(int argc, char **argv)
{
	int i;

	note("Command line:");
	for (i = 0; i < argc; i++)
		note(" %s", argv[i]);
	note("\nOptions (*** where given):\n");
	opts_list();
}

/* The variance of a cluster around its centre. */
static double
variance(const struct trial *t, size_t c, size_t n)
{
	double own = t->p[c] * (double)n;

	return own > 1 ? t->cdist[c] / (own - 1) : 0;
}

static void
log_trial(const struct trial *t, size_t n)
{
	/* n - k wraps as SimPoint's 32 bits do */
	double rest = (double)(uint32_t)(n - t->k);
	size_t c;

	note("  Trial %zu, seed %d\n", t->nr + 1, (int)t->seed);
	note("    Iterations: %zu\n", t->iters);
	note("    BIC score: %g\n", t->bic);
	note("    Distortion: %g\n", t->distortion);
	note("    Distortions/cluster:");
	for (c = 0; c < t->k; c++)
		note(" %g", t->cdist[c]);
	note("\n    Variance: %g\n", t->distortion / rest);
	note("    Variances/cluster:");
	for (c = 0; c < t->k; c++)
		note(" %g", variance(t, c, n));
	note("\n");
}

struct share {
	double p;
	size_t c;
};

static int
larger(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? 1 : -1;
	return x->c < y->c ? 1 : -1;
}

static void
log_sizes(const struct trial *t)
{
	struct share *s = xcalloc(t->k, sizeof *s);
	size_t c;

	for (c = 0; c < t->k; c++)
		s[c] = (struct share){ t->p[c], c };
	qsort(s, t->k, sizeof *s, larger);
	note("    Clusters by size:");
	for (c = 0; c < t->k; c++)
		note(" %zu (%g)", s[c].c, s[c].p);
	note("\n");
	free(s);
}

/* Log a run, with its n trials, of `vectors' intervals. */
void
log_run(const struct k_run *r, struct trial *const *t, size_t n, size_t vectors)
{
	size_t i, most = 3, k;

	if (opt.quiet)
		return;
	for (k = opt.maxk; k > 1; k /= 2)
		most++;
	if (opt.nk > 0 || opt.maxk == 0)
		most = opt.nk ? opt.nk : 1;
	note("\nRun number %zu of %s%zu, k = %zu\n", r->best->run + 1,
	    opt.nk || !opt.maxk ? "" : "at most ", most, r->k);
	for (i = 0; i < n; i++) {
		log_trial(t[i], vectors);
		if (opt.verbose > 0)
			log_sizes(t[i]);
	}
	note("  Best trial: %zu\n", r->best->nr + 1);
}

/* Log the chosen clustering. */
void
log_result(const struct result *r)
{
	size_t c;

	note("\nThe best clustering was run %zu (k = %zu)\n", r->run + 1, r->k);
	note("Simpoints (interval, weight, cluster):\n");
	for (c = 0; c < r->k; c++)
		if (r->p[c] > 0)
			note("%10ld %10.6f %4zu\n", r->rep[c], r->p[c], c);
}

/* Has a second passed, and is standard error a terminal? */
bool
progress_due(void)
{
	static time_t last;
	struct timespec now;
	bool due;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	due = last != 0 && now.tv_sec > last;
	if (last == 0 || due)
		last = now.tv_sec;
	return due && isatty(STDERR_FILENO);
}

void
progress(const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	n = snprintf(text, sizeof text, "\r%s: ", progname);
	va_start(ap, fmt);
	n += vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof text - 8)
		n = (int)sizeof text - 8;
	n += sprintf(text + n, "\033[K");
	if (write(STDERR_FILENO, text, (size_t)n) == n)
		shown = true;
}

void
progress_end(void)
{
	if (shown && write(STDERR_FILENO, "\r\033[K", 4) == 4)
		shown = false;
}
