/*
 * smc-unmapped - code that ran is unmapped or made inaccessible: running it
 * again faults, also by a direct jump that was taken before
 */
#include "victim.h"

static unsigned char *code;	/* page 0 jumps into page 1 */
static volatile int faults;
static volatile uintptr_t at;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	at = (uintptr_t)si->si_addr;
	CHECK((uintptr_t)REG(uc, RIP) == at);
	faults++;
	REG(uc, RIP) = *(greg_t *)(uintptr_t)REG(uc, RSP);
	REG(uc, RSP) += 8;
	REG(uc, RAX) = -1;
}

static void
build(void)
{
	int32_t rel = PAGE - 5;

	CHECK(mmap(code, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_FIXED |
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == code);
	code[0] = 0xe9;
	memcpy(code + 1, &rel, 4);
	memcpy(code + PAGE, "\xb8\x2a\x00\x00\x00\xc3", 6);
	CHECK(mprotect(code, 2 * PAGE, PROT_READ | PROT_EXEC) == 0);
}

int
main(void)
{
	int (*f)(void);

	code = map_pages(2, PROT_READ);
	f = (int (*)(void))code;
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 100; i++) {
		build();
		for (int k = 0; k < 3; k++)
			SAME(f(), 42);
		faults = 0;
		if (i % 3 == 0)
			CHECK(munmap(code + PAGE, PAGE) == 0);
		else if (i % 3 == 1)
			CHECK(mprotect(code + PAGE, PAGE, PROT_READ) == 0);
		else
			CHECK(mprotect(code + PAGE, PAGE, PROT_NONE) == 0);
		SAME(f(), -1);
		SAME(faults, 1);
		SAME(at, (uintptr_t)code + PAGE);
		CHECK(munmap(code, PAGE) == 0);
		SAME(f(), -1);
		SAME(at, (uintptr_t)code);
	}
	return victim_ok();
}
