/*
 * smc-aliaschange - functions that agree in the low 16 bits of their address
 * are called in turn, changed in several ways, and called again: no table may
 * lead to what they were
 */
#include "victim.h"

enum { NFUNC = 6, FAR = 1 << 16 };

static unsigned char *base;
static int value[NFUNC];

/* mov $v, %eax; ret */
static void
write_code(unsigned char *p, int v)
{
	p[0] = 0xb8;
	memcpy(p + 1, &v, 4);
	p[5] = 0xc3;
}

static unsigned char *
page_with(int v)
{
	unsigned char *p = map_pages(1, PROT_READ | PROT_WRITE);

	write_code(p + 0x40, v);
	CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
	return p;
}

static void
change(unsigned char *p, int how, int v)
{
	switch (how) {
	case 0:
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_WRITE) == 0);
		write_code(p + 0x40, v);
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
		break;
	case 1:
		CHECK(munmap(p, PAGE) == 0);
		CHECK(mmap(p, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
		write_code(p + 0x40, v);
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
		break;
	case 2:
		CHECK(mremap(page_with(v), PAGE, PAGE, MREMAP_MAYMOVE |
		    MREMAP_FIXED, p) == p);
		break;
	default:
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_WRITE |
		    PROT_EXEC) == 0);
		write_code(p + 0x40, v);
	}
}

int
main(void)
{
	base = mmap(NULL, (size_t)FAR * NFUNC, PROT_NONE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(base != (void *)MAP_FAILED);
	for (int i = 0; i < NFUNC; i++)
		change(base + FAR * i, 1, value[i] = i);
	for (int round = 0; round < 400; round++) {
		int i = round * 5 % NFUNC;

		change(base + FAR * i, round / 7 % 4, value[i] = round);
		for (int k = 0; k < 4 * NFUNC; k++)
			SAME(((int (*)(void))(base + FAR * (k % NFUNC) +
			    0x40))(), value[k % NFUNC]);
	}
	return victim_ok();
}
