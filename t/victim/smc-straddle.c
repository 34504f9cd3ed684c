/*
 * smc-straddle - an instruction across two pages: its second page is changed,
 * exchanged and taken away; what faults tells the right addresses
 */
#include "victim.h"

static unsigned char *two, *insn;
static volatile int faults;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	CHECK(si->si_addr == two + PAGE);
	CHECK(REG(uc, RIP) == (greg_t)(uintptr_t)insn);
	CHECK(mprotect(two + PAGE, PAGE, PROT_READ | PROT_EXEC) == 0);
	faults++;
}

int
main(void)
{
	int (*f)(void);

	two = map_pages(2, PROT_READ | PROT_WRITE);
	handle(SIGSEGV, on_segv, 0);
	for (int cut = 1; cut < 5; cut++) {
		CHECK(mprotect(two, 2 * PAGE, PROT_READ | PROT_WRITE) == 0);
		insn = two + PAGE - cut;
		f = (int (*)(void))insn;
		memcpy(insn, "\xb8\x00\x00\x00\x00\xc3", 6);
		CHECK(mprotect(two, PAGE, PROT_READ | PROT_EXEC) == 0);
		for (int i = 0; i < 120; i++) {
			CHECK(mprotect(two + PAGE, PAGE, PROT_READ |
			    PROT_WRITE) == 0);
			/* The highest byte is always on the second page. */
			insn[4] = (unsigned char)i;
			faults = 0;
			SAME(f(), i << 24);
			SAME(faults, 1);
			SAME(f(), i << 24);
		}
	}
	return victim_ok();
}
