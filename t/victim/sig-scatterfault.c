/*
 * sig-scatterfault - AVX-512 scatter and gather with masks and a bad lane;
 * lanes that the mask holds back do not fault at all
 * build: -mavx512f
 */
#include "victim.h"

static int32_t *data;
static volatile int faults;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	CHECK((char *)si->si_addr == (char *)(data + 1024 + 7));
	CHECK(mprotect((char *)data + PAGE, PAGE, PROT_READ | PROT_WRITE) ==
	    0);
	faults++;
}

static void
shut(void)
{
	CHECK(mprotect((char *)data + PAGE, PAGE, PROT_NONE) == 0);
}

static uint32_t
scatter(const int32_t *index, uint32_t mask)
{
	__asm__ volatile(
	    "kmovw %0, %%k1\n"
	    "vmovdqu32 (%1), %%zmm17\n"
	    "vpslld $1, %%zmm17, %%zmm18\n"
	    "vpscatterdd %%zmm18, (%2, %%zmm17, 4)%{%%k1%}\n"
	    "kmovw %%k1, %0\n"
	    : "+r"(mask) : "r"(index), "r"(data)
	    : "k1", "xmm17", "xmm18", "memory");
	return mask;
}

static uint32_t
gather(const int32_t *index, uint32_t mask, int32_t *out)
{
	__asm__ volatile(
	    "kmovw %0, %%k2\n"
	    "vmovdqu32 (%1), %%zmm19\n"
	    "vpternlogd $0xff, %%zmm20, %%zmm20, %%zmm20\n"
	    "vpgatherdd (%2, %%zmm19, 4), %%zmm20%{%%k2%}\n"
	    "vmovdqu32 %%zmm20, (%3)\n"
	    "kmovw %%k2, %0\n"
	    : "+r"(mask) : "r"(index), "r"(data), "r"(out)
	    : "k2", "xmm19", "xmm20", "memory");
	return mask;
}

int
main(void)
{
	int32_t index[16], out[16];

	if (!__builtin_cpu_supports("avx512f"))
		victim_skip("no AVX-512");
	data = map_pages(2, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 16; i++)
		index[i] = i * 3;
	index[9] = 1024 + 7;
	handle(SIGSEGV, on_segv, 0);
	for (int round = 1; round <= 50; round++) {
		memset(data, 0, PAGE);
		shut();
		SAME(scatter(index, 0xffff & ~(1u << 9)), 0);
		SAME(gather(index, 0x00ff, out), 0);
		SAME(faults, 2 * (round - 1));
		SAME(out[12], -1);
		SAME(scatter(index, 0xffff), 0);
		SAME(faults, 2 * round - 1);
		for (int i = 0; i < 16; i++)
			SAME(data[index[i]], 2 * index[i]);
		shut();
		SAME(gather(index, 0xffff, out), 0);
		SAME(faults, 2 * round);
		for (int i = 0; i < 16; i++)
			SAME(out[i], 2 * index[i]);
	}
	return victim_ok();
}
