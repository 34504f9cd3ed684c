/*
 * limbo [rounds] - long after a jump to one of two calls of setjmp, whose place
 * is the same, no call and no return says which of them it was; with rounds, so
 * many jumps, and soon
 */
#include <setjmp.h>
#include <stdlib.h>

/* 1024 blocks, once each */
#define BLOCK "jmp 1f\n1: dec %%eax\n jz 2f\n2: inc %%eax\n"
#define BLOCKS4(b) b b b b
#define BLOCKS1024 BLOCKS4(BLOCKS4(BLOCKS4(BLOCKS4(BLOCKS4(BLOCK)))))

static char buffer[4096];
static int rounds;

__attribute__((noinline)) static void
try(jmp_buf *outer)
{
	jmp_buf here;

	if (setjmp(here) != 0) {
		if (rounds != 0)
			return;
		__asm__ volatile("mov $300000, %%ecx\n"
		    "3: dec %%ecx\n"
		    " jnz 3b\n"
		    " lea %0, %%rdi\n"
		    " mov $4000, %%ecx\n"
		    " rep stosb\n"
		    BLOCKS1024
		    : "=m" (buffer) : : "eax", "ecx", "rdi");
		return;
	}
	if (outer != 0)
		longjmp(*outer, 1);
	try(&here);
}

int
main(int argc, char **argv)
{
	rounds = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 0; i < (rounds != 0 ? rounds : 6); i++)
		try(0);
	return 0;
}
