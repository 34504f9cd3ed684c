/*
 * smc-file - code mapped from a file, shared and private, that is rewritten by
 * write and by a truncation
 */
#include "victim.h"

static volatile int buses;
static volatile uintptr_t at;

static void
on_bus(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	at = (uintptr_t)si->si_addr;
	buses++;
	REG(uc, RIP) = *(greg_t *)(uintptr_t)REG(uc, RSP);
	REG(uc, RSP) += 8;
}

int
main(void)
{
	char path[] = "/tmp/victim.XXXXXX";
	unsigned char code[6] = { 0xb8, 0, 0, 0, 0, 0xc3 }, *p;
	int fd = mkstemp(path);
	int (*f)(void);

	CHECK(fd >= 0 && unlink(path) == 0);
	CHECK(ftruncate(fd, PAGE) == 0);
	p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		victim_skip("no executable mapping of a file in /tmp");
	handle(SIGBUS, on_bus, 0);
	f = (int (*)(void))p;
	for (int i = 0; i < 300; i++) {
		memcpy(code + 1, &i, 4);
		CHECK(pwrite(fd, code, sizeof code, 0) == sizeof code);
		SAME(f(), i);
		if (i % 10 != 9)
			continue;
		CHECK(ftruncate(fd, 0) == 0);
		f();
		SAME(buses, i / 10 + 1);
		SAME(at, (uintptr_t)p);
		CHECK(ftruncate(fd, PAGE) == 0);
	}
	return victim_ok();
}
