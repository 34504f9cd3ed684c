/*
 * report - costs by address, the summary
 *
 * An instruction may be in several blocks. A row is one instruction of one
 * block; rows are sorted by object and address, and neighbours summed up.
 */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "objmap.h"
#include "out.h"
#include "outcome.h"
#include "util.h"

enum { IR, COL_I1MR, COL_ILMR, DR, COL_D1MR, COL_DLMR, DW, COL_D1MW, COL_DLMW,
    NCOL };

static const char events[] = "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw";

struct row {
	uint64_t addr;		/* link-time */
	uint32_t object;	/* 1 + its number; 0: none */
	uint32_t cold;
	uint32_t insn;
	uint32_t lone;		/* 1 + the fetch alone that is meant, or 0 */
};

static int64_t total[NCOL];

/* ---- counts of a block's instructions ---- */

static uint64_t *ir;		/* by number of all instructions: executions */

static void
count_executions(struct evr *r)
{
	ir = xcalloc(ninsn + 1, sizeof *ir);
	for (uint32_t id = 1; id <= maxid; id++) {
		const struct ev_def *d = ev_def(r, id);

		/* one that was refused has no part here */
		if (d != NULL && d->letter != 'Q' && d->block->user != NULL)
			ir[cold_block[(uintptr_t)d->block->user - 1].first +
			    d->n - 1] += unit[id].count;
	}
	/* an execution of n instructions is one of those before it, too */
	for (uint32_t k = 0; k < ncold; k++) {
		uint64_t *n = ir + cold_block[k].first;

		for (uint32_t i = cold_block[k].block->ninsn - 1; i > 0; i--)
			n[i - 1] += n[i];
	}
}

/* The costs of one instruction of one block, added to n. */
static void
add_costs(const struct cold *c, uint32_t insn, int rounds, int64_t *n)
{
	const struct ev_insn *i = &c->block->insn[insn];
	int64_t times = (int64_t)ir[c->first + insn], all;

	n[IR] += times;
	if (rounds && c->rounds != NULL)
		n[IR] += c->rounds[insn];
	for (uint32_t v = 0; v < c->nvisit; v++)
		if (c->visit[v].insn == insn) {
			n[COL_I1MR] += (int64_t)c->fetch[v].l1;
			n[COL_ILMR] += (int64_t)c->fetch[v].ll;
		}
	for (uint32_t k = i->ref; k < (uint32_t)i->ref + i->nref; k++) {
		unsigned at = c->block->ref[k].kind == 'w' ? DW : DR;

		all = times + (c->extra != NULL ? c->extra[k] : 0);
		n[at] += all;
		n[at + 1] += (int64_t)c->data[k].l1;
		n[at + 2] += (int64_t)c->data[k].ll;
	}
}

/* ---- rows ---- */

static struct row *row;
static size_t nrow, caprow;

static void
add_row(uint32_t cold, uint32_t insn, uint32_t alone)
{
	const struct cold *c = &cold_block[cold];
	const struct place *p = c->place + c->nplace - 1;

	while (p->insn > insn)
		p--;
	row = xgrow(row, &caprow, nrow + 1, sizeof *row);
	row[nrow++] = (struct row){ c->block->insn[insn].addr - p->slide,
	    p->object, cold, insn, alone };
}

static int
by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return 0;
}

static void
make_rows(void)
{
	for (uint32_t k = 0; k < ncold; k++)
		for (uint32_t i = 0; i < cold_block[k].block->ninsn; i++)
			if (ir[cold_block[k].first + i] != 0)
				add_row(k, i, 0);
	for (uint32_t k = 0; k < nlone; k++)
		if (lone[k].fetch.l1 != 0)
			add_row(lone[k].cold, lone[k].visit.insn, k + 1);
	if (nrow != 0)
		qsort(row, nrow, sizeof *row, by_place);
}

/* The costs of all rows at the place of the one at k; returns the next. */
static size_t
sum_rows(size_t k, const struct report *rep, int64_t *n)
{
	size_t from = k;

	memset(n, 0, (NCOL + outcome_columns(rep->told)) * sizeof *n);
	for (; k < nrow && by_place(&row[k], &row[from]) == 0; k++) {
		const struct cold *c = &cold_block[row[k].cold];
		uint32_t insn;

		if (row[k].lone != 0) {
			n[COL_I1MR] += (int64_t)lone[row[k].lone - 1].fetch.l1;
			n[COL_ILMR] += (int64_t)lone[row[k].lone - 1].fetch.ll;
			continue;
		}
		insn = row[k].insn;
		add_costs(c, insn, rep->each, n);
		outcome_add(rep->told, c->first + insn,
		    c->block->insn[insn].flow, ir[c->first + insn], n + NCOL);
	}
	return k;
}

/* ---- the costs ---- */

static const char *
describe(int cache, const struct geometry *g)
{
	char ways[40] = "direct-mapped", *s = xmalloc(160);

	if (g->assoc != 1)
		snprintf(ways, sizeof ways, "%" PRIu64 "-way associative",
		    g->assoc);
	snprintf(s, 160, "%s cache:         %" PRIu64 " B, %" PRIu64 " B, %s",
	    cache_name[cache], g->size, g->line, ways);
	return s;
}

static struct costw *
begin(struct out *o, const struct report *rep)
{
	struct costnames *names = costnames_new();
	static struct cost_head head;
	unsigned n = outcome_columns(rep->told);
	char *columns = xmalloc(sizeof events + 32 * n);

	strcpy(columns, events);
	for (unsigned i = 0; i < n; i++)
		sprintf(strchr(columns, '\0'), " %s",
		    outcome_name(rep->told, i));
	costhead_init(&head);
	head.positions = COST_INSTR;
	head.creator = "quern-cachesim-" QUERN_VERSION;
	head.cmd = rep->cmd;
	for (int i = 0; i < NCACHE; i++)
		costhead_desc(&head, describe(i, &rep->geometry[i]));
	if (costhead_events(&head, names, columns) < 0)
		die("events: %s", columns);
	costhead_done(&head);
	return costw_begin(o, names, &head, COSTW_RELATIVE | COSTW_SHORT);
}

void
report_costs(struct out *o, const struct report *rep)
{
	struct costw *w = o == NULL ? NULL : begin(o, rep);
	int64_t n[COST_EVMAX];
	uint32_t object = UINT32_MAX;

	count_executions(rep->events);
	make_rows();
	for (size_t k = 0; k < nrow; ) {
		const struct row *r = &row[k];

		k = sum_rows(k, rep, n);
		for (size_t i = 0; i < NCOL; i++)
			total[i] += n[i];
		if (w == NULL)
			continue;
		if (r->object != object) {
			object = r->object;
			costw_object(w, object == 0 ? "???" :
			    objmap_obj(rep->map, object - 1)->path);
		}
		costw_addr(w, r->addr, n);
	}
	if (w != NULL && rep->whole)
		costw_end(w);
}

/* ---- the summary, as Cachegrind's ---- */

static const char *
commas(int64_t n)
{
	static char buf[8][32];
	static unsigned next;
	char *p = buf[next = (next + 1) % 8] + 31;
	int k = 0;

	*p = '\0';
	do {
		if (k++ % 3 == 0 && k != 1)
			*--p = ',';
		*--p = (char)('0' + n % 10);
	} while ((n /= 10) != 0);
	return p;
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
report_summary(void)
{
	const int64_t *t = total;
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
