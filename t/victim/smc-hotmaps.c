/*
 * smc-hotmaps - code that has run often, whose mapping changes then: rights,
 * place, contents; and such that is mapped twice, or from a file, and changes
 * without a write to its pages
 */
#include <fcntl.h>

#include "victim.h"

enum { OFTEN = 3000 };

static const unsigned char code[6] = { 0xb8, 0, 0, 0, 0, 0xc3 };

static void
often(unsigned char *p, int n)
{
	for (int i = 0; i < OFTEN; i++)
		SAME(((int (*)(void))p)(), n);
}

static unsigned char *
fresh(void)
{
	unsigned char *p = map_pages(2, PROT_READ | PROT_WRITE | PROT_EXEC);

	memcpy(p, code, sizeof code);
	often(p, 0);
	return p;
}

static volatile int faults;
static unsigned char *gone;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	CHECK(si->si_addr == gone);
	faults++;
	CHECK(mmap(gone, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == gone);
	memcpy(gone, code, sizeof code);
	gone[1] = 55;
	(void)uc;
}

static void
rights(void)
{
	unsigned char *p = fresh();

	for (int i = 1; i < 5; i++) {
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_WRITE) == 0);
		p[1] = (unsigned char)i;
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
		often(p, i);
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC)
		    == 0);
		often(p, i);
		p[1] = (unsigned char)(i + 50);
		often(p, i + 50);
	}
	/* written while it cannot be executed, then at once */
	CHECK(mprotect(p, PAGE, PROT_READ | PROT_WRITE) == 0);
	p[1] = 99;
	CHECK(mprotect(p, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	SAME(((int (*)(void))p)(), 99);
}

static void
unmapped(void)
{
	unsigned char *p = fresh(), *q;

	gone = p;
	CHECK(munmap(p, PAGE) == 0);
	SAME(((int (*)(void))p)(), 55);
	SAME(faults, 1);
	often(p, 55);
	CHECK(mmap(p, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
	memcpy(p, code, sizeof code);
	often(p, 0);
	q = mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
	    map_pages(1, PROT_NONE));
	CHECK(q != MAP_FAILED);
	often(q, 0);
	q[1] = 7;
	often(q, 7);
	SAME(((int (*)(void))p)(), 55);
	SAME(faults, 2);
}

/* Zeros are add %al,(%rax), up to the next page. */
static int
call_with(unsigned char *p, char *byte)
{
	long r = (long)byte;

	__asm__ volatile("call *%1" : "+a"(r) : "r"(p) : "memory", "cc");
	return (int)r;
}

static void
emptied(void)
{
	static const int advice[] = { MADV_DONTNEED, 24 };	/* _LOCKED */
	static char byte;

	for (unsigned i = 0; i < NELEM(advice); i++) {
		unsigned char *p = fresh();

		memcpy(p + PAGE, code, sizeof code);
		p[PAGE + 1] = 77;
		often(p + PAGE, 77);
		if (madvise(p, PAGE, advice[i]) != 0)
			continue;	/* an older kernel */
		SAME(call_with(p, &byte), 77);
		memcpy(p, code, sizeof code);
		often(p, 0);
	}
}

static void
mapped_twice(void)
{
	int fd = memfd_create("smc-hotmaps", 0);
	unsigned char *x, *w, *own;

	CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0);
	w = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memcpy(w, code, sizeof code);
	x = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED,
	    fd, 0);
	own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE, fd, 0);
	CHECK(w != MAP_FAILED && x != MAP_FAILED && own != MAP_FAILED);
	for (unsigned char i = 0; i < 5; i++) {
		w[1] = i;
		often(x, i);
		often(own, i);
		CHECK(pwrite(fd, "d", 1, 1) == 1);
		often(x, 'd');
		often(own, 'd');
	}
	own[1] = 3;
	w[1] = 4;
	often(own, 3);
	often(x, 4);
}

int
main(void)
{
	handle(SIGSEGV, on_segv, 0);
	rights();
	unmapped();
	emptied();
	mapped_twice();
	return victim_ok();
}
