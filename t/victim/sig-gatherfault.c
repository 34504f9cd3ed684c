/*
 * sig-gatherfault - a gather with one bad lane: lanes done before are cleared
 * in the mask and loaded, the faulting one is not; mended, it goes on
 * build: -mavx2
 */
#include "victim.h"

static int32_t *data;
static volatile int faults;
static uint32_t mask_at_fault[8], dest_at_fault[8];

static void
on_segv(int sig, siginfo_t *si, void *ucv)
{
	ucontext_t *uc = ucv;
	char *fp = (char *)uc->uc_mcontext.fpregs;

	(void)sig;
	CHECK((char *)si->si_addr >= (char *)data + PAGE);
	memcpy(mask_at_fault, fp + 160 + 2 * 16, 16);
	memcpy(mask_at_fault + 4, fp + 576 + 2 * 16, 16);
	memcpy(dest_at_fault, fp + 160, 16);
	memcpy(dest_at_fault + 4, fp + 576, 16);
	CHECK(mprotect((char *)data + PAGE, PAGE, PROT_READ | PROT_WRITE) ==
	    0);
	faults++;
}

int
main(void)
{
	int32_t index[8] __attribute__((aligned(32))) = { 3, 1, 4, 1, 1024 + 5,
	    9, 2, 6 };
	int32_t out[8] __attribute__((aligned(32)));
	int32_t left[8] __attribute__((aligned(32)));

	if (!__builtin_cpu_supports("avx2"))
		victim_skip("no AVX2");
	data = map_pages(2, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 2048; i++)
		data[i] = i * 100;
	handle(SIGSEGV, on_segv, 0);
	for (int round = 0; round < 50; round++) {
		CHECK(mprotect((char *)data + PAGE, PAGE, PROT_NONE) == 0);
		__asm__ volatile(
		    "vmovdqa %2, %%ymm1\n"
		    "vpcmpeqd %%ymm2, %%ymm2, %%ymm2\n"
		    "vpxor %%ymm0, %%ymm0, %%ymm0\n"
		    "vpgatherdd %%ymm2, (%3, %%ymm1, 4), %%ymm0\n"
		    "vmovdqa %%ymm0, %0\n"
		    "vmovdqa %%ymm2, %1\n"
		    "vzeroupper\n"
		    : "=m"(out), "=m"(left) : "m"(index), "r"(data)
		    : "xmm0", "xmm1", "xmm2", "memory");
		SAME(faults, round + 1);
		/* The bad lane and those above it are not done. */
		for (int i = 4; i < 8; i++)
			SAME(mask_at_fault[i], 0xffffffff);
		for (int i = 0; i < 4; i++)
			if (mask_at_fault[i] == 0)
				SAME(dest_at_fault[i], index[i] * 100);
		for (int i = 0; i < 8; i++) {
			SAME(out[i], index[i] * 100);
			SAME(left[i], 0);
		}
	}
	return victim_ok();
}
