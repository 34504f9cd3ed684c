/*
 * sig-repsometimes - a repeated string instruction runs into a closed page; with
 * an argument the page is open, and the same code goes through
 */
#include "victim.h"

static char *page;
static int faults;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	faults++;
	CHECK(mprotect(page + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
}

int
main(int argc, char **argv)
{
	static char from[300];
	int shut = argc > 1 ? PROT_READ | PROT_WRITE : PROT_NONE;

	(void)argv;
	page = map_pages(3, PROT_READ | PROT_WRITE);
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 20; i++) {
		char *s = from, *d = page + PAGE - 100 - i;
		uint64_t n = sizeof from;

		CHECK(mprotect(page + PAGE, PAGE, shut) == 0);
		__asm__ volatile("rep movsb" : "+c"(n), "+S"(s), "+D"(d) : :
		    "memory");
		CHECK(n == 0 && s == from + sizeof from);
	}
	SAME(faults, argc > 1 ? 0 : 20);
	return victim_ok();
}
