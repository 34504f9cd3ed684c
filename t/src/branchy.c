/*
 * branchy - work whose branches are hard to predict, in several surroundings
 *
 *	branchy plain ROUNDS		at once
 *	branchy timer ROUNDS USEC	while signals come, whose handler has no
 *					branch; prints how many came
 *	branchy faults ROUNDS		with a fault in each round, whose handler
 *					jumps back
 *	branchy steps ROUNDS		under the trap flag
 *	branchy threads ROUNDS N	in N threads, one after the other
 *	branchy strings ROUNDS		repeated string instructions between them
 *	branchy stringsteps ROUNDS	the same under the trap flag
 *	branchy stringtimer ROUNDS USEC	the same while signals come
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static uint64_t x;
static volatile uint64_t sum;
static volatile sig_atomic_t came;
static sigjmp_buf back;

static uint64_t one(uint64_t v) { return v + 1; }
static uint64_t two(uint64_t v) { return v ^ v >> 3; }
static uint64_t three(uint64_t v) { return v * 5; }
static uint64_t (*const calls[])(uint64_t) = { one, two, three, one };

/* Branches of all kinds that lead on, whatever they do. */
static uint64_t
odd_ones(uint64_t v)
{
	uint64_t n = v & 3;

	__asm__ volatile(
	    "	jrcxz 1f\n"
	    "2:	inc %0\n"
	    "	loop 2b\n"
	    "1:	test $5, %0\n"
	    "	jz 3f\n"
	    "3:	lea 2(%0), %%rcx\n"
	    "	and $7, %%ecx\n"
	    "	jecxz 4f\n"
	    "	cmp $3, %0\n"
	    "5:	loopne 5b\n"
	    "	setc %%cl\n"
	    "	adc $0, %0\n"
	    "4:\n" : "+r"(v), "+c"(n) : : "cc");
	return v;
}

__attribute__((noinline))
static void
work(uint64_t rounds)
{
	uint64_t v = x;

	for (uint64_t i = 0; i < rounds; i++) {
		v ^= v << 13;
		v ^= v >> 7;
		v ^= v << 17;
		if (v & 1)
			sum += v;
		if ((v & 6) == 6)
			sum ^= i;
		switch (v >> 8 & 7) {
		case 0: sum += 3; break;
		case 1: sum ^= 5; break;
		case 2: sum *= 7; break;
		case 3: sum -= 9; break;
		case 4: sum += v; break;
		case 5: sum ^= v >> 1; break;
		case 6: sum *= v | 1; break;
		default: break;
		}
		sum += calls[v >> 16 & 3](v);
		sum += odd_ones(v >> 20);
	}
	x = v;
}

static char from[256], to[256];

/* Repeated string instructions with all kinds of counts and ends. */
__attribute__((noinline))
static void
strings(uint64_t rounds)
{
	for (uint64_t v = x, i = 0; i < rounds; i++) {
		uint64_t n = (v >> 9 & 1) * (v >> 20 & 31), c = n, d = v & 127;
		char *s = from, *t = to;

		v = v * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("rep movsb" : "+S"(s), "+D"(t), "+c"(c) : :
		    "memory");
		s = from;
		c = d;
		__asm__ volatile("repe cmpsb" : "+S"(s), "+D"(t), "+c"(c) : :
		    "memory", "cc");
		from[v >> 30 & 63] ^= 1;
		t = from;
		c = n | d << 32;
		__asm__ volatile("addr32 repne scasb\n\tjne 1f\n\tincq %3\n1:"
		    : "+D"(t), "+c"(c) : "a"(1), "m"(sum) : "memory", "cc");
		t = to + 255;
		c = d;
		__asm__ volatile("std; rep stosb; cld" : "+D"(t), "+c"(c) :
		    "a"(v & 1) : "memory", "cc");
		if (v >> 40 & 1)
			work(1);
	}
}

static void
arrives(int sig)
{
	(void)sig;
	came++;
}

static void
jumps(int sig)
{
	siglongjmp(back, sig);
}

static void
handle(int sig, void (*handler)(int))
{
	struct sigaction a;

	memset(&a, 0, sizeof a);
	a.sa_handler = handler;
	a.sa_flags = SA_RESTART;
	sigaction(sig, &a, NULL);
}

static void
timer(void (*run)(uint64_t), uint64_t rounds, long usec)
{
	struct itimerval t = { { 0, usec }, { 0, usec } };

	handle(SIGALRM, arrives);
	setitimer(ITIMER_REAL, &t, NULL);
	run(rounds);
	memset(&t, 0, sizeof t);
	setitimer(ITIMER_REAL, &t, NULL);
	printf("%d\n", (int)came);
}

static void
faults(uint64_t rounds)
{
	handle(SIGSEGV, jumps);
	for (volatile uint64_t i = 0; i < rounds; i++) {
		if (sigsetjmp(back, 1) == 0)
			sum = *(volatile uint64_t *)(x % 4096);
		work(1);
	}
}

static void
steps(void (*run)(uint64_t), uint64_t rounds)
{
	handle(SIGTRAP, arrives);
	__asm__ volatile("pushfq; orl $256, (%%rsp); popfq" : : : "cc",
	    "memory");
	run(rounds);
	__asm__ volatile("pushfq; andl $-257, (%%rsp); popfq" : : : "cc",
	    "memory");
}

static void *
in_thread(void *rounds)
{
	work(*(uint64_t *)rounds);
	return NULL;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	long n = argc > 3 ? atol(argv[3]) : 0;
	pthread_t t;

	x = 88172645463325252;
	if (strcmp(how, "plain") == 0)
		work(rounds);
	else if (strcmp(how, "timer") == 0)
		timer(work, rounds, n);
	else if (strcmp(how, "faults") == 0)
		faults(rounds);
	else if (strcmp(how, "steps") == 0)
		steps(work, rounds);
	else if (strcmp(how, "strings") == 0)
		strings(rounds);
	else if (strcmp(how, "stringsteps") == 0)
		steps(strings, rounds);
	else if (strcmp(how, "stringtimer") == 0)
		timer(strings, rounds, n);
	for (; strcmp(how, "threads") == 0 && n > 0; n--)
		if (pthread_create(&t, NULL, in_thread, &rounds) != 0 ||
		    pthread_join(t, NULL) != 0)
			return 1;
	return 0;
}
