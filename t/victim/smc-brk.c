/*
 * smc-brk - code on the heap, which brk takes away: running it again faults;
 * where the heap grows again, new code is what runs
 */
#include "victim.h"

static volatile int faults;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	faults++;
	REG(uc, RIP) = *(greg_t *)(uintptr_t)REG(uc, RSP);
	REG(uc, RSP) += 8;
	REG(uc, RAX) = -1;
}

static void
set_break(uintptr_t to)
{
	SAME(syscall(SYS_brk, to), to);
}

/* mov $n,%eax; ret */
static void
make(unsigned char *code, unsigned char n)
{
	memcpy(code, (unsigned char[]){ 0xb8, n, 0, 0, 0, 0xc3 }, 6);
	CHECK(mprotect(code, PAGE, PROT_READ | PROT_EXEC) == 0);
}

int
main(void)
{
	uintptr_t end = ((uintptr_t)syscall(SYS_brk, 0) + (1 << 20)) & -PAGE;
	unsigned char *code = (unsigned char *)end;
	int (*f)(void) = (int (*)(void))end;

	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 50; i++) {
		set_break(end + 2 * PAGE);
		faults = 0;
		SAME(f(), -1);		/* it cannot be executed yet */
		SAME(faults, 1);
		make(code, (unsigned char)i);
		for (int k = 0; k < 3; k++)
			SAME(f(), i);
		set_break(i % 2 ? end : end - PAGE / 2);
		SAME(f(), -1);
		SAME(faults, 2);
	}
	return victim_ok();
}
