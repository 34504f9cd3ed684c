/*
 * effects, as of OCaml: a fiber performs again and again, its handler resumes
 *
 *	effects DEPTH FIBER ROUNDS	frames of the handler, of the fiber
 */
#include <stdint.h>
#include <stdlib.h>

void switch_to(void **from, void *to);
__asm__(".text\n.globl switch_to\n.type switch_to,@function\nswitch_to:\n"
    "\tpush %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n"
    "\tpush %r15\n\tmov %rsp,(%rdi)\n\tmov %rsi,%rsp\n\tpop %r15\n\tpop %r14\n"
    "\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx\n\tret\n"
    ".size switch_to,.-switch_to\n");

static void *handler_sp, *fiber_sp;
static long fiber, rounds;
volatile long n;

__attribute__((noinline)) void
perform(void)
{
	switch_to(&fiber_sp, handler_sp);
	n++;
}

__attribute__((noinline)) void
compute(long depth)
{
	if (depth > 0)
		compute(depth - 1);
	while (depth == 0)
		perform();
	n++;
}

static void
begin(void)
{
	compute(fiber);
}

__attribute__((noinline)) void
resume(void)
{
	switch_to(&handler_sp, fiber_sp);
	n++;
}

__attribute__((noinline)) void
handle(long depth)
{
	if (depth > 0)
		handle(depth - 1);
	for (long i = 0; depth == 0 && i < rounds; i++)
		resume();
	n++;
}

int
main(int argc, char **argv)
{
	size_t size = 32u << 20;
	uint64_t *top;

	if (argc < 4)
		return 2;
	fiber = atol(argv[2]);
	rounds = atol(argv[3]);
	top = (uint64_t *)malloc(size) + size / 8 - 32;
	top = (uint64_t *)((uintptr_t)top & -16ul);
	*--top = 0;
	*--top = (uintptr_t)begin;
	fiber_sp = top - 6;
	handle(atol(argv[1]));
	return 0;
}
