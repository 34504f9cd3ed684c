/*
 * filter.h - put_filter has a seccomp filter of n instructions look at each
 * call of the process from now on; 0, or -1 and errno
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

static inline int
put_filter(struct sock_filter *code, unsigned short n)
{
	struct sock_fprog prog = { n, code };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}
