/*
 * dump - write the counts as costs
 *
 * Each context is a function of the cost text, with a number of its own; those
 * with the same name add up for readers that go by name. Costs are by
 * link-time address, in the order of objects and addresses.
 */
#include "callgraph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codename.h"
#include "cost.h"
#include "mem.h"
#include "out.h"
#include "outcome.h"
#include "prog.h"
#include "sum.h"

/* Callgrind's order; others follow. */
static const char *const usual[] = { "Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw",
    "ILmr", "DLmr", "DLmw", "ILdmr", "DLdmr", "DLdmw", "Bc", "Bcm",
    "Bi", "Bim", "AcCost1", "SpLoss1", "AcCost2", "SpLoss2", "Ge", "sysCount",
    "sysTime", "sysCpuTime" };

struct row {
	uint64_t addr;
	size_t at;		/* in counts, walk.ncol each */
};

static struct out *out;
static struct costnames *names;
static struct costw *writer;
static struct cost_head head;
static uint32_t unknown;
static unsigned *column;	/* by column of the text: which of ours */
static int part;
static const char **remark;
static size_t nremark;

static struct row *row;
static int64_t *counts;
static size_t nrow, caprow, capcounts;

/* ---- header ---- */

static const char *
column_name(unsigned i)
{
	static const char *const refs[] = { "Ir", "Dr", "Dw" };

	if (ev_kind(walk.events) == EV_CALLS)
		return "Ticks";
	return i < walk.firsttold ? refs[i] :
	    outcome_name(walk.told, i - walk.firsttold);
}

static void
order_columns(void)
{
	unsigned n = 0, nusual = sizeof usual / sizeof *usual, i, k;
	bool *used = xcalloc(walk.ncol, sizeof *used);

	column = xcalloc(walk.ncol, sizeof *column);
	for (k = 0; k <= nusual; k++)
		for (i = 0; i < walk.ncol; i++)
			if (!used[i] && (k == nusual ||
			    strcmp(column_name(i), usual[k]) == 0)) {
				used[i] = true;
				column[n++] = i;
			}
	free(used);
}

static const struct simhead *stream;	/* what the events' H lines say */

void
dump_open(struct out *o, const struct simhead *h, const char *pid)
{
	size_t len = 1;
	char *list;

	out = o;
	stream = h;
	names = costnames_new();
	unknown = costnames_str(names, "???");
	order_columns();
	for (unsigned i = 0; i < walk.ncol; i++)
		len += strlen(column_name(i)) + 1;
	list = xcalloc(1, len);
	for (unsigned i = 0; i < walk.ncol; i++) {
		strcat(list, column_name(column[i]));
		strcat(list, " ");
	}
	costhead_init(&head);
	head.positions = COST_INSTR;
	head.creator = "quern " QUERN_VERSION " callgraph";
	head.pid = pid;
	if (costhead_events(&head, names, list) < 0)
		die("events: %s", list);
	free(list);
	for (unsigned i = 0; i < walk.ncol; i++) {
		const char *s = systime_name(column_name(column[i]));

		if (s != NULL)
			head.ev[i].longname = costnames_get(names,
			    costnames_str(names, s));
	}
}

void
dump_lines(void)
{
	head.positions = COST_INSTR | COST_LINE;
}

void
dump_unit(const char *s)
{
	head.ev[0].longname = costnames_get(names, costnames_str(names, s));
}

void
dump_remark(const char *s)
{
	remark = nremark == 0 ? xmalloc(sizeof *remark) :
	    xrealloc(remark, (nremark + 1) * sizeof *remark);
	remark[nremark++] = s;
}

/* ---- a context ---- */

static int64_t *
add_row(uint64_t addr)
{
	row = xgrow(row, &caprow, nrow + 1, sizeof *row);
	counts = xgrow(counts, &capcounts, (nrow + 1) * walk.ncol,
	    sizeof *counts);
	row[nrow] = (struct row){ addr, nrow * walk.ncol };
	memset(counts + nrow * walk.ncol, 0, walk.ncol * sizeof *counts);
	return counts + walk.ncol * nrow++;
}

