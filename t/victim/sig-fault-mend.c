/*
 * sig-fault-mend - the handler makes the page accessible and returns: the
 * instruction runs again and has its effect once, whatever its form
 */
#include "victim.h"

static char *page;
static volatile int faults;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	CHECK((char *)si->si_addr >= page && (char *)si->si_addr < page + PAGE);
	CHECK(mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0);
	faults++;
}

static void
close_page(int prot)
{
	CHECK(mprotect(page, PAGE, prot) == 0);
}

/* Runs one instruction on a closed page; the page holds 5 before. */
#define TRY(prot, insn, out, ...)				\
	do {								\
		*(volatile uint64_t *)page = 5;				\
		close_page(prot);					\
		faults = 0;						\
		__asm__ volatile(insn : out : __VA_ARGS__		\
		    : "memory", "cc");					\
		SAME(faults, 1);					\
	} while (0)

static uint64_t
word(void)
{
	return *(volatile uint64_t *)page;
}

static void
integer_forms(void)
{
	uint64_t a = 0, b = 7;
	uint64_t sp;

	TRY(PROT_NONE, "addq $3, (%1)", "=r"(a), "r"(page));
	SAME(word(), 8);
	TRY(PROT_READ, "incq (%1)", "=r"(a), "r"(page));
	SAME(word(), 6);
	b = 7;
	TRY(PROT_READ, "lock xaddq %0, (%1)", "+r"(b), "r"(page));
	SAME(b, 5);
	SAME(word(), 12);
	b = 9;
	TRY(PROT_NONE, "xchgq %0, (%1)", "+r"(b), "r"(page));
	SAME(b, 5);
	SAME(word(), 9);
	/* push and pop of memory: rsp moves once */
	TRY(PROT_NONE, "mov %%rsp, %0; pushq (%1); sub %%rsp, %0;"
	    "add $8, %%rsp", "=&r"(sp), "r"(page));
	SAME(sp, 8);
	TRY(PROT_READ, "push $77; mov %%rsp, %0; popq (%1); sub %%rsp, %0",
	    "=&r"(sp), "r"(page));
	SAME(sp, (uint64_t)-8);
	SAME(word(), 77);
	a = 0;
	TRY(PROT_READ, "stc; sbbq $0, (%1); setc %b0", "+q"(a), "r"(page));
	SAME(word(), 4);
	SAME(a, 0);
	a = 5;
	b = 9;
	TRY(PROT_READ, "cmpxchgq %2, (%1)", "+a"(a), "r"(page), "r"(b));
	SAME(word(), 9);
}

/* A call through memory: nothing is pushed before the mend. */
__asm__(
"	.text\n"
"call_through:\n"		/* page; returns the target's view of rsp */
"	mov	%rsp, %rdx\n"
"	call	*8(%rdi)\n"
"	ret\n"
"called:\n"
"	mov	%rdx, %rax\n"
"	sub	%rsp, %rax\n"
"	ret\n"
"ret_through:\n"		/* page: returns from a stack there */
"	mov	%rsp, %rdx\n"
"	lea	16(%rdi), %rsp\n"
"	ret	$0x20\n"
"returned:\n"
"	mov	%rsp, %rax\n"
"	mov	%rdx, %rsp\n"
"	sub	%rdi, %rax\n"
"	ret\n");
uint64_t call_through(char *);
uint64_t ret_through(char *);
extern char called[], returned[];

static void
calls(void)
{
	*(volatile uint64_t *)(page + 8) = (uintptr_t)called;
	*(volatile uint64_t *)(page + 16) = (uintptr_t)returned;
	close_page(PROT_NONE);
	faults = 0;
	SAME(call_through(page), 8);
	SAME(faults, 1);
	close_page(PROT_NONE);
	SAME(ret_through(page), 16 + 8 + 0x20);
	SAME(faults, 2);
}

static void
vector_forms(void)
{
	uint64_t v[2] = { 11, 22 }, w[2] = { 0, 0 };

	TRY(PROT_NONE, "movdqu %1, %%xmm3; movdqu %%xmm3, (%0);", "+r"(page),
	    "m"(v));
	SAME(word(), 11);
	TRY(PROT_NONE, "movdqu (%1), %%xmm3; movdqu %%xmm3, %0", "=m"(w),
	    "r"(page));
	SAME(w[0], 5);
	TRY(PROT_NONE, "fildll (%1); fistpll %0", "=m"(w), "r"(page));
	SAME(w[0], 5);
}

int
main(void)
{
	stack_t ss = { .ss_size = 65536 };

	page = map_pages(1, PROT_READ | PROT_WRITE);
	ss.ss_sp = map_pages(16, PROT_READ | PROT_WRITE);
	CHECK(sigaltstack(&ss, NULL) == 0);
	handle(SIGSEGV, on_segv, SA_ONSTACK);
	for (int i = 0; i < 50; i++) {
		integer_forms();
		calls();
		vector_forms();
	}
	return victim_ok();
}
