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
#include "mem.h"
#include "out.h"
#include "prog.h"
#include "simhead.h"
#include "sum.h"

/* Kind counts; the last two are of the heap, of which mappings are no part. */
static const char heap_events[] = "Allocs Bytes Peak Left";
enum { HEAP_ALL = 2, NHEAP_EVENTS = 4 };

static struct costnames *names;
static struct cost_head head;
static int64_t total[COST_EVMAX];

/* An object's sums. */
struct sum {
	uint32_t object;
	uint64_t refs;
	int64_t shown;		/* of the table's columns */
	int64_t *cost;
	const struct site *site;	/* or NULL */
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
	for (size_t i = 0; i < site_count(); i++)
		sum[site_get(i)->object].site = site_get(i);
	for (size_t i = 0; i < tally_count(); i++) {
		r = tally_get(i);
		s = &sum[r.object];
		s->refs += r.refs;
		for (unsigned k = 0; k < dp.ncol; k++) {
			sum_add(&s->cost[k], r.cost[k]);
			sum_add(&total[k], r.cost[k]);
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
	if (costhead_events(&head, names, dp.ncol == 0 ? heap_events :
	    list) < 0)
		die("events: %s", list);
}

/* Kind counts: what is known of a site, in the order of heap_events. */
static void
put_heap(int64_t *heap, size_t site)
{
	static const enum figure figure[NHEAP_EVENTS] = { FIGURE_NUMBER,
	    FIGURE_BYTES, FIGURE_TOP, FIGURE_LEFT };

	uint64_t n;

	for (unsigned i = 0; i < NHEAP_EVENTS; i++) {
		n = i >= HEAP_ALL && site_get(site)->maps ? 0 :
		    site_figure(site, figure[i]);
		if (n > INT64_MAX)
			sum_beyond();
		heap[i] = (int64_t)n;
		sum_add(&total[i], heap[i]);
	}
}

static void
put_self(struct costsum *all, const struct sum *s)
{
	int64_t heap[NHEAP_EVENTS];
	struct cost c = { .kind = COST_SELF, .fn = function_of(s->object),
	    .n = s->cost };

	if (dp.ncol == 0) {
		if (s->site == NULL)
			return;
		put_heap(heap, s->site - site_get(0));
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

/* Its columns: events, then what is known of allocations. */
enum { SITE_NUMBER, SITE_BYTES, SITE_PEAK, SITE_LIVE, SITE_LIFE, NHEAP };
static const char *const heap_name[NHEAP] = { "number", "bytes", "peak",
	"live", "life" };
static unsigned shown[COST_EVMAX], nshown;	/* events */
static int width[COST_EVMAX], heap_width[NHEAP];

/* L2mr, L3Dmw: the level, or 0 for other events. */
static unsigned
level_of(const char *name)
{
	size_t n = strlen(name);

	if (name[0] != 'L' || name[1] < '1' || name[1] > '9' || n < 4 ||
	    (strcmp(name + n - 2, "mr") != 0 &&
	    strcmp(name + n - 2, "mw") != 0) || name[2] == 'I')
		return 0;
	return (unsigned)(name[1] - '0');
}

/* References, misses of data of the first and the last level, false sharing. */
static bool
is_main(const char *name, unsigned last)
{
	static const char *const word[] = { "Dr", "Dw", "D1mr", "D1mw",
		"DLmr", "DLmw", "Fsh" };
	unsigned level = level_of(name);

	for (unsigned i = 0; i < sizeof word / sizeof word[0]; i++)
		if (strcmp(name, word[i]) == 0)
			return true;
	return level != 0 && (level == 1 || level == last);
}

static void
choose_main(void)
{
	unsigned last = 0, k;

	for (k = 0; k < dp.ncol; k++)
		if (level_of(dp.column[k]) > last)
			last = level_of(dp.column[k]);
	for (k = 0; k < dp.ncol; k++)
		if (is_main(dp.column[k], last))
			shown[nshown++] = k;
	/* none that we know: those of data, or all */
	for (k = 0; nshown == 0 && k < dp.ndata; k++)
		shown[k] = k;
	if (nshown == 0)
		nshown = dp.ndata;
	for (k = 0; nshown == 0 && k < dp.ncol; k++)
		shown[k] = k;
	if (nshown == 0)
		nshown = dp.ncol;
}

static void
choose(const char *events)
{
	size_t n;
	unsigned k;

	for (; *events != '\0'; events += n + (events[n] == ',')) {
		n = strcspn(events, ",");
		for (k = 0; k < dp.ncol; k++)
			if (strncmp(dp.column[k], events, n) == 0 &&
			    dp.column[k][n] == '\0')
				break;
		if (k == dp.ncol)
			die("--events: the stream has no event %.*s", (int)n,
			    events);
		if (nshown < COST_EVMAX)
			shown[nshown++] = k;
	}
}

/* The loader's mappings are large, and mostly no matter of the program's. */
static bool
is_map(const struct sum *s)
{
	return object_at(s->object)->class == DATA_MAP;
}

static int
by_cost(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;
	uint64_t p = a->site != NULL ? a->site->peak : 0;
	uint64_t q = b->site != NULL ? b->site->peak : 0;

	if (a->shown != b->shown)
		return a->shown > b->shown ? -1 : 1;
	if (is_map(a) != is_map(b))
		return is_map(a) ? 1 : -1;
	if (p != q)
		return p > q ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

/* The text of what is known of allocations; -: none was freed. */
static const char *
heap_text(const struct site *h, unsigned column)
{
	static char text[24];
	const uint64_t n[NHEAP] = { h->number, h->bytes, h->peak,
		h->live + h->left,
		h->nfreed == 0 ? 0 : h->life / h->nfreed };

	if (column == SITE_LIFE && h->nfreed == 0)
		return "-";
	snprintf(text, sizeof text, "%" PRIu64, n[column]);
	return text;
}

static void
widen(int *w, const char *text)
{
	int n = (int)strlen(text);

	if (n > *w)
		*w = n;
}

/* Columns are as wide as their names and numbers. */
static void
set_widths(const struct sum *end)
{
	char text[24];

	for (unsigned i = 0; i < nshown; i++) {
		widen(&width[i], dp.column[shown[i]]);
		snprintf(text, sizeof text, "%" PRId64, total[shown[i]]);
		widen(&width[i], text);
	}
	for (unsigned i = 0; i < NHEAP; i++) {
		widen(&heap_width[i], heap_name[i]);
		if (i == SITE_PEAK || i == SITE_LIVE) {
			snprintf(text, sizeof text, "%" PRIu64, i == SITE_PEAK ?
			    site_peak() : site_unfreed());
			widen(&heap_width[i], text);
		}
		for (const struct sum *s = sum; s < end; s++)
			if (s->site != NULL)
				widen(&heap_width[i], heap_text(s->site, i));
	}
}

static void
put_row(struct out *o, const struct sum *s)
{
	const struct data_object *d = object_at(s->object);

	for (unsigned i = 0; i < nshown; i++)
		out_printf(o, "%*" PRId64 " ", width[i], s->cost[shown[i]]);
	for (unsigned i = 0; i < NHEAP; i++)
		out_printf(o, "%*s ", heap_width[i], s->site == NULL ? "" :
		    heap_text(s->site, i));
	out_printf(o, "%-8s %s", object_class(d->class), d->name);
	if (d->file[0] != '\0')
		out_printf(o, "  %s", d->file);
	out_ch(o, '\n');
}

static void
put_total(struct out *o)
{
	char text[24];

	for (unsigned i = 0; i < nshown; i++)
		out_printf(o, "%*" PRId64 " ", width[i], total[shown[i]]);
	for (unsigned i = 0; i < NHEAP; i++) {
		text[0] = '\0';
		if (i == SITE_PEAK || i == SITE_LIVE)
			snprintf(text, sizeof text, "%" PRIu64, i == SITE_PEAK ?
			    site_peak() : site_unfreed());
		out_printf(o, "%*s ", heap_width[i], text);
	}
	out_printf(o, "total; life in %s\n", dp.unit);
}

/* Objects with costs that are shown, or allocations, come first; their end. */
static struct sum *
sort_rows(uint64_t rows)
{
	size_t n = 0;

	for (size_t i = 0; i < nsum; i++) {
		for (unsigned k = 0; k < nshown; k++)
			sum_add(&sum[i].shown, sum[i].cost[shown[k]]);
		if (sum[i].shown != 0 || (sum[i].site != NULL &&
		    sum[i].site->number != 0))
			sum[n++] = sum[i];
	}
	qsort(sum, n, sizeof *sum, by_cost);
	return sum + (rows != 0 && rows < n ? rows : n);
}

static void
write_table(struct out *o, const struct report *how)
{
	const struct sum *end;

	if (how->events != NULL)
		choose(how->events);
	else
		choose_main();
	end = sort_rows(how->rows);
	set_widths(end);
	for (unsigned i = 0; i < nshown; i++)
		out_printf(o, "%*s ", width[i], dp.column[shown[i]]);
	for (unsigned i = 0; i < NHEAP; i++)
		out_printf(o, "%*s ", heap_width[i], heap_name[i]);
	out_printf(o, "object\n");
	for (const struct sum *s = sum; s < end; s++)
		put_row(o, s);
	put_total(o);
}

void
report(struct out *o, const struct report *how)
{
	if (how->form == FORM_STACKS) {
		heap_stacks(o, how->figure);
	} else if (how->form == FORM_MASSIF) {
		massif_write(o, how->head->cmd);
	} else {
		add_up();
		begin();
		(how->form == FORM_TABLE ? write_table : write_costs)(o, how);
	}
	if (how->verbose)
		fprintf(stderr, "%zu places of allocations, %" PRIu64
		    " bytes at most\n", site_count(), site_peak());
}
