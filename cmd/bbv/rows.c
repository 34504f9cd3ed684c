/*
 * rows - write vectors, marks and blocks as text
 */
#include "bbv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cost.h"
#include "expand.h"
#include "mem.h"
#include "prog.h"
#include "sym.h"

const char *stream_pid;

/* Expand %p, %q{VAR}, %% in a file's name. */
static char *
rows_name(const char *pattern)
{
	char own[32];

	snprintf(own, sizeof own, "%d", (int)getpid());
	return expand(pattern, stream_pid != NULL ? stream_pid : own, true);
}

/*
 * The files written last, newest first.  All others are parked: there may be
 * more threads than a process may have open files.
 */
#define NOPEN	8
static struct out *recent[NOPEN];

static void
unpark(struct out *o)
{
	unsigned i = 0;

	while (i < NOPEN - 1 && recent[i] != o)
		i++;
	if (recent[i] != NULL && recent[i] != o)
		out_park(recent[i]);
	memmove(recent + 1, recent, i * sizeof *recent);
	recent[0] = o;
}

static void
finish(struct out *o)
{
	unsigned i;

	for (i = 0; i < NOPEN; i++)
		if (recent[i] == o)
			recent[i] = NULL;
	out_close(o);
}

/* A thread's file: NAME, NAME.2, ... */
static struct out *
open_for(const struct bbv_thread *t, const char *pattern)
{
	char *base = rows_name(pattern), *name;
	struct out *o;

	name = xmalloc(strlen(base) + 16);
	sprintf(name, t->number == 1 ? "%s" : "%s.%u", base, t->number);
	o = out_open(name);
	free(base);
	free(name);
	return o;
}

void
rows_open(struct bbv_thread *t, const char *cmd)
{
	if (opt.bb_out == NULL && t->number > 1) {
		if (t->number == 2)
			warn("more than one thread: only the first one's "
			    "vectors are written; use --bb-out-file");
		return;
	}
	t->out = opt.bb_out == NULL ? out_open(NULL) :
	    open_for(t, opt.bb_out);
	unpark(t->out);
	if (opt.mav_out != NULL) {
		t->mav = open_for(t, opt.mav_out);
		unpark(t->mav);
	}
	if (opt.format != FORMAT_PINPOINTS || opt.count_only)
		return;
	out_printf(t->out, "I: 0\nP: %u\nC: sum:dummy Command:",
	    t->number - 1);
	cost_put_text(t->out, cmd);
	out_ch(t->out, '\n');
}

static uint32_t *order;		/* blocks in the order of writing */
static size_t caporder;

static int
by_id(const void *a, const void *b)
{
	uint32_t x = bbs[*(const uint32_t *)a].id;
	uint32_t y = bbs[*(const uint32_t *)b].id;

	return x < y ? -1 : x > y;
}

static int
by_addr(const void *a, const void *b)
{
	uint64_t x = bbs[*(const uint32_t *)a].addr;
	uint64_t y = bbs[*(const uint32_t *)b].addr;

	return x < y ? -1 : x > y;
}

/* Order the blocks of a thread's interval; t NULL: all that were executed. */
static size_t
sort(const struct bbv_thread *t)
{
	size_t n = 0;
	uint32_t i;

	order = xgrow(order, &caporder, nbb + 1, sizeof *order);
	for (i = 0; i < nbb; i++)
		if (t == NULL ? bbs[i].id != 0 : i < t->cap && t->n[i] != 0)
			order[n++] = i;
	qsort(order, n, sizeof *order,
	    opt.format == FORMAT_EXP || t == NULL ? by_addr : by_id);
	return n;
}

static void
pair(struct out *o, uint64_t id, uint64_t n, const char *behind)
{
	out_ch(o, ':');
	out_u64(o, id);
	out_ch(o, ':');
	out_u64(o, n);
	out_str(o, behind);
}

static void
row_of_memory(struct bbv_thread *t)
{
	size_t i;

	unpark(t->mav);
	out_ch(t->mav, 'T');
	for (i = 0; i < t->captouches; i++)
		if (t->touches[i] != 0)
			pair(t->mav, i + 1, t->touches[i], " ");
	out_ch(t->mav, '\n');
}

bool
rows_wanted(const struct bbv_thread *t)
{
	return t->out != NULL && !opt.count_only;
}

