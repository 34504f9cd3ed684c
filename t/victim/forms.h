/*
 * forms.h - runs thousands of encodings, one by one, and hashes what they do
 *
 * Each form is an instruction of our own making followed by nops, of which an
 * immediate operand takes what it needs, and a return.  It runs with all
 * registers and a buffer (at a fixed place) set the same, behind a handler for whatever signal
 * it may raise; then all of that is hashed.  Natively and under an engine the
 * sums must agree: whatever the engine knows of an instruction, it has the
 * effect that the processor gives it, or faults as it does.
 */
#ifndef FORMS_H
#define FORMS_H

#include "victim.h"

enum { FORM_SIZE = 24, BUFFER = 1024, BUFFER_AT = 0x31000000 };

static unsigned char *forms, *form_end;
static uint64_t zin[32][8] __attribute__((aligned(64)));
static uint64_t zout[32][8] __attribute__((aligned(64)));
static uint64_t gpr_out[12], k_out[8], flags_out, form_rsp;
static unsigned char *form_at;
static volatile uint64_t signals;
static int wide;		/* 32 registers of 64 bytes, and masks */

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h ^= v;
	h *= 0x100000001b3;
	return h << 23 | h >> 41;
}

static void
on_form(int sig, siginfo_t *si, void *uc)
{
	CHECK(REG(uc, RIP) >= (greg_t)(uintptr_t)form_at &&
	    REG(uc, RIP) < (greg_t)(uintptr_t)(form_at + FORM_SIZE));
	signals = mix(signals, (uint64_t)(sig * 1000 + si->si_code +
	    (int)(REG(uc, RIP) - (greg_t)(uintptr_t)form_at)));
	REG(uc, RIP) = *(greg_t *)(uintptr_t)form_rsp;
	REG(uc, RSP) = (greg_t)form_rsp + 8;
}

#define R16(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10)	\
	f(11) f(12) f(13) f(14) f(15)
#define R32(f) R16(f) f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23)	\
	f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31)
#define LOADZ(i) "vmovdqu64 " #i "*64(%[zin]), %%zmm" #i "\n"
#define STOREZ(i) "vmovdqu64 %%zmm" #i ", " #i "*64(%[zout])\n"
#define LOADY(i) "vmovdqu " #i "*64(%[zin]), %%ymm" #i "\n"
#define STOREY(i) "vmovdqu %%ymm" #i ", " #i "*64(%[zout])\n"
#define K8(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#define LOADK(i) "kmovq " #i "*64(%[zin]), %%k" #i "\n"
#define STOREK(i) "kmovq %%k" #i ", " #i "*8(%[kout])\n"

static void
load_vectors(void)
{
	static const uint32_t mxcsr = 0x1f80;

	__asm__ volatile("ldmxcsr %0; fninit" : : "m"(mxcsr));
	if (wide)
		__asm__ volatile(R32(LOADZ) K8(LOADK) : : [zin]"r"(zin));
	else
		__asm__ volatile(R16(LOADY) : : [zin]"r"(zin));
}

static void
store_vectors(void)
{
	if (wide)
		__asm__ volatile(R32(STOREZ) K8(STOREK) "vzeroupper"
		    : : [zout]"r"(zout), [kout]"r"(k_out) : "memory");
	else
		__asm__ volatile(R16(STOREY) "vzeroupper"
		    : : [zout]"r"(zout) : "memory");
}

/*
 * General registers: pointers into the buffer, but for rcx, rbx, rbp, r9, r11.
 * VEX has room for each of these as a first source.
 */
