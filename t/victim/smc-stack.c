/*
 * smc-stack - code on an executable stack: trampolines of nested functions,
 * new ones in the same place each time; of gcc, as clang has none
 * build: -Wl,-z,execstack
 */
#include "victim.h"

#ifdef __clang__
int
main(void)
{
	victim_skip("no nested functions");
}
#else
__attribute__((noinline)) static int
apply(int (*f)(int), int x)
{
	return f(x) + f(x + 1);
}

__attribute__((noinline)) static int
with_closure(int base, int depth)
{
	int local = base;

	int
	add(int x)
	{
		local++;
		return x + base;
	}

	if (depth > 0)
		return with_closure(base + 1, depth - 1) + apply(add, base);
	return apply(add, local) + local;
}

int
main(void)
{
	for (int i = 0; i < 500; i++) {
		int want = 0;

		for (int d = 0; d < i % 5; d++)
			want += 4 * (i + d) + 1;
		/* The deepest: two calls, and local grown by two. */
		want += 4 * (i + i % 5) + 1 + (i + i % 5) + 2;
		SAME(with_closure(i, i % 5), want);
	}
	return victim_ok();
}
#endif