/* The references of one instruction, and the branches. */
static void
add_insn(int64_t *n, const struct walk_slot *sl, uint32_t insn,
    const struct ev_each *e)
{
	const struct slot_rare *m = slot_rare(sl);
	const int64_t *extra = m != NULL ? m->extra : NULL;
	const struct walk_seg *s = sl->seg;
	int64_t *const *t = m != NULL ? m->told : NULL, *to;

	if (extra != NULL)
		extra += e->insn.ref - seg_block(s)->insn[s->first].ref;
	for (uint32_t k = 0; walk.data_refs && k < e->insn.nref; k++) {
		to = &n[e->ref[k].kind == 'w' ? 2 : 1];
		sum_add(to, (int64_t)sl->n);
		if (extra != NULL)
			sum_add(to, extra[k]);
	}
	for (unsigned k = 0; k < outcome_columns(walk.told); k++) {
		to = &n[walk.firsttold + k];
		if (walk_implies(&e->insn, e->ref, outcome_name(walk.told, k)))
			sum_add(to, (int64_t)sl->n);
		if (t != NULL && t[insn - s->first] != NULL)
			sum_add(to, t[insn - s->first][k]);
	}
}

/* Has an instruction of the slot costs besides those of its executions? */
static bool
has_more(const struct walk_slot *sl, uint32_t insn, const struct ev_insn *i)
{
	const struct walk_seg *s = sl->seg;
	const struct slot_rare *m = slot_rare(sl);
	const int64_t *extra = m->extra;

	if (m->told != NULL && m->told[insn - s->first] != NULL)
		return true;
	if (extra != NULL && extra[seg_nref(s) + insn - s->first] != 0)
		return true;
	if (extra != NULL)
		extra += i->ref - seg_block(s)->insn[s->first].ref;
	for (uint32_t k = 0; extra != NULL && k < i->nref; k++)
		if (extra[k] != 0)
			return true;
	return false;
}

static bool
is_zero(const int64_t *n)
{
	for (unsigned i = 0; i < walk.ncol; i++)
		if (n[i] != 0)
			return false;
	return true;
}

static void
add_insns(const struct walk_slot *sl)
{
	static struct ev_ref ref[256];
	const struct walk_seg *s = sl->seg;
	const struct slot_rare *m = slot_rare(sl);
	struct ev_each e;
	int64_t *n;

	ev_each(&e, seg_block(s), ref);
	for (uint32_t k = 0; k < s->end; k++) {
		ev_next_insn(&e);
		if (k < s->first || (sl->n == 0 && !has_more(sl, k, &e.insn)))
			continue;
		n = add_row(e.insn.addr - s->at->slide);
		n[0] = (int64_t)sl->n;
		if (m != NULL && m->extra != NULL)
			sum_add(&n[0], m->extra[seg_nref(s) + k - s->first]);
		if (walk.ncol > 1)
			add_insn(n, sl, k, &e);
		if (n[0] == 0 && is_zero(n))
			nrow--;		/* taken back: walk_last_block */
	}
}

static void
add_slot(const struct walk_slot *sl)
{
	const struct walk_seg *s = sl->seg;
	const struct slot_rare *m = slot_rare(sl);
	int64_t *n;

	if (sl->n != 0 || (m != NULL && s->block != 0 &&
	    (m->extra != NULL || m->told != NULL)))
		add_insns(sl);
	if (m != NULL && m->skipped != NULL) {
		n = add_row(seg_last(s) - s->at->slide);
		memcpy(n, m->skipped, walk.ncol * sizeof *n);
	}
}

static int
by_addr(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Rows in order, one for each address. */
static void
settle_rows(void)
{
	size_t n = 0;

	if (nrow > 0)
		qsort(row, nrow, sizeof *row, by_addr);
	for (size_t k = 0; k < nrow; k++) {
		if (n > 0 && row[n - 1].addr == row[k].addr) {
			for (unsigned i = 0; i < walk.ncol; i++)
				sum_add(&counts[row[n - 1].at + i],
				    counts[row[k].at + i]);
			continue;
		}
		row[n++] = row[k];
	}
	nrow = n;
}

/* ---- calls and jumps, as lists in order ---- */

static struct walk_arc **arc;
static size_t narc, caparc;
static struct walk_jump **jump;
static size_t njump, capjump;

/* By thread, function, level; then in the order in which they were found. */
static int
by_place(const struct walk_ctx *x, const struct walk_ctx *y)
{
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->fn->ob != y->fn->ob)
		return x->fn->ob < y->fn->ob ? -1 : 1;
	if (x->fn->start != y->fn->start)
		return x->fn->start < y->fn->start ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->num < y->num ? -1 : x->num > y->num;
}

