/*
 * smc-wx - a page is never both: written, made executable, run, made writable
 * again, 400 times; run while it is not executable, it faults
 */
#include "victim.h"

static unsigned char *p;
static volatile int faults;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	CHECK(si->si_addr == p);
	CHECK(REG(uc, RIP) == (greg_t)(uintptr_t)p);
	SAME(si->si_code, SEGV_ACCERR);
	CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
	faults++;
}

int
main(void)
{
	int (*f)(void);

	p = map_pages(1, PROT_READ | PROT_WRITE);
	f = (int (*)(void))p;
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 400; i++) {
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_WRITE) == 0);
		memcpy(p, "\xb8\x00\x00\x00\x00\xc3", 6);
		memcpy(p + 1, &i, 4);
		if (i % 4 != 0)
			CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
		SAME(f(), i);
		SAME(f(), i);
	}
	SAME(faults, 100);
	/* Not even readable: only execution is allowed where keys can do that. */
	if (mprotect(p, PAGE, PROT_EXEC) == 0)
		SAME(f(), 399);
	return victim_ok();
}
