/*
 * smc-immediate - a function's immediate operand is rewritten 3000 times and
 * the function called each time, on a page that is writable and executable
 */
#include "victim.h"

int
main(void)
{
	unsigned char *p = map_pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	int (*f)(void) = (int (*)(void))p;

	memcpy(p, "\xb8\x00\x00\x00\x00\xc3", 6);	/* mov $imm, %eax; ret */
	for (int i = 0; i < 3000; i++) {
		memcpy(p + 1, &i, 4);
		SAME(f(), i);
		if (i % 3 == 0)
			SAME(f(), i);
	}
	return victim_ok();
}
