/*
 * fv - frequency vectors: read, normalise, project, in one pass
 *
 *	T:1:20 :3:4 :17:9	an interval: block 1 had 20, block 3 had 4, ...
 *
 * Only lines that begin with T are vectors.  A vector is divided by the sum of
 * its values and projected onto -dim dimensions: for each pair, in the order of
 * the line, (value / sum) times the block's row of the projection matrix is
 * added.  The rows are random numbers in the order of the blocks.  They are
 * made when a higher block comes up, so the input can be a pipe: the highest
 * block need not be known before.
 *
 * SimPoint reads a pair as any character (":"), a whole number, any character
 * and a real number, with blanks anywhere between.  It takes a pair that it
 * cannot read for the end of the line or, if it is the line's first one, of the
 * file.  It drops a last line without newline.  So does this, with a warning.
 * "-bugs mend" takes a line without pairs for an interval in which nothing ran,
 * reads the last line, and refuses what it cannot read.
 */
#include "cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in.h"
#include "mem.h"
#include "prog.h"

enum pair_found { PAIR, END, BAD };

static struct in *in;
static uint32_t *at;		/* the line's pairs */
static double *val;
static size_t npair, capat, capval;
static size_t nbad;		/* lines not read to their end */
static size_t ntwice;		/* repeated blocks of a line */
static size_t nodd;		/* vectors whose sum is 0, or not finite */
static size_t high;		/* the highest block's number */
static struct rnd rnd;
static bool mend;		/* the rules of -bugs mend apply */
static bool joined;		/* the file is -joinFVFile's */
static size_t capx, capsum, capproj, capsp, capspv, capfrom, capnorm;

static inline char *
blanks(char *p)
{
	while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
		p++;
	return p;
}

static inline bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

static char *
digits(char *p)
{
	while (digit(*p))
		p++;
	return p;
}

/* [+-] digits [. digits] [e [+-] digits]; NULL: not such a number */
static char *
any_real(char *p, double *v)
{
	char *q, *begin, *e;
	ptrdiff_t n;

	begin = p + (*p == '+' || *p == '-');
	q = digits(begin);
	n = q - begin;
	if (*q == '.') {
		begin = q + 1;
		q = digits(begin);
		n += q - begin;
	}
	if (n == 0)
		return NULL;
	if (*q == 'e' || *q == 'E') {
		begin = q + 1;
		begin += *begin == '+' || *begin == '-';
		q = digits(begin);
		if (q == begin)
			return NULL;
	}
	*v = strtod(p, &e);
	return e == q && isfinite(*v) ? q : NULL;
}

static char *
get_real(char *p, double *v)
{
	char *begin = p;
	uint64_t n = 0;

	for (; digit(*p); p++)
		n = n * 10 + (uint64_t)(*p - '0');
	if (p == begin || p - begin > 18 || *p == '.' || *p == 'e' || *p == 'E')
		return any_real(begin, v);
	*v = (double)n;
	return p;
}

static char *
get_block(char *p, uint32_t *block)
{
	bool minus = *p == '-';
	uint64_t n = 0;

	p += *p == '-' || *p == '+';
	if (!digit(*p))
		return NULL;
	for (; digit(*p); p++) {
		n = n * 10 + (uint64_t)(*p - '0');
		if (n > INT_MAX)
			return NULL;
	}
	*block = minus ? 0 : (uint32_t)n;
	return p;
}

static inline enum pair_found
get_pair(char **pos, char *end, uint32_t *block, double *v)
{
	char *p = blanks(*pos);

	if (p == end)
		return END;
	if (*p == '\0' || (mend && *p != ':'))
		return BAD;
	p = get_block(blanks(p + 1), block);
	if (!p)
		return BAD;
	p = blanks(p);
	if (*p == '\0' || (mend && *p != ':'))
		return BAD;
	p = get_real(blanks(p + 1), v);
	if (!p)
		return BAD;
	if (*block == 0)
		die("%s:%" PRIu64 ": dimension < 1", in_name(in),
		    in_lineno(in));
	*pos = p;
	return PAIR;
}