static int
by_site(const void *a, const void *b)
{
	const struct walk_arc *x = *(struct walk_arc *const *)a;
	const struct walk_arc *y = *(struct walk_arc *const *)b;

	uint64_t p = arc_site(x), q = arc_site(y);

	if (p != q)
		return p < q ? -1 : 1;
	if (x->ctx != y->ctx)
		return by_place(x->ctx, y->ctx);
	return x->tolink < y->tolink ? -1 : x->tolink > y->tolink;
}

/* Those of a list that have calls or costs. */
static void
add_arcs(struct walk_arc *a)
{
	for (; a != NULL; a = a->next)
		if (a->calls != 0 || !is_zero(a->cost)) {
			arc = xgrow(arc, &caparc, narc + 1, sizeof *arc);
			arc[narc++] = a;
		}
}

/* They are sorted; several of the same site and callee become one. */
static void
gather_arcs(const struct walk_ctx *c)
{
	size_t n = 0;

	narc = 0;
	for (struct walk_slot *sl = c->slots; sl != NULL; sl = sl->next)
		add_arcs(*slot_arcs(sl));
	add_arcs(c->arcs);
	if (narc > 0)
		qsort(arc, narc, sizeof *arc, by_site);
	for (size_t k = 0; k < narc; k++) {
		if (n > 0 && by_site(&arc[n - 1], &arc[k]) == 0) {
			arc[n - 1]->calls += arc[k]->calls;
			for (unsigned i = 0; i < walk.ncol; i++)
				sum_add(&arc[n - 1]->cost[i], arc[k]->cost[i]);
			arc[k]->calls = 0;
			memset(arc[k]->cost, 0,
			    walk.ncol * sizeof *arc[k]->cost);
			continue;
		}
		arc[n++] = arc[k];
	}
	narc = n;
}

static uint64_t
jump_site(const struct walk_jump *j)
{
	return seg_last(j->slot->seg) - j->slot->seg->at->slide;
}

static uint64_t
jump_to(const struct walk_jump *j)
{
	return j->to - j->seg->at->slide;
}

static int
by_jump(const void *a, const void *b)
{
	const struct walk_jump *x = *(struct walk_jump *const *)a;
	const struct walk_jump *y = *(struct walk_jump *const *)b;
	uint64_t p = jump_site(x), q = jump_site(y);

	if (p != q)
		return p < q ? -1 : 1;
	p = jump_to(x);
	q = jump_to(y);
	return p < q ? -1 : p > q;
}

static void
gather_jumps(const struct walk_ctx *c)
{
	size_t n = 0;

	njump = 0;
	for (struct walk_jump *j = c->jumps; j != NULL; j = j->more) {
		if (j->n == 0)
			continue;
		jump = xgrow(jump, &capjump, njump + 1, sizeof *jump);
		jump[njump++] = j;
	}
	if (njump > 0)
		qsort(jump, njump, sizeof *jump, by_jump);
	for (size_t k = 0; k < njump; k++) {
		if (n > 0 && by_jump(&jump[n - 1], &jump[k]) == 0) {
			jump[n - 1]->n += jump[k]->n;
			jump[k]->n = 0;
			continue;
		}
		jump[n++] = jump[k];
	}
	njump = n;
}

/* ---- writing ---- */

static uint32_t
function(const struct walk_ctx *c)
{
	const struct codename_line *l = c->fn->code == NULL ? NULL :
	    codename_line(c->fn->code, UINT64_MAX);

	return costfn_add(names, (struct costfn){
	    costnames_str(names, func_object(c->fn->ob)), l == NULL ?
	    unknown : costnames_str(names, c->fn->code->line->file),
	    costnames_str(names, ctx_name(c)), c->num });
}

/* Set the line of an address of a function, and return its file. */
static uint32_t
set_line(struct cost_pos *pos, const struct func *fn)
{
	const struct codename_line *l = NULL;

	if (fn->code != NULL && pos->addr - fn->code->start < fn->code->size)
		l = codename_line(fn->code, pos->addr);
	pos->line = l == NULL ? 0 : l->line;
	return l == NULL ? unknown : costnames_str(names, l->file);
}

