/*
 * regions - write the chosen intervals in the two CSV forms of PinPoints
 *
 * By instruction count (any vectors whose values are instructions):
 *
 *	cluster C from slice S,tid,C+1,start,end,weight
 *
 * or by address and execution count (vectors with markers, see marks.c):
 *
 *	cluster C from slice S,tid,C+1,start-pc,image,offset,count,
 *	    end-pc,image,offset,count,relative-count,length,weight,multiplier,
 *	    simulation
 *	Warmup for regionid C+1,tid,id,...,0.00000,0.000,warmup:C+1
 *
 * As in PinPoints' own scripts, the first interval begins at instruction 0, any
 * other one behind the end of the interval before.  A relative count is the
 * number of executions of the end's block within the region, plus that at its
 * end; the latter is left out if the region begins with the same block, and in
 * a warm-up.  The multiplier says how many intervals a region stands for, by
 * instructions.
 */
#include "cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"

static struct out *out;
static const struct result *res;
static uint64_t *sum;		/* [i]: instructions before interval i */
static const char *tid;

static double
weight(size_t c)
{
	double all = 0;
	size_t i;

	for (i = 0; i < res->k; i++)
		if (res->p[i] > 0)
			all += res->p[i];
	return res->p[c] / all;
}

/* Instructions before the first of interval i, as the scripts count. */
static uint64_t
start_of(size_t i)
{
	return i == 0 ? 0 : sum[i] + 1;
}

static uint64_t
length(size_t from, size_t to)
{
	return sum[to] - start_of(from) + 1;
}

/* Has cluster c a region? */
static bool
has_region(size_t c)
{
	return res->p[c] > 0 && res->rep[c] >= 0;
}

static size_t
warm_from(size_t s)
{
	return s > opt.warmup ? s - opt.warmup : 0;
}

static const struct mark *
border(size_t i)
{
	const struct mark *m = marks_at(i);

	if (!m)
		die("no marker before interval %zu: -regions-by icount needs "
		    "none", i);
	return m;
}

static void
put_mark(const struct mark *m)
{
	out_printf(out, ",0x%" PRIx64 ",%s,0x%" PRIx64 ",%" PRIu64, m->pc,
	    m->image, m->off, m->count);
}

static void
put_comment(const char *what, const struct mark *m)
{
	out_printf(out, "#%s: pc : 0x%" PRIx64 " image: %s offset: 0x%" PRIx64
	    " absolute_count: %" PRIu64, what, m->pc, m->image, m->off,
	    m->count);
}

static uint64_t
runs_within(const struct mark *end, size_t from, size_t to)
{
	if (!marks_known(end->pc))
		die("no \"Block id:\" line for the marker at 0x%" PRIx64
		    ": -regions-by icount needs none", end->pc);
	return marks_runs(end->pc, from, to);
}

/* Put the borders of from .. to - 1, as comments and fields, and the length. */
static void
pc_fields(const char *comment, size_t id, size_t from, size_t to, bool warmup)
{
	const struct mark *a = border(from), *b = border(to);
	uint64_t rel = runs_within(b, from, to);

	rel += !warmup && a->pc != b->pc;
	put_comment("Start", a);
	out_ch(out, '\n');
	put_comment("End", b);
	out_printf(out, " relative_count: %" PRIu64 "\n%s,%s,%zu", rel, comment,
	    tid, id);
	put_mark(a);
	put_mark(b);
	out_printf(out, ",%" PRIu64 ",%" PRIu64, rel, length(from, to));
}

static void
pc_region(size_t c)
{
	size_t s = (size_t)res->rep[c], slices = 0, i;
	uint64_t insns = 0;
	double multiplier;
	char comment[64];

	for (i = 0; i < res->n; i++)
		if (res->lab[i] == (int)c) {
			insns += sum[i + 1] - sum[i];
			slices++;
		}
	multiplier = (double)insns / (double)sum[res->n] * (double)res->n;
	out_printf(out, "# RegionId = %zu Slice = %zu Icount = %" PRIu64
	    " Length = %" PRIu64 " Weight = %.5f Multiplier = %.3f "
	    "ClusterSlicecount = %zu ClusterIcount = %" PRIu64 "\n", c + 1, s,
	    start_of(s), length(s, s + 1), weight(c), multiplier, slices,
	    insns);
	snprintf(comment, sizeof comment, "cluster %zu from slice %zu", c, s);
	pc_fields(comment, c + 1, s, s + 1, false);
	out_printf(out, ",%.5f,%.3f,simulation\n\n", weight(c), multiplier);
}

