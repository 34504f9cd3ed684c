/*
 * smc-manymaps - five thousand pages of code mapped, run and unmapped, each at
 * a place of its own: nothing of the gone ones is kept for ever
 */
#include "victim.h"

int
main(void)
{
	unsigned char *area = mmap(NULL, 5000ul * 2 * PAGE, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(area != MAP_FAILED);
	for (int i = 0; i < 5000; i++) {
		unsigned char *p = area + (size_t)i * 2 * PAGE;
		int (*f)(void) = (int (*)(void))(p + i % 4000);

		CHECK(mmap(p, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED |
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == p);
		memcpy(p + i % 4000, "\xb8\0\0\0\0\xc3", 6);
		memcpy(p + i % 4000 + 1, &i, 4);
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
		SAME(f(), i);
		CHECK(munmap(p, PAGE) == 0);
	}
	return victim_ok();
}