/* Read a line's pairs; false: there are none, which ends the file. */
static bool
get_line(char *line, size_t len)
{
	char *p = line + 1;
	enum pair_found got;

	for (npair = 0;; npair++) {
		if (npair == capat) {
			at = xgrow(at, &capat, npair + 1, sizeof *at);
			val = xgrow(val, &capval, capat, sizeof *val);
		}
		got = get_pair(&p, line + len, &at[npair], &val[npair]);
		if (got != PAIR)
			break;
	}
	if (got == BAD && mend)
		die("%s:%" PRIu64 ": no pair \":block:value\" at column %td",
		    in_name(in), in_lineno(in), p - line + 1);
	if (npair == 0 && !mend) {
		warn("%s:%" PRIu64 ": a T line without pairs: the file ends "
		    "here, as for SimPoint 3.2 (-bugs mend reads on)",
		    in_name(in), in_lineno(in));
		return false;
	}
	if (got == BAD && nbad++ == 0)
		warn("%s:%" PRIu64 ": the line is read as far as %zu pairs, "
		    "as by SimPoint 3.2", in_name(in), in_lineno(in), npair);
	return true;
}

/* Read the next vector's line; false: there is none. */
static bool
next_vector(void)
{
	size_t len;
	char *line;

	while ((line = in_line(in, &len)) != NULL) {
		if (*line != 'T') {
			if (opt.regions && !joined)
				marks_line(line, in_lineno(in), in_name(in));
			continue;
		}
		if (!in_eol(in) && !mend) {
			warn("%s:%" PRIu64 ": the last line has no newline: it "
			    "is dropped, as by SimPoint 3.2 (-bugs mend reads "
			    "it)", in_name(in), in_lineno(in));
			return false;
		}
		return get_line(line, len);
	}
	return false;
}

/* Refuse a huge matrix: a file with addresses for block numbers needs one. */
static void
check_memory(const struct matrix *m, size_t rows)
{
	size_t have = (size_t)sysconf(_SC_PHYS_PAGES) *
	    (size_t)sysconf(_SC_PAGESIZE);

	if (rows > have / sizeof *m->x / m->cols)
		die("%s:%" PRIu64 ": block %zu: a projection matrix of so many "
		    "rows does not fit into memory", in_name(in),
		    in_lineno(in), rows);
}

/* Make random rows of the projection matrix up to that of block `upto'. */
static void
grow_projection(struct matrix *m, size_t upto)
{
	size_t i, end = upto * m->cols;

	check_memory(m, upto);
	m->x = xgrow(m->x, &capproj, end, sizeof *m->x);
	for (i = m->rows * m->cols; i < end; i++)
		m->x[i] = 2.0 * (double)rnd_uniform(&rnd) - 1.0;
	m->rows = upto;
}

static inline void
add_scaled(double *to, const double *row, double by, size_t dim)
{
	size_t d;

	for (d = 0; d < dim; d++)
		to[d] += by * row[d];
}

static void
project(struct fv *f, struct vecs *v, double sum)
{
	double *to, by;
	const double *row;
	size_t i, dim = v->dim;

	v->x = xgrow(v->x, &capx, (v->n + 1) * dim, sizeof *v->x);
	to = v->x + v->n * dim;
	memset(to, 0, dim * sizeof *to);
	for (i = 0; i < npair; i++) {
		row = f->proj.x + (at[i] - 1) * dim;
		by = val[i] / sum;
		if (dim == 15)
			add_scaled(to, row, by, 15);
		else
			add_scaled(to, row, by, dim);
	}
}

struct block_pair {
	uint32_t at;
	size_t nr;		/* in the line */
};

