/*
 * smc-hot - code that has run often is changed by its own program: from
 * elsewhere, right ahead in the same straight run of code, by a repeated
 * instruction, and across two pages
 */
#include "victim.h"

enum { OFTEN = 6000 };

static unsigned char *p;

/* Code in the last bytes of a first page of two, or at its start. */
static void *
put(size_t at, const char *code, size_t n)
{
	p = map_pages(2, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(p + at, code, n);
	return p + at;
}

static void
from_elsewhere(void)
{
	int (*f)(void) = put(0, "\xb8\0\0\0\0\xc3", 6);

	for (int i = 0; i < 8; i++) {
		p[1] = (unsigned char)i;
		for (int k = 0; k < OFTEN; k++)
			SAME(f(), i);
	}
}

/* test %esi,%esi; je 1f; mov %edi,1(%rip); 1: mov $0,%eax; ret */
static void
ahead(void)
{
	int (*f)(int, int) = put(0, "\x85\xf6\x74\x06\x89\x3d\1\0\0\0"
	    "\xb8\0\0\0\0\xc3", 16);

	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < OFTEN; k++)
			SAME(f(0, 0), i);
		SAME(f(i + 1, 1), i + 1);
		SAME(f(0, 0), i + 1);
	}
}

/* mov %rdx,%rcx; rep movsb; mov $0,%eax; ret */
static void
repeated(void)
{
	int (*f)(void *, void *, long) = put(0, "\x48\x89\xd1\xf3\xa4"
	    "\xb8\0\0\0\0\xc3", 11), n;

	for (n = 0; n < 6; n++) {
		for (int k = 0; k < OFTEN; k++)
			SAME(f(NULL, NULL, 0), n);
		n++;
		SAME(f(p + 6, &n, 4), n);
		n--;
	}
}

/* The second page has what changes, and the first is written at last. */
static void
across(void)
{
	int (*f)(void) = put(PAGE - 3, "\xb8\0\0\0\0\xc3", 6);

	for (int i = 0; i < 8; i++) {
		p[PAGE] = (unsigned char)i;
		for (int k = 0; k < OFTEN; k++)
			SAME(f(), i << 16);
	}
	p[PAGE - 2] = 9;
	SAME(f(), 7 << 16 | 9);
	for (int k = 0; k < OFTEN; k++)
		SAME(f(), 7 << 16 | 9);
}

/* Many blocks in a page, each with data beside it that it counts up. */
static void
with_data(void)
{
	/* incl 6(%rip); mov (%rip),%eax: of the four bytes behind ret */
	static const char code[] = "\xff\x05\x07\0\0\0\x8b\x05\1\0\0\0\xc3";

	put(0, code, 13);
	for (int i = 1; i < 40; i++)
		memcpy(p + 32 * i, code, 13);
	for (int k = 1; k < OFTEN; k++)
		for (int i = 0; i < 40; i++)
			SAME(((int (*)(void))(p + 32 * i))(), k);
}

int
main(void)
{
	from_elsewhere();
	ahead();
	repeated();
	across();
	with_data();
	return victim_ok();
}
