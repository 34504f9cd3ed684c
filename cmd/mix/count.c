/*
 * count - how often each id was executed, by thread
 */
#include "mix.h"

#include "mem.h"

struct options opt = { .nfunction = 10, .nclass = 10 };

/* How often an id was executed, by thread. */
struct thread {
	uint64_t *times;
	size_t cap;
	uint64_t tid;
};

static struct thread *threads;
static size_t nthread, capthread;
static int which = -1;		/* whose executions count_times tells */

static struct thread *
thread(unsigned n)
{
	threads = xgrow0(threads, &capthread, n + (size_t)1, sizeof *threads);
	if (n >= nthread)
		nthread = n + (size_t)1;
	return &threads[n];
}

void
count_add(unsigned n, uint32_t id, uint64_t times)
{
	struct thread *t = thread(opt.threads ? n : 0);

	if (id >= t->cap)
		t->times = xgrow0(t->times, &t->cap, id + (size_t)1,
		    sizeof *t->times);
	t->times[id] += times;
}

void
count_name(unsigned n, uint64_t tid)
{
	if (opt.threads)
		thread(n)->tid = tid;
}

void
count_only(int n)
{
	which = n;
}

unsigned
count_threads(void)
{
	return (unsigned)nthread;
}

uint64_t
count_tid(unsigned n)
{
	return threads[n].tid;
}

uint64_t
count_times(uint32_t id)
{
	uint64_t n = 0;

	for (size_t i = 0; i < nthread; i++)
		if ((which < 0 || i == (size_t)which) && id < threads[i].cap)
			n += threads[i].times[id];
	return n;
}
