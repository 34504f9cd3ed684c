/*
 * stacks - functions that do not pair calls with returns, as code does that is
 * made at run time: they take their return address off the stack and write over
 * its place, jump by `ret', and come back by a jump
 */
#include <stdio.h>
#include <stdlib.h>

long taker(long), flat(long), by_jump(long);

__attribute__((noinline)) long
work(long n)
{
	for (int i = 0; i < 3; i++)
		n = n * 7 + i;
	return n;
}

__attribute__((noinline)) long
deep(long n)
{
	return n <= 0 ? work(n) : deep(n - 1) + 1;
}

#define FUNCTION(name)							\
	".globl " name "\n.type " name ",@function\n" name ":\n"
#define END(name) ".size " name ",.-" name "\n"
__asm__(".text\n"
    /* its return address is pushed again before it returns */
    FUNCTION("taker")
    "pop %rax; push %rbx; mov %rax,%rbx; call work\n"
    "mov %rbx,%rcx; pop %rbx; push %rcx; ret\n" END("taker")
    /* this one comes back by a jump */
    FUNCTION("by_jump")
    "mov %r12,%r8; pop %r12; push %r8; call deep\n"
    "pop %r8; mov %r12,%rcx; mov %r8,%r12; jmp *%rcx\n" END("by_jump")
    /* what is called in `flat' has no place of its own on the stack */
    FUNCTION("first") "pop %r12; call work; push %r12; ret\n" END("first")
    FUNCTION("flat")
    "push %r12; call first; call first; call second; pop %r12; ret\n"
    END("flat")
    FUNCTION("second") "pop %r12; call third; push %r12; ret\n" END("second")
    FUNCTION("third")
    "pop %r9; push %r9; push %r12; call first; pop %r12\n"
    "lea fourth(%rip),%r10; push %r10; ret\n" END("third")
    FUNCTION("fourth")
    "mov $5,%edi; sub $8,%rsp; call deep; add $8,%rsp; ret\n" END("fourth"));

int
main(int argc, char **argv)
{
	long sum = 0;
	int n = argc > 1 ? atoi(argv[1]) : 20000;

	for (int i = 0; i < n; i++) {
		sum += taker(i) + flat(i);
		sum ^= by_jump(i % 6);
		sum += deep(i % 9);
	}
	printf("%ld\n", sum);
	return 0;
}
