/*
 * sig-timer-carry - a checksum that lives in the carry flag and all registers
 * runs under a 300 us timer whose handler clobbers flags, ymm and memory
 */
#include <sys/time.h>

#include "victim.h"

static volatile sig_atomic_t ticks;
static volatile uint64_t junk;

static void
on_alrm(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	ticks++;
	__asm__ volatile("pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm9, %%xmm9;"
	    "xor %%ebx, %%ebx; stc; sbb %%r8, %%r8; mov $-1, %%r11; std; cld"
	    : : : "rbx", "r8", "r11", "xmm0", "xmm9", "cc");
	junk += junk * 3;
}

static uint64_t
checksum(uint64_t rounds)
{
	uint64_t a = 0x123456789abcdef0, b = 1, c = 2;

	__asm__ volatile(
	    "	clc\n"
	    "	mov	$0x0102030405060708, %%r8\n"
	    "	mov	$0x1112131415161718, %%r11\n"
	    "	movq	%%r8, %%xmm9\n"
	    "1:	adc	%0, %1\n"
	    "	sbb	%1, %2\n"
	    "	adc	%2, %%r8\n"
	    "	rcl	$3, %0\n"
	    "	sbb	%%r8, %%r11\n"
	    "	adc	%%r11, %1\n"
	    "	rcr	$1, %%r8\n"
	    "	movq	%%xmm9, %%r15\n"
	    "	lea	(%%r15, %1), %1\n"
	    "	movq	%1, %%xmm9\n"
	    "	dec	%3\n"			/* leaves CF */
	    "	jnz	1b\n"
	    "	adc	%%r8, %0\n"
	    "	adc	%%r11, %0\n"
	    : "+r"(a), "+r"(b), "+r"(c), "+r"(rounds)
	    : : "r8", "r11", "r15", "xmm9", "cc");
	return a ^ b ^ c;
}

int
main(void)
{
	struct itimerval every = { { 0, 300 }, { 0, 300 } };
	uint64_t want = checksum(200000);
	int rounds = 0;

	handle(SIGALRM, on_alrm, SA_RESTART);
	CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
	while (ticks < 40 || rounds < 10) {
		SAME(checksum(200000), want);
		rounds++;
	}
	return victim_ok();
}
