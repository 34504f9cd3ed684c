/*
 * ins-gs - the gs segment belongs to the program too: base set and read by
 * arch_prctl and by instructions, memory through it, over signals and threads
 */
#include <asm/prctl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <ucontext.h>

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

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	greg_t *r = ((ucontext_t *)uc)->uc_mcontext.gregs;

	(void)sig, (void)si;
	SAME(r[REG_R8], 1ull << 63);
	r[REG_RIP] += 5;
	got++;
}

/*
 * The instruction takes every address for a base, of which the call refuses
 * half; anything else faults, and changes nothing.
 */
static void
odd_bases(void)
{
	uint64_t base, v;

	__asm__ volatile("wrgsbase %2; rdgsbase %1; mov %%gs:(%3), %0"
	    : "=&r"(v), "=&r"(base) : "r"(-64ull),
	    "r"((uintptr_t)&area[0][11]));
	SAME(base, -64ull);
	SAME(v, 333);
	got = 0;
	handle(SIGSEGV, on_segv, 0);
	__asm__ volatile("mov %1, %%r8; wrgsbase %%r8; rdgsbase %0"
	    : "=r"(base) : "r"(1ull << 63) : "r8");
	SAME(got, 1);
	SAME(base, -64ull);
	__asm__ volatile("mov %1, %%r11; wrgsbase %%r11d; rdgsbase %0"
	    : "=r"(base) : "r"(1ull << 63 | 5) : "r11");
	SAME(base, 5);
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
		odd_bases();
	}
	return victim_ok();
}