static const int64_t *
in_order(const int64_t *n)
{
	static int64_t v[COST_EVMAX];

	for (unsigned i = 0; i < walk.ncol; i++)
		v[i] = n[column[i]];
	return v;
}

static void
write_arc(struct cost *c, const struct walk_arc *a)
{
	c->kind = COST_CALL;
	c->callee = function(a->ctx);
	c->pos.addr = arc_site(a);
	c->to.addr = a->tolink;
	c->file = set_line(&c->pos, arc_caller(a)->fn);
	set_line(&c->to, a->ctx->fn);
	c->count[0] = (int64_t)a->calls;
	c->n = (int64_t *)in_order(a->cost);
	costw_put(writer, c);
}

/* ran: how often its instruction was executed. */
static void
write_jump(struct cost *c, const struct walk_jump *j, int64_t ran)
{
	c->kind = COST_JUMP;
	c->callee = c->fn;
	c->pos.addr = jump_site(j);
	c->to.addr = jump_to(j);
	c->file = set_line(&c->pos, j->slot->ctx->fn);
	c->tofile = set_line(&c->to, j->slot->ctx->fn);
	c->cond = j->slot->seg->flow == 'C';
	c->count[0] = c->count[1] = (int64_t)j->n;
	/* in a part, it may have been executed in the one before */
	if (c->cond && ran > c->count[1])
		c->count[0] = ran;
	costw_put(writer, c);
}

static void
write_context(const struct walk_ctx *c)
{
	struct cost cost = { .fn = function(c) };
	size_t r = 0, a = 0, j = 0;
	uint64_t at;
	int64_t ran;

	while (r < nrow || a < narc || j < njump) {
		at = r < nrow ? row[r].addr : UINT64_MAX;
		if (a < narc && arc_site(arc[a]) < at)
			at = arc_site(arc[a]);
		if (j < njump && jump_site(jump[j]) < at)
			at = jump_site(jump[j]);
		ran = 0;
		if (r < nrow && row[r].addr == at) {
			ran = counts[row[r].at];
			cost.kind = COST_SELF;
			cost.pos.addr = at;
			cost.file = set_line(&cost.pos, c->fn);
			cost.n = (int64_t *)in_order(counts + row[r++].at);
			costw_put(writer, &cost);
		}
		for (; a < narc && arc_site(arc[a]) == at; a++)
			write_arc(&cost, arc[a]);
		for (; j < njump && jump_site(jump[j]) == at; j++)
			write_jump(&cost, jump[j], ran);
	}
}

static int
by_context(const void *a, const void *b)
{
	return by_place(*(struct walk_ctx *const *)a,
	    *(struct walk_ctx *const *)b);
}

static struct walk_ctx **
sorted_contexts(size_t *n)
{
	struct walk_ctx **v = NULL;
	size_t cap = 0;

	*n = 0;
	for (struct walk_ctx *c = contexts; c != NULL; c = c->next) {
		v = xgrow(v, &cap, *n + 1, sizeof *v);
		v[(*n)++] = c;
	}
	if (*n > 0)
		qsort(v, *n, sizeof *v, by_context);
	return v;
}

static void
write_head(const char *trigger, const char *fn, int thread)
{
	size_t n = 40 + strlen(trigger) + (fn == NULL ? 0 : strlen(fn));
	char *desc = xmalloc(n), number[24];

	head.ndesc = 0;
	simhead_put(stream, &head);
	snprintf(desc, n, fn == NULL ? "Trigger: %s" : "Trigger: %s=%s",
	    trigger, fn);
	costhead_desc(&head, desc);
	for (size_t i = 0; i < nremark; i++)
		costhead_desc(&head, remark[i]);
	snprintf(number, sizeof number, "%d", part);
	head.part = xstrdup(number);
	if (thread >= 0) {
		snprintf(number, sizeof number, "%d", thread + 1);
		head.thread = xstrdup(number);
	}
	if (writer == NULL)
		writer = costw_begin(out, names, &head, COSTW_RELATIVE |
		    COSTW_SHORT);
	else
		costw_part(writer, &head);
}

