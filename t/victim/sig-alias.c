/*
 * sig-alias - functions that agree in the low 16 bits of their address are
 * called in turn, without any system call, until a handler says that it has
 * run: a signal that comes between two of them is not kept for an occasion
 */
#include <sys/time.h>

#include "victim.h"

enum { NFUNC = 3, FAR = 1 << 16, ROUNDS = 24 };
/* At 1 ns each far longer than the timer. */
enum { CALLS_MOST = 1 << 29 };

static volatile sig_atomic_t came;

static void
on_prof(int sig)
{
	came = sig;
}

static int (*
function(unsigned char *p, int value))(void)
{
	/* mov $value, %eax; ret */
	p[0] = 0xb8;
	memcpy(p + 1, &value, sizeof value);
	p[5] = 0xc3;
	return (int (*)(void))p;
}

int
main(void)
{
	struct itimerval once = { { 0, 0 }, { 0, 1000 } };
	int (*f[NFUNC])(void);
	unsigned char *base = mmap(NULL, NFUNC * FAR, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(base != (void *)MAP_FAILED);
	for (int i = 0; i < NFUNC; i++)
		f[i] = function(base + FAR * i, i + 1);
	CHECK(mprotect(base, NFUNC * FAR, PROT_READ | PROT_EXEC) == 0);
	CHECK(signal(SIGPROF, on_prof) != SIG_ERR);
	for (int round = 0; round < ROUNDS; round++) {
		long sum = 0, n;

		came = 0;
		CHECK(setitimer(ITIMER_PROF, &once, NULL) == 0);
		for (n = 0; !came && n < CALLS_MOST; n++)
			sum += f[0]() + f[1]() + f[2]();
		CHECK(came == SIGPROF);
		SAME(sum, n * (1 + 2 + 3));
	}
	return victim_ok();
}
