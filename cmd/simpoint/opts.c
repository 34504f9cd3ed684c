/*
 * opts - the command line: SimPoint 3.2's options, and more
 *
 * As there, one dash will do; the next argument is the value, whatever it looks
 * like; if an option is given twice, the last one counts.  Combinations that
 * SimPoint refuses are refused here, too (optcheck.c), with status 2.
 */
#include "simpoint.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "mem.h"
#include "num.h"
#include "prog.h"

enum option_kind {
	FLAG, ONOFF, INFILE, OUTFILE, COUNT, SEED, SHARE, WORD, SPECIAL
};

struct simpoint_opts opt = {
	.nseeds = 5, .dim = 15, .iters = 100, .bicthreshold = 0.9,
	.coverage = 1, .joinshare = 0.5, .seedkm = 493575226,
	.seedproj = 2042712918, .seedsample = 385089224, .project = true,
	.fixedlength = true, .tid = "0",
};

struct option_row {
	const char *name;
	enum option_kind kind;
	void *to;
	void (*parse)(const char *);	/* SPECIAL */
	const char *deflt;	/* for the log; NULL: SimPoint has no such */
	const char *given;	/* the argument; NULL: not given */
};

static void
parse_iters(const char *s)
{
	opt.iters = strcmp(s, "off") == 0 ? ITERS_OFF :
	    num_arg("-iters", s, 0, INT_MAX);
}

static void
parse_dim(const char *s)
{
	opt.project = strcmp(s, "noProject") != 0;
	if (opt.project)
		opt.dim = num_arg("-dim", s, 1, 1000000);
}

