/*
 * landings - setjmp called again and again, and a jump back now and then: from
 * calls inside, in recursions deeper than what is noted of it at a time, by a
 * pointer, in signal handlers, out of them and back into them
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
enum { DEEP = 150 };

static jmp_buf at[DEEP + 1];
static sigjmp_buf out;
static volatile unsigned chance = 1, jumps;

static NOINLINE unsigned
draw(unsigned below)
{
	chance = chance * 1103515245 + 12345;
	return (chance >> 16) % below;
}

static NOINLINE void
leaf(int depth)
{
	if (draw(50) == 0) {
		jumps++;
		longjmp(at[draw((unsigned)depth + 1)], 1);
	}
}

/* Each call has a landing of its own, and is reached again by it. */
static NOINLINE int
nest(int depth, int most)
{
	int n = 1;

	if (setjmp(at[depth]) == 0) {
		if (depth < most)
			n += nest(depth + 1, most);
		else
			leaf(depth);
	}
	return n;
}

/* The same place, with a lower and a higher stack pointer in turn. */
static NOINLINE int
again(int depth)
{
	volatile int n = 0;

	for (volatile int i = 0; i < 3; i++) {
		if (setjmp(at[depth]) == 0)
			n += depth > 0 ? again(depth - 1) : 0;
		if (draw(40) == 0 && n < 100) {
			n += 100;
			longjmp(at[depth], 1);
		}
	}
	return n;
}

static void
on_usr1(int sig)
{
	jmp_buf in;

	(void)sig;
	if (setjmp(in) == 0 && draw(2) == 0)
		longjmp(in, 1);
	if (draw(3) == 0)
		siglongjmp(out, 1);
}

static NOINLINE int
handled(void)
{
	if (sigsetjmp(out, 1) != 0)
		return 1;
	return raise(SIGUSR1);
}

static sigjmp_buf left, entered;

static void
on_usr2(int sig)
{
	(void)sig;
	if (sigsetjmp(entered, 1) == 0)
		siglongjmp(left, 1);
}

/* The handler is left, entered again, and ends where it has no frame. */
static NOINLINE int
reentered(void)
{
	static char stack[1 << 16];
	struct sigaction a = { .sa_handler = on_usr2, .sa_flags = SA_ONSTACK };
	stack_t s = { .ss_sp = stack, .ss_size = sizeof stack };
	volatile char *room;

	sigaltstack(&s, NULL);
	sigaction(SIGUSR2, &a, NULL);
	if (sigsetjmp(left, 1) == 0)
		return raise(SIGUSR2);
	room = alloca(4096);	/* raise() has not returned */
	room[0] = 0;
	siglongjmp(entered, 1);
}

int
main(int argc, char *argv[])
{
	int i, n = argc > 1 ? atoi(argv[1]) : 200, sum = 0;
	int (*by)(int, int) = nest;

	signal(SIGUSR1, on_usr1);
	for (i = 0; i < n; i++) {
		sum += nest(0, i % 7);
		sum += by(0, i % 3);
		if (i % 20 == 0)
			sum += nest(0, DEEP);
		sum += again(i % 3);
		if (i % 10 == 0)
			sum += handled() + reentered();
	}
	printf("%d %u\n", sum, jumps);
	return 0;
}
