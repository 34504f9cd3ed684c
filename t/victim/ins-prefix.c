/*
 * ins-prefix - odd encodings: repeated and useless prefixes, ignored REX, all
 * lengths up to fifteen, hints on branches, repz ret, bnd, notrack, long nops
 */
#include "victim.h"

#define B(...) ".byte " #__VA_ARGS__ ";"

/* Each row: a function that returns its number in eax. */
__asm__(
"	.text\n"
"	.balign 64\n"
"prefixed:\n"
	/* 1: fifteen bytes, cs prefixes in front of mov $1, %eax */
"	.balign 64;" B(0x2e,0x2e,0x2e,0x2e,0x2e,0x2e,0x2e,0x2e,0x2e,0x2e,0xb8,
	    1,0,0,0) "ret;"
	/* 2: a REX that a later prefix makes void: mov $2, %ax, not %rax */
"	.balign 64; xor %eax, %eax;" B(0x48,0x66,0xb8,2,0) "ret;"
	/* 3: data16 lea, addr32 lea */
"	.balign 64; mov $0x100000001, %rdi;" B(0x67,0x8d,0x47,0x02) "ret;"
	/* 4: repz ret */
"	.balign 64; mov $4, %eax;" B(0xf3,0xc3)
	/* 5: bnd jmp over an instruction */
"	.balign 64; mov $5, %eax;" B(0xf2,0xeb,0x02) "ud2; ret;"
	/* 6: notrack jmp, bnd call, bnd ret */
"	.balign 64; mov $6, %eax; lea 1f(%rip), %rdx;" B(0x3e,0xff,0xe2)
"	ud2; 1:" B(0xf2,0xe8,1,0,0,0) "ret; " B(0xf2,0xc3)
	/* 7: branch hints */
"	.balign 64; mov $7, %eax; test %eax, %eax;" B(0x3e,0x75,0x02) "ud2;"
"	" B(0x2e,0x74,0xfc) "ret;"
	/* 8: nops of all forms */
"	.balign 64; mov $8, %eax; nop;" B(0x66,0x90) B(0x0f,0x1f,0x00)
	    B(0x0f,0x1f,0x40,0) B(0x0f,0x1f,0x44,0,0)
	    B(0x66,0x0f,0x1f,0x84,0,0,0,0,0) B(0x66,0x2e,0x0f,0x1f,0x84,0,0,0,
	    0,0) B(0x0f,0x18,0xe0) B(0x0f,0x19,0xc0) B(0x0f,0x1d,0xc0) "ret;"
	/* 9: xchg of a register with itself, pause, 66 nop, REX.B nop */
"	.balign 64; mov $9, %eax; mov $5, %r8d;" B(0x48,0x90) B(0xf3,0x90)
	    B(0x49,0x90) B(0x49,0x90) B(0x66,0x41,0x90) B(0x66,0x41,0x90)
"	ret;"
	/* 10: two encodings of one instruction; sign-extended immediates */
"	.balign 64; mov $-90, %rax;" B(0x48,0x83,0xc0,0x64) B(0x48,0x01,0xf8)
	    B(0x48,0x29,0xf8) "ret;"
	/* 11: rip-relative and absolute 32-bit-address forms */
"	.balign 64; lea 1f(%rip), %rax; 1: lea 1b(%eip), %edx;"
"	sub %edx, %eax; add $11, %eax; ret;"
	/* 12: 16-bit operand on push, call by a register with REX.W */
"	.balign 64; lea 1f(%rip), %rdx;" B(0x48,0xff,0xd2) "ret;"
"	1: mov $12, %eax; ret;"
	/* 13: segment prefixes that mean nothing */
"	.balign 64; mov %rsp, %rdx; push $13;" B(0x2e,0x48,0x8b,0x42,0xf8)
"	pop %rdx; ret;"
	/* 14: jump with a displacement of its own length, both ways */
"	.balign 64; mov $14, %eax; jmp 2f; 1: ret; 2: .byte 0xeb, 0xfd;"
	/* 15: longest mov, ten bytes and more, with a prefix each */
"	.balign 64;" B(0x2e,0x65,0x2e,0x65,0x2e,0x48,0xb8,15,0,0,0,0,0,0,0)
"	ret;\n");
extern char prefixed[];

static uint32_t
call(const char *f, uint64_t rdi)
{
	uint32_t a;

	__asm__ volatile("call *%1" : "=a"(a), "+r"(f), "+D"(rdi)
	    : : "rdx", "rcx", "r8", "memory", "cc");
	return a;
}

int
main(void)
{
	for (int round = 0; round < 100; round++)
		for (int i = 1; i <= 15; i++)
			SAME(call(prefixed + 64 * (i - 1), 0), i);
	return victim_ok();
}
