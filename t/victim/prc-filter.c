/*
 * prc-filter - a seccomp filter that allows a handful of calls: others get an
 * errno, one traps with SIGSYS; the program runs new code behind it
 */
#include <linux/audit.h>

#include "victim.h"
#include "filter.h"

static volatile int trapped, nr;

static void
on_sys(int sig, siginfo_t *si, void *uc)
{
	SAME(sig, SIGSYS);
	SAME(si->si_code, 1);		/* SYS_SECCOMP */
	nr = si->si_syscall;
	CHECK((uintptr_t)si->si_call_addr == (uintptr_t)REG(uc, RIP));
	trapped++;
	REG(uc, RAX) = 4711;
}

#define ALLOW(n)							\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1),			\
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int
main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write), ALLOW(SYS_exit_group),
		ALLOW(SYS_rt_sigreturn), ALLOW(SYS_rt_sigaction),
		ALLOW(SYS_tgkill), ALLOW(SYS_gettid),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
	};
	char text[64];
	double d = 2;

	handle(SIGSYS, on_sys, 0);
	CHECK(put_filter(code, NELEM(code)) == 0);
	for (int i = 0; i < 30; i++) {
		CHECK(syscall(SYS_getuid) == -1 && errno == EXDEV);
		CHECK(syscall(SYS_openat, -1, "/", 0) == -1 && errno == EXDEV);
		SAME(syscall(SYS_getppid), 4711);
		SAME(trapped, i + 1);
		SAME(nr, SYS_getppid);
		d = d * 1.01 + 1;
		snprintf(text, sizeof text, "%.3f", d);
		CHECK(strchr(text, '.') != NULL);
	}
	return victim_ok();
}
