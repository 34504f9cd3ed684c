/*
 * matrix - read and write matrices (vectors, centres, projections) and weights
 *
 *	2:w				rows; "w": each has a weight
 *	0.5 3: 0.25 -1 0.75		weight, number of values, the values
 *	0.5 3: 0 0.125 1
 *
 * Numbers have 20 digits, so that reading gives back every bit.  The binary
 * form has the same in the machine's byte order: uint32 rows, uint32 "has
 * weights"; then for each row a double, a uint32 and the values as doubles.
 * Without weights, all rows have equal ones.
 */
#include "simpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "in.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

#define CHUNK 8192	/* grow memory by at most so many values */

struct reader {
	struct in *in;
	char *p;		/* text: the rest of the line */
	size_t cap;		/* capacity of m->x */
};

static _Noreturn void
bad(const struct reader *r, const char *what)
{
	die("%s:%" PRIu64 ": %s", in_name(r->in), in_lineno(r->in), what);
}

/* A number without sign that ends at one of `ends' or at the line's end. */
static size_t
count(struct reader *r, const char *ends, const char *what)
{
	unsigned long long n;
	char *e;

	r->p += strspn(r->p, " \t\r");
	errno = 0;
	n = strtoull(r->p, &e, 10);
	if (*r->p < '0' || *r->p > '9' || errno != 0 || n > UINT32_MAX ||
	    (*e != '\0' && !strchr(ends, *e)))
		bad(r, what);
	r->p = e;
	return (size_t)n;
}

static double
real(struct reader *r, const char *what)
{
	char *e;
	double v = strtod(r->p, &e);

	if (e == r->p || (*e != '\0' && !strchr(" \t\r", *e)) || !isfinite(v))
		bad(r, what);
	r->p = e;
	return v;
}

static void
next_line(struct reader *r)
{
	do {
		r->p = in_line(r->in, NULL);
		if (!r->p)
			die("%s: ends early", in_name(r->in));
		r->p += strspn(r->p, " \t\r");
	} while (*r->p == '\0');
}

/* All rows must be as long as the first one. */
static void
check_row(struct reader *r, struct matrix *m, size_t row, size_t cols)
{
	if (row == 0)
		m->cols = cols;
	if (cols != m->cols || cols == 0)
		die("%s: row %zu has %zu values, row 1 has %zu",
		    in_name(r->in), row + 1, cols, m->cols);
}

/*
 * Room for n values behind `have'.  Memory grows with the values read, as the
 * file's counts may be damaged.
 */
static double *
room(struct reader *r, struct matrix *m, size_t have, size_t n)
{
	m->x = xgrow(m->x, &r->cap, have + n, sizeof *m->x);
	return m->x + have;
}

static void
equal_weights(struct matrix *m)
{
	size_t i;

	for (i = 0; i < m->rows; i++)
		m->w[i] = 1 / (double)m->rows;
}

void
matrix_read_text(struct matrix *m, const char *name)
{
	struct reader r = { .in = in_open(name) };
	size_t cols, i, j, capw = 0;
	bool weights;

	next_line(&r);
	m->rows = count(&r, ": \t\r", "no count of rows");
	if (m->rows == 0)
		bad(&r, "no rows");
	r.p += strspn(r.p, ": \t\r");
	weights = *r.p == 'w';
	if (r.p[weights] != '\0' && r.p[weights] != '\r')
		bad(&r, "want rows, or rows:w");
	for (i = 0; i < m->rows; i++) {
		next_line(&r);
		m->w = xgrow(m->w, &capw, i + 1, sizeof *m->w);
		if (weights)
			m->w[i] = real(&r, "no weight");
		cols = count(&r, ":", "no count of values");
		r.p += *r.p == ':';
		check_row(&r, m, i, cols);
		for (j = 0; j < cols; j++)
			*room(&r, m, i * cols + j, 1) = real(&r,
			    "too few values, or one that is no number");
		if (r.p[strspn(r.p, " \t\r")] != '\0')
			bad(&r, "more values than told");
	}
	if (!weights)
		equal_weights(m);
	in_close(r.in);
}

static void
bytes(struct reader *r, void *to, size_t n)
{
	char *p = to;
	ssize_t got;

	for (; n > 0; n -= (size_t)got, p += got) {
		got = in_read(r->in, p, n);
		if (got == 0)
			die("%s: ends early", in_name(r->in));
	}
}

static void
binary_row(struct reader *r, struct matrix *m, size_t row, size_t cols)
{
	size_t j, k, n;
	double *x;

	check_row(r, m, row, cols);
	for (j = 0; j < cols; j += n) {
		n = cols - j < CHUNK ? cols - j : CHUNK;
		x = room(r, m, row * cols + j, n);
		bytes(r, x, n * sizeof *x);
		for (k = 0; k < n; k++)
			if (!isfinite(x[k]))
				die("%s: row %zu: a value is not finite",
				    in_name(r->in), row + 1);
	}
}

