/*
 * sig-senton - a program sends itself what looks like a fault, as handlers do
 * that pass on what they were given: it comes, once
 */
#include "victim.h"

static volatile int n, last;

static void
note(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	last = si->si_code;
	n++;
}

static void
send(int sig, int code)
{
	siginfo_t si;

	memset(&si, 0, sizeof si);
	si.si_signo = sig;
	si.si_code = code;
	si.si_addr = (void *)0x1234;
	n = 0;
	CHECK(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), sig, &si) ==
	    0);
}

int
main(void)
{
	static const int sigs[] = { SIGTRAP, SIGSEGV, SIGFPE, SIGILL, SIGBUS };
	sigset_t all, was;

	sigfillset(&all);
	for (size_t i = 0; i < NELEM(sigs); i++)
		for (int code = 1; code <= 6; code++) {
			handle(sigs[i], note, 0);
			send(sigs[i], code);
			SAME(n, 1);
			SAME(last, code);
			CHECK(sigprocmask(SIG_SETMASK, &all, &was) == 0);
			send(sigs[i], code);
			SAME(n, 0);
			CHECK(sigprocmask(SIG_SETMASK, &was, NULL) == 0);
			SAME(n, 1);
		}
	return victim_ok();
}
