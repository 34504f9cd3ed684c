/*
 * forbid - run a program whose system calls of one number fail
 *
 *	forbid NUMBER[:ERRNO] PROGRAM [ARGUMENT]...
 *
 * They fail with EPERM, or ERRNO, another number: so does a container's filter.  personality(2) may still be asked what it is,
 * and set to 0.  The status is 77 where there are no filters.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DATA(member) offsetof(struct seccomp_data, member)

int
main(int argc, char **argv)
{
	unsigned n = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
	const char *colon = argc > 2 ? strchr(argv[1], ':') : NULL;
	unsigned error = colon != NULL ? (unsigned)atoi(colon + 1) : EPERM;
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA(nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ, n, 0, 5),
		BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_personality, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA(args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ, 0, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ, 0xffffffff, 1, 0),
		BPF_STMT(BPF_RET, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog p = { sizeof f / sizeof *f, f };

	if (n == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) != 0)
		return 77;
	execvp(argv[2], argv + 2);
	return 127;
}
