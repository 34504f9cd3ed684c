/*
 * sig-faultflood - a page is closed and mended 5000 times while a timer runs
 * and real-time signals queue: faults and others do not get in each other's way
 */
#include <sys/time.h>

#include "victim.h"

static char *page;
static volatile int faults, ticks, queued;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	CHECK((char *)si->si_addr == page + 8);
	CHECK(mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0);
	faults++;
}

static void
on_other(int sig, siginfo_t *si, void *uc)
{
	(void)si, (void)uc;
	if (sig == SIGALRM)
		ticks++;
	else
		queued++;
}

int
main(void)
{
	struct itimerval every = { { 0, 400 }, { 0, 400 } };
	union sigval v = { 0 };

	page = map_pages(1, PROT_READ | PROT_WRITE);
	handle(SIGSEGV, on_segv, 0);
	handle(SIGALRM, on_other, SA_RESTART);
	handle(SIGRTMIN, on_other, SA_RESTART);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 5000; i++) {
		CHECK(mprotect(page, PAGE, PROT_NONE) == 0);
		if (i % 10 == 0)
			CHECK(sigqueue(getpid(), SIGRTMIN, v) == 0);
		__asm__ volatile("addl $3, 8(%0)" : : "r"(page)
		    : "memory", "cc");
	}
	SAME(faults, 5000);
	SAME(queued, 500);
	SAME(*(int *)(page + 8), 15000);
	return victim_ok();
}
