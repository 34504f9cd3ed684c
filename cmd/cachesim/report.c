/*
 * report - costs by address, the summary
 *
 * Accesses are executions times references, plus the differences that
 * ordered.c noted for some of them.
 */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "insns.h"
#include "mem.h"
#include "num.h"
#include "out.h"
#include "outcome.h"
#include "sum.h"

enum { IR, COL_I1MR, COL_ILMR, DR, COL_D1MR, COL_DLMR, DW, COL_D1MW, COL_DLMW,
    NCOL };

static const struct insns *insns;
static bool each;

/* ---- counts of a block's instructions ---- */

void
report_init(const struct insns *all, bool rounds)
{
	insns = all;
	each = rounds;
}

uint64_t
report_count(uint32_t id)
{
	return unit[id].what == LONE_OTHER ? unit[id].count : 0;
}

static void
add_misses(const struct misses *m, int64_t *n)
{
	n[0] += (int64_t)misses_all(&m->l1);
	n[1] += (int64_t)misses_all(&m->ll);
}

static void
add_fetches(const struct cold_block *c, uint32_t insn, int64_t *n)
{
	for (uint32_t v = 0; v < c->nvisit; v++)
		if (c->visit[v].insn == insn)
			add_misses(&cold_fetch(c)[v], n + COL_I1MR);
	if (c->extras == 0)
		return;
	for (const struct lone *l = cold_has(c)->lone; l != NULL; l = l->next)
		if (l->visit.insn == insn)
			add_misses(&l->fetch, n + COL_I1MR);
}

void
report_add(const struct insns_at *at, int64_t *n)
{
	const struct cold_block *c = &cold_block[at->block];
	const struct misses *data = cold_data(c) + at->i->ref;
	const struct block_extras *o = cold_has(c);
	const int64_t *extra = o != NULL ? o->extra : NULL;

	n[IR] += (int64_t)at->times;
	if (each && o != NULL && o->rounds != NULL)
		sum_add(&n[IR], o->rounds[at->insn]);
	add_fetches(c, at->insn, n);
	for (uint32_t k = 0; k < at->i->nref; k++) {
		unsigned col = at->ref[k].kind == 'w' ? DW : DR;

		n[col] += (int64_t)at->times;
		if (extra != NULL)
			sum_add(&n[col], extra[at->i->ref + k]);
		add_misses(&data[k], n + col + 1);
	}
}

/* ---- the costs ---- */

const char *
report_cache(int cache, const struct geometry *g)
{
	char ways[40] = "direct-mapped", *s = xmalloc(160);

	if (g->assoc != 1)
		snprintf(ways, sizeof ways, "%" PRIu64 "-way associative",
		    g->assoc);
	snprintf(s, 160, "%s cache:         %" PRIu64 " B, %" PRIu64 " B, %s",
	    cache_name[cache], g->size, g->line, ways);
	return s;
}

/* ---- the summary, as Cachegrind's ---- */

static const char *
commas(int64_t n)
{
	static char buf[8][32];
	static unsigned next;

	return num_commas(buf[next = (next + 1) % 8], n);
}

/* Of a column: a rate must fit as well. */
static int
width_of(int64_t n)
{
	int len = (int)strlen(commas(n));

	return len > 5 ? len : 5;
}

static double
percent(int64_t part, int64_t of)
{
	return 100.0 * (double)part / (double)(of == 0 ? 1 : of);
}

static int width[3];	/* of all, of reads, of writes */
static struct out *err;

static void
counts(const char *what, int64_t rd, int64_t wr)
{
	out_printf(err, "%-14s%*s  (%*s rd   + %*s wr)\n", what, width[0],
	    commas(rd + wr), width[1], commas(rd), width[2], commas(wr));
}

static void
rates(const char *what, const int64_t part[2], const int64_t of[2])
{
	out_printf(err, "%-14s%*.1f%% (%*.1f%%     + %*.1f%%  )\n", what,
	    width[0], percent(part[0] + part[1], of[0] + of[1]), width[1],
	    percent(part[0], of[0]), width[2], percent(part[1], of[1]));
}

void
report_summary(const struct simrun *s)
{
	const int64_t *t = s->total;
	const int64_t refs[2] = { t[DR], t[DW] };
	const int64_t d1[2] = { t[COL_D1MR], t[COL_D1MW] };
	const int64_t dl[2] = { t[COL_DLMR], t[COL_DLMW] };
	const int64_t all[2] = { t[IR] + t[DR], t[DW] };
	const int64_t ll[2] = { t[COL_ILMR] + t[COL_DLMR], t[COL_DLMW] };

	err = out_fd(2, "standard error");
	width[0] = width_of(t[IR]);
	width[1] = width_of(t[DR]);
	width[2] = width_of(t[DW]);
	out_printf(err, "I refs:       %*s\n", width[0], commas(t[IR]));
	out_printf(err, "I1 misses:    %*s\n", width[0], commas(t[COL_I1MR]));
	out_printf(err, "LLi misses:   %*s\n", width[0], commas(t[COL_ILMR]));
	out_printf(err, "I1 miss rate: %*.2f%%\n", width[0],
	    percent(t[COL_I1MR], t[IR]));
	out_printf(err, "LLi miss rate:%*.2f%%\n\n", width[0],
	    percent(t[COL_ILMR], t[IR]));
	counts("D refs:", t[DR], t[DW]);
	counts("D1 misses:", d1[0], d1[1]);
	counts("LLd misses:", dl[0], dl[1]);
	rates("D1 miss rate:", d1, refs);
	rates("LLd miss rate:", dl, refs);
	out_ch(err, '\n');
	counts("LL refs:", t[COL_I1MR] + d1[0], d1[1]);
	counts("LL misses:", ll[0], ll[1]);
	rates("LL miss rate:", ll, all);
	out_flush(err);
}
