/*
 * an interpreter whose operations are functions that jump to each other
 *
 * With a second argument: memory of this process must not grow with the rounds.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void run(const unsigned char *code, long rounds);
volatile long n;

__attribute__((noinline)) void
leaf(void)
{
	n++;
}

/* rbx: the code, r12: what runs next, r13: rounds left */
#define DISPATCH "movzbl (%r12),%eax\n\tinc %r12\n\tlea table(%rip),%rcx\n\t" \
    "jmp *(%rcx,%rax,8)\n"
#define OP(name, body) ".type " name ",@function\n" name ":\t" body "\n" \
    ".size " name ",.-" name "\n"

__asm__(".text\n.globl run\n"
    OP("run", "push %rbx\n\tpush %r12\n\tpush %r13\n\tmov %rdi,%rbx\n\t"
    "mov %rdi,%r12\n\tmov %rsi,%r13\n\tcall enter\n\tpop %r13\n\tpop %r12\n\t"
    "pop %rbx\n\tret")
    OP("enter", DISPATCH)
    OP("op_0", "nop\n\t" DISPATCH)
    OP("op_1", "nop\n\tnop\n\t" DISPATCH)
    OP("op_2", "test $1,%r13b\n\tjz op_1\n\t" DISPATCH)
    OP("op_call", "sub $8,%rsp\n\tcall leaf\n\tadd $8,%rsp\n\t" DISPATCH)
    OP("op_nest", "test $4095,%r13\n\tjnz 1f\n\tsub $8,%rsp\n\t"
    "lea nested(%rip),%rdi\n\tmov $9000,%esi\n\tcall run\n\tadd $8,%rsp\n1:\t"
    DISPATCH)
    OP("op_fault", "test $8191,%r13\n\tjnz 1f\n\tint3\n1:\t" DISPATCH)
    OP("op_loop", "dec %r13\n\tcmovnz %rbx,%r12\n\t" DISPATCH)
    OP("op_end", "ret")
    ".data\n.globl nested\nnested:\t.byte 0,1,0,3,6,7\n"
    ".section .data.rel.ro,\"aw\"\ntable:\t.quad op_0,op_1,op_2,op_call,"
    "op_nest,op_fault,op_loop,op_end\n.text\n");

static void
handler(int sig)
{
	static const unsigned char code[] = { 0, 0, 2, 6, 7 };

	(void)sig;
	run(code, 3);
}

static long
resident(void)
{
	char line[256];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "VmRSS:", 6) == 0)
			kb = atol(line + 6);
	if (f != NULL)
		fclose(f);
	return kb;
}

int
main(int argc, char **argv)
{
	static const unsigned char code[] = { 0, 1, 2, 0, 3, 2, 4, 1, 5, 6, 7 };
	long rounds = argc > 1 ? atol(argv[1]) : 1, before;

	signal(SIGTRAP, handler);
	run(code, 3000);
	before = argc > 2 ? resident() : 0;
	run(code, rounds);
	return argc > 2 && resident() - before > 16384;
}
