/*
 * sig-zmm - zmm and mask registers live over signals: asynchronous ones, from
 * a timer, and the process's own, 2000 times
 * build: -mavx512f -mavx512bw
 */
#include <sys/time.h>

#include "victim.h"

static volatile sig_atomic_t got;
static uint64_t junk[8] __attribute__((aligned(64)));

static void
on_any(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	got++;
	__asm__ volatile("vpternlogd $0xff, %%zmm1, %%zmm1, %%zmm1;"
	    "vmovdqa64 %%zmm1, %%zmm20; kxnorq %%k3, %%k3, %%k3;"
	    "vmovdqa64 %%zmm20, (%0)" : : "r"(junk)
	    : "xmm1", "xmm20", "k3", "memory");
}

static void
once(int sig, pid_t pid, uint64_t seed)
{
	uint64_t in[8] __attribute__((aligned(64)));
	uint64_t out[2][8] __attribute__((aligned(64)));
	uint64_t mask = seed * 0x9e3779b97f4a7c15u, k;
	long ret;

	for (int i = 0; i < 8; i++)
		in[i] = seed + (uint64_t)i;
	__asm__ volatile(
	    "vmovdqu64 (%3), %%zmm1\n"
	    "vpaddq %%zmm1, %%zmm1, %%zmm20\n"
	    "kmovq %5, %%k3\n"
	    "syscall\n"
	    "kmovq %%k3, %1\n"
	    "vmovdqu64 %%zmm1, (%4)\n"
	    "vmovdqu64 %%zmm20, 64(%4)\n"
	    : "=a"(ret), "=r"(k)
	    : "0"(SYS_kill), "r"(in), "r"(out), "r"(mask), "D"(pid), "S"(sig)
	    : "rcx", "r11", "xmm1", "xmm20", "k3", "memory");
	SAME(ret, 0);
	SAME(k, mask);
	for (int i = 0; i < 8; i++) {
		SAME(out[0][i], in[i]);
		SAME(out[1][i], 2 * in[i]);
	}
}

static uint64_t
spin(uint64_t n)
{
	uint64_t k;

	__asm__ volatile(
	    "vpternlogd $0xff, %%zmm29, %%zmm29, %%zmm29\n"
	    "vpxorq %%zmm30, %%zmm30, %%zmm30\n"
	    "1: vpsubq %%zmm29, %%zmm30, %%zmm30\n"
	    "vpcmpeqq %%zmm30, %%zmm30, %%k5\n"
	    "kmovw %%k5, %%ecx\n"
	    "dec %0; jnz 1b\n"
	    "vmovq %%xmm30, %1\n"
	    : "+r"(n), "=r"(k) : : "xmm29", "xmm30", "k5", "rcx", "cc");
	return k;
}

int
main(void)
{
	struct itimerval every = { { 0, 300 }, { 0, 300 } };

	if (!__builtin_cpu_supports("avx512bw"))
		victim_skip("no AVX-512");
	handle(SIGUSR1, on_any, SA_RESTART);
	handle(SIGALRM, on_any, SA_RESTART);
	for (uint64_t i = 0; i < 2000; i++)
		once(SIGUSR1, getpid(), i * 0x1234567);
	SAME(got, 2000);
	setitimer(ITIMER_REAL, &every, NULL);
	while (got < 2030)
		SAME(spin(100000), 100000);
	return victim_ok();
}