static void
add_slots(const struct walk_ctx *c)
{
	for (struct walk_slot *sl = c->slots; sl != NULL; sl = sl->next)
		add_slot(sl);
}

static void
begin_sharing(const struct walk_ctx *lines)
{
	nrow = 0;
	add_slots(lines);
	settle_rows();
	share_begin();
	for (size_t i = 0; i < nrow; i++)
		share_line(row[i].addr, counts + row[i].at);
}

/* Costs that belong to no instruction of the context's: it may share others. */
static void
add_costs(const struct walk_ctx *c)
{
	if (c->costs != NULL && (c->lines == NULL ||
	    !share_take(c->costs, add_row)))
		memcpy(add_row(c->fn->start), c->costs,
		    walk.ncol * sizeof *c->costs);
}

/* The contexts that share lines are one behind the other. */
static void
write_contexts(struct walk_ctx *const *v, size_t n)
{
	const struct walk_ctx *lines = NULL;

	for (size_t k = 0; k < n; k++) {
		if (v[k]->lines != NULL && v[k]->lines != lines) {
			lines = v[k]->lines;
			begin_sharing(lines);
		}
		nrow = 0;
		add_slots(v[k]);
		if (v[k]->own != 0)
			add_row(v[k]->fn->start)[0] = v[k]->own;
		add_costs(v[k]);
		settle_rows();
		gather_arcs(v[k]);
		gather_jumps(v[k]);
		write_context(v[k]);
	}
}

static void
write_parts(const char *trigger, const char *fn)
{
	unsigned nthread = !walk.threads ? 1 :
	    ev_kind(walk.events) == EV_CALLS ? ctx_threads() : thread_count();
	size_t n, k = 0, from;
	struct walk_ctx **v = sorted_contexts(&n);

	part++;
	for (unsigned i = 0; i < nthread || i == 0; i++) {
		for (from = k; k < n && v[k]->thread == i; k++)
			continue;
		write_head(trigger, fn, walk.threads ? (int)i : -1);
		write_contexts(v + from, k - from);
	}
	free(v);
}

static void
zero_arcs(struct walk_arc *a)
{
	for (; a != NULL; a = a->next) {
		a->calls = 0;
		memset(a->cost, 0, walk.ncol * sizeof *a->cost);
	}
}

static void
zero_slot(struct walk_slot *sl)
{
	uint32_t n = (uint32_t)sl->seg->end - sl->seg->first;
	struct slot_rare *m = slot_rare(sl);

	sl->n = 0;
	zero_arcs(*slot_arcs(sl));
	if (m == NULL)
		return;
	if (m->skipped != NULL)
		memset(m->skipped, 0, walk.ncol * sizeof *m->skipped);
	for (uint32_t i = 0; m->told != NULL && i < n; i++)
		if (m->told[i] != NULL)
			memset(m->told[i], 0, outcome_columns(walk.told) *
			    sizeof **m->told);
	free(m->extra);
	m->extra = NULL;
}

static void
zero_slots(const struct walk_ctx *c)
{
	for (struct walk_slot *sl = c->slots; sl != NULL; sl = sl->next)
		zero_slot(sl);
}

void
dump_zero(void)
{
	stack_settle();
	for (struct walk_ctx *c = contexts; c != NULL; c = c->next) {
		zero_slots(c);
		if (c->lines != NULL)
			zero_slots(c->lines);
		zero_arcs(c->arcs);
		for (struct walk_jump *j = c->jumps; j != NULL; j = j->more)
			j->n = 0;
		if (c->costs != NULL)
			memset(c->costs, 0, walk.ncol * sizeof *c->costs);
	}
}

void
dump_part(const char *trigger, const char *fn)
{
	stack_settle();
	write_parts(trigger, fn);
	costw_more(writer);
	dump_zero();
}

void
dump_end(bool whole)
{
	char folded[80];

	if (ctx_folded() != 0) {
		snprintf(folded, sizeof folded, "%" PRIu64 " calls of more "
		    "contexts than %" PRIu64, ctx_folded(), walk.maxcontexts);
		dump_remark(folded);
	}
	write_parts(ev_kind(walk.events) == EV_CALLS ? "End of the log" :
	    "Program termination", NULL);
	if (whole)
		costw_end(writer);
}
