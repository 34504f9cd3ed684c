/*
 * massif - a file as Valgrind's Massif writes it, for its viewers
 *
 *	snapshot=3
 *	time=2048
 *	mem_heap_B=1000
 *	mem_heap_extra_B=16
 *	mem_stacks_B=0
 *	heap_tree=peak
 *	n1: 1000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 *	 n2: 1000 0x1152: leaf (prog.c:7)
 *	  n0: 600 0x1170: main (in /home/a/prog)
 *	  n0: 400 0x1160: init (in /home/a/prog)
 *
 * The tree leads from the callers of allocating functions outwards.  Those that
 * call one have the line of the call; the addresses of others are where they
 * begin, since the calls in them are not known.  Branches of less than
 * dp.threshold are put together.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dataprof.h"
#include "func.h"
#include "mem.h"
#include "out.h"
#include "shown.h"

/* Some parts of a snapshot, whose callers are alike up to some depth. */
struct branch {
	const struct chain_link *caller;
	struct sample_part *part;
	size_t n;
	uint64_t bytes;
};

static unsigned depth;		/* by which parts are compared */

/* Its caller at this depth, or NULL. */
static const struct chain_link *
caller_of(const struct sample_part *p)
{
	const struct site *s = site_get(p->site);

	return depth < s->nchain ? s->chain[depth] : NULL;
}

static int
by_caller(const void *x, const void *y)
{
	const struct chain_link *a = caller_of(x), *b = caller_of(y);
	uint32_t i = a == NULL ? 0 : a->num + 1, k = b == NULL ? 0 : b->num + 1;

	return i < k ? -1 : i > k;
}

static int
by_bytes(const void *x, const void *y)
{
	const struct branch *a = x, *b = y;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->caller->num < b->caller->num ? -1 :
	    a->caller->num > b->caller->num;
}

/*
 * The branches of these parts at depth d, the largest first: *n of them.  Parts
 * that have no caller there are in none.
 */
static struct branch *
branches(struct sample_part *p, size_t np, unsigned d, size_t *n)
{
	struct branch *v = xcalloc(np + 1, sizeof *v);
	const struct chain_link *caller;
	size_t i;

	depth = d;
	qsort(p, np, sizeof *p, by_caller);
	*n = 0;
	for (i = 0; i < np; i++) {
		caller = caller_of(&p[i]);
		if (caller == NULL)
			continue;
		if (*n == 0 || v[*n - 1].caller != caller)
			v[(*n)++] = (struct branch){ caller, &p[i], 0, 0 };
		v[*n - 1].n++;
		v[*n - 1].bytes += p[i].bytes;
	}
	qsort(v, *n, sizeof *v, by_bytes);
	return v;
}

static void
put_caller(struct out *o, const struct chain_link *l)
{
	uint32_t ob = l->fn->ob;
	const char *object = ob == 0 ? "???" : func_object(ob);

	out_printf(o, "0x%" PRIX64 ": ", l->addr);
	out_shown(o, l->name, strlen(l->name));
	if (link_has_line(l)) {
		out_ch(o, '\n');
		return;
	}
	out_str(o, " (in ");
	out_shown(o, object, strlen(object));
	out_str(o, ")\n");
}

static void
indent(struct out *o, unsigned n)
{
	for (; n > 0; n--)
		out_ch(o, ' ');
}

/* Those from v on, which are small, together. */
static void
put_rest(struct out *o, const struct branch *v, size_t n, unsigned d)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < n; i++)
		bytes += v[i].bytes;
	indent(o, d);
	out_printf(o, "n0: %" PRIu64 " in %zu place%s, %sbelow massif's "
	    "threshold (%.2f%%)\n", bytes, n, n == 1 ? "" : "s",
	    n == 1 ? "" : "all ", dp.threshold);
}

/*
 * The line of a branch that has these parts, and what is below it; l NULL: all
 * of them.  p is sorted on the way.
 */
static void
put_tree(struct out *o, const struct chain_link *l, uint64_t bytes,
    struct sample_part *p, size_t np, unsigned d, uint64_t least)
{
	size_t n, i, shown = 0;
	struct branch *v = branches(p, np, d + 1, &n);

	while (shown < n && v[shown].bytes >= least)
		shown++;
	indent(o, d);
	out_printf(o, "n%zu: %" PRIu64 " ", shown + (shown < n), bytes);
	if (l == NULL)
		out_str(o, "(heap allocation functions) malloc/new/new[], "
		    "--alloc-fns, etc.\n");
	else
		put_caller(o, l);
	for (i = 0; i < shown; i++)
		put_tree(o, v[i].caller, v[i].bytes, v[i].part, v[i].n, d + 1,
		    least);
	if (shown < n)
		put_rest(o, v + shown, n - shown, d + 1);
	free(v);
}

static void
put_sample(struct out *o, const struct sample *s, const char *what)
{
	static unsigned number;

	out_printf(o, "#-----------\nsnapshot=%u\n#-----------\ntime=%" PRIu64
	    "\nmem_heap_B=%" PRIu64 "\nmem_heap_extra_B=%" PRIu64
	    "\nmem_stacks_B=0\nheap_tree=%s\n", number++, s->time, s->bytes,
	    s->extra, s->part == NULL ? "empty" : what);
	if (s->part != NULL)
		put_tree(o, NULL, s->bytes, s->part, s->nparts, 0, (uint64_t)
		    ((double)(s->bytes + s->extra) * dp.threshold / 100));
}

/* When there was the most, with what each site had. */
static struct sample
most(void)
{
	struct sample s = *total_most();
	uint64_t n;

	s.part = xcalloc(site_count() + 1, sizeof *s.part);
	for (size_t i = 0; i < site_count(); i++) {
		n = site_figure(i, FIGURE_TOP);
		if (!site_get(i)->maps && n != 0)
			s.part[s.nparts++] = (struct sample_part){
			    (uint32_t)i, n };
	}
	return s;
}

void
massif_write(struct out *o, const char *cmd)
{
	struct sample top = most(), begin = { 0 };
	size_t n, i = 0;
	const struct sample *s = curve_samples(&n);

	out_printf(o, "desc: (none)\ncmd: %s\ntime_unit: B\n",
	    cmd == NULL ? "" : cmd);
	put_sample(o, &begin, "");
	for (; i < n && s[i].time < top.time; i++)
		put_sample(o, &s[i], "detailed");
	if (top.time != 0)
		put_sample(o, &top, "peak");
	for (; i < n; i++)
		if (s[i].time != top.time)
			put_sample(o, &s[i], "detailed");
}
