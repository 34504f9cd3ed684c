/*
 * smc-bigcode - a hundred thousand small functions, called directly and through
 * pointers, several times over: more code than any table or cache expects
 */
#include "victim.h"

enum { NFUNC = 100000, SIZE = 16 };

int
main(void)
{
	size_t bytes = (size_t)NFUNC * SIZE;
	unsigned char *p = map_pages(bytes / PAGE + 1, PROT_READ | PROT_WRITE);
	uint64_t sum, want = (uint64_t)NFUNC * (NFUNC - 1) / 2;

	for (int i = 0; i < NFUNC; i++) {
		unsigned char *f = p + (size_t)i * SIZE;

		/* mov $i, %eax; test %eax, %eax; js +1; nop; ret */
		memcpy(f, "\xb8\0\0\0\0\x85\xc0\x78\x01\x90\xc3", 11);
		memcpy(f + 1, &i, 4);
	}
	CHECK(mprotect(p, bytes, PROT_READ | PROT_EXEC) == 0);
	for (int round = 0; round < 3; round++) {
		sum = 0;
		for (int i = 0; i < NFUNC; i++) {
			size_t k = (size_t)i * 7919 % NFUNC;

			sum += (uint64_t)((int (*)(void))(p + k * SIZE))();
		}
		SAME(sum, want);
	}
	return victim_ok();
}
