/*
 * sig-nowhere - jumps to where no code is: unmapped, not executable, not
 * canonical; an instruction that ends in an unmapped page.  The frame has the
 * program's pc, and the caller's frame is whole
 */
#include "victim.h"

static volatile uintptr_t pc, addr;
static volatile int faults, code;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	pc = (uintptr_t)REG(uc, RIP);
	addr = (uintptr_t)si->si_addr;
	code = si->si_code;
	SAME(REG(uc, OLDMASK), ((ucontext_t *)uc)->uc_sigmask.__val[0]);
	faults++;
	/* Return to the caller. */
	REG(uc, RIP) = *(greg_t *)(uintptr_t)REG(uc, RSP);
	REG(uc, RSP) += 8;
}

static void
call(uintptr_t target)
{
	__asm__ volatile("call *%0" : : "r"(target)
	    : "rax", "rcx", "rdx", "r8", "r11", "memory", "cc");
}

/* A tail jump: the return address is of the function that jumped. */
__attribute__((naked, noinline)) static void
jump(uintptr_t target UNUSED)
{
	__asm__("jmp *%rdi");
}

int
main(void)
{
	char *data = map_pages(1, PROT_READ | PROT_WRITE);
	char *code_pages = map_pages(2, PROT_READ | PROT_WRITE);
	char *p = code_pages + PAGE - 3;

	data[0] = (char)0xc3;
	/* mov $imm32, %eax: five bytes, of which two are missing */
	memcpy(p, "\xb8\x01\x02", 3);
	CHECK(mprotect(code_pages, PAGE, PROT_READ | PROT_EXEC) == 0);
	CHECK(munmap(code_pages + PAGE, PAGE) == 0);
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 30; i++) {
		faults = 0;
		call(0x12340);
		CHECK(pc == 0x12340 && addr == 0x12340);
		SAME(code, SEGV_MAPERR);
		call(0);
		CHECK(pc == 0 && addr == 0);
		call((uintptr_t)data);
		CHECK(pc == (uintptr_t)data && addr == (uintptr_t)data);
		SAME(code, SEGV_ACCERR);
		jump(0x56780);
		CHECK(pc == 0x56780 && addr == 0x56780);
		call((uintptr_t)p);
		CHECK(pc == (uintptr_t)p);
		SAME(addr, (uintptr_t)code_pages + PAGE);
		call(0x12ffd);
		CHECK(pc == 0x12ffd && addr == 0x12ffd);
		SAME(faults, 6);
	}
	return victim_ok();
}
