/*
 * prc-mmap - the memory calls: fixed places, hints, huge reservations, the stack limit
 * as the kernel would give them, the program gets them
 */
#include <sys/resource.h>

#include "victim.h"

int
main(void)
{
	struct rlimit rl;
	char *hint = (char *)0x200000000, *p, *q;

	CHECK(getrlimit(RLIMIT_STACK, &rl) == 0 && rl.rlim_cur >= 1 << 20);
	p = mmap(hint, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(p == hint);
	CHECK(mmap(hint, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED && errno == EEXIST);
	q = mmap(hint + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);
	CHECK(q == hint + PAGE);
	p = mmap(NULL, 16 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_32BIT, -1, 0);
	CHECK(p != MAP_FAILED && (uintptr_t)p < 1ul << 32);
	/* Downwards, side by side. */
	p = map_pages(1, PROT_READ);
	q = map_pages(1, PROT_READ | PROT_WRITE);
	CHECK(q == p - PAGE);
	CHECK(munmap((void *)1, PAGE) == -1 && errno == EINVAL);
	CHECK(madvise(q, PAGE, MADV_DONTNEED) == 0);
	q = mremap(q, PAGE, 40 * PAGE, MREMAP_MAYMOVE);
	CHECK(q != MAP_FAILED);
	q[39 * PAGE] = 1;
	/* A third of a terabyte, reserved. */
	p = mmap(NULL, 300ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_NORESERVE, -1, 0);
	CHECK(p != MAP_FAILED);
	return victim_ok();
}
