/*
 * order - kind counts: allocations and frees in the order of their numbers
 *
 * The lines of threads come in large pieces, but each event has its number.  So
 * what a line tells waits until all events before it are known:
 *
 *	T 2		D 3 ...		waits for 1 and 2
 *	T 1		D 1 ...		made
 *			D 2 ...		made, and 3
 *
 * Numbers that never come, as of calls that did not return, hold others up
 * until MOST_WAITING wait, or the end.  Kinds with references use memory in the
 * order of their lines: there nothing waits.
 */
#include "dataprof.h"
#include "mem.h"

#define MOST_WAITING (1u << 18)

struct change {
	uint64_t number;
	uint64_t start, size;
	enum { NOTHING, ADDED, FREED } what;
	uint32_t site;
};

static struct change *waiting;		/* a heap, the lowest number first */
static size_t nwaiting, capwaiting;
static uint64_t next = 1;

static void
make(const struct change *c)
{
	if (dp.orders)
		dp.time = dp.image + c->number;
	if (c->what == ADDED)
		block_add(c->start, c->size, c->number, c->site);
	else if (c->what == FREED)
		block_free(c->start, c->size, c->number);
	if (dp.orders && c->what != NOTHING)
		curve_look();
}

static void
swap(size_t a, size_t b)
{
	struct change c = waiting[a];

	waiting[a] = waiting[b];
	waiting[b] = c;
}

static void
hold_back(const struct change *c)
{
	size_t i = nwaiting++;

	waiting = xgrow(waiting, &capwaiting, nwaiting, sizeof *waiting);
	waiting[i] = *c;
	for (; i > 0 && waiting[i].number < waiting[(i - 1) / 2].number;
	    i = (i - 1) / 2)
		swap(i, (i - 1) / 2);
}

/* Make the lowest one, and take it out. */
static void
make_lowest(void)
{
	size_t i = 0, k;

	make(&waiting[0]);
	next = waiting[0].number + 1;
	waiting[0] = waiting[--nwaiting];
	while ((k = 2 * i + 1) < nwaiting) {
		if (k + 1 < nwaiting &&
		    waiting[k + 1].number < waiting[k].number)
			k++;
		if (waiting[i].number <= waiting[k].number)
			break;
		swap(i, k);
		i = k;
	}
}

static void
take(const struct change *c)
{
	if (!dp.orders || c->number < next) {
		make(c);
		return;
	}
	if (c->number > next) {
		hold_back(c);
	} else {
		make(c);
		next++;
	}
	while (nwaiting > 0 && (waiting[0].number <= next ||
	    nwaiting > MOST_WAITING))
		make_lowest();
}

void
order_add(uint64_t start, uint64_t size, uint64_t number, uint32_t site)
{
	take(&(struct change){ number, start, size, ADDED, site });
}

void
order_free(uint64_t start, uint64_t size, uint64_t number)
{
	take(&(struct change){ number, start, size, FREED, 0 });
}

void
order_nothing(uint64_t number)
{
	if (dp.orders)
		take(&(struct change){ number, 0, 0, NOTHING, 0 });
}

void
order_end(void)
{
	while (nwaiting > 0)
		make_lowest();
	next = 1;
}
