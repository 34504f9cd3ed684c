/*
 * ins-leaf - calls of short functions: what they leave below the stack pointer,
 * signals and single steps in them, one that returns elsewhere, one that changes
 */
#include <sys/time.h>

#include "victim.h"

static unsigned char place[PAGE] __attribute__((aligned(PAGE), used));
static volatile int traps, ticks, inside;
extern char pure[], pure_end[], loop[], loop_end[], after[];

uint64_t turn(uint64_t n, uint64_t *base);
uint64_t below(void), elsewhere(void), early(uint64_t), placed(void);
void steps(void);
__asm__(
"	.text\n"
"pure:	lea (%rdi,%rdi,2), %rax\n"
"	add $1, %rax\n"
"	xor %rdi, %rax\n"
"	ret\n"
"pure_end:\n"
"reads:	mov (%rdi), %rax\n"
"	ret\n"
"writes:\n"
"	mov %rsi, (%rdi)\n"
"	ret\n"
"tests:	xor %eax, %eax\n"
"	test %rdi, %rdi\n"
"	jz 1f\n"
"	mov $7, %eax\n"
"1:	ret\n"

/* rdi: how often; rsi: the stack pointer is left there */
"	.globl turn, below, elsewhere, early, placed, steps\n"
"turn:	push %rbx\n"
"	push %rbp\n"
"	mov %rsp, (%rsi)\n"
"	mov %rdi, %rbx\n"
"	mov %rdi, %rbp\n"
"loop:	mov %rbp, %rdi\n"
"	call pure\n"
"after:	mov %rax, %rbp\n"
"	dec %rbx\n"
"	jnz loop\n"
"loop_end:\n"
"	mov %rbp, %rax\n"
"	pop %rbp\n"
"	pop %rbx\n"
"	ret\n"

"below:	call pure\n"
"1:	lea 1b(%rip), %rax\n"
"	sub -8(%rsp), %rax\n"		/* 0: the return address */
"	ret\n"

"elsewhere:\n"
"	lea -8(%rsp), %rdi\n"		/* where the call pushes it */
"	lea 1f(%rip), %rsi\n"
"	call writes\n"
"	mov $1, %eax\n"
"	ret\n"
"1:	mov $2, %eax\n"
"	ret\n"

"early:	push %rdi\n"
"	mov %rsp, %rdi\n"
"	call reads\n"
"	mov %rax, %rdi\n"
"	call tests\n"
"	add (%rsp), %rax\n"
"	pop %rdi\n"
"	ret\n"

"placed:\n"
"	push %rbx\n"
"	call place\n"
"	mov %eax, %ebx\n"
"	call place\n"
"	add %ebx, %eax\n"
"	pop %rbx\n"
"	ret\n"

"steps:	pushf\n"
"	orl $0x100, (%rsp)\n"
"	popf\n"
"	call pure\n"			/* five */
"	call pure\n"
"	pushf\n"
"	andl $~0x100, (%rsp)\n"
"	popf\n"				/* three */
"	ret\n"
);

static uint64_t base;			/* the stack pointer in turn's loop */

static void
on_tick(int sig, siginfo_t *si, void *uc)
{
	uintptr_t pc = (uintptr_t)REG(uc, RIP);
	uint64_t sp = (uint64_t)REG(uc, RSP);

	(void)sig;
	(void)si;
	ticks++;
	if (pc >= (uintptr_t)pure && pc < (uintptr_t)pure_end) {
		inside++;
		SAME(sp, base - 8);
		SAME(*(uint64_t *)sp, (uintptr_t)after);
	} else if (pc >= (uintptr_t)loop && pc < (uintptr_t)loop_end) {
		SAME(sp, base);
	}
}

static void
on_trap(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)si;
	(void)uc;
	traps++;
}

static uint64_t
pure_in_c(uint64_t x)
{
	return (3 * x + 1) ^ x;
}

static void
check_ticks(void)
{
	struct itimerval t = { { 0, 500 }, { 0, 500 } };
	uint64_t want = 1000000;

	for (int i = 0; i < 1000000; i++)
		want = pure_in_c(want);
	CHECK(setitimer(ITIMER_PROF, &t, NULL) == 0);
	for (int i = 0; i < 60 && inside < 3; i++)
		SAME(turn(1000000, &base), want);
	t = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	CHECK(setitimer(ITIMER_PROF, &t, NULL) == 0);
}

static void
check_changes(void)
{
	for (int i = 0; i < 200; i++) {
		CHECK(mprotect(place, PAGE, PROT_READ | PROT_WRITE) == 0);
		memcpy(place, "\xb8\x00\x00\x00\x00\xc3", 6);
		memcpy(place + 1, &i, 4);
		CHECK(mprotect(place, PAGE, PROT_READ | PROT_EXEC) == 0);
		SAME(placed(), 2 * i);
		SAME(placed(), 2 * i);
	}
}

int
main(void)
{
	handle(SIGPROF, on_tick, 0);
	handle(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 10; i++) {
		SAME(below(), 0);
		SAME(elsewhere(), 2);
		SAME(early(0), 0);
		SAME(early(5), 12);
		traps = 0;
		steps();
		SAME(traps, 13);
	}
	check_changes();
	check_ticks();
	return victim_ok();
}
