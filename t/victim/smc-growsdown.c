/*
 * smc-growsdown - mprotect and pkey_mprotect with PROT_GROWSDOWN, of the last
 * page of a mapping, change all of it: code on its first page is written anew,
 * and taken away
 */
#include "victim.h"

enum { N = 4 };

static char *code;
static int by_key;

static void
protect(int prot)
{
	char *last = code + (N - 1) * PAGE;

	prot |= PROT_GROWSDOWN;
	CHECK(by_key ? syscall(SYS_pkey_mprotect, last, PAGE, prot, -1) == 0 :
	    mprotect(last, PAGE, prot) == 0);
}

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	CHECK((char *)si->si_addr == code);
	SAME(si->si_code, SEGV_ACCERR);
	_exit(victim_ok());
}

int
main(void)
{
	static const unsigned char ret9[] = { 0xb8, 9, 0, 0, 0, 0xc3 };
	int (*f)(void);

	code = mmap(NULL, N * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
	CHECK(code != MAP_FAILED);
	memcpy(code, ret9, sizeof ret9);
	f = (int (*)(void))(uintptr_t)code;
	protect(PROT_READ | PROT_EXEC);
	SAME(f(), 9);
	protect(PROT_READ | PROT_WRITE);
	code[1] = 33;
	protect(PROT_READ | PROT_EXEC);
	SAME(f(), 33);
	by_key = 1;
	protect(PROT_READ | PROT_WRITE);
	code[1] = 34;
	protect(PROT_READ | PROT_EXEC);
	SAME(f(), 34);
	handle(SIGSEGV, on_segv, 0);
	protect(PROT_READ);
	f();
	CHECK(!"not executable");
	return 1;
}
