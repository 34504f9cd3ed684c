/*
 * sig-noframe - a signal whose stack cannot be written, always or now and then
 * (another thread flips its protection): SIGSEGV's handler runs instead, on
 * another stack, and the program goes on with all of its registers. A handler
 * writes nothing to the stack itself, which may be read-only by then.
 *
 * build: -fno-stack-protector
 */
#include <pthread.h>

#include "victim.h"

enum { STACK_PAGES = 10, NSENT = 200 };

static char *stack;
static volatile sig_atomic_t done, hups, segvs;

static void
on_hup(int sig, siginfo_t *si, void *uc)
{
	char here;

	(void)sig, (void)si, (void)uc;
	CHECK(&here > stack && &here < stack + STACK_PAGES * PAGE);
	hups++;
}

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	CHECK(si->si_code == SI_KERNEL && si->si_addr == NULL);
	CHECK(!sigismember(&((ucontext_t *)uc)->uc_sigmask, SIGHUP));
	segvs++;
}

/* SIGHUP to this thread, with something in registers that no call saves. */
static void
send(void)
{
	double was = 123.5 + segvs, is = was;
	long r, tid = syscall(SYS_gettid);

	__asm__ volatile("movsd %2, %%xmm7; syscall; movsd %%xmm7, %1"
	    : "=a"(r), "=m"(is) : "m"(was), "a"(SYS_tgkill), "D"((long)getpid()),
	    "S"(tid), "d"((long)SIGHUP) : "rcx", "r11", "xmm7", "memory");
	SAME(r, 0);
	CHECK(was == is);
}

static void *
flip(void *arg)
{
	(void)arg;
	while (!done) {
		CHECK(mprotect(stack, STACK_PAGES * PAGE, PROT_READ) == 0);
		CHECK(mprotect(stack, STACK_PAGES * PAGE,
		    PROT_READ | PROT_WRITE) == 0);
	}
	return NULL;
}

static void
never_writable(void)
{
	CHECK(mprotect(stack, STACK_PAGES * PAGE, PROT_READ) == 0);
	for (int i = 0; i < 3; i++)
		send();
	SAME(hups, 0);
	SAME(segvs, 3);
	/* what is reset at once is reset although it did not run */
	handle(SIGHUP, on_hup, SA_ONSTACK | SA_RESETHAND);
	send();
	SAME(segvs, 4);
	struct sigaction now;
	CHECK(sigaction(SIGHUP, NULL, &now) == 0);
	CHECK(now.sa_handler == SIG_DFL);
	handle(SIGHUP, on_hup, SA_ONSTACK);
	CHECK(mprotect(stack, STACK_PAGES * PAGE, PROT_READ | PROT_WRITE) == 0);
	send();
	SAME(hups, 1);
	SAME(segvs, 4);
}

/* The upper part of a frame fits, the rest does not. */
static void
cut_off(void)
{
	CHECK(mprotect(stack, (STACK_PAGES - 1) * PAGE, PROT_NONE) == 0);
	stack_t ss = { .ss_sp = stack, .ss_size = STACK_PAGES * PAGE - 3700 };
	CHECK(sigaltstack(&ss, NULL) == 0);
	send();
	SAME(hups, 1);
	SAME(segvs, 5);
	CHECK(mprotect(stack, STACK_PAGES * PAGE, PROT_READ | PROT_WRITE) == 0);
	ss.ss_size = STACK_PAGES * PAGE;
	CHECK(sigaltstack(&ss, NULL) == 0);
}

static void
now_and_then(void)
{
	pthread_t th;
	int before = hups + segvs;

	CHECK(pthread_create(&th, NULL, flip, NULL) == 0);
	for (int i = 0; i < NSENT; i++)
		send();
	done = 1;
	CHECK(pthread_join(th, NULL) == 0);
	SAME(hups + segvs - before, NSENT);
}

/* Without a handler that can run, it is the end. */
static void
deadly(int blocked)
{
	sigset_t set;
	pid_t pid = fork();
	int st;

	if (pid == 0) {
		sigemptyset(&set);
		sigaddset(&set, SIGSEGV);
		if (blocked)
			sigprocmask(SIG_BLOCK, &set, NULL);
		else
			signal(SIGSEGV, SIG_IGN);
		mprotect(stack, STACK_PAGES * PAGE, PROT_READ);
		send();
		_exit(1);
	}
	CHECK(waitpid(pid, &st, 0) == pid);
	CHECK(WIFSIGNALED(st) && WTERMSIG(st) == SIGSEGV);
}

int
main(void)
{
	stack_t ss = { .ss_size = STACK_PAGES * PAGE };

	stack = map_pages(STACK_PAGES, PROT_READ | PROT_WRITE);
	ss.ss_sp = stack;
	handle(SIGSEGV, on_segv, 0);
	CHECK(sigaltstack(&ss, NULL) == 0);
	handle(SIGHUP, on_hup, SA_ONSTACK);
	never_writable();
	cut_off();
	now_and_then();
	deadly(0);
	deadly(1);
	return victim_ok();
}
