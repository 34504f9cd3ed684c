/*
 * smc-ahead - a store changes the instructions right behind it, in the same
 * straight run of code: the processor executes the new ones
 */
#include "victim.h"

int
main(void)
{
	unsigned char *p = map_pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	int (*f)(int) = (int (*)(int))p;
	static const unsigned char code[] = {
		0x89, 0x3d, 0x01, 0, 0, 0,	/* mov %edi, 1(%rip) */
		0xb8, 0, 0, 0, 0,		/* mov $0, %eax */
		0xc3,
	};
	static const unsigned char far[] = {
		0x89, 0x3d, 0x09, 0, 0, 0,	/* mov %edi, 9(%rip) */
		0x01, 0xff,			/* add %edi, %edi */
		0x89, 0xf8,			/* mov %edi, %eax */
		0x90, 0x90, 0x90, 0x90,
		0x05, 0, 0, 0, 0,		/* add $0, %eax */
		0xc3,
	};

	for (int i = 1; i < 500; i++) {
		memcpy(p, code, sizeof code);
		SAME(f(i), i);
		SAME(f(i + 1000), i + 1000);
	}
	memcpy(p, far, sizeof far);
	for (int i = 1; i < 500; i++)
		SAME(f(i), 3 * i);
	return victim_ok();
}
