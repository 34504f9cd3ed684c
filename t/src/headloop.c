/* loops whose heads are the first instructions of functions */
#include <signal.h>
#include <stdlib.h>

void spin(long), calls(long), faults(long);
volatile long n;

__attribute__((noinline)) void
leaf(void)
{
	n++;
}

__asm__(".text\n"
    ".type spin,@function\nspin:\tdec %rdi\n\tjnz spin\n\tret\n"
    ".size spin,.-spin\n"
    ".type calls,@function\ncalls:\tpush %rdi\n\tcall leaf\n\tpop %rdi\n"
    "\tdec %rdi\n\tjnz calls\n\tret\n.size calls,.-calls\n"
    ".type faults,@function\nfaults:\ttest $4095,%rdi\n\tjnz 1f\n\tint3\n"
    "1:\tdec %rdi\n\tjnz faults\n\tret\n.size faults,.-faults\n");

static void
handler(int sig)
{
	(void)sig;
	calls(3);
}

int
main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;

	signal(SIGTRAP, handler);
	spin(rounds);
	if (argc > 2)
		return 0;
	calls(rounds);
	faults(rounds);
	calls(20000);
	return 0;
}
