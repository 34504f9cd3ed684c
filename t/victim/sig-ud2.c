/*
 * sig-ud2 - invalid instructions of several kinds: SIGILL at their address,
 * skipped by the handler; also where decoders know no such instruction
 */
#include "victim.h"

extern char bad_table[];

/* Each is 16 bytes: the instruction, then a return. */
__asm__(
"	.text\n"
"	.balign 16\n"
"bad_table:\n"
"	ud2;			ret; .balign 16\n"
"	.byte 0x0f,0xb9,0xc0;	ret; .balign 16\n"	/* ud1 */
"	.byte 0x0f,0xff,0xc0;	ret; .balign 16\n"	/* ud0 */
"	.byte 0x06;		ret; .balign 16\n"	/* push es */
"	.byte 0x27;		ret; .balign 16\n"	/* daa */
"	.byte 0x37;		ret; .balign 16\n"	/* aaa */
"	.byte 0xce;		ret; .balign 16\n"	/* into */
"	.byte 0xd6;		ret; .balign 16\n"	/* salc */
"	.byte 0x60;		ret; .balign 16\n"	/* pusha */
"	.byte 0x9a;		ret; .balign 16\n"	/* far call */
"	.byte 0x0f,0x0a;	ret; .balign 16\n"
"	.byte 0x0f,0x04;	ret; .balign 16\n"
"	.byte 0xf0,0x90,0x90;	ret; .balign 16\n"	/* lock nop */
"	.byte 0xf0,0x01,0xc0;	ret; .balign 16\n"	/* lock add reg */
"	.byte 0x0f,0xc7,0xc8;	ret; .balign 16\n"	/* cmpxchg8b reg */
"	.byte 0x8d,0xc0;	ret; .balign 16\n"	/* lea of a register */
"	.byte 0xc5,0xf8,0x04,0xc0; ret; .balign 16\n"	/* no such VEX */
"	.byte 0x8e,0xc8;	ret; .balign 16\n"	/* mov cs */
"	.byte 0xff,0xf8;	ret; .balign 16\n"	/* group 5, 7 */
"	.byte 0xfe,0xd0;	ret; .balign 16\n"	/* group 4, 2 */
"bad_end:\n");
extern char bad_end[];

static volatile int ills;
static volatile uintptr_t expected;

static void
on_ill(int sig, siginfo_t *si, void *uc)
{
	uintptr_t pc = (uintptr_t)REG(uc, RIP);

	SAME(sig, SIGILL);
	SAME(pc, expected);
	SAME((uintptr_t)si->si_addr, expected);
	SAME(si->si_code, ILL_ILLOPN);
	ills++;
	/* As if it had returned. */
	REG(uc, RIP) = *(greg_t *)(uintptr_t)REG(uc, RSP);
	REG(uc, RSP) += 8;
}

int
main(void)
{
	int n = 0;

	handle(SIGILL, on_ill, 0);
	for (int round = 0; round < 50; round++)
		for (char *p = bad_table; p < bad_end; p += 16) {
			expected = (uintptr_t)p;
			__asm__ volatile("call *%0" : : "r"(p)
			    : "rax", "rcx", "rdx", "memory", "cc");
			SAME(ills, ++n);
		}
	return victim_ok();
}
