/*
 * ins-cpuid - answers about caches, which are the same each time, and cpuid
 * that faults, at the instruction and with all registers as they were
 */
#include <cpuid.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "victim.h"

#define SET_CPUID 0x1012	/* arch_prctl: 0 has it fault */

extern const char insn[] __asm__("insn");
static volatile int faults;

static void
handler(int sig, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)info;
	CHECK(sig == SIGSEGV);
	CHECK(g[REG_RIP] == (greg_t)insn);
	CHECK(g[REG_RAX] == 4 && g[REG_RCX] == 1);
	CHECK(g[REG_RBX] == 5 && g[REG_RDX] == 6);
	g[REG_RIP] += 2;
	faults++;
}

__attribute__((noinline, noclone)) static void
ask(unsigned r[4])
{
	__asm__ volatile(".globl insn\ninsn:\tcpuid" : "=a"(r[0]), "=b"(r[1]),
	    "=c"(r[2]), "=d"(r[3]) : "a"(4), "b"(5), "c"(1), "d"(6));
}

int
main(void)
{
	struct sigaction sa = { .sa_sigaction = handler,
		.sa_flags = SA_SIGINFO };
	unsigned a[4], b[4], i, k;

	for (i = 0; i < 8; i++) {
		__cpuid_count(4, i % 4, a[0], a[1], a[2], a[3]);
		__cpuid_count(4, i % 4, b[0], b[1], b[2], b[3]);
		for (k = 1; k < 4; k++)
			CHECK(a[k] == b[k]);
	}
	sigaction(SIGSEGV, &sa, NULL);
	ask(a);
	CHECK(faults == 0);
	if (syscall(SYS_arch_prctl, SET_CPUID, 0) == 0) {
		ask(b);
		CHECK(faults == 1);
		CHECK(b[0] == 4 && b[3] == 6);
		CHECK(syscall(SYS_arch_prctl, SET_CPUID, 1) == 0);
	}
	ask(b);
	CHECK(a[0] == b[0] && a[1] == b[1]);
	return victim_ok();
}
