/*
 * ins-stack - instructions on the stack pointer itself: push and pop of rsp
 * and of memory by it, enter and leave, returns with a count, calls by rsp
 */
#include "victim.h"

/* Each leaves its findings in rax, rdx; rsp must come back. */
#define RUN(text, a, d)							\
	({								\
		uintptr_t before_, after_;				\
		__asm__ volatile("mov %%rsp, %2; push %%rbp;" text	\
		    "; pop %%rbp; mov %%rsp, %3"			\
		    : "=&a"(a), "=&d"(d), "=&r"(before_), "=&r"(after_)	\
		    : : "rcx", "rsi", "rdi", "r8", "r11", "memory",	\
		    "cc");						\
		SAME(before_, after_);					\
	})

static void
pushes(void)
{
	uint64_t a, d;

	RUN("mov %%rsp, %%rdx; push %%rsp; pop %%rax", a, d);
	SAME(a, d);
	RUN("mov %%rsp, %%rdx; push %%rsp; pop %%rsp; mov %%rsp, %%rax", a, d);
	SAME(a, d);
	/* The address of the operand: before a push, after a pop. */
	RUN("push $11; push $22; pushq 8(%%rsp); pop %%rax; pop %%rdx;"
	    "pop %%rcx", a, d);
	SAME(a, 11);
	SAME(d, 22);
	RUN("push $1; push $2; push $3; popq 8(%%rsp); pop %%rdx; pop %%rax",
	    a, d);
	SAME(d, 2);
	SAME(a, 3);
	RUN("push $7; push $8; popq (%%rsp); pop %%rax; xor %%edx, %%edx", a,
	    d);
	SAME(a, 8);
	RUN("pushq $-5; pop %%rax; pushq $0x12345678; pop %%rdx", a, d);
	SAME(a, (uint64_t)-5);
	SAME(d, 0x12345678);
	RUN("xor %%eax, %%eax; pushw $0x1234; pushw $0x5678; pushw $1;"
	    "pushw $-1; pop %%rax; xor %%edx, %%edx", a, d);
	SAME(a, 0x123456780001ffff);
	RUN("push %%fs; pop %%rax; push %%gs; pop %%rdx", a, d);
	RUN("mov $0x55, %%eax; mov %%rsp, %%rdx; sub $64, %%rsp;"
	    "mov %%rax, (%%rsp); xor %%eax, %%eax; xchg %%rax, (%%rsp);"
	    "xchg %%rdx, %%rsp; xchg %%rdx, %%rsp; add $64, %%rsp;"
	    "sub %%rsp, %%rdx", a, d);
	SAME(a, 0x55);
}

static void
frames(void)
{
	uint64_t a, d;

	RUN("mov %%rsp, %%rdx; enter $40, $0; sub %%rsp, %%rdx;"
	    "mov %%rbp, %%rax; sub %%rsp, %%rax; leave", a, d);
	SAME(d, 48);
	SAME(a, 40);
	RUN("mov %%rsp, %%rbp; mov %%rsp, %%rdx; enter $16, $1;"
	    "mov -8(%%rbp), %%rax; sub %%rbp, %%rax; sub %%rsp, %%rdx; leave",
	    a, d);
	SAME(a, 0);
	SAME(d, 8 + 8 + 16);
	RUN("push $0x77; mov %%rsp, %%rbp; push $0x88; enter $8, $2;"
	    "mov %%rbp, %%rdx; sub %%rsp, %%rdx; mov -8(%%rbp), %%rax; leave;"
	    "pop %%rax; pop %%rax", a, d);
	SAME(d, 8 + 16);
	SAME(a, 0x77);
	RUN("mov %%rsp, %%rbp; enter $0, $5; leave; enter $0x1000, $31; leave; xor %%eax, %%eax;"
	    "xor %%edx, %%edx", a, d);
}

static void
calls(void)
{
	uint64_t a, d;

	RUN("lea 1f(%%rip), %%rax; push %%rax; push $0; call *8(%%rsp); jmp 2f;"
	    "1: mov %%rsp, %%rdx; ret; 2: sub %%rsp, %%rdx; pop %%rax;"
	    "pop %%rax", a, d);
	SAME(d, (uint64_t)-8);
	RUN("lea 1f(%%rip), %%rax; push %%rax; push %%rax; mov $1, %%ecx;"
	    "call *-8(%%rsp, %%rcx, 8); pop %%rax; pop %%rdx; jmp 2f;"
	    "1: ret; 2: sub %%rdx, %%rax", a, d);
	SAME(a, 0);
	RUN("lea 1f(%%rip), %%rax; push %%rax; mov $5, %%edx; jmp *(%%rsp);"
	    "ud2; 1: add $1, %%edx; pop %%rax", a, d);
	SAME(d, 6);
	/* The count is taken off behind the return address. */
	RUN("mov %%rsp, %%rdx; sub $0x7f8, %%rsp; call 1f; jmp 2f;"
	    "1: ret $0x7f8; 2: sub %%rsp, %%rdx; xor %%eax, %%eax", a, d);
	SAME(d, 0);
	RUN("mov %%rsp, %%rdx; sub $0x10000, %%rsp; andq $0, (%%rsp);"
	    "call 1f; jmp 2f; 1: ret $0x8000; 2: sub %%rsp, %%rdx;"
	    "add $0x8000, %%rsp; xor %%eax, %%eax", a, d);
	SAME(d, 0x8000);
	/* call to the next instruction, then pop: where am I? */
	RUN("call 1f; 1: pop %%rax; lea 1b(%%rip), %%rdx; sub %%rdx, %%rax", a,
	    d);
	SAME(a, 0);
	/* A return address changed by the callee. */
	RUN("mov $1, %%eax; call 1f; ud2; mov $2, %%eax; jmp 2f;"
	    "1: addq $2, (%%rsp); ret; 2: xor %%edx, %%edx", a, d);
	SAME(a, 2);
	/* A chain of returns without calls. */
	RUN("xor %%eax, %%eax; lea 3f(%%rip), %%rcx; push %%rcx;"
	    "lea 2f(%%rip), %%rcx; push %%rcx; lea 1f(%%rip), %%rcx;"
	    "push %%rcx; ret; 1: inc %%eax; ret; 2: add $10, %%eax; ret;"
	    "3: mov %%eax, %%edx", a, d);
	SAME(a, 11);
}

int
main(void)
{
	for (int i = 0; i < 200; i++) {
		pushes();
		frames();
		calls();
	}
	return victim_ok();
}
