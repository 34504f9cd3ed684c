/*
 * ins-recursion - calls and returns a hundred thousand deep, mutual recursion,
 * longjmp over thousands of frames
 */
#include <setjmp.h>

#include "victim.h"

static jmp_buf top;

__attribute__((noinline)) static uint64_t
down(uint64_t n)
{
	if (n == 0)
		return 0;
	return 1 + down(n - 1);
}

static int is_odd(unsigned n);

__attribute__((noinline)) static int
is_even(unsigned n)
{
	return n == 0 || !!is_odd(n - 1);
}

__attribute__((noinline)) static int
is_odd(unsigned n)
{
	return n != 0 && !!is_even(n - 1);
}

__attribute__((noinline)) static int
dive(int n)
{
	if (n == 0)
		longjmp(top, 7);
	return dive(n - 1) + n;
}

__attribute__((noinline)) static unsigned
ackermann(unsigned m, unsigned n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

int
main(void)
{
	for (volatile int i = 0; i < 5; i++) {
		SAME(down(100000), 100000);
		CHECK(is_even(5000) && !is_odd(5000));
		if (setjmp(top) == 0) {
			dive(3000 + i);
			CHECK(!"came back");
		}
	}
	SAME(ackermann(2, 60), 123);
	return victim_ok();
}