void
matrix_read_binary(struct matrix *m, const char *name)
{
	struct reader r = { .in = in_open(name) };
	uint32_t rows, weights, cols;
	size_t i, capw = 0;

	bytes(&r, &rows, sizeof rows);
	bytes(&r, &weights, sizeof weights);
	if (rows == 0 || weights > 1)
		die("%s: not a binary matrix", in_name(r.in));
	m->rows = rows;
	for (i = 0; i < rows; i++) {
		m->w = xgrow(m->w, &capw, i + 1, sizeof *m->w);
		if (weights)
			bytes(&r, &m->w[i], sizeof *m->w);
		bytes(&r, &cols, sizeof cols);
		binary_row(&r, m, i, cols);
	}
	if (!weights)
		equal_weights(m);
	in_close(r.in);
}

/* A row with all of its columns; it is valid until the next call. */
static const double *
widen(const double *x, size_t cols, size_t wide, const uint32_t *used)
{
	static double *row;

	if (used == NULL)
		return x;
	row = xrealloc(row, wide * sizeof *row);
	memset(row, 0, wide * sizeof *row);
	for (size_t j = 0; j < cols; j++)
		row[used[j]] = x[j];
	return row;
}

static void
put_row(struct out *o, double w, const double *x, size_t cols)
{
	size_t j;

	out_printf(o, "%.20g %zu: ", w, cols);
	for (j = 0; j < cols; j++)
		out_printf(o, "%.20g ", x[j]);
	out_ch(o, '\n');
}

static void
put_binary(struct out *o, double w, const double *x, size_t cols)
{
	uint32_t n = (uint32_t)cols;

	out_write(o, &w, sizeof w);
	out_write(o, &n, sizeof n);
	out_write(o, x, cols * sizeof *x);
}

static void
binary_head(struct out *o, size_t rows)
{
	uint32_t head[2] = { (uint32_t)rows, 1 };

	out_write(o, head, sizeof head);
}

void
matrix_write_text(const struct matrix *m, const char *name)
{
	struct out *o = out_open(name);
	size_t i;

	out_printf(o, "%zu:w\n", m->rows);
	for (i = 0; i < m->rows; i++)
		put_row(o, m->w[i], widen(m->x + i * m->cols, m->cols, m->wide,
		    m->used), m->used ? m->wide : m->cols);
	out_close(o);
}

void
matrix_write_binary(const struct matrix *m, const char *name)
{
	struct out *o = out_open(name);
	size_t i;

	binary_head(o, m->rows);
	for (i = 0; i < m->rows; i++)
		put_binary(o, m->w[i], m->x + i * m->cols, m->cols);
	out_close(o);
}

void
vecs_write_text(const struct vecs *v, const char *name)
{
	struct out *o = out_open(name);
	double *row = xcalloc(v->dim, sizeof *row);
	size_t i;

	out_printf(o, "%zu:w\n", v->n);
	for (i = 0; i < v->n; i++) {
		vec_copy(v, i, row);
		put_row(o, v->w[i], widen(row, v->dim, v->wide, v->used),
		    v->wide);
	}
	out_close(o);
}

void
vecs_write_binary(const struct vecs *v, const char *name)
{
	struct out *o = out_open(name);
	double *row = xcalloc(v->dim, sizeof *row);
	size_t i;

	binary_head(o, v->n);
	for (i = 0; i < v->n; i++) {
		vec_copy(v, i, row);
		put_binary(o, v->w[i], widen(row, v->dim, v->wide, v->used),
		    v->wide);
	}
	out_close(o);
}

double *
weights_read(const char *name, size_t n)
{
	struct reader r = { .in = in_open(name) };
	double *w = xcalloc(n, sizeof *w), sum = 0;
	size_t i;

	while ((r.p = in_line(r.in, NULL)) != NULL)
		for (;;) {
			r.p += strspn(r.p, " \t\r");
			if (*r.p == '\0')
				break;
			if (r.cap == n)
				bad(&r, "more weights than intervals");
			w[r.cap] = real(&r, "no weight");
			if (!(w[r.cap] >= 0 && w[r.cap] < INFINITY))
				bad(&r, "a weight is not finite, or below 0");
			sum += w[r.cap++];
		}
	if (r.cap < n)
		die("%s: %zu weights for %zu intervals", in_name(r.in), r.cap,
		    n);
	if (!(sum > 0))
		die("%s: the sum of weights is 0", in_name(r.in));
	for (i = 0; i < n; i++)
		w[i] /= sum;
	in_close(r.in);
	return w;
}

void
weights_write(const double *w, size_t n, const char *name)
{
	struct out *o = out_open(name);
	size_t i;

	for (i = 0; i < n; i++)
		out_printf(o, "%.20g\n", w[i]);
	out_close(o);
}
