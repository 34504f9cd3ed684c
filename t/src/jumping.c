/*
 * jumping - a function that ends in a jump to another one is called, and then
 * is a signal's handler
 */
#include <signal.h>
#include <stdio.h>

void jumper(int);
static volatile long sum;

__attribute__((noinline, used)) static void
leaf(void)
{
	sum++;
}

__asm__(".text\n"
    ".type last,@function\n"
    "last: sub $8,%rsp; call leaf; add $8,%rsp; ret\n"
    ".size last,.-last\n"
    ".globl jumper\n.type jumper,@function\n"
    "jumper: sub $8,%rsp; call leaf; add $8,%rsp; jmp last\n"
    ".size jumper,.-jumper\n");

__attribute__((noinline)) static void
work(int i)
{
	jumper(10);
	sum += i;
	raise(SIGUSR1);
	leaf();
}

int
main(void)
{
	signal(SIGUSR1, jumper);
	for (int i = 0; i < 200; i++)
		work(i);
	printf("%ld\n", sum);
	return 0;
}
