/*
 * smc-alias - indirect calls and returns whose targets agree in their low 16
 * bits, and in 20 and 24: any table by low bits is refilled all the time
 */
#include "victim.h"

enum { NFUNC = 24 };

static int (*f[3][NFUNC])(int);

static void
place(int set, size_t distance)
{
	unsigned char *p = mmap(NULL, distance * NFUNC, PROT_READ |
	    PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != (void *)MAP_FAILED);
	for (int i = 0; i < NFUNC; i++) {
		unsigned char *q = p + distance * (size_t)i + 0x123;

		/* lea i(%rdi), %eax; ret */
		memcpy(q, "\x8d\x47\0\xc3", 4);
		q[2] = (unsigned char)i;
		CHECK(mprotect(p + distance * (size_t)i, PAGE, PROT_READ |
		    PROT_EXEC) == 0);
		f[set][i] = (int (*)(int))q;
	}
}

int
main(void)
{
	place(0, 1 << 16);
	place(1, 1 << 20);
	place(2, 1 << 24);
	for (int round = 0; round < 300; round++)
		for (int set = 0; set < 3; set++)
			for (int i = 0; i < NFUNC; i++)
				SAME(f[set][(i * 5 + round) % NFUNC](round),
				    round + (i * 5 + round) % NFUNC);
	return victim_ok();
}
