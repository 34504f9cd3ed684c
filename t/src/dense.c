/*
 * Pages full of functions of one byte: all are called, in a mixed order.
 *
 * usage: dense pages
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int
main(int argc, char **argv)
{
	size_t n = (argc > 1 ? (size_t)atol(argv[1]) : 1) * 4096, i;
	unsigned char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	memset(p, 0xc3, n);	/* ret */
	if (mprotect(p, n, PROT_READ | PROT_EXEC) != 0)
		return 1;
	/* n is a power of 2: an odd factor reaches each of them once */
	for (i = 0; i < n; i++)
		((void (*)(void))(p + i * 40503 % n))();
	return 0;
}
