/*
 * ins-gs - the gs segment belongs to the program too: base set and read by
 * arch_prctl and by instructions, memory through it, over signals and threads
 */
#include <asm/prctl.h>
#include <pthread.h>
#include <sys/auxv.h>

#include "victim.h"

static uint64_t area[2][16];
static volatile int got;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	uint64_t v;

	(void)sig, (void)si, (void)uc;
	__asm__ volatile("mov %%gs:24, %0" : "=r"(v));
	SAME(v, 333);
	got++;
}

static void *
thread(void *arg)
{
	uint64_t base = 1;

	CHECK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0);
	return (void *)base == arg ? arg : NULL;
}

int
main(void)
{
	uint64_t base = 1, v;
	pthread_t t;
	void *ret;

	CHECK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0);
	SAME(base, 0);
	area[0][3] = 333;
	area[1][3] = 777;
	CHECK(syscall(SYS_arch_prctl, ARCH_SET_GS, area[0]) == 0);
	CHECK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0);
	SAME(base, (uintptr_t)area[0]);
	handle(SIGUSR1, on_usr1, 0);
	for (uint64_t i = 0; i < 100; i++) {
		__asm__ volatile("mov %%gs:24, %0; mov $5, %%r8d;"
		    "mov %1, %%gs:(,%%r8,8)" : "=&r"(v) : "r"(i)
		    : "r8", "memory");
		SAME(v, 333);
		SAME(area[0][5], i);
		raise(SIGUSR1);
	}
	SAME(got, 100);
	CHECK(pthread_create(&t, NULL, thread, area[0]) == 0);
	CHECK(pthread_join(t, &ret) == 0);
	/* A thread starts with its creator's. */
	CHECK(ret == area[0]);
	if (getauxval(AT_HWCAP2) & 2) {
		__asm__ volatile("rdgsbase %0" : "=r"(base));
		SAME(base, (uintptr_t)area[0]);
		__asm__ volatile("wrgsbase %2; mov %%gs:24, %0; rdgsbase %1"
		    : "=&r"(v), "=&r"(base) : "r"(area[1]));
		SAME(v, 777);
		SAME(base, (uintptr_t)area[1]);
	}
	return victim_ok();
}
