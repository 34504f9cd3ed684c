/*
 * ins-straddle - instructions of all lengths up to fifteen at every offset from
 * the end of a page, with the next page readable, and with data behind code
 */
#include "victim.h"

struct insn {
	size_t len;
	const char *bytes;
};

/* What each adds to eax stands below. */
static const struct insn insns[] = {
	{ 2, "\xff\xc0" },				/* inc %eax */
	{ 3, "\x83\xc0\x02" },				/* add $2 */
	{ 3, "\x48\xff\xc0" },
	{ 4, "\x48\x83\xc0\x05" },
	{ 5, "\x05\x07\x00\x00\x00" },
	{ 6, "\x48\x05\x03\x00\x00\x00" },
	{ 6, "\x81\xc0\x01\x00\x00\x00" },
	{ 7, "\x48\x81\xc0\x09\x00\x00\x00" },
	{ 8, "\x66\x66\x81\xc0\x01\x00\x90\x90" },	/* add $1, %ax; nops */
	{ 15, "\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x05\x0d\x00\x00\x00" },
	{ 2, "\xeb\x00" },				/* jmp to the next */
	{ 5, "\xe9\x00\x00\x00\x00" },
	{ 2, "\x74\x00" },
	{ 6, "\x0f\x84\x00\x00\x00\x00" },
	{ 4, "\x0f\xb6\xc0\x90" },			/* movzx %al, %eax */
};
static const int adds[] = { 1, 2, 1, 5, 7, 3, 1, 9, 1, 13, 0, 0, 0, 0, 0 };

int
main(void)
{
	unsigned char *area = map_pages(4, PROT_READ | PROT_WRITE);
	unsigned char *border = area + 2 * PAGE;

	for (size_t k = 0; k < NELEM(insns); k++) {
		for (size_t before = 0; before <= insns[k].len; before++) {
			unsigned char *p = border - before;
			int (*f)(int) = (int (*)(int))(p - 3);

			CHECK(mprotect(area, 4 * PAGE, PROT_READ |
			    PROT_WRITE) == 0);
			memset(border - 64, 0x90, 128);
			memcpy(p - 3, "\x31\xc0\xf8", 3); /* xor; clc */
			memcpy(p, insns[k].bytes, insns[k].len);
			memcpy(p + insns[k].len, "\x83\xc0\x40\xc3", 4);
			CHECK(mprotect(area, 4 * PAGE, PROT_READ |
			    PROT_EXEC) == 0);
			for (int i = 0; i < 3; i++)
				SAME(f(0), adds[k] + 0x40);
		}
	}
	return victim_ok();
}