static int
choice(const char *what, const char *s, const char *const *words)
{
	int i;

	for (i = 0; words[i]; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	die("%s %s: unknown; see -help", what, s);
}

static void
parse_initkm(const char *s)
{
	static const char *const words[] = { "samp", "ff", "uniform", "kpp",
	    NULL };

	opt.initkm = (enum initkm)choice("-initkm", s, words);
}

static void
parse_bugs(const char *s)
{
	static const char *const words[] = { "keep", "mend", NULL };

	opt.mend = choice("-bugs", s, words) == 1;
}

static void
parse_by(const char *s)
{
	static const char *const words[] = { "auto", "pc", "icount", NULL };

	opt.regions_by = (enum regions_by)choice("-regions-by", s, words);
}

static void
parse_sample(const char *s)
{
	opt.sample = *s == '-' ? 0 : num_arg("-sampleSize", s, 0, INT_MAX);
}

static size_t
k_number(const char **p, const char *all)
{
	uint64_t n;

	if (num_next(p, COUNTS, &n) < 0 || n < 1 || n > 1000000)
		die("-k %s: want search, or a, a:b, a:step:b, joined by commas",
		    all);
	return n;
}

static void
k_add(size_t k)
{
	static size_t cap;

	if (opt.nk >= 1000000)
		die("-k: more than a million values");
	opt.k = xgrow(opt.k, &cap, opt.nk + 1, sizeof *opt.k);
	opt.k[opt.nk++] = k;
}

/* a, a:b or a:step:b, upwards or downwards; the step's sign is ignored */
static void
k_range(const char **p, const char *all)
{
	size_t a, b, step = 1, k;

	a = b = k_number(p, all);
	if (**p == ':') {
		++*p;
		*p += **p == '-';
		b = k_number(p, all);
		if (**p == ':') {
			++*p;
			step = b;
			b = k_number(p, all);
		} else if ((*p)[-1] == '-')
			die("-k %s: below 1", all);
	}
	if (a <= b)
		for (k = a; k <= b; k += step)
			k_add(k);
	else
		for (k = a; k >= b && k <= a; k -= step)
			k_add(k);
}

static void
parse_k(const char *s)
{
	const char *p = s;

	opt.nk = 0;
	if (strcmp(s, "search") == 0)
		return;
	for (;;) {
		k_range(&p, s);
		if (*p == '\0')
			break;
		if (*p++ != ',')
			die("-k %s: want search, or a, a:b, a:step:b, joined "
			    "by commas", s);
	}
}

/* SimPoint's options in the order of its log; then those of this program. */
static struct option_row table[] = {
	{ "loadFVFile", INFILE, &opt.fv, NULL, "", NULL },
	{ "k", SPECIAL, NULL, parse_k, "search", NULL },
	{ "iters", SPECIAL, NULL, parse_iters, "100", NULL },
	{ "dim", SPECIAL, NULL, parse_dim, "15", NULL },
	{ "maxK", COUNT, &opt.maxk, NULL, "", NULL },
	{ "numInitSeeds", COUNT, &opt.nseeds, NULL, "5", NULL },
	{ "coveragePct", SHARE, &opt.coverage, NULL, "1", NULL },
	{ "bicThreshold", SHARE, &opt.bicthreshold, NULL, "0.9", NULL },
	{ "saveAll", FLAG, &opt.saveall, NULL, "false", NULL },
	{ "initkm", SPECIAL, NULL, parse_initkm, "samp", NULL },
	{ "saveLabels", OUTFILE, &opt.labels, NULL, "", NULL },
	{ "saveSimpoints", OUTFILE, &opt.simpoints, NULL, "", NULL },
	{ "saveSimpointWeights", OUTFILE, &opt.weights, NULL, "", NULL },
	{ "saveVectorWeights", OUTFILE, &opt.weights_out, NULL, "", NULL },
	{ "saveInitCtrs", OUTFILE, &opt.initctrs, NULL, "", NULL },
	{ "saveFinalCtrs", OUTFILE, &opt.finalctrs, NULL, "", NULL },
	{ "saveVectorsTxtFmt", OUTFILE, &opt.vectxt_out, NULL, "", NULL },
	{ "saveVectorsBinFmt", OUTFILE, &opt.vecbin_out, NULL, "", NULL },
	{ "saveProjMatrixTxtFmt", OUTFILE, &opt.projtxt_out, NULL, "", NULL },
	{ "saveProjMatrixBinFmt", OUTFILE, &opt.projbin_out, NULL, "", NULL },
	{ "loadVectorsTxtFmt", INFILE, &opt.vectxt, NULL, "", NULL },
	{ "loadVectorsBinFmt", INFILE, &opt.vecbin, NULL, "", NULL },
	{ "loadProjMatrixTxtFmt", INFILE, &opt.projtxt_in, NULL, "", NULL },
	{ "loadProjMatrixBinFmt", INFILE, &opt.projbin_in, NULL, "", NULL },
	{ "loadInitCtrs", INFILE, &opt.ctrs_in, NULL, "", NULL },
	{ "loadInitLabels", INFILE, &opt.labels_in, NULL, "", NULL },
	{ "loadVectorWeights", INFILE, &opt.weights_in, NULL, "", NULL },
	{ "inputVectorsGzipped", FLAG, &opt.gzipped, NULL, "false", NULL },
	{ "fixedLength", ONOFF, &opt.fixedlength, NULL, "on", NULL },
	{ "numFVs", COUNT, &opt.numfvs, NULL, "-1", NULL },
	{ "FVDim", COUNT, &opt.fvdim, NULL, "-1", NULL },
	{ "sampleSize", SPECIAL, NULL, parse_sample, "-1", NULL },
	{ "seedkm", SEED, &opt.seedkm, NULL, "493575226", NULL },
	{ "seedproj", SEED, &opt.seedproj, NULL, "2042712918", NULL },
	{ "seedsample", SEED, &opt.seedsample, NULL, "385089224", NULL },
	{ "verbose", COUNT, &opt.verbose, NULL, "0", NULL },
	{ "bugs", SPECIAL, NULL, parse_bugs, NULL, NULL },
	{ "jobs", COUNT, &opt.jobs, NULL, NULL, NULL },
	{ "joinFVFile", INFILE, &opt.join, NULL, NULL, NULL },
	{ "joinShare", SHARE, &opt.joinshare, NULL, NULL, NULL },
	{ "json", OUTFILE, &opt.json, NULL, NULL, NULL },
	{ "plot", OUTFILE, &opt.plot, NULL, NULL, NULL },
	{ "quiet", FLAG, &opt.quiet, NULL, NULL, NULL },
	{ "regions", OUTFILE, &opt.regions, NULL, NULL, NULL },
	{ "regions-by", SPECIAL, NULL, parse_by, NULL, NULL },
	{ "tid", WORD, &opt.tid, NULL, NULL, NULL },
	{ "warmup", COUNT, &opt.warmup, NULL, NULL, NULL },
};
#define NROW ((int)(sizeof table / sizeof *table))

static struct option_row *
row(const char *name)
{
	int i;

	for (i = 0; i < NROW; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	die("option %s is in no table", name);
}

bool
opts_given(const char *name)
{
	return row(name)->given != NULL;
}

static int
dashes(enum option_kind kind)
{
	int i, n = 0;

	for (i = 0; i < NROW; i++)
		if (table[i].kind == kind && table[i].given)
			n += strcmp(table[i].given, "-") == 0;
	return n;
}

/* How many of the input files are standard input? */
int
opts_stdin(void)
{
	return dashes(INFILE) + (!opt.fv && !opt.vectxt && !opt.vecbin);
}

/* How many results go to standard output? */
int
opts_stdout(void)
{
	return dashes(OUTFILE);
}

void
opts_list(void)
{
	int i;

	for (i = 0; i < NROW; i++)
		if (table[i].given)
			note("*** -%s : %s\n", table[i].name, table[i].given);
		else if (table[i].deflt)
			note("    -%s : %s\n", table[i].name, table[i].deflt);
}

/* A seed beyond 32 bits wraps, as for SimPoint on 64-bit machines. */
static int32_t
seed(const char *name, const char *s)
{
	long long n;
	char *end;

	errno = 0;
	n = strtoll(s, &end, 10);
	if (end == s || *end != '\0' || errno != 0)
		die("-%s %s: not a whole number", name, s);
	return (int32_t)(uint32_t)n;
}

static double
share(const char *name, const char *s)
{
	double v;
	char *end;

	v = strtod(s, &end);
	if (end == s || *end != '\0' || !(v >= 0 && v <= 1))
		die("-%s %s: not a number from 0 to 1", name, s);
	return v;
}

static void
set(struct option_row *r, const char *arg)
{
	char what[64];

	r->given = arg ? arg : "true";
	switch (r->kind) {
	case FLAG:
		*(bool *)r->to = true;
		break;
	case ONOFF:
		if (strcmp(arg, "on") != 0 && strcmp(arg, "off") != 0)
			die("-%s %s: neither on nor off", r->name, arg);
		*(bool *)r->to = arg[1] == 'n';
		break;
	case INFILE:
	case OUTFILE:
	case WORD:
		*(const char **)r->to = arg;
		break;
	case COUNT:
		stpcpy(stpcpy(what, "-"), r->name);
		*(size_t *)r->to = num_arg(what, arg,
		    r->to != &opt.verbose && r->to != &opt.warmup, INT_MAX);
		break;
	case SEED:
		*(int32_t *)r->to = seed(r->name, arg);
		break;
	case SHARE:
		*(double *)r->to = share(r->name, arg);
		break;
	case SPECIAL:
		r->parse(arg);
		break;
	}
}

static size_t
processors(void)
{
	cpu_set_t set_of;
	int n = 1;

	if (sched_getaffinity(0, sizeof set_of, &set_of) == 0)
		n = CPU_COUNT(&set_of);
	return n > 1 ? (size_t)n : 1;
}

static const char help[] =
"usage: simpoint [-loadFVFile FILE] -maxK N | -k LIST [option ...]\n"
"Find the phases of a program in its frequency vectors.\n"
"  input (standard input if none is given; gzip, zstd noticed)\n"
"    -loadFVFile FILE             frequency vectors (T:id:count :id:count "
    "...)\n"
"    -loadVectorsTxtFmt FILE, -loadVectorsBinFmt FILE   projected vectors\n"
"    -loadVectorWeights FILE, -fixedLength on|off       weights\n"
"    -joinFVFile FILE, -joinShare X (0.5)   more vectors of the same "
    "intervals\n"
"    -numFVs N -FVDim N           how many vectors, highest block\n"
"    -inputVectorsGzipped         not needed\n"
"  clustering\n"
"    -maxK N                      search for k up to N\n"
"    -k a,b:c,d:step:e            try these\n"
"    -numInitSeeds N (5), -iters N|off (100), -bicThreshold X (0.9)\n"
"    -initkm samp|ff|uniform|kpp, -loadInitCtrs FILE, -loadInitLabels FILE\n"
"    -dim N|noProject (15)\n"
"    -loadProjMatrixTxtFmt FILE, -loadProjMatrixBinFmt FILE\n"
"    -sampleSize N, -seedkm N, -seedproj N, -seedsample N\n"
"    -bugs keep|mend              SimPoint 3.2's known bugs\n"
"    -j, -jobs N                  threads (all processors)\n"
"  results\n"
"    -saveSimpoints FILE, -saveSimpointWeights FILE, -saveLabels FILE\n"
"    -saveInitCtrs FILE, -saveFinalCtrs FILE, -saveVectorWeights FILE\n"
"    -saveVectorsTxtFmt FILE, -saveVectorsBinFmt FILE\n"
"    -saveProjMatrixTxtFmt FILE, -saveProjMatrixBinFmt FILE\n"
"    -coveragePct X, -saveAll, -verbose N\n"
"    -regions FILE                CSV for PinPoints; "
    "-regions-by auto|pc|icount,\n"
"                                 -warmup N intervals, -tid N|global\n"
"    -json FILE, -plot FILE       everything; a picture (SVG)\n"
"    -q, -quiet                   no log\n"
"    -h, -help, -version\n";

static struct option longopts[NROW + 3];

static void
operand(const char *arg)
{
	if (!opt.fv && !opt.vectxt && !opt.vecbin)
		set(row("loadFVFile"), arg);
	else
		warn("%s: ignored, there is an input file already", arg);
}

void
opts_parse(int argc, char **argv)
{
	int c, i, which;

	for (i = 0; i < NROW; i++)
		longopts[i] = (struct option){ table[i].name,
		    table[i].kind == FLAG ? no_argument : required_argument,
		    NULL, 0 };
	longopts[NROW] = (struct option){ "help", no_argument, NULL, 'h' };
	longopts[NROW + 1] = (struct option){ "version", no_argument, NULL,
	    'V' };
	while ((c = getopt_long_only(argc, argv, "-hj:q", longopts,
	    &which)) != -1)
		switch (c) {
		case 0:
			set(&table[which], optarg);
			break;
		case 1:
			operand(optarg);
			break;
		case 'h':
			prog_help(help);
		case 'j':
			set(row("jobs"), optarg);
			break;
		case 'q':
			set(row("quiet"), NULL);
			break;
		case 'V':
			prog_version();
		default:
			prog_usage("[-loadFVFile FILE] -maxK N | -k LIST "
			    "[option ...]");
		}
	for (; optind < argc; optind++)
		operand(argv[optind]);
	if (!opts_given("initkm") && opt.mend)
		opt.initkm = INIT_UNIFORM;
	if (opt.weights_in)
		opt.fixedlength = false;
	if (opt.jobs == 0)
		opt.jobs = processors();
}
