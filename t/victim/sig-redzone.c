/*
 * sig-redzone - 128 bytes under rsp belong to the function: signals, system
 * calls, counters and lookups leave them alone
 * build: -mred-zone
 */
#include <sys/time.h>

#include "victim.h"

static volatile sig_atomic_t ticks;

static void
on_alrm(int sig, siginfo_t *si, void *uc)
{
	volatile char here[2000];

	(void)sig, (void)si, (void)uc;
	for (size_t i = 0; i < sizeof here; i++)
		here[i] = (char)0xee;
	ticks++;
}

/* Fills the zone, works, jumps, makes a call to the kernel; checks it. */
static int
zone(uint64_t n)
{
	int bad;

	__asm__ volatile(
	    "	mov	$-16, %%rcx\n"
	    "1:	mov	%%rcx, (%%rsp, %%rcx, 8)\n"
	    "	inc	%%rcx\n"
	    "	jnz	1b\n"
	    "	lea	3f(%%rip), %%r8\n"
	    "2:	lea	2b(%%rip), %%r11\n"
	    "	jmp	*%%r8\n"
	    "3:	dec	%1\n"
	    "	jg	2b\n"
	    "	mov	$39, %%eax\n"
	    "	syscall\n"
	    "	mov	$-16, %%rcx\n"
	    "	xor	%0, %0\n"
	    "4:	xor	%%eax, %%eax\n"
	    "	cmp	%%rcx, (%%rsp, %%rcx, 8)\n"
	    "	setne	%%al\n"
	    "	add	%%eax, %0\n"
	    "	inc	%%rcx\n"
	    "	jnz	4b\n"
	    : "=&r"(bad), "+r"(n)
	    : : "rax", "rcx", "r8", "r11", "memory", "cc");
	return bad;
}

int
main(void)
{
	struct itimerval every = { { 0, 250 }, { 0, 250 } };

	handle(SIGALRM, on_alrm, SA_RESTART);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 100 || ticks < 30; i++)
		SAME(zone(5000), 0);
	return victim_ok();
}
