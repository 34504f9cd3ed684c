/*
 * prc-shadow - a shadow stack, which the kernel gives or says that it cannot
 *
 * From where there is one on, functions that were called before cannot return.
 */
#include <sys/syscall.h>

#include "victim.h"

#define SHSTK_ENABLE 0x5001
#define SHSTK 1

static unsigned long
pointer(void)
{
	unsigned long p = 0;

	/* rdsspq: leaves 0 where there is none */
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a"(p));
	return p;
}

__attribute__((noinline)) static int
inner(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

int
main(void)
{
	long r;
	int i = 0;

	__asm__ volatile("syscall" : "=a"(r) : "a"(SYS_arch_prctl),
	    "D"(SHSTK_ENABLE), "S"(SHSTK) : "rcx", "r11", "memory");
	if (r != 0) {
		CHECK(r == -EOPNOTSUPP || r == -EINVAL);
		SAME(pointer(), 0);
		return victim_ok();
	}
	CHECK(pointer() != 0);
	while (i < 100)
		i = inner(i);
	victim_ok();
	_exit(0);
}
