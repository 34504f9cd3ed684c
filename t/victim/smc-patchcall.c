/*
 * smc-patchcall - call and jump displacements are patched while their code is
 * warm, by stores of one, two, four and eight bytes, and by atomic ones
 */
#include "victim.h"

enum { NTARGET = 64 };

static unsigned char *p;

static void
patch(int slot, int32_t rel, int how)
{
	unsigned char *at = p + slot;
	uint64_t old;

	switch (how) {
	case 0:
		memcpy(at, &rel, 4);
		break;
	case 1:
		for (int i = 0; i < 4; i++)
			((volatile unsigned char *)at)[i] =
			    (unsigned char)((uint32_t)rel >> 8 * i);
		break;
	case 2:
		memcpy(&old, at, 8);
		old = (old & 0xffffffff00000000) | (uint32_t)rel;
		memcpy(at, &old, 8);
		break;
	case 3:
		__atomic_exchange_n((int32_t *)at, rel, __ATOMIC_SEQ_CST);
		break;
	}
}

int
main(void)
{
	int (*f)(void);

	p = map_pages(2, PROT_READ | PROT_WRITE | PROT_EXEC);
	/* At 0: sub $8, %rsp; call rel32; add $8, %rsp; jmp rel32 */
	memcpy(p, "\x48\x83\xec\x08\xe8\0\0\0\0\x48\x83\xc4\x08\xe9\0\0\0\0",
	    18);
	f = (int (*)(void))p;
	for (int i = 0; i < NTARGET; i++) {
		/* Targets of the call: mov $i, %eax; ret */
		memcpy(p + 256 + 8 * i, "\xb8\0\0\0\0\xc3", 6);
		memcpy(p + 256 + 8 * i + 1, &i, 4);
		/* Targets of the jump: add $i * 100, %eax; ret */
		int k = i * 100;

		memcpy(p + 2048 + 8 * i, "\x05\0\0\0\0\xc3", 6);
		memcpy(p + 2048 + 8 * i + 1, &k, 4);
	}
	for (int i = 0; i < 2000; i++) {
		int a = i * 7 % NTARGET, b = i * 5 % NTARGET;

		patch(5, 256 + 8 * a - 9, i % 4);
		patch(14, 2048 + 8 * b - 18, i / 4 % 4);
		SAME(f(), a + 100 * b);
		SAME(f(), a + 100 * b);
	}
	return victim_ok();
}
