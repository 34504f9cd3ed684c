/*
 * report - costs (costs(5)) of data objects, or a table
 *
 * In the costs an object stands where others have a function; the code that
 * refers to it is its caller. The object files of objects are their classes,
 * in brackets; the file is the object file that a variable is in.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "dataprof.h"
#include "func.h"
#include "out.h"
#include "simhead.h"
#include "util.h"

static struct costnames *names;
static struct cost_head head;
static int64_t total[COST_EVMAX];

/* An object's sums. */
struct sum {
	uint32_t object;
	uint64_t refs;
	int64_t data, all;	/* of columns of data; of all columns */
	int64_t *cost;
	const struct heap_site *site;	/* or NULL */
};
static struct sum *sum;
static size_t nsum;

static void
add_up(void)
{
	struct tally_row r;
	struct sum *s;

	nsum = object_count();
	sum = xcalloc(nsum + 1, sizeof *sum);
	for (size_t i = 0; i < nsum; i++)
		sum[i] = (struct sum){ .object = (uint32_t)i,
		    .cost = xcalloc(dp.ncol + 1U, sizeof *sum->cost) };
	for (size_t i = 0; i < heap_count(); i++)
		sum[heap_get(i)->object].site = heap_get(i);
	for (size_t i = 0; i < tally_count(); i++) {
		r = tally_get(i);
		s = &sum[r.object];
		s->refs += r.refs;
		for (unsigned k = 0; k < dp.ncol; k++) {
			s->cost[k] += r.cost[k];
			s->all += r.cost[k];
			s->data += k < dp.ndata ? r.cost[k] : 0;
			total[k] += r.cost[k];
		}
	}
}

/* ---- costs ---- */

static uint32_t
function(const char *ob, const char *file, const char *name)
{
	return costfn_add(names, (struct costfn){ costnames_str(names, ob),
	    costnames_str(names, file[0] == '\0' ? "???" : file),
	    costnames_str(names, name), 0 });
}

/* The file of a variable is no source that could be shown. */
static uint32_t
function_of(uint32_t n)
{
	const struct data_object *d = object_at(n);
	char file[4200];

	snprintf(file, sizeof file, "%s%s", d->file, d->file[0] == 0 ? "" :
	    " (data)");
	return function(object_class(d->class), file, d->name);
}

static void
begin(void)
{
	char list[4096] = "";

	names = costnames_new();
	costhead_init(&head);
	head.positions = COST_INSTR;
	head.creator = "quern " QUERN_VERSION " dataprof";
	for (unsigned i = 0; i < dp.ncol; i++) {
		strcat(list, dp.column[i]);
		strcat(list, " ");
	}
	if (costhead_events(&head, names, dp.ncol == 0 ? "Allocs Bytes" :
	    list) < 0)
		die("events: %s", list);
}

static void
put_self(struct costsum *all, const struct sum *s)
{
	int64_t heap[2] = { 0, 0 };
	struct cost c = { .kind = COST_SELF, .fn = function_of(s->object),
	    .n = s->cost };

	if (dp.ncol == 0) {
		if (s->site == NULL)
			return;
		heap[0] = (int64_t)s->site->number;
		heap[1] = (int64_t)s->site->bytes;
		total[0] += heap[0];
		total[1] += heap[1];
		c.n = heap;
	} else if (s->refs == 0) {
		return;
	}
	c.file = costfn_get(names, c.fn).fl;
	costsum_put(all, &c);
}

static void
put_call(struct costsum *all, const struct tally_row *r)
{
	const struct data_code *code = tally_code_at(r->code);
	struct cost c = { .kind = COST_CALL, .callee = function_of(r->object),
	    .n = r->cost };

	c.fn = function(code->fn->ob == 0 ? "???" : func_object(code->fn->ob),
	    "", code->fn->name);
	c.file = costfn_get(names, c.fn).fl;
	c.pos.addr = code->addr;
	c.count[0] = (int64_t)r->refs;
	costsum_put(all, &c);
}

static void
write_costs(struct out *o, const struct report *how)
{
	struct costsum *all;
	struct tally_row r;
	struct costw *w;
	struct cost c;

	simhead_put(how->head, &head);
	all = costsum_new(names, head.positions, head.nev);
	for (size_t i = 0; i < nsum; i++)
		put_self(all, &sum[i]);
	for (size_t i = 0; i < tally_count(); i++) {
		r = tally_get(i);
		if (r.refs != 0)
			put_call(all, &r);
	}
	costsum_sort(all);
	w = costw_begin(o, names, &head, 0);
	if (how->whole)
		costw_total(w, total);
	while (costsum_next(all, &c))
		costw_put(w, &c);
	if (how->late != NULL)
		costw_late(w, how->late);
	if (how->whole)
		costw_end(w);
}

/* ---- the table ---- */

static int
by_cost(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;
	uint64_t p = a->site != NULL ? a->site->peak : 0;
	uint64_t q = b->site != NULL ? b->site->peak : 0;

	if (a->data != b->data)
		return a->data > b->data ? -1 : 1;
	if (a->all != b->all)
		return a->all > b->all ? -1 : 1;
	if (p != q)
		return p > q ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

static void
put_row(struct out *o, const struct sum *s)
{
	const struct data_object *d = object_at(s->object);
	const struct heap_site *h = s->site;

	for (unsigned i = 0; i < dp.ncol; i++)
		out_printf(o, "%12" PRId64 " ", s->cost[i]);
	if (h == NULL)
		out_printf(o, "%10s %13s %13s %13s %12s ", "", "", "", "", "");
	else
		out_printf(o, "%10" PRIu64 " %13" PRIu64 " %13" PRIu64
		    " %13" PRIu64 " ", h->number, h->bytes, h->peak, h->live);
	if (h != NULL && h->nfreed == 0)
		out_printf(o, "%12s ", "-");
	else if (h != NULL)
		out_printf(o, "%12" PRIu64 " ", h->life / h->nfreed);
	out_printf(o, "%-8s %s", object_class(d->class), d->name);
	if (d->file[0] != '\0')
		out_printf(o, "  %s", d->file);
	out_ch(o, '\n');
}

static void
write_table(struct out *o, const struct report *how)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < dp.ncol; i++)
		out_printf(o, "%12s ", dp.column[i]);
	out_printf(o, "%10s %13s %13s %13s %12s %s\n", "number", "bytes",
	    "peak", "live", "life", "object");
	qsort(sum, nsum, sizeof *sum, by_cost);
	for (size_t i = 0; i < nsum; i++) {
		if (sum[i].all == 0 && (sum[i].site == NULL ||
		    sum[i].site->number == 0))
			continue;
		if (how->rows != 0 && n++ == how->rows)
			break;
		put_row(o, &sum[i]);
	}
	for (unsigned i = 0; i < dp.ncol; i++)
		out_printf(o, "%12" PRId64 " ", total[i]);
	out_printf(o, "%10s %13s %13" PRIu64 " %13" PRIu64 " %12s total; life "
	    "in %s\n", "", "", heap_peak(), heap_live(), "", dp.unit);
}

void
report(struct out *o, const struct report *how)
{
	add_up();
	begin();
	if (how->table)
		write_table(o, how);
	else
		write_costs(o, how);
	if (how->verbose)
		fprintf(stderr, "%zu places of allocations, %" PRIu64
		    " bytes at most\n", heap_count(), heap_peak());
}