static void
call_form(void)
{
	__asm__ volatile(
	    "	push	%%rbp\n"
	    "	push	%%rbx\n"
	    "	lea	-8(%%rsp), %%rax\n"
	    "	mov	%%rax, %[rsp]\n"
	    "	mov	%[buf], %%eax\n"
	    "	mov	%%rax, %%rdx\n"
	    "	mov	%%rax, %%rdi\n"
	    "	lea	64(%%rax), %%rsi\n"
	    "	mov	%%rax, %%r8\n"
	    "	mov	%%rax, %%r10\n"
	    "	mov	$0x12345678, %%ecx\n"
	    "	mov	$0x9abcdef0, %%ebx\n"
	    "	mov	$0x0f1e2d3c, %%ebp\n"
	    "	mov	$-77, %%r9\n"
	    "	mov	$0x1122334455667788, %%r11\n"
	    "	push	$0x203\n"
	    "	popf\n"
	    "	call	*%[form]\n"
	    "	pushf\n"
	    "	cld\n"
	    "	mov	%%rax, 0+%[out]\n"
	    "	pop	%%rax\n"
	    "	mov	%%rax, %[flags]\n"
	    "	mov	%%rbx, 8+%[out]\n"
	    "	mov	%%rcx, 16+%[out]\n"
	    "	mov	%%rdx, 24+%[out]\n"
	    "	mov	%%rsi, 32+%[out]\n"
	    "	mov	%%rdi, 40+%[out]\n"
	    "	mov	%%r8, 48+%[out]\n"
	    "	mov	%%r9, 56+%[out]\n"
	    "	mov	%%r10, 64+%[out]\n"
	    "	mov	%%r11, 72+%[out]\n"
	    "	pop	%%rbx\n"
	    "	pop	%%rbp\n"
	    : [rsp]"=m"(form_rsp), [out]"=m"(gpr_out), [flags]"=m"(flags_out)
	    : [buf]"i"(BUFFER_AT + BUFFER), [form]"m"(form_at)
	    : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
	    "memory", "cc");
}

static uint64_t
run_form(uint64_t h)
{
	unsigned char *buffer = (unsigned char *)(uintptr_t)BUFFER_AT;

	for (size_t i = 0; i < 2 * BUFFER; i++)
		buffer[i] = (unsigned char)(i * 37 + 11);
	load_vectors();
	call_form();
	store_vectors();
	for (int i = 0; i < (wide ? 32 : 16); i++)
		for (int k = 0; k < (wide ? 8 : 4); k++)
			h = mix(h, zout[i][k]);
	for (int i = 0; i < 8; i++)
		h = mix(h, k_out[i]);
	for (int i = 0; i < 10; i++)
		h = mix(h, gpr_out[i]);
	h = mix(h, flags_out & 0x8d5);
	for (size_t i = 0; i < 2 * BUFFER; i += 8) {
		uint64_t v;

		memcpy(&v, buffer + i, 8);
		h = mix(h, v);
	}
	return h;
}

static void
forms_begin(size_t n)
{
	stack_t ss = { .ss_size = 1 << 20 };

	ss.ss_sp = map_pages(256, PROT_READ | PROT_WRITE);
	CHECK(sigaltstack(&ss, NULL) == 0);
	CHECK(mmap((void *)(uintptr_t)BUFFER_AT, 2 * BUFFER, PROT_READ |
	    PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
	    0) == (void *)(uintptr_t)BUFFER_AT);
#ifdef FORMS_AT
	forms = mmap((void *)(uintptr_t)FORMS_AT, n * FORM_SIZE, PROT_READ |
	    PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
	    0);
	CHECK(forms == (void *)(uintptr_t)FORMS_AT);
#else
	forms = map_pages(n * FORM_SIZE / PAGE + 1, PROT_READ | PROT_WRITE);
#endif
	form_end = forms;
	for (int i = 0; i < 32; i++)
		for (int k = 0; k < 8; k++)
			zin[i][k] = 0x3ff0123456789abc + (uint64_t)i *
			    0x0001020304050607 + (uint64_t)k * 0x1111;
	handle(SIGILL, on_form, SA_ONSTACK | SA_NODEFER);
	handle(SIGSEGV, on_form, SA_ONSTACK | SA_NODEFER);
	handle(SIGBUS, on_form, SA_ONSTACK | SA_NODEFER);
	handle(SIGFPE, on_form, SA_ONSTACK | SA_NODEFER);
}

static void
form_add(const unsigned char *insn, size_t n)
{
	memset(form_end, 0x90, FORM_SIZE);
	memcpy(form_end, insn, n);
	form_end[n + 8] = 0xc3;
	form_end += FORM_SIZE;
}

/* Runs them all; the sum.  To find a bad one, FORMS=1: a line for each. */
static uint64_t
forms_run(void)
{
	int each = getenv("FORMS") != NULL;
	uint64_t h = 0;
	size_t bytes = (size_t)(form_end - forms);

	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(mprotect(forms, bytes, PROT_READ | PROT_EXEC) == 0);
	for (form_at = forms; form_at < form_end; form_at += FORM_SIZE) {
		h = run_form(each ? 0 : h);
		if (each)
			printf("%016llx %016llx %016llx\n",
			    (unsigned long long)__builtin_bswap64(
			    *(uint64_t *)form_at), (unsigned long long)h,
			    (unsigned long long)signals);
	}
	return mix(h, signals);
}

#endif