void
rows_write(struct bbv_thread *t)
{
	size_t i, n;

	if (!rows_wanted(t))
		return;
	n = sort(t);
	unpark(t->out);
	if (opt.format == FORMAT_PINPOINTS)
		out_printf(t->out, "# Slice at %" PRIu64 "\n", t->total);
	out_ch(t->out, 'T');
	for (i = 0; i < n; i++)
		pair(t->out, bbs[order[i]].id, t->n[order[i]],
		    opt.format == FORMAT_EXP ? "   " : " ");
	out_ch(t->out, '\n');
	if (t->mav != NULL)
		row_of_memory(t);
}

/* pinpoints: an interval begins with this block; say how often it ran. */
void
rows_mark(struct bbv_thread *t, uint32_t bb)
{
	if (opt.format != FORMAT_PINPOINTS || t->out == NULL ||
	    opt.count_only)
		return;
	unpark(t->out);
	out_printf(t->out, "M: 0x%" PRIx64 " %" PRIu64 "\n", bbs[bb].addr,
	    bbs[bb].runs + 1);
}

static void
block_table(struct out *o)
{
	size_t i, n = sort(NULL);
	const struct bb *b;

	for (i = 0; i < n; i++) {
		b = &bbs[order[i]];
		out_printf(o, "Block id: %u 0x%" PRIx64 ":0x%" PRIx64
		    " static instructions: %u block count: %" PRIu64
		    " block size: %u\n", b->id, b->addr,
		    b->addr + b->bytes - 1, b->ninsn, b->runs, b->bytes);
	}
	out_str(o, "End of bb\n");
}

/* A thread's sums, as exp-bbv has them. */
static const char *
sums(const struct bbv_thread *t)
{
	static char text[512];
	uint64_t n = opt.interval != 0 ? t->total / opt.interval : 0;
	char *p = text;

	p += sprintf(p, "\n\n# Thread %u\n#   Total intervals: %" PRIu64
	    " (Interval Size %" PRIu64 ")\n#   Total instructions: %" PRIu64
	    "\n", t->number, n, opt.interval, t->total);
	if (opt.exact)
		p += sprintf(p, "#   Total reps: %" PRIu64
		    "\n#   Unique reps: %" PRIu64
		    "\n#   Total fldcw instructions: %" PRIu64 "\n", t->reps,
		    t->unique, t->fldcw);
	strcpy(p, "\n");
	return text;
}

void
rows_close(struct bbv_thread *t)
{
	if (opt.verbose && t->total != 0)
		fprintf(stderr, "%s\n", sums(t));
	if (t->out == NULL)
		return;
	if (opt.format == FORMAT_PINPOINTS) {
		out_printf(t->out, "Dynamic instruction count %" PRIu64
		    "\nSliceSize: %" PRIu64 "\n", t->total, opt.interval);
		block_table(t->out);
	} else if (opt.format == FORMAT_EXP || opt.count_only) {
		out_str(t->out, sums(t));
	}
	finish(t->out);
	if (t->mav != NULL)
		finish(t->mav);
}

static struct sym **syms;
static size_t capsym;

/* In exp-bbv's format names are Valgrind's, which may have colons. */
static struct sym *
sym_of(const struct obj *o)
{
	unsigned flags = opt.format == FORMAT_EXP ?
	    SYM_DEMANGLE | SYM_BELOW_MAIN : 0;

	syms = xgrow0(syms, &capsym, o->id + 1, sizeof *syms);
	if (syms[o->id] == NULL)
		syms[o->id] = sym_open(o->path, flags);
	return syms[o->id];
}

void
rows_blocks(void)
{
	struct out *o;
	struct sym_at at;
	const struct bb *b;
	size_t i, n;

	if (opt.pc_out == NULL)
		return;
	o = out_open(rows_name(opt.pc_out));
	n = sort(NULL);
	for (i = 0; i < n; i++) {
		b = &bbs[order[i]];
		memset(&at, 0, sizeof at);
		if (b->obj != NULL)
			sym_find(sym_of(b->obj), b->link, &at);
		out_printf(o, "F:%u:%" PRIx64 ":%s", b->id, b->addr,
		    at.fn == NULL || strcmp(at.fn, SYM_UNKNOWN) == 0 ? "" :
		    at.fn);
		if (opt.format != FORMAT_EXP)
			out_printf(o, ":%u:%u:%s:%u", b->ninsn, b->bytes,
			    at.file != NULL ? at.file : SYM_UNKNOWN, at.line);
		out_ch(o, '\n');
	}
	out_close(o);
}
