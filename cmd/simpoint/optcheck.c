/*
 * optcheck - refuse options that do not go together, as SimPoint 3.2 does
 */
#include "simpoint.h"

#include <string.h>

#include "prog.h"

static void
not_both(const char *a, const char *b)
{
	if (opts_given(a) && opts_given(b))
		die("-%s and -%s exclude each other", a, b);
}

static void
check_input(void)
{
	static const char *const raw[] = { "dim", "seedproj", "numFVs", "FVDim",
	    "loadProjMatrixTxtFmt", "loadProjMatrixBinFmt",
	    "saveProjMatrixTxtFmt", "saveProjMatrixBinFmt", "regions",
	    "joinFVFile", NULL };
	const char *ready = opt.vectxt ? "loadVectorsTxtFmt" :
	    "loadVectorsBinFmt";
	int i;

	not_both("loadFVFile", "loadVectorsTxtFmt");
	not_both("loadFVFile", "loadVectorsBinFmt");
	not_both("loadVectorsTxtFmt", "loadVectorsBinFmt");
	if (opts_given("numFVs") != opts_given("FVDim"))
		die("-numFVs and -FVDim go together");
	if (!opt.vectxt && !opt.vecbin)
		return;
	for (i = 0; raw[i]; i++)
		not_both(ready, raw[i]);
	if (!opts_given("fixedLength"))
		die("-%s needs -fixedLength on or off", ready);
}

static void
check_projection(void)
{
	not_both("loadProjMatrixTxtFmt", "loadProjMatrixBinFmt");
	not_both("loadProjMatrixTxtFmt", "seedproj");
	not_both("loadProjMatrixBinFmt", "seedproj");
	if (!opt.project && (opts_given("seedproj") || opt.projtxt_out ||
	    opt.projbin_out || opt.projtxt_in || opt.projbin_in))
		die("-dim noProject has no projection matrix");
}

static void
check_join(void)
{
	static const char *const one[] = { "loadProjMatrixTxtFmt",
	    "loadProjMatrixBinFmt", "saveProjMatrixTxtFmt",
	    "saveProjMatrixBinFmt", NULL };
	int i;

	if (opts_given("joinShare") && !opt.join)
		die("-joinShare needs -joinFVFile");
	for (i = 0; one[i]; i++)
		not_both("joinFVFile", one[i]);
}

static void
check_clusters(void)
{
	static const char *const chosen[] = { "k", "maxK", "numInitSeeds",
	    "seedkm", "initkm", "bicThreshold", NULL };
	int i;

	not_both("loadInitCtrs", "loadInitLabels");
	for (i = 0; chosen[i]; i++) {
		not_both("loadInitCtrs", chosen[i]);
		not_both("loadInitLabels", chosen[i]);
	}
	if (opt.ctrs_in || opt.labels_in)
		return;
	if (opt.nk > 0 && opts_given("maxK"))
		die("-maxK is for -k search only");
	if (opt.nk == 0 && !opts_given("maxK"))
		die("want -maxK n, or -k and the values to try; see -help");
}

static void
check_output(void)
{
	int n = opts_stdout();

	if (opts_given("seedsample") && !opts_given("sampleSize"))
		die("-seedsample needs -sampleSize");
	if (opts_given("coveragePct") && !opt.simpoints && !opt.weights)
		die("-coveragePct needs -saveSimpoints or "
		    "-saveSimpointWeights");
	if (!opt.regions && (opts_given("warmup") || opts_given("tid") ||
	    opts_given("regions-by")))
		die("-warmup, -tid and -regions-by need -regions");
	if (strcmp(opt.tid, "global") != 0 &&
	    (opt.tid[0] == '\0' || strspn(opt.tid, "0123456789") !=
	    strlen(opt.tid)))
		die("-tid %s: neither a number nor global", opt.tid);
	if (n > 1)
		die("only one result can go to standard output");
	if (n > 0 && (opt.saveall || opts_given("coveragePct")))
		die("-saveAll and -coveragePct write several files, not "
		    "standard output");
	if (n > 0)
		opt.quiet = true;
}

void
opts_check(void)
{
	check_input();
	check_projection();
	check_join();
	check_clusters();
	check_output();
	if (opts_stdin() > 1)
		die("only one file can be standard input");
}
