/*
 * many - runs N pieces of code that differ, made as a compiler at run time makes
 * them: each is a conditional branch, so that each is told by an id of its own
 *
 *	many n	prints n
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int
main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned char *p = mmap(NULL, 2 * n + 1, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < n; i++)
		memcpy(p + 2 * i, "\x70\x00", 2);	/* jo to the next */
	p[2 * n] = 0xc3;
	if (mprotect(p, 2 * n + 1, PROT_READ | PROT_EXEC) != 0)
		return 1;
	((void (*)(void))p)();
	printf("%zu\n", n);
	return 0;
}
