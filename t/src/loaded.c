/*
 * loaded - runs code that was loaded into memory which stays writable
 *
 * A few functions run often; those of all other pages once each.  With an
 * argument only some of one more page do, and then the first of them often.
 * Each function stores to eight words.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGES 400
#define EACH 64			/* functions of a page, 64 bytes each */
#define HOT 120			/* pages */
#define MORE 300		/* one more */

int
main(int argc, char **argv)
{
	/* mov [rdi+i*8], rdi, eight times; ret */
	static const unsigned char store[4] = { 0x48, 0x89, 0x7f, 0 };
	static unsigned long word[8];
	unsigned char *code, *p;
	unsigned i, k;

	(void)argv;
	code = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	for (i = 0; i < PAGES * EACH; i++) {
		p = code + 64 * i;
		for (k = 0; k < 8; k++) {
			memcpy(p + 4 * k, store, 4);
			p[4 * k + 3] = (unsigned char)(8 * k);
		}
		p[32] = 0xc3;
	}
	for (k = 0; k < 20000; k++)
		for (i = 0; i < HOT; i++)
			((void (*)(void *))(code + 4096 * i))(word);
	for (i = 0; argc == 1 && i < PAGES * EACH; i++)
		((void (*)(void *))(code + 64 * i))(word);
	for (i = 0; argc > 1 && i < 200000; i++)
		((void (*)(void *))(code + 4096 * MORE +
		    (i < 20 ? 64 * i : 0)))(word);
	for (k = 0; k < 8; k++)
		if (word[k] != (unsigned long)word)
			return 2;
	puts("done");
	return 0;
}
