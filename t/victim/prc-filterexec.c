/*
 * prc-filterexec - exec behind a seccomp filter that forbids ptrace and
 * process_vm calls: the next program runs all the same
 * may-refuse: an exec behind a filter cannot be followed
 */
#include "victim.h"
#include "filter.h"

#define REFUSE(n)							\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1),			\
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int
main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		REFUSE(SYS_ptrace), REFUSE(SYS_process_vm_readv),
		REFUSE(SYS_memfd_create), REFUSE(SYS_pidfd_open),
		REFUSE(SYS_personality),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	if (argc > 1) {
		SAME(prctl(PR_GET_SECCOMP), 2);
		CHECK(memfd_create("x", 0) == -1 && errno == EPERM);
		return victim_ok();
	}
	CHECK(put_filter(code, NELEM(code)) == 0);
	execl(argv[0], argv[0], "again", (char *)NULL);
	CHECK(!"exec");
}
