/*
 * limits - RLIMIT_AS and RLIMIT_DATA
 *
 * They count our areas too, which are not the guest's. So the kernel is given
 * as much more as these take, and the guest told that much less. Threads come
 * and go behind a limit that the guest has set: it moves along with their
 * areas, within the hard limit, which was given room for some.
 */
#include <asm/resource.h>

#include "limits.h"
#include "signals.h"
#include "threads.h"

#define LIMIT_THREADS 64u

static struct moved {
	uint32_t resource;
	struct limit set;	/* by the guest */
	uint64_t more;		/* what the hard limit is above the guest's */
} moved[] = {
	{ RLIMIT_AS, { ~0ull, ~0ull }, 0 },
	{ RLIMIT_DATA, { ~0ull, ~0ull }, 0 },
};
#define NMOVED (sizeof moved / sizeof moved[0])

static uint64_t
plus(uint64_t v, uint64_t n)
{
	return v >= ~0ull - n ? v : v + n;
}

static uint64_t
minus(uint64_t v, uint64_t n)
{
	return v == ~0ull ? v : v > n ? v - n : 0;
}

/* What a thread's area takes; what all of ours takes. */
static uint64_t
one_area(const struct moved *m)
{
	return m->resource == RLIMIT_DATA ? T_SIZE : area_bytes();
}

static uint64_t
all_areas(const struct moved *m)
{
	return m->resource == RLIMIT_DATA ? area_data_all() :
	    area_bytes_all();
}

static long
get(const struct moved *m, struct limit *l)
{
	return sys4(__NR_prlimit64, 0, m->resource, 0, l);
}

void
limits_move(unsigned more)
{
	struct limit n;
	unsigned i;

	for (i = 0; i < NMOVED; i++) {
		if (moved[i].set.cur == ~0ull || get(&moved[i], &n) != 0)
			continue;
		n.cur = plus(moved[i].set.cur, all_areas(&moved[i]) +
		    more * one_area(&moved[i]));
		if (n.cur > n.max)
			n.cur = n.max;
		sys4(__NR_prlimit64, 0, moved[i].resource, &n, 0);
	}
}

void
limits_for_exec(struct limits *was)
{
	struct limit n;
	unsigned i;

	for (i = 0; i < NMOVED; i++) {
		if (get(&moved[i], &was->of[i]) != 0)
			was->of[i].cur = ~0ull;
		if (was->of[i].cur == ~0ull ||
		    (moved[i].resource == RLIMIT_DATA &&
		    moved[i].set.cur == ~0ull))
			continue;
		n = was->of[i];
		n.cur = minus(n.cur, all_areas(&moved[i]));
		sys4(__NR_prlimit64, 0, moved[i].resource, &n, 0);
	}
}

void
limits_exec_failed(const struct limits *was)
{
	unsigned i;

	for (i = 0; i < NMOVED; i++)
		if (was->of[i].cur != ~0ull)
			sys4(__NR_prlimit64, 0, moved[i].resource,
			    &was->of[i], 0);
}

/* The call is about m: of the limit at new, and where the old one goes. */
static long
moved_call(struct moved *m, uint64_t new, uint64_t old)
{
	struct limit n, o, was, set = m->set;
	uint64_t ours = all_areas(m);
	long r;

	if (get(m, &was) != 0)
		return -1;
	if (new != 0) {
		if (rt_copy(&n, (void *)new, sizeof n) < 0)
			return -EFAULT;
		set = n;
		n.cur = plus(n.cur, ours);
		n.max = plus(n.max, ours + LIMIT_THREADS * one_area(m));
		if (n.max > was.max)
			n.max = was.max;
	}
	r = sys4(__NR_prlimit64, 0, m->resource, new != 0 ? &n : 0, &o);
	if (r != 0)
		return r;
	o.cur = minus(o.cur, ours);
	o.max = minus(o.max, m->more != 0 ? m->more : ours);
	m->set = set;
	if (new != 0 && set.max != ~0ull)
		m->more = n.max - set.max;
	if (old == 0)
		return 0;
	return rt_copy((void *)old, &o, sizeof o) < 0 ? -EFAULT : 0;
}

/* Which limit of our own process the call is about; NULL: another one. */
static struct moved *
moved_by(const struct tarea *t, uint64_t nr)
{
	bool pr = nr == __NR_prlimit64;
	uint32_t pid = pr ? (uint32_t)t->gpr[7] : 0, i;

	for (i = 0; i < NMOVED && (pid == 0 || pid == rt.pid); i++)
		if ((uint32_t)t->gpr[pr ? 6 : 7] == moved[i].resource)
			return &moved[i];
	return NULL;
}

long
limit_call(struct tarea *t, uint64_t nr)
{
	struct moved *m = moved_by(t, nr);

	if (m == NULL)
		return guest_syscall(t, t->gpr);
	if (nr == __NR_prlimit64)
		return moved_call(m, t->gpr[2], t->gpr[10]);
	return nr == __NR_setrlimit ? moved_call(m, t->gpr[6], 0) :
	    moved_call(m, 0, t->gpr[6]);
}
