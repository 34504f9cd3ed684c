/*
 * sig-bus - SIGBUS behind the end of a mapped file, with its address, mended
 * by making the file longer; codes of SIGSEGV for the kinds of bad access
 */
#include "victim.h"

static int fd;
static volatile int buses, segv_code;
static volatile uintptr_t addr;

static void
on_bus(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	SAME(si->si_code, BUS_ADRERR);
	addr = (uintptr_t)si->si_addr;
	CHECK(ftruncate(fd, 2 * PAGE) == 0);
	buses++;
}

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	segv_code = si->si_code;
	addr = (uintptr_t)si->si_addr;
	REG(uc, RIP) += 2;		/* mov (%rax), %al */
}

static void
touch(void *p)
{
	__asm__ volatile("movb (%%rax), %%al" : "+a"(p));
}

int
main(void)
{
	volatile char *p;
	char *q;

	fd = memfd_create("file", 0);
	CHECK(fd >= 0);
	handle(SIGBUS, on_bus, 0);
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 50; i++) {
		CHECK(ftruncate(fd, PAGE) == 0);
		p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
		p[10] = 1;
		p[PAGE + 77] = (char)i;
		SAME(buses, i + 1);
		SAME(addr, (uintptr_t)p + PAGE + 77);
		SAME(p[PAGE + 77], i);
		CHECK(munmap((void *)p, 2 * PAGE) == 0);
	}
	q = map_pages(1, PROT_NONE);
	touch(q + 5);
	SAME(segv_code, SEGV_ACCERR);
	SAME(addr, (uintptr_t)q + 5);
	munmap(q, PAGE);
	touch(q + 6);
	SAME(segv_code, SEGV_MAPERR);
	SAME(addr, (uintptr_t)q + 6);
	touch((void *)0x1234);
	SAME(addr, 0x1234);
	return victim_ok();
}
