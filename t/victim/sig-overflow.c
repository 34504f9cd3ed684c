/*
 * sig-overflow - comparisons whose flags are read behind a reference, while a
 * timer ticks: no tick changes the overflow flag
 */
#include <sys/time.h>

#include "victim.h"

#define LINES 4096u

static char memory[LINES * 64];
static volatile int ticks;

static void
on_tick(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	ticks++;
}

/* How often `jg' and `jo' go the wrong way. */
static uint64_t
wrong_ways(uint64_t n)
{
	uint64_t wrong = 0, line = 0;

	for (; n > 0; n--) {
		line = (line + 67) % LINES;
		__asm__ volatile("cmpl $0x9c3f, %k1; movb (%2), %%al; jg 1f;"
		    "cmpl $0x9c3f, %k1; movb 64(%2), %%al; jo 1f;"
		    "movl $0x80000000, %%eax; cmpl $1, %%eax;"
		    "movb (%2), %%al; jno 1f; jmp 2f; 1: incq %0; 2:"
		    : "+r"(wrong) : "r"(5ull), "r"(memory + line * 63)
		    : "eax", "cc", "memory");
	}
	return wrong;
}

int
main(void)
{
	struct itimerval every = { { 0, 100 }, { 0, 100 } };
	uint64_t wrong = 0;

	handle(SIGALRM, on_tick, SA_RESTART);
	setitimer(ITIMER_REAL, &every, NULL);
	while (ticks < 3000)
		wrong += wrong_ways(1000);
	SAME(wrong, 0);
	return victim_ok();
}