static int
by_block(const void *a, const void *b)
{
	const struct block_pair *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

/* The value of a repeated block: the last one, or with -bugs mend the sum. */
static double
repeated(double x, double before)
{
	if (mend)
		return x + before;
	if (ntwice++ == 0)
		warn("%s:%" PRIu64 ": a block comes twice; its last value "
		    "counts, as for SimPoint 3.2 (-bugs mend takes the sum)",
		    in_name(in), in_lineno(in));
	return x;
}

static void
keep_sparse(struct vecs *v, double sum)
{
	static struct block_pair *p;
	static size_t cap;
	size_t i, n = v->n ? v->from[v->n] : 0;
	double x;

	p = xgrow(p, &cap, npair + 1, sizeof *p);
	for (i = 0; i < npair; i++)
		p[i] = (struct block_pair){ at[i], i };
	qsort(p, npair, sizeof *p, by_block);
	v->at = xgrow(v->at, &capsp, n + npair + 1, sizeof *v->at);
	v->val = xgrow(v->val, &capspv, n + npair + 1, sizeof *v->val);
	v->from = xgrow(v->from, &capfrom, v->n + 2, sizeof *v->from);
	v->norm = xgrow(v->norm, &capnorm, v->n + 1, sizeof *v->norm);
	v->from[0] = 0;
	v->norm[v->n] = 0;
	for (i = 0; i < npair; i++) {
		x = val[p[i].nr] / sum;
		if (i > 0 && p[i].at == p[i - 1].at)
			x = repeated(x, v->val[--n]);
		v->at[n] = p[i].at - 1;
		v->val[n++] = x;
	}
	v->from[v->n + 1] = n;
	for (i = v->from[v->n]; i < n; i++)
		v->norm[v->n] += v->val[i] * v->val[i];
}

/* A sum that makes nothing that is a number, of the vector being read. */
static void
divide_by(double sum)
{
	if (mend)
		die("%s:%" PRIu64 ": the values' sum is %g: nothing can be "
		    "divided by it", in_name(in), in_lineno(in), sum);
	if (nodd++ == 0)
		warn("%s:%" PRIu64 ": the values' sum is %g, by which they are "
		    "divided, as by SimPoint 3.2", in_name(in), in_lineno(in),
		    sum);
}

static void
add_vector(struct fv *f, struct vecs *v)
{
	double sum = 0;
	size_t i, top = 0;

	for (i = 0; i < npair; i++) {
		sum += val[i];
		if (at[i] > top)
			top = at[i];
	}
	if (!isfinite(sum) || (sum == 0 && !mend))
		divide_by(sum);
	if (top > high)
		high = top;
	f->sum = xgrow(f->sum, &capsum, v->n + 1, sizeof *f->sum);
	f->sum[v->n] = sum;
	if (opt.regions && !joined)
		marks_vector(at, val, npair);
	if (sum == 0 && mend)
		npair = 0;
	if (!opt.project)
		keep_sparse(v, sum);
	else {
		if (top > f->proj.rows && (opt.projtxt_in || opt.projbin_in))
			die("%s:%" PRIu64 ": block %zu, but the projection "
			    "matrix has %zu rows", in_name(in), in_lineno(in),
			    top, f->proj.rows);
		if (top > f->proj.rows)
			grow_projection(&f->proj, top);
		project(f, v, sum);
	}
	v->n++;
}

static void
load_projection(struct matrix *m)
{
	const char *name = opt.projtxt_in ? opt.projtxt_in : opt.projbin_in;

	if (opt.projtxt_in)
		matrix_read_text(m, name);
	else
		matrix_read_binary(m, name);
	if (m->cols != opt.dim)
		die("%s: %zu columns, but -dim is %zu", name, m->cols, opt.dim);
}

static void
check_sizes(const struct fv *f, const struct vecs *v, const char *name)
{
	if (nbad > 1)
		warn("%s: %zu lines were not read to their end", name, nbad);
	if (v->n == 0)
		die("%s: no vectors (lines that begin with T)", name);
	if (high == 0)
		die("%s: all vectors are empty", name);
	if (!joined && opt.numfvs &&
	    (v->n != opt.numfvs || high != opt.fvdim))
		die("%s: %zu vectors, highest block %zu; -numFVs says %zu, "
		    "-FVDim %zu", name, v->n, high, opt.numfvs, opt.fvdim);
	if (opt.project && f->proj.rows != high)
		die("%s: highest block %zu, but the projection matrix has %zu "
		    "rows", name, high, f->proj.rows);
}

static void
put_progress(const struct vecs *v)
{
	size_t at_mb = (size_t)(in_offset(in) / 1000000);
	size_t of_mb = (size_t)(in_size(in) / 1000000);

	if (of_mb > 0)
		progress("%s: %zu intervals, %zu MB of %zu", in_name(in), v->n,
		    at_mb, of_mb);
	else
		progress("%s: %zu intervals, %zu MB", in_name(in), v->n, at_mb);
}

static void
read_file(struct fv *f, struct vecs *v, const char *file)
{
	const char *name;

	in = in_open(file);
	name = in_name(in);
	nbad = ntwice = nodd = high = 0;
	capx = capsum = capproj = capsp = capspv = capfrom = capnorm = 0;
	rnd_seed(&rnd, opt.seedproj);
	f->proj.cols = v->dim = opt.dim;
	if (opt.projtxt_in || opt.projbin_in)
		load_projection(&f->proj);
	while (next_vector()) {
		add_vector(f, v);
		if (!joined && opt.numfvs && v->n > opt.numfvs)
			break;
		if (v->n % 256 == 0 && progress_due())
			put_progress(v);
	}
	progress_end();
	check_sizes(f, v, name);
	if (!opt.project)
		v->dim = high;
	in_close(in);
}

/* Read all of v but the weights. */
void
fv_read(struct fv *f, struct vecs *v)
{
	joined = false;
	mend = opt.mend;
	read_file(f, v, opt.fv);
}

static void
join_dense(struct vecs *v, const struct vecs *more, double share)
{
	size_t dim = v->dim + more->dim, i, d;
	double *x = xcalloc(v->n * dim, sizeof *x), *row;

	for (i = 0; i < v->n; i++) {
		row = x + i * dim;
		for (d = 0; d < v->dim; d++)
			row[d] = v->x[i * v->dim + d] * (1 - share);
		for (d = 0; d < more->dim; d++)
			row[v->dim + d] = more->x[i * more->dim + d] * share;
	}
	free(v->x);
	free(more->x);
	v->x = x;
}

static void
join_sparse(struct vecs *v, const struct vecs *more, double share)
{
	size_t pairs = v->from[v->n] + more->from[more->n], i, j, n = 0, first;
	uint32_t *dims = xcalloc(pairs, sizeof *dims);
	double *vals = xcalloc(pairs, sizeof *vals);

	for (i = 0; i < v->n; i++) {
		first = n;
		for (j = v->from[i]; j < v->from[i + 1]; j++) {
			dims[n] = v->at[j];
			vals[n++] = v->val[j] * (1 - share);
		}
		for (j = more->from[i]; j < more->from[i + 1]; j++) {
			dims[n] = (uint32_t)v->dim + more->at[j];
			vals[n++] = more->val[j] * share;
		}
		/* the pairs of i are read: its old start is not needed */
		v->from[i] = first;
		for (v->norm[i] = 0, j = first; j < n; j++)
			v->norm[i] += vals[j] * vals[j];
	}
	v->from[v->n] = n;
	free(v->at);
	free(v->val);
	v->at = dims;
	v->val = vals;
}

/*
 * Append the vectors of -joinFVFile to those of v, each with its share.  In
 * that file an interval may be empty (no memory was touched, say), so it is
 * read without SimPoint's bugs.
 */
void
fv_join(struct vecs *v)
{
	struct vecs more = { 0 };
	struct fv f = { 0 };

	joined = mend = true;
	read_file(&f, &more, opt.join);
	if (more.n != v->n)
		die("%s: %zu vectors, where the first file has %zu", opt.join,
		    more.n, v->n);
	if (v->x)
		join_dense(v, &more, opt.joinshare);
	else
		join_sparse(v, &more, opt.joinshare);
	v->dim += more.dim;
}
