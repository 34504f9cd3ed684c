/*
 * sig-rseq - restartable sequences: either registration is refused, and libc
 * says so, or a section interrupted by a timer is aborted
 */
#include <sys/rseq.h>
#include <sys/time.h>

#include "victim.h"

static volatile sig_atomic_t ticks;

static void
on_alrm(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	ticks++;
}

__asm__(
"	.pushsection .data.rel, \"aw\"\n"
"	.balign 32\n"
"section:\n"
"	.long	0, 0\n"
"	.quad	1f, 2f - 1f, 4f\n"
"	.popsection\n"
"	.text\n"
"spin_section:\n"		/* struct rseq *; 1 when aborted, 0 at the end */
"	lea	section(%rip), %rax\n"
"	mov	%rax, 8(%rdi)\n"
"1:	mov	$4000000000, %rcx\n"
"3:	dec	%rcx\n"
"	jnz	3b\n"
"2:	xor	%eax, %eax\n"
"	ret\n"
"	.long	0x53053053\n"	/* the signature that libc registers */
"4:	mov	$1, %eax\n"
"	ret\n");
int spin_section(struct rseq *);

int
main(void)
{
	struct itimerval every = { { 0, 500 }, { 0, 500 } };
	struct rseq *rs;

	if (__rseq_size == 0)
		return victim_ok();
	rs = (struct rseq *)((char *)__builtin_thread_pointer() +
	    __rseq_offset);
	handle(SIGALRM, on_alrm, 0);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 20; i++)
		SAME(spin_section(rs), 1);
	return victim_ok();
}
