/*
 * sig-sysret - ways into the kernel and out of it that user code has not, or
 * has on some processors only: the signals that they raise, and where
 */
#include <cpuid.h>
#include <setjmp.h>

#include "victim.h"

static sigjmp_buf back;
static volatile int sig, code;
static volatile uintptr_t pc;

static void
on_fault(int s, siginfo_t *si, void *uc)
{
	sig = s;
	code = si->si_code;
	pc = (uintptr_t)REG(uc, RIP);
	siglongjmp(back, 1);
}

/* Which signal the bytes raise, behind two instructions that are done. */
static unsigned
raised(const char *bytes, size_t n)
{
	unsigned char *p = map_pages(1, PROT_READ | PROT_WRITE);

	memset(p, 0x90, 2);
	memcpy(p + 2, bytes, n);
	memcpy(p + 2 + n, "\x0f\x0b", 2);
	CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
	sig = code = 0;
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(back, 1) == 0)
			((void (*)(void))(uintptr_t)p)();
		SAME(pc, (uintptr_t)p + 2);
		SAME(code, sig == SIGILL ? ILL_ILLOPN : SI_KERNEL);
	}
	munmap(p, PAGE);
	return (unsigned)sig;
}

int
main(void)
{
	unsigned a, b, c, d, enter = 0;

	handle(SIGSEGV, on_fault, 0);
	handle(SIGILL, on_fault, 0);
	__cpuid(0, a, b, c, d);
	if (b != 0x756e6547)		/* Intel's makes a 32-bit call */
		enter = raised("\x0f\x34", 2);
	victim_say("ok " VICTIM " %u %u %u %u %u %u %u\n", enter,
	    raised("\x0f\x35", 2), raised("\x48\x0f\x35", 3),
	    raised("\x0f\x07", 2), raised("\x48\x0f\x07", 3),
	    raised("\xf3\x0f\x01\xec", 4), raised("\xf3\x0f\xc7\xf0", 4));
	return 0;
}
