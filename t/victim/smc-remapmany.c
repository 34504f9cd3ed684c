/*
 * smc-remapmany - mappings with code that runs often are moved by one mremap,
 * which Linux can do since 6.17, but not where userfaultfd knows one of them
 */
#include <errno.h>

#include "victim.h"

#define N 4

static unsigned char *
two_mappings(void)
{
	unsigned char *p = map_pages(N, PROT_READ | PROT_WRITE | PROT_EXEC);

	CHECK(mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
	return p;
}

/* Where to, or NULL with errno. */
static unsigned char *
moved(unsigned char *from)
{
	unsigned char *to = map_pages(N, PROT_NONE);
	unsigned char *p = mremap(from, N * PAGE, N * PAGE, MREMAP_MAYMOVE |
	    MREMAP_FIXED, to);

	return p == MAP_FAILED ? NULL : p;
}

static void
fill(unsigned char *p, int value)
{
	memcpy(p, "\xb8\x00\x00\x00\x00\xc3", 6);
	memcpy(p + 1, &value, 4);
}

static void
run_often(unsigned char *p, int value)
{
	int (*f)(void) = (int (*)(void))p;

	for (int i = 0; i < 9000; i++)
		SAME(f(), value);
}

int
main(void)
{
	unsigned char *p;

	if (moved(two_mappings()) == NULL) {	/* Linux is older */
		CHECK(errno == EFAULT);
		return victim_ok();
	}
	p = two_mappings();
	for (int i = 0; i < 20; i++) {
		fill(p, i);
		fill(p + 2 * PAGE, i + 1);
		run_often(p, i);
		run_often(p + 2 * PAGE, i + 1);
		p = moved(p);
		CHECK(p != NULL);
		run_often(p, i);
		run_often(p + 2 * PAGE, i + 1);
	}
	return victim_ok();
}
