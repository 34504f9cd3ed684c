/*
 * prc-times - calls with odd conventions through the vdso and without: clocks,
 * getcpu, gettimeofday, times; all of them go forward
 */
#include <sched.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "victim.h"

static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC,
    CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE,
    CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID };

static uint64_t
ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

int
main(void)
{
	struct timespec by_vdso, by_call;
	struct timeval tv;
	struct tms tms;
	unsigned cpu, node, cpu2, node2;

	for (int round = 0; round < 200; round++)
		for (size_t i = 0; i < NELEM(clocks); i++) {
			CHECK(syscall(SYS_clock_gettime, clocks[i],
			    &by_call) == 0);
			CHECK(clock_gettime(clocks[i], &by_vdso) == 0);
			/* A coarse clock steps between the two ways. */
			CHECK(ns(&by_vdso) >= ns(&by_call));
			CHECK(ns(&by_vdso) - ns(&by_call) < 5000000000);
		}
	CHECK(clock_gettime(77, &by_vdso) == -1 && errno == EINVAL);
	CHECK(gettimeofday(&tv, NULL) == 0 && tv.tv_sec > 1600000000);
	CHECK(time(NULL) - tv.tv_sec < 5);
	CHECK(times(&tms) != (clock_t)-1);
	CHECK(getcpu(&cpu, &node) == 0);
	CHECK(syscall(SYS_getcpu, &cpu2, &node2, NULL) == 0);
	SAME(node, node2);
	CHECK(sched_getcpu() >= 0);
	CHECK(clock_getres(CLOCK_MONOTONIC, &by_vdso) == 0);
	return victim_ok();
}
