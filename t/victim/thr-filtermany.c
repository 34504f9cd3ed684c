/*
 * thr-filtermany - threads that come and go behind a seccomp filter, more of
 * them than there can be at one time, some beside a signal's handler
 */
#include <pthread.h>

#include "victim.h"
#include "filter.h"

enum { MANY = 1100 };

static volatile int seen;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	seen++;
}

static void *
run(void *arg)
{
	if ((intptr_t)arg % 50 == 0)
		raise(SIGUSR1);
	return (void *)((intptr_t)arg * 3);
}

int
main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	pthread_t thread;
	void *result;

	handle(SIGUSR1, on_usr1, 0);
	CHECK(put_filter(code, NELEM(code)) == 0);
	CHECK(syscall(SYS_getppid) == -1 && errno == EXDEV);
	for (intptr_t i = 0; i < MANY; i++) {
		SAME(pthread_create(&thread, NULL, run, (void *)i), 0);
		CHECK(pthread_join(thread, &result) == 0);
		SAME((intptr_t)result, i * 3);
	}
	SAME(seen, MANY / 50);
	return victim_ok();
}
