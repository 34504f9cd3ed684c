/*
 * thr-filterfew - threads and children behind a seccomp filter that kills for
 * calls which nobody needs for them; their mask is their parent's, and handlers
 * run in them
 */
#include <pthread.h>

#include "victim.h"
#include "filter.h"

#define KILL(n)								\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1),			\
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static __thread volatile int seen;
static volatile int done;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	seen++;
}

static void *
run(void *arg)
{
	sigset_t set;

	CHECK(pthread_sigmask(SIG_BLOCK, NULL, &set) == 0);
	CHECK(sigismember(&set, SIGUSR2) && !sigismember(&set, SIGUSR1));
	CHECK(sigismember(&set, SIGTRAP) && !sigismember(&set, SIGSEGV));
	while (seen < 3)
		sched_yield();
	done = 1;
	return arg;
}

static void
threads(int n)
{
	pthread_t thread;

	for (int i = 0; i < n; i++) {
		done = 0;
		SAME(pthread_create(&thread, NULL, run, NULL), 0);
		while (!done) {
			pthread_kill(thread, SIGUSR1);
			sched_yield();
		}
		CHECK(pthread_join(thread, NULL) == 0);
	}
}

int
main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		KILL(SYS_gettid), KILL(SYS_sigaltstack), KILL(SYS_getppid),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	sigset_t set;

	handle(SIGUSR1, on_usr1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	CHECK(put_filter(code, NELEM(code)) == 0);
	threads(5);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(i);
		reap(pid, i);
	}
	return victim_ok();
}