/* A warm-up's id follows those of all regions. */
static void
pc_warmup(size_t c, size_t id)
{
	size_t s = (size_t)res->rep[c], from = warm_from(s);
	char comment[64];

	if (s == 0) {
		out_printf(out, "# No warmup possible for regionid %zu with "
		    "WarmupFactor %zu\n\n", c + 1, opt.warmup);
		return;
	}
	out_printf(out, "# RegionId = %zu Slice = %zu Icount = %" PRIu64
	    " Length = %" PRIu64 " WarmupFactor = %zu\n", id, from,
	    start_of(from), length(from, s), s - from);
	snprintf(comment, sizeof comment, "Warmup for regionid %zu", c + 1);
	pc_fields(comment, id, from, s, true);
	out_printf(out, ",%.5f,%.3f,warmup:%zu\n\n", 0.0, 0.0, c + 1);
}

static void
icount_region(size_t c)
{
	size_t s = (size_t)res->rep[c], from = warm_from(s);

	out_printf(out, "# Region = %zu Slice = %zu Icount = %" PRIu64
	    " Length = %" PRIu64 " Weight = %.5f\n", c + 1, s, start_of(s),
	    length(s, s + 1), weight(c));
	if (from < s)
		out_printf(out, "# Warmup: Slice = %zu Icount = %" PRIu64
		    " Length = %" PRIu64 "\n", from, start_of(from),
		    length(from, s));
	out_printf(out, "cluster %zu from slice %zu,%s,%zu,%" PRIu64 ",%" PRIu64
	    ",%.5f\n\n", c, s, tid, c + 1, start_of(s), sum[s + 1], weight(c));
}

static void
head(bool by_pc)
{
	out_printf(out, "# Regions based on: %s, %zu intervals, k = %zu\n\n",
	    progname, res->n, res->k);
	out_str(out, "# comment,thread-id,region-id,");
	out_str(out, by_pc ? "start-pc,start-image-name,start-image-offset,"
	    "start-pc-count,end-pc,end-image-name,end-image-offset,"
	    "end-pc-count,end-pc-relative-count,region-length,region-weight,"
	    "region-multiplier,region-type\n\n" :
	    "simulation-region-start-icount,simulation-region-end-icount,"
	    "region-weight\n\n");
}

static void
add_up(const double *length_of)
{
	double d;
	size_t i;

	sum = xcalloc(res->n + 1, sizeof *sum);
	for (i = 0; i < res->n; i++) {
		d = length_of[i];
		if (!(d >= 0 && d <= 0x1p53))
			die("interval %zu: %g instructions", i, d);
		sum[i + 1] = sum[i] + (uint64_t)d;
	}
	if (sum[res->n] == 0)
		die("-regions: the intervals have no instructions");
}

/* The first of the regions' borders that has no marker, or SIZE_MAX. */
static size_t
unmarked(void)
{
	size_t first = marks_at(0) ? SIZE_MAX : 0;

	for (size_t c = 0; c < res->k; c++) {
		size_t s = (size_t)res->rep[c];
		size_t at[] = { warm_from(s), s, s + 1 };

		if (!has_region(c))
			continue;
		for (size_t i = 0; i < 3; i++)
			if (!marks_at(at[i]) && at[i] < first)
				first = at[i];
	}
	return first;
}

/* Are regions to be told by address?  Where one cannot be, none is. */
static bool
choose_by_pc(void)
{
	size_t i;

	if (opt.regions_by != BY_AUTO || !marks_have())
		return opt.regions_by == BY_PC;
	i = unmarked();
	if (i != SIZE_MAX)
		warn("no marker before interval %zu: all regions are by "
		    "instruction count", i);
	return i == SIZE_MAX;
}

void
regions_write(const struct result *r, const struct fv *f)
{
	size_t c, n = 0, last = 0;
	uint64_t insns = 0;
	bool by_pc;

	res = r;
	by_pc = choose_by_pc();
	add_up(f->sum);
	tid = opts_given("tid") || !marks_tid() ? opt.tid : marks_tid();
	out = out_open(opt.regions);
	head(by_pc);
	for (c = 0; c < r->k; c++) {
		if (!has_region(c))
			continue;
		if (by_pc)
			pc_region(c);
		else
			icount_region(c);
		insns += length((size_t)r->rep[c], (size_t)r->rep[c] + 1);
		last = c;
		n++;
	}
	for (c = 0; c < r->k && by_pc && opt.warmup > 0; c++)
		if (has_region(c))
			pc_warmup(c, last + c + 2);
	if (by_pc)
		out_printf(out, "# First PC, 0x%" PRIx64 "\n", border(0)->pc);
	out_printf(out, "# Total instructions in %zu regions = %" PRIu64 "\n"
	    "# Total instructions in workload = %" PRIu64 "\n"
	    "# Total slices in workload = %zu\n", n, insns, sum[r->n], r->n);
	out_close(out);
}
