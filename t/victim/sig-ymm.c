/*
 * sig-ymm - vector state over signals: the frame shows the interrupted ymm
 * registers, the handler edits them, and its own use of them does not leak
 * build: -mavx
 */
#include <immintrin.h>

#include "victim.h"

enum { MAGIC1 = 0x46505853, YMM_OFFSET = 576 };

static uint64_t pattern[16][4] __attribute__((aligned(32)));
static uint64_t after[16][4] __attribute__((aligned(32)));
static volatile int traps;

static void
on_trap(int sig, siginfo_t *si, void *ucv)
{
	ucontext_t *uc = ucv;
	char *fp = (char *)uc->uc_mcontext.fpregs;
	uint64_t (*xmm)[2] = (uint64_t (*)[2])(fp + 160);
	uint64_t (*high)[2] = (uint64_t (*)[2])(fp + YMM_OFFSET);
	uint32_t magic;

	(void)sig, (void)si;
	memcpy(&magic, fp + 464, 4);
	SAME(magic, MAGIC1);
	for (int i = 0; i < 16; i++) {
		SAME(xmm[i][0], pattern[i][0]);
		SAME(xmm[i][1], pattern[i][1]);
		SAME(high[i][0], pattern[i][2]);
		SAME(high[i][1], pattern[i][3]);
	}
	xmm[5][1] = 0x5555;
	high[7][0] = 0x7777;
	high[15][1] = 0xffff;
	__asm__ volatile("vpcmpeqd %%xmm0, %%xmm0, %%xmm0; vzeroall"
	    : : : "xmm0", "xmm5", "xmm7", "xmm15");
	traps++;
}

#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10)	\
	f(11) f(12) f(13) f(14) f(15)
#define LOAD(i) "vmovdqa " #i "*32(%0), %%ymm" #i "\n"
#define STORE(i) "vmovdqa %%ymm" #i ", " #i "*32(%1)\n"
#define CLOBBER(i) "xmm" #i,

int
main(void)
{
	if (!__builtin_cpu_supports("avx"))
		victim_skip("no AVX");
	handle(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 16; i++)
		for (int k = 0; k < 4; k++)
			pattern[i][k] = 0x0101010101010101u *
			    (uint64_t)(i * 4 + k + 1);
	for (int round = 0; round < 200; round++) {
		__asm__ volatile(EACH(LOAD) "int3\n" EACH(STORE)
		    : : "r"(pattern), "r"(after)
		    : EACH(CLOBBER) "memory");
		for (int i = 0; i < 16; i++)
			for (int k = 0; k < 4; k++) {
				uint64_t want = pattern[i][k];

				if (i == 5 && k == 1)
					want = 0x5555;
				if (i == 7 && k == 2)
					want = 0x7777;
				if (i == 15 && k == 3)
					want = 0xffff;
				SAME(after[i][k], want);
			}
	}
	SAME(traps, 200);
	return victim_ok();
}
