/*
 * sig-repfault - repeated string instructions that run into a closed page:
 * rcx, rsi and rdi say how far they came; they go on after a mend
 */
#include "victim.h"

static char *page;
static volatile uint64_t rcx, rsi, rdi;
static volatile int faults;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	rcx = (uint64_t)REG(uc, RCX);
	rsi = (uint64_t)REG(uc, RSI);
	rdi = (uint64_t)REG(uc, RDI);
	faults++;
	CHECK(mprotect(page + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
}

static void
shut(void)
{
	CHECK(mprotect(page + PAGE, PAGE, PROT_NONE) == 0);
	faults = 0;
}

static void
upwards(char *src)
{
	char *s = src, *d = page + PAGE - 100;
	uint64_t n = 300;

	shut();
	__asm__ volatile("rep movsb" : "+c"(n), "+S"(s), "+D"(d) : : "memory");
	SAME(faults, 1);
	SAME(rcx, 200);
	SAME(rsi, (uintptr_t)src + 100);
	SAME(rdi, (uintptr_t)page + PAGE);
	CHECK(n == 0 && s == src + 300 && d == page + PAGE + 200);
	CHECK(memcmp(page + PAGE - 100, src, 300) == 0);
	/* Quadwords; the fault is on the reading side. */
	s = page + PAGE - 64;
	d = src;
	n = 20;
	shut();
	__asm__ volatile("rep movsq" : "+c"(n), "+S"(s), "+D"(d) : : "memory");
	SAME(faults, 1);
	SAME(rcx, 12);
	SAME(rsi, (uintptr_t)page + PAGE);
	CHECK(memcmp(page + PAGE - 64, src, 160) == 0);
}

static void
others(void)
{
	char *d = page + PAGE - 8, *s;
	uint64_t n = 5;
	unsigned char equal;

	shut();
	__asm__ volatile("rep stosq" : "+c"(n), "+D"(d) : "a"(0x4142434445464748)
	    : "memory");
	SAME(faults, 1);
	SAME(rcx, 4);
	SAME(d - page, PAGE + 32);
	/* Downwards, from the open page into the closed one below it. */
	CHECK(mprotect(page + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
	memset(page + PAGE, 'x', 2 * PAGE);
	d = page + 2 * PAGE + 9;
	n = 30;
	shut();
	__asm__ volatile("std; rep stosb; cld" : "+c"(n), "+D"(d) : "a"(7)
	    : "memory");
	SAME(faults, 1);
	SAME(rcx, 20);
	SAME(page[2 * PAGE + 9], 7);
	SAME(page[2 * PAGE - 20], 7);
	SAME(page[2 * PAGE - 21], 'x');
	/* A scan that would end behind the closed page's first byte. */
	s = page + PAGE - 10;
	memset(s, 'a', 20);
	n = 100;
	page[PAGE + 3] = 'b';
	shut();
	__asm__ volatile("repe scasb; setne %b2" : "+c"(n), "+D"(s),
	    "=q"(equal) : "a"('a') : "memory", "cc");
	SAME(faults, 1);
	SAME(rcx, 90);
	SAME(n, 86);
	SAME(equal, 1);
}

int
main(void)
{
	static char src[512];

	page = map_pages(3, PROT_READ | PROT_WRITE);
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 30; i++) {
		for (size_t k = 0; k < sizeof src; k++)
			src[k] = (char)(k * 7 + (size_t)i);
		upwards(src);
		others();
	}
	return victim_ok();
}
