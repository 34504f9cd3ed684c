/*
 * loaded - runs code that was loaded into memory which stays writable
 *
 *	loaded [first | written]
 *
 * A few functions run often; those of all other pages once each.  With `first'
 * only some of one more page do, and then the first of them often.  With
 * `written' the few are written again, twice, and run as often each time, until
 * the program execs itself without that.  Each function stores to eight words.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 400
#define EACH 64			/* functions of a page, 64 bytes each */
#define HOT 120			/* pages */
#define MORE 300		/* one more */

static unsigned long word[8];

static void
load(unsigned char *code)
{
	/* mov [rdi+i*8], rdi, eight times; ret */
	static const unsigned char store[4] = { 0x48, 0x89, 0x7f, 0 };

	for (unsigned i = 0; i < PAGES * EACH; i++) {
		unsigned char *p = code + 64 * i;

		for (unsigned k = 0; k < 8; k++) {
			memcpy(p + 4 * k, store, 4);
			p[4 * k + 3] = (unsigned char)(8 * k);
		}
		p[32] = 0xc3;
	}
}

static void
call(unsigned char *at)
{
	((void (*)(void *))at)(word);
}

static void
run_hot(unsigned char *code)
{
	for (unsigned k = 0; k < 20000; k++)
		for (unsigned i = 0; i < HOT; i++)
			call(code + 4096 * i);
}

int
main(int argc, char **argv)
{
	unsigned char *code;
	unsigned i;

	code = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	load(code);
	run_hot(code);
	if (argc > 1 && strcmp(argv[1], "written") == 0) {
		load(code);
		run_hot(code);
		load(code);
		return execl(argv[0], argv[0], (char *)NULL);
	}
	for (i = 0; argc == 1 && i < PAGES * EACH; i++)
		call(code + 64 * i);
	for (i = 0; argc > 1 && i < 200000; i++)
		call(code + 4096 * MORE + (i < 20 ? 64 * i : 0));
	for (i = 0; i < 8; i++)
		if (word[i] != (unsigned long)word)
			return 2;
	puts("done");
	return 0;
}
