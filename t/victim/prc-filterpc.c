/*
 * prc-filterpc - a seccomp filter that lets a call pass by where it is made
 *
 * may-refuse: the filter would see the runtime's instruction pointer
 */
#include "victim.h"
#include "filter.h"

extern char here_begin[], here_end[];

__attribute__((noinline)) static long
here(long nr)
{
	long r;

	__asm__ volatile(".globl here_begin, here_end; here_begin: syscall;"
	    "here_end:" : "=a"(r) : "0"(nr) : "rcx", "r11", "memory");
	return r;
}

int
main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, instruction_pointer)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		    (uint32_t)(uintptr_t)here_end, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	if (put_filter(code, NELEM(code)) != 0)
		victim_skip("no seccomp filters");
	for (int i = 0; i < 10; i++) {
		CHECK(here(SYS_getppid) > 0);
		CHECK(syscall(SYS_getppid) == -1 && errno == EXDEV);
		CHECK(syscall(SYS_getpid) > 0);
	}
	return victim_ok();
}
