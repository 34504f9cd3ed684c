/*
 * prc-strict - seccomp's strict mode: read, write, exit and sigreturn are all
 * there is; new code, loops, tables and faults' handlers still run
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "victim.h"

static volatile int faults;
extern char strict_next[];

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	faults++;
	REG(uc, RIP) = (greg_t)(uintptr_t)strict_next;
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int
main(void)
{
	static int v[200];
	static const char text[] = "ok " VICTIM "\n";
	uint32_t x = 1;
	ssize_t n;

	handle(SIGSEGV, on_segv, 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
	for (size_t i = 0; i < NELEM(v); i++) {
		x = x * 1103515245 + 12345;
		v[i] = (int)(x >> 8);
	}
	qsort(v, NELEM(v), sizeof v[0], compare);
	for (size_t i = 1; i < NELEM(v); i++)
		if (v[i - 1] > v[i])
			syscall(SYS_exit, 3);
	for (int i = 0; i < 20; i++)
		__asm__ volatile("mov 8, %%rax; ud2;"
		    ".globl strict_next; strict_next:" : : : "rax", "memory");
	if (faults != 20)
		syscall(SYS_exit, 4);
	n = write(1, text, sizeof text - 1);
	syscall(SYS_exit, n == sizeof text - 1 ? 0 : 5);
	return 6;
}
