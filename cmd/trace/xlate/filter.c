/*
 * filter - kind cache: the table that absorbs references
 *
 * Each thread has a table of lines for data and one for code: sets and ways,
 * the least recently used line of a set makes room.  A reference that hits it
 * also hits every such cache of as many sets and ways or more.  So only misses
 * go into the stream, each as a record of its own (Q), which names the way that
 * the line enters.  Fragments do what comes often; runtime/table.c does the
 * rest, and describes the table.
 *
 * The code in line asks whether the table holds the line (filterdata.c,
 * filtercode.c).  References that cannot be checked in this way (repeated,
 * gathered, wider than a line) always go into the stream, after the sets that
 * they touch have been emptied.  Executions are counted by counters.
 */
#include "look.h"
#include "xlate/filter.h"

void
filter_refer(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	unsigned j;

	fetch_check(x);
	if (in->special == SP_GATHER) {
		x->before.reg = NOREG;
		check_save_flags(x);
		look(&x->c, 0, LOOK_ALL);
		gather(x);
		check_restore_flags(x);
		return;
	}
	if (in->special == SP_REP || in->special == SP_REPCMP) {
		x->before.reg = NOREG;
		check_restore_flags(x);
		return;
	}
	for (j = 0; j < in->nref; j++)
		data_refer(x, j);
	check_restore_flags(x);
}

/*
 * The address of a gathered element is in s; 0: it is masked out.  The table is
 * empty.
 */
void
filter_element(struct xlate *x, unsigned e, int s)
{
	const struct ref *r = &x->b->in[x->i].ref[0];

	if (counts_refs())
		refs_element(x, s);
	check_look(x, s, LOOK_WIDE | LOOK_SIZE(r->size),
	    record_head(def_ref_id(x->def, x, x->i, e + 1, false), 1));
}

void
filter_rep_before(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	unsigned j;

	for (j = 0; j < in->nref; j++)
		record_address(x, &in->ref[j], x->g->ref[x->i][j].group);
	rep_before(x);
}

/*
 * Behind a repeated instruction, whose values lie in vec: write its record.
 * The guest's flags are alive.
 */
static void
rep_out(struct xlate *x)
{
	const struct insn *in = &x->b->in[x->i];
	const struct refgroup *g = x->g->ref[x->i];
	unsigned first = x->g->used[x->i], n = in->nref;
	unsigned b = n > 1 ? g[1].group - first : 0, j;

	mark(x, x->i + 1, MAP_BODY, 2);
	look(&x->c, record_head(def_ref_id(x->def, x, x->i, 1, false), n + 1),
	    LOOK_REP | LOOK_REP_BITS(n, g[0].count - first,
	    g[0].group - first, b, in->ref[0].size));
	for (j = 1; j <= 2; j++)
		emit_u32(&x->c, j > n ? 0 : record_head(def_ref_id(x->def, x,
		    x->i, j, true), 1));
	mark(x, x->i + 1, MAP_BODY, 0);
}

void
filter_rep_after(struct xlate *x)
{
	bool early = rep_count(x);

	rep_out(x);
	mark(x, x->i + 1, MAP_BODY, 0);
	if (early)
		regs_reload(x, BIT(RDX) | BIT(RBX));
}

/* Is its cold code nothing but a look-up, whose length handlers know? */
static bool
only_looks(const struct cold_check *d)
{
	return d->kind == COLD_FETCH || (d->kind == COLD_DATA && !d->fixed &&
	    d->size <= LOOK_DATA_MOST);
}

/* Any other cold code has a map entry of its own. */
static void
write_other(struct xlate *x, const struct cold_check *d)
{
	x->i = d->i;
	x->homed = d->homed;
	x->flags_in_rax = d->flags_in_rax;
	mark(x, d->i, MAP_BODY, 0);
	data_cold(x, d);
}

/* Write the cold code of all checks. */
void
filter_cold(struct xlate *x)
{
	const struct cold_check *d;
	unsigned i;

	for (i = 0; i < x->ncold; i++)
		if (!only_looks(&x->cold[i]))
			write_other(x, &x->cold[i]);
	look_align(&x->c);
	mark_looks(x, false);
	for (d = x->cold; d < x->cold + x->ncold; d++)
		if (d->kind == COLD_FETCH)
			fetch_cold(x, d);
	mark_looks(x, true);
	for (d = x->cold; d < x->cold + x->ncold; d++)
		if (d->kind != COLD_FETCH && only_looks(d))
			data_cold(x, d);
	x->flags_in_rax = false;
}
