/*
 * smc-selfloop - a loop that changes its own body in every round, with a
 * modifying instruction and with a string instruction
 */
#include "victim.h"

int
main(void)
{
	unsigned char *p = map_pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	int (*f)(int) = (int (*)(int))p;
	static const unsigned char counting[] = {
		0x31, 0xc0,			/*	xor %eax, %eax */
		0x05, 0, 0, 0, 0,		/* 1:	add $n, %eax */
		0x83, 0x05, 0xf5, 0xff, 0xff, 0xff, 0x01, /* addl $1, n */
		0xff, 0xcf,			/*	dec %edi */
		0x75, 0xf0,			/*	jnz 1b */
		0xc3,
	};
	static const unsigned char copying[] = {
		0x48, 0x8d, 0x3d, 0x03, 0, 0, 0, /*	lea 1f(%rip), %rdi */
		0xf3, 0xa4,			/*	rep movsb */
		0x90,
		0xb8, 0, 0, 0, 0,		/* 1:	mov $0, %eax */
		0xc3,
	};
	unsigned char new[6] = { 0xb8, 0, 0, 0, 0, 0xc3 };

	for (int i = 1; i < 60; i++) {
		memcpy(p, counting, sizeof counting);
		/* 0 + 1 + ... + i-1 */
		SAME(f(i), i * (i - 1) / 2);
	}
	memcpy(p, copying, sizeof copying);
	for (int i = 1; i < 300; i++) {
		unsigned char *src = new;
		uint64_t n = sizeof new;
		int ret;

		memcpy(new + 1, &i, 4);
		__asm__ volatile("call *%4" : "=a"(ret), "+S"(src), "+c"(n),
		    "+m"(*p) : "r"(p), "m"(new) : "rdi", "memory", "cc");
		SAME(ret, i);
	}
	return victim_ok();
}
