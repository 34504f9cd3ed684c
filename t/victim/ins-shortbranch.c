/*
 * ins-shortbranch - near branches with the prefix 66: AMD's processors take a
 * displacement of 16 bits and cut the target to as many, Intel's ignore it
 */
#include <setjmp.h>

#include "victim.h"

#define AT 0x20000	/* what is at its low 16 bits cannot be mapped */

static const struct form {
	unsigned char code[16];
	unsigned n;
} forms[] = {
	/* or $1,%eax; jz +1, of 2 bytes or 4; nops; mov $7,%eax; ret */
	{ { 0x83, 0xc8, 1, 0x66, 0x0f, 0x84, 1, 0, 0x90, 0x90, 0xb8, 7, 0, 0, 0,
	    0xc3 }, 16 },
	/* the same, with bytes that are code for one and not for the other */
	{ { 0x83, 0xc8, 1, 0x66, 0x0f, 0x84, 1, 0, 0xb0, 9, 0xc3, 0xc3 }, 12 },
	{ { 0x31, 0xc0, 0x66, 0x74, 1, 0xcc, 0xb0, 7, 0xc3 }, 9 },
	{ { 0x66, 0xeb, 1, 0xcc, 0xb0, 7, 0xc3 }, 7 },
	{ { 0x66, 0xe9, 1, 0, 0, 0, 0xcc, 0xb0, 7, 0xc3 }, 10 },
	{ { 0x66, 0xe8, 0, 0, 0, 0, 0xb0, 7, 0xc3 }, 9 },
	{ { 0x31, 0xc9, 0x66, 0xe2, 0, 0xb0, 7, 0xc3 }, 8 },
	{ { 0x31, 0xc9, 0x66, 0xe3, 0, 0xb0, 7, 0xc3 }, 8 },
	{ { 0x48, 0x8d, 5, 4, 0, 0, 0, 0x66, 0xff, 0xe0, 0xcc, 0xb0, 7, 0xc3 },
	    14 },
	/* with REX.W all agree */
	{ { 0x31, 0xc0, 0x66, 0x48, 0x0f, 0x84, 1, 0, 0, 0, 0xcc, 0xb0, 7,
	    0xc3 }, 14 },
};

static sigjmp_buf back;
static volatile uint64_t pc;

static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	(void)si;
	pc = (uint64_t)REG(uc, RIP);
	siglongjmp(back, sig);
}

/* What the code gives; or the signal and where it came. */
static uint64_t
run(const struct form *f)
{
	unsigned char *code = (unsigned char *)AT;
	int sig;

	memset(code, 0xcc, 64);
	memcpy(code, f->code, f->n);
	sig = sigsetjmp(back, 1);
	return sig != 0 ? pc << 8 | (uint64_t)sig :
	    (uint8_t)((int (*)(void))AT)();
}

int
main(void)
{
	uint64_t sum = 0;

	if (mmap((void *)AT, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
	    (void *)AT)
		victim_skip("no memory at a low address");
	handle(SIGSEGV, on_fault, 0);
	handle(SIGTRAP, on_fault, 0);
	handle(SIGILL, on_fault, 0);
	for (unsigned i = 0; i < NELEM(forms); i++)
		for (int k = 0; k < 3; k++)
			sum = sum * 31 + run(&forms[i]);
	victim_say("ok " VICTIM " %llx\n", (unsigned long long)sum);
	return 0;
}
