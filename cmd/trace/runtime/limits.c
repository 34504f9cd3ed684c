/*
 * limits - RLIMIT_AS and RLIMIT_DATA
 *
 * They count our areas too, which are not the guest's. So the kernel is given
 * as much more as these take, and the guest told that much less. Threads come
 * and go behind a limit that the guest has set: it moves along with their
 * areas, within the hard limit, which was given room for some. Several threads
 * may move it at once, and the last one's count is not always the newest; there
 * is room for some areas more as long as there are several.
 */
#include <asm/resource.h>

#include "limits.h"
#include "signals.h"
#include "threads.h"

#define LIMIT_THREADS 64u

static const uint32_t resource[NLIMIT] = { RLIMIT_AS, RLIMIT_DATA };

static uint64_t
plus(uint64_t v, uint64_t n)
{
	return v >= ~0ull - n ? v : v + n;
}

/* What a thread's area takes; what all of ours takes. */
static uint64_t
one_area(unsigned i)
{
	return i == LIMIT_DATA ? T_SIZE : area_bytes();
}

static uint64_t
all_areas(unsigned i)
{
	return i == LIMIT_DATA ? area_data_all() : area_bytes_all();
}

static long
get(unsigned i, struct limit *l)
{
	return sys4(__NR_prlimit64, 0, resource[i], 0, l);
}

static long
put(unsigned i, const struct limit *l)
{
	return sys4(__NR_prlimit64, 0, resource[i], l, 0);
}

/* What the guest has set limit i to; NULL: the kernel has it. */
static const struct limit *
set_of(unsigned i)
{
	return rt.boot.limit[i].is ? &rt.boot.limit[i].to : NULL;
}

void
limits_move(unsigned more)
{
	const struct limit *set;
	struct limit n;
	unsigned i;

	for (i = 0; i < NLIMIT; i++) {
		set = set_of(i);
		if (set == NULL || get(i, &n) != 0)
			continue;
		n.cur = plus(set->cur, all_areas(i) + more * one_area(i));
		if (n.cur > n.max)
			n.cur = n.max;
		put(i, &n);
	}
}

/* The soft one: a hard limit that is lower now could not be raised again. */
void
limits_for_exec(struct limits *was)
{
	const struct limit *set;
	unsigned i;

	for (i = 0; i < NLIMIT; i++) {
		set = set_of(i);
		if (set == NULL || get(i, &was->of[i]) != 0)
			was->of[i].cur = ~0ull;
		else
			put(i, &(struct limit){ set->cur, was->of[i].max });
	}
}

void
limits_exec_failed(const struct limits *was)
{
	unsigned i;

	for (i = 0; i < NLIMIT; i++)
		if (was->of[i].cur != ~0ull)
			put(i, &was->of[i]);
}

void
limits_give_back(void)
{
	unsigned i;

	for (i = 0; i < NLIMIT; i++)
		if (set_of(i) != NULL)
			put(i, set_of(i));
}

/* Set what the guest wants, with room for what is ours. */
static long
move(unsigned i, const struct limit *want, const struct limit *was)
{
	uint64_t ours = all_areas(i);
	struct limit n = { plus(want->cur, ours), plus(want->max, ours +
	    LIMIT_THREADS * one_area(i)) };
	bool is = want->max <= was->max;
	long r;

	if (n.max > was->max)
		n.max = was->max;
	if (n.cur > n.max)
		n.cur = n.max;
	if (!is || want->cur > want->max)	/* the kernel has the answer */
		n = *want;
	r = put(i, &n);
	if (r == 0)
		rt.boot.limit[i] = (struct set_limit){ is, *want };
	return r;
}

/* May it raise the hard limit that it has set, to what the kernel has? */
static bool
may_raise(const struct limit *set, const struct limit *want,
    const struct limit *was)
{
	return set == NULL || want->max <= set->max ||
	    want->max > was->max || sys0(__NR_geteuid) == 0;
}

/* new: where the new limit is, or 0; old: where the old one is to go, or 0. */
static long
moved_call(unsigned i, uint64_t new, uint64_t old)
{
	const struct limit *set = set_of(i);
	struct limit n, was, told;
	long r = 0;

	if (get(i, &was) != 0)
		return -1;
	told = set == NULL ? was : *set;
	if (new != 0) {
		if (rt_copy(&n, (void *)new, sizeof n) < 0)
			return -EFAULT;
		r = may_raise(set, &n, &was) ? move(i, &n, &was) : -EPERM;
	}
	if (r != 0 || old == 0)
		return r;
	return rt_copy((void *)old, &told, sizeof told) < 0 ? -EFAULT : 0;
}

/* Which limit of our own process the call is about; NLIMIT: another one. */
static unsigned
limit_of(const struct tarea *t, uint64_t nr)
{
	bool pr = nr == __NR_prlimit64;
	uint32_t pid = pr ? (uint32_t)t->gpr[7] : 0;
	unsigned i;

	if (pid != 0 && !area_is_ours(pid))
		return NLIMIT;
	for (i = 0; i < NLIMIT; i++)
		if ((uint32_t)t->gpr[pr ? 6 : 7] == resource[i])
			break;
	return i;
}

long
limit_call(struct tarea *t, uint64_t nr)
{
	unsigned i = limit_of(t, nr);

	if (i == NLIMIT || rt.ctl->polling ||
	    (nr != __NR_prlimit64 && t->gpr[6] == 0))
		return guest_syscall(t, t->gpr);
	if (nr == __NR_prlimit64)
		return moved_call(i, t->gpr[2], t->gpr[10]);
	return nr == __NR_setrlimit ? moved_call(i, t->gpr[6], 0) :
	    moved_call(i, 0, t->gpr[6]);
}
