/*
 * smc-valid - bytes that are no instruction become one: by a store, and where
 * the instruction goes on in a page that comes later; and none again
 */
#include <setjmp.h>

#include "victim.h"

static sigjmp_buf back;

static void
caught(int sig)
{
	siglongjmp(back, sig);
}

static int
call(void *p)
{
	int sig = sigsetjmp(back, 1);

	if (sig == 0)
		((void (*)(void))p)();
	return sig;
}

int
main(void)
{
	int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	unsigned char *p = map_pages(2, all), *end = p + PAGE;

	signal(SIGILL, caught);
	signal(SIGSEGV, caught);
	memset(p, 0x90, 64);
	p[63] = 0xc3;
	for (int i = 0; i < 50; i++) {
		p[8] = 0x06;			/* push %es */
		SAME(call(p), SIGILL);
		SAME(call(p + 8), SIGILL);
		p[8] = 0x90;
		SAME(call(p), 0);
		SAME(call(p + 8), 0);
	}
	memcpy(end - 2, "\xb8\x01\x00\x00\x00\xc3", 6);	/* mov $1, %eax */
	for (int i = 0; i < 50; i++) {
		CHECK(munmap(end, PAGE) == 0);
		SAME(call(end - 2), SIGSEGV);
		CHECK(mmap(end, PAGE, all, MAP_PRIVATE | MAP_ANONYMOUS |
		    MAP_FIXED, -1, 0) == end);
		memcpy(end, "\x00\x00\x00\xc3", 4);
		SAME(call(end - 2), 0);
	}
	return victim_ok();
}
