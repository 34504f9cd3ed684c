/*
 * sig-timer-calls - a timer interrupts recursion, indirect calls, returns,
 * string instructions and system calls; the handler itself calls deeply
 */
#include <sys/time.h>

#include "victim.h"

static volatile sig_atomic_t ticks;
static uint64_t (*volatile table[4])(uint64_t);

__attribute__((noinline)) static uint64_t
fib(uint64_t n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static uint64_t f0(uint64_t x) { return x + 1; }
static uint64_t f1(uint64_t x) { return x * 3; }
static uint64_t f2(uint64_t x) { return x ^ 0x55; }
static uint64_t f3(uint64_t x) { return x >> 1; }

static void
on_alrm(int sig, siginfo_t *si, void *uc)
{
	int saved = errno;

	(void)sig, (void)si, (void)uc;
	CHECK(fib(10) == 55);
	getppid();
	errno = saved;
	ticks++;
}

static uint64_t
work(void)
{
	static char from[3000], to[3000];
	char *s = from, *d = to;
	size_t n = sizeof from;
	uint64_t x = 1;

	for (int i = 0; i < 2000; i++)
		x = table[(x >> 3) & 3](x);
	memset(from, (int)x, sizeof from);
	__asm__ volatile("rep movsb" : "+c"(n), "+S"(s), "+D"(d)
	    : : "memory");
	CHECK(memcmp(from, to, sizeof to) == 0);
	for (int i = 0; i < 20; i++)
		CHECK(getpid() > 0);
	return x + fib(12);
}

int
main(void)
{
	struct itimerval every = { { 0, 250 }, { 0, 250 } };
	uint64_t want;
	int rounds = 0;

	table[0] = f0, table[1] = f1, table[2] = f2, table[3] = f3;
	want = work();
	handle(SIGALRM, on_alrm, SA_RESTART);
	CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
	while (ticks < 60 || rounds < 100) {
		SAME(work(), want);
		rounds++;
	}
	return victim_ok();
}
