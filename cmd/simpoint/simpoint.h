/*
 * simpoint.h - what the parts of simpoint share: options, input, output
 *
 * main.c reads the options (opts.c) and the vectors (fv.c or matrix.c), runs
 * the trials (run.c, with init.c, kmeans.c, near.c and score.c below it), and
 * writes the results (save.c, regions.c, json.c, plot.c).  cluster.h is about
 * the clustering.
 *
 * Arithmetic.  Every result must equal SimPoint 3.2's to the last bit: IEEE
 * doubles, sums in the order of vectors, dimensions or pairs, no fused multiply
 * and add (-ffp-contract=off).  A sum in another order, for speed, may only
 * decide that something need not be computed; it may never be a result.
 */
#ifndef SIMPOINT_H
#define SIMPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

enum initkm { INIT_SAMP, INIT_FF, INIT_UNIFORM, INIT_KPP };
enum regions_by { BY_AUTO, BY_PC, BY_ICOUNT };

/* opts.c: the command line; members are named as the options */
struct simpoint_opts {
	const char *fv, *vectxt, *vecbin;	/* input: one of three */
	const char *join;	/* second vectors of the intervals, or NULL */
	const char *weights_in, *ctrs_in, *labels_in, *projtxt_in, *projbin_in;
	const char *simpoints, *weights, *labels, *initctrs, *finalctrs;
	const char *vectxt_out, *vecbin_out, *weights_out;
	const char *projtxt_out, *projbin_out;
	const char *json, *plot, *regions;
	size_t *k, nk;		/* values to try; nk 0: search up to maxk */
	size_t maxk, nseeds, dim, warmup;
	size_t numfvs, fvdim;	/* 0: count them */
	size_t sample;		/* 0: all */
	size_t iters;		/* ITERS_OFF: no limit */
	size_t jobs, verbose;
	double bicthreshold, coverage, joinshare;
	int32_t seedkm, seedproj, seedsample;
	enum initkm initkm;
	enum regions_by regions_by;
	const char *tid;	/* thread of the regions: a number, "global" */
	bool project, fixedlength, saveall, gzipped, quiet;
	bool mend;		/* false: keep SimPoint's known bugs */
};
#define ITERS_OFF SIZE_MAX

extern struct simpoint_opts opt;
/* Read the command line into opt; dies if it is wrong. */
void opts_parse(int argc, char **argv);
/* Write all options that have a value into the log. */
void opts_list(void);
/* Does the command line have an option, named without dashes? */
bool opts_given(const char *name);
int opts_stdin(void);		/* number of files read from there */
int opts_stdout(void);		/* number of results written there */

/* optcheck.c: die if options do not go together; the log may become quiet */
void opts_check(void);

/* log.c, note.c: the log on standard output, unless a result goes there */
struct k_run;
struct trial;
struct result;
void note_quiet(void);		/* write no log from here on */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Log a run, with its n trials, of so many vectors. */
void log_run(const struct k_run *r, struct trial *const *t, size_t n,
    size_t vectors);
/* Log the chosen clustering. */
void log_result(const struct result *r);
/* Write out what of the log is still in memory. */
void log_close(void);
/* Log the command line and all options. */
void log_options(int argc, char **argv);
/* Show a line of progress on standard error, in place of the last one. */
void progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Is it time for a line, once a second? Never, if that is no terminal. */
bool progress_due(void);
/* Clear the line of progress. */
void progress_end(void);

/* one vector for each interval */
struct vecs {
	size_t n, dim;
	double *x;	/* dense: n rows of dim values; NULL: sparse */
	size_t *from;	/* sparse: vector i: pairs from[i] .. from[i + 1] - 1 */
	uint32_t *at;	/* dimension of a pair, from 0; rising */
	double *val;	/* value of a pair */
	double *norm;	/* sparse: squared length of each vector */
	double *w;	/* weights; their sum is 1 */
	bool plain;	/* some values or weights are not finite: plain.c */
	size_t wide;	/* all dimensions, of which dim are used */
	uint32_t *used;	/* which, rising; NULL: all, and wide is dim */
};

/* vecs.c */
void vec_copy(const struct vecs *v, size_t i, double *row);
/* Number the dimensions of sparse vectors anew if most are 0 in all of them */
void vecs_squeeze(struct vecs *v);

/* matrix.c: rows of reals, as text and binary; weights; labels */
struct matrix {
	size_t rows, cols;
	double *x, *w;
	size_t wide;		/* as those of struct vecs, if used is there */
	const uint32_t *used;
};
/*
 * Read a file's rows and weights into an empty matrix. Weights are equal if the
 * file has none. Both die if the file is wrong.
 */
void matrix_read_text(struct matrix *m, const char *name);
void matrix_read_binary(struct matrix *m, const char *name);
/* Write rows and weights into a file. */
void matrix_write_text(const struct matrix *m, const char *name);
void matrix_write_binary(const struct matrix *m, const char *name);
/* The same for vectors, which may be sparse. */
void vecs_write_text(const struct vecs *v, const char *name);
void vecs_write_binary(const struct vecs *v, const char *name);
/* Read n weights, on any number of lines, and divide them by their sum. */
double *weights_read(const char *name, size_t n);
/* Write n weights, one a line. */
void weights_write(const double *w, size_t n, const char *name);

/* labels.c: read n labels; *k becomes how many different ones there are */
int *labels_read(const char *name, size_t n, size_t *k);

/* fv.c: frequency vectors, projected as they are read */
struct fv {
	double *sum;		/* of each vector's values: its instructions */
	struct matrix proj;	/* the projection matrix */
};
/* Read the vectors of opt.fv, without weights; dies if the file is wrong. */
void fv_read(struct fv *f, struct vecs *v);
/* Append the vectors of opt.join to those of v, each with its share. */
void fv_join(struct vecs *v);

/* marks.c: markers and blocks in PinPoints' files of vectors */
struct mark {
	uint64_t pc, count;	/* the next block, its executions with it */
	char *image;		/* base name of its file, or "no_image" */
	uint64_t off;		/* offset in the image */
	bool set;		/* there is such a marker */
};
/* Take what a line that is no vector says; dies if it is malformed. */
void marks_line(char *line, uint64_t lineno, const char *name);
/* Keep the next vector: n pairs of a dimension and its value. */
void marks_vector(const uint32_t *at, const double *val, size_t n);
/* Were there any markers? */
bool marks_have(void);
/* The thread's number; NULL: the file does not say. */
const char *marks_tid(void);
/* The marker before vector `border', from 0; NULL: there is none. */
const struct mark *marks_at(size_t border);
/* Does some block begin at pc? */
bool marks_known(uint64_t pc);
/* How often did the blocks at pc run in the vectors from .. to - 1? */
uint64_t marks_runs(uint64_t pc, size_t from, size_t to);

/*
 * save.c: write the files that the options name: simpoints, weights, labels,
 * first and last centres. suffix goes behind each name.
 */
void save_result(const struct result *r, const char *suffix);
/* regions.c, json.c, plot.c: write the file of -regions, -json or -plot */
void regions_write(const struct result *r, const struct fv *f);
void json_write(const struct result *r, const struct fv *f);
void plot_write(const struct result *r, const struct fv *f);

#endif
