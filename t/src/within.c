/*
 * within - indirect jumps into the midst of functions in another section, as by
 * code that switches coroutines: of functions that are active, and that are not
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

int run_far(int), run_go(int), run_both(int);
void *volatile to_mid, *volatile to_end;
volatile int turns;

__asm__(
    "	.text\n"
    /* a jump to far's midst, from a frame of its own */
    "	.globl	run_go\n	.type	run_go, @function\n"
    "run_go: mov	%edi, %eax\n"
    "	jmp	*to_mid(%rip)\n"
    "	.size	run_go, .-run_go\n"
    /* what far's midst jumps to, and returns from */
    "	.type	finish, @function\n"
    "finish: inc	%eax\n"
    "in_finish: inc	%eax\n"
    "	ret\n"
    "	.size	finish, .-finish\n"
    "	.section other, \"ax\", @progbits\n"
    "	.globl	run_far\n	.type	run_far, @function\n"
    /* far calls, so that it is active when its midst is jumped to */
    "run_far: push	%rbx\n"
    "	mov	%edi, %ebx\n"
    "	call	run_go\n"
    "	add	%ebx, %eax\n"
    "	pop	%rbx\n"
    "	ret\n"
    "in_far: inc	%eax\n"
    "	jmp	*to_end(%rip)\n"
    "	.size	run_far, .-run_far\n"
    /* one that jumps where another is active */
    "	.globl	run_both\n	.type	run_both, @function\n"
    "run_both: sub	$8, %rsp\n"
    "	call	run_go\n"
    "	mov	%eax, %edi\n"
    "	call	run_far\n"
    "	add	$8, %rsp\n"
    "	ret\n"
    "	.size	run_both, .-run_both\n"
    "	.globl	mid_place\n	.globl	end_place\n"
    "	.section .data.rel.local, \"aw\", @progbits\n"
    "mid_place: .quad	in_far\n"
    "end_place: .quad	in_finish\n"
    "	.text\n");
extern void *mid_place, *end_place;

static jmp_buf at;

/* A jump to where setjmp returned is one to an address that is in between. */
__attribute__((noinline)) static int
landing(int i)
{
	if (setjmp(at) != 0)
		return 1;
	turns++;
	if (i % 5 == 0)
		longjmp(at, 1);
	return run_go(i);
}

__attribute__((noinline)) static int
deeper(int i, int depth)
{
	return depth == 0 ? run_go(i) : deeper(i, depth - 1) + 1;
}

int
main(int argc, char *argv[])
{
	int i, n = argc > 1 ? atoi(argv[1]) : 300;
	unsigned sum = 0;

	to_mid = mid_place;
	to_end = end_place;
	for (i = 0; i < n; i++) {
		sum += (unsigned)run_go(i);
		if (i % 3 == 0)
			sum += (unsigned)run_far(i);
		if (i % 7 == 0)
			sum += (unsigned)run_both(i);
		if (i % 4 == 0)
			sum += (unsigned)landing(i);
		sum += (unsigned)deeper(i, i % 6);
	}
	printf("%u %d\n", sum, turns);
	return 0;
}
