/*
 * prc-brkstatic - the same in a static program at a fixed place: the program break
 * grows by 64 MB in steps and shrinks; what is there stays there
 * build: -static -no-pie
 */
#include "victim.h"

int
main(void)
{
	char *start = sbrk(0), *p;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 64; i++) {
			p = sbrk(1 << 20);
			CHECK(p == start + ((size_t)i << 20));
			p[0] = (char)i;
			p[(1 << 20) - 1] = (char)~i;
		}
		for (int i = 0; i < 64; i++) {
			SAME(start[(size_t)i << 20], i);
			CHECK(start[((size_t)(i + 1) << 20) - 1] == (char)~i);
		}
		CHECK(brk(start) == 0);
		CHECK(sbrk(0) == start);
	}
	CHECK(syscall(SYS_brk, 0) == (long)start);
	return victim_ok();
}
