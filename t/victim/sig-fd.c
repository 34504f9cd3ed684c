/*
 * sig-fd - signalfd and sigtimedwait take blocked signals with their values;
 * time-outs end with EAGAIN; several signals of faults keep apart
 */
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>

#include "victim.h"

/* Several signals of faults, sent and blocked: each has its own values. */
static void
sent_faults(void)
{
	siginfo_t si[NSIG];
	sigset_t set;
	union sigval v = { .sival_int = 7 };

	memset(si, 0, sizeof si);
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGBUS);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGSEGV);
	raise(SIGTRAP);
	sigqueue(getpid(), SIGBUS, v);
	for (int i = 0; i < 3; i++) {
		/* libc's functions make SI_USER of SI_TKILL */
		int sig = (int)syscall(SYS_rt_sigtimedwait, &set, &si[0],
		    NULL, 8);

		CHECK(sig > 0 && si[sig].si_signo == 0);
		si[sig] = si[0];
	}
	SAME(si[SIGSEGV].si_code, SI_USER);
	SAME(si[SIGTRAP].si_code, SI_TKILL);
	SAME(si[SIGBUS].si_code, SI_QUEUE);
	SAME(si[SIGBUS].si_value.sival_int, 7);
}

/* Two of them that a call brings at once leave the mask as it was. */
static void
sent_at_once(void)
{
	struct timespec none = { 0, 0 };
	sigset_t set, now;
	siginfo_t si;

	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGFPE);
	sigprocmask(SIG_SETMASK, &set, NULL);
	kill(getpid(), SIGSEGV);
	kill(getpid(), SIGFPE);
	usleep(1);
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(sigismember(&now, SIGSEGV) && sigismember(&now, SIGFPE));
	CHECK(!sigismember(&now, SIGUSR1) && !sigismember(&now, SIGTERM));
	CHECK(sigtimedwait(&set, &si, &none) > 0);
	CHECK(sigtimedwait(&set, &si, &none) > 0);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

/* One that is sent, blocked and then ignored is gone. */
static void
sent_and_ignored(void)
{
	sigset_t set, now;

	sigemptyset(&set);
	sigaddset(&set, SIGFPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGFPE);
	signal(SIGFPE, SIG_IGN);
	signal(SIGFPE, SIG_DFL);
	sigpending(&now);
	CHECK(!sigismember(&now, SIGFPE));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int
main(void)
{
	struct signalfd_siginfo info;
	struct timespec none = { 0, 0 }, little = { 0, 2000000 };
	sigset_t set;
	siginfo_t si;
	struct pollfd p;
	union sigval v;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	CHECK(fd >= 0);
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	SAME(poll(&p, 1, 0), 0);
	for (int i = 0; i < 20; i++) {
		v.sival_int = i;
		CHECK(sigqueue(getpid(), SIGRTMIN, v) == 0);
	}
	raise(SIGSEGV);
	SAME(poll(&p, 1, 0), 1);
	CHECK(read(fd, &info, sizeof info) == sizeof info);
	SAME(info.ssi_signo, SIGSEGV);
	for (int i = 0; i < 10; i++) {
		CHECK(read(fd, &info, sizeof info) == sizeof info);
		SAME(info.ssi_signo, SIGRTMIN);
		SAME(info.ssi_int, i);
		SAME(info.ssi_pid, getpid());
	}
	for (int i = 10; i < 20; i++) {
		CHECK(sigtimedwait(&set, &si, &none) == SIGRTMIN);
		SAME(si.si_value.sival_int, i);
		SAME(si.si_code, SI_QUEUE);
	}
	CHECK(sigtimedwait(&set, &si, &little) == -1 && errno == EAGAIN);
	CHECK(read(fd, &info, sizeof info) == -1 && errno == EAGAIN);
	kill(getpid(), SIGUSR1);
	CHECK(sigtimedwait(&set, &si, NULL) == SIGUSR1);
	SAME(si.si_code, SI_USER);
	sent_faults();
	sent_at_once();
	sent_and_ignored();
	return victim_ok();
}
