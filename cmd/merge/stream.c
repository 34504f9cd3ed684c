/*
 * stream - add up files in canonical order, read side by side
 *
 * A heap holds the next record of each file.  The least record is taken, all
 * equal ones are added to it, and the sum is written.  From time to time all
 * names but those in use are forgotten, so memory does not grow with the files.
 */
#include "merge.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"

enum { NAMES = 4096 };		/* forget names beyond so many */

struct merge_input {
	struct costr *r;
	const size_t *map;
	size_t store[COST_EVMAX];
	int64_t n[COST_EVMAX];
	struct cost c;		/* the next record */
};

static struct costnames *nm;
static struct costw *writer;
static struct merge_input *all, **heap;
static size_t nall, nheap;
static size_t column[COST_EVMAX];

static inline bool
before(const struct merge_input *a, const struct merge_input *b)
{
	return cost_cmp(nm, &a->c, &b->c) < 0;
}

static void
sift(size_t i)
{
	struct merge_input *s = heap[i];
	size_t k;

	for (; (k = 2 * i + 1) < nheap; i = k) {
		if (k + 1 < nheap && before(heap[k + 1], heap[k]))
			k++;
		if (!before(heap[k], s))
			break;
		heap[i] = heap[k];
	}
	heap[i] = s;
}

/* Read the next record; false: the file has ended. */
static bool
advance(struct merge_input *s)
{
	enum cost_kind kind = costr_next(s->r, &s->c);

	if (kind == COST_END) {
		add_total(s->r);
		return false;
	}
	if (kind != COST_SELF)
		costr_die(s->r, "the file changed while it was read");
	if (s->map) {
		remap(s->n, s->c.n, s->map);
		s->c.n = s->n;
	}
	return true;
}

static void
next(void)
{
	if (!advance(heap[0]))
		heap[0] = heap[--nheap];
	if (nheap)
		sift(0);
}

static void
put(struct cost *c)
{
	int64_t n[COST_EVMAX];

	if (is_nothing(c))
		return;
	if (!same_order) {
		remap(n, c->n, column);
		c->n = n;
	}
	costw_put(writer, c);
}

static void
forget_names(void)
{
	struct costnames *new = costnames_new();
	size_t i;

	for (i = 0; i < nheap; i++)
		costr_rename(heap[i]->r, new, &heap[i]->c);
	costw_rename(writer, new);
	costnames_free(nm);
	nm = new;
}

/* Is the next function in one file alone? */
static bool
in_one_file(void)
{
	uint32_t fn = heap[0]->c.fn;

	return (nheap < 2 || heap[1]->c.fn != fn) &&
	    (nheap < 3 || heap[2]->c.fn != fn);
}

static void
copy_function(void)
{
	struct merge_input *s = heap[0];
	uint32_t fn = s->c.fn;
	bool more;

	do {
		put(&s->c);
		more = advance(s);
	} while (more && s->c.fn == fn);
	if (!more)
		heap[0] = heap[--nheap];
	if (nheap)
		sift(0);
}

static void
add_counts(int64_t *sum, const struct cost *c)
{
	size_t i;

	for (i = 0; i < first.nev; i++)
		if (__builtin_add_overflow(sum[i], c->n[i], &sum[i]))
			die("a sum of costs is beyond 64 bits, in function %s",
			    costnames_get(nm, costfn_get(nm, c->fn).fn));
}

static void
add_record(void)
{
	int64_t sum[COST_EVMAX];
	struct cost c = heap[0]->c;

	memcpy(sum, c.n, first.nev * sizeof *sum);
	c.n = sum;
	next();
	while (nheap && !cost_cmp(nm, &heap[0]->c, &c)) {
		add_counts(sum, &heap[0]->c);
		next();
	}
	put(&c);
}

static void
open_all(char **names, size_t n)
{
	size_t i;

	all = xcalloc(n, sizeof *all);
	heap = xcalloc(n, sizeof *heap);
	for (nall = 0; nall < n; nall++) {
		struct merge_input *s = &all[nall];

		s->r = costr_open(names[nall], nm);
		if (costr_next(s->r, &s->c) != COST_PART)
			costr_die(s->r, "the file changed while it was read");
		head_file();
		s->map = head_add(s->r, s->store);
		if (advance(s))
			heap[nheap++] = s;
	}
	for (i = nheap / 2; i-- > 0;)
		sift(i);
}

void
stream(char **names, size_t n, struct out *o)
{
	struct costnames *heads = costnames_new();

	nm = heads;
	open_all(names, n);
	writer = costw_begin(o, nm, head_make(nm, column, false), 0);
	/* the header goes on using its strings, so records get names anew */
	nm = costnames_new();
	for (size_t i = 0; i < nheap; i++)
		costr_rename(heap[i]->r, nm, &heap[i]->c);
	costw_rename(writer, nm);
	while (nheap) {
		if (in_one_file())
			copy_function();
		else
			add_record();
		if (costnames_count(nm) > NAMES)
			forget_names();
	}
	costw_end(writer);
}
