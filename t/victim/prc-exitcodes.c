/*
 * prc-exitcodes - atexit and on_exit handlers in their order, destructors, and
 * a status above 255, cut as the kernel does
 * expect: exit 57
 */
#include "victim.h"

static int order;

static void
first(void)
{
	SAME(order++, 2);
	victim_ok();
	syscall(SYS_exit, 0x1239);
}

static void
second(int status, void *arg)
{
	SAME(status, 77);
	CHECK(arg == &order);
	SAME(order++, 1);
}

static void
third(void)
{
	SAME(order++, 0);
}

int
main(void)
{
	atexit(first);
	on_exit(second, &order);
	atexit(third);
	return 77;
}
