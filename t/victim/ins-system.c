/*
 * ins-system - system instructions that user code may run: lsl, lar, verr,
 * sgdt and its like (kept or emulated), clflush and its like, fences
 */
#include <cpuid.h>

#include "victim.h"

static volatile int faults;

static void
on_segv(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si;
	faults++;
	REG(uc, RIP) = REG(uc, RBX);
}

#define MAY_FAULT(insn, ...)						\
	__asm__ volatile("lea 1f(%%rip), %%rbx; " insn "; 1:"		\
	    : __VA_ARGS__ : "rbx", "memory", "cc")

static void
segments(void)
{
	uint64_t v = 0, w = 0;
	unsigned char ok;

	__asm__ volatile("mov $0x33, %%r8d; lar %%r8, %%r11; setz %1;"
	    "mov %%r11, %0" : "=r"(v), "=q"(ok) : : "r8", "r11", "cc");
	CHECK(ok && (v & 0x6000) == 0x6000);
	__asm__ volatile("mov $0x2b, %%r8d; lsl %%r8d, %%r11d; setz %1;"
	    "mov %%r11, %0" : "=r"(w), "=q"(ok) : : "r8", "r11", "cc");
	SAME(ok, 1);
	__asm__ volatile("mov $0x33, %%r11d; verr %%r11w; setz %0"
	    : "=q"(ok) : : "r11", "cc");
	SAME(ok, 1);
	__asm__ volatile("mov $0x33, %%r11d; verw %%r11w; setz %0"
	    : "=q"(ok) : : "r11", "cc");
	SAME(ok, 0);
}

static void
tables(void)
{
	unsigned char gdt[10] = { 0 }, idt[10] = { 0 };
	uint64_t msw = 0;

	MAY_FAULT("sgdt (%1)", "+r"(msw) : "r"(gdt));
	MAY_FAULT("sidt (%1)", "+r"(msw) : "r"(idt));
	MAY_FAULT("smsw %0", "=r"(msw) : "r"(idt));
}

static void
cache_lines(void)
{
	static unsigned char line[256] __attribute__((aligned(64)));
	unsigned a, b, c, d;
	uint64_t v = 42;

	__cpuid_count(7, 0, a, b, c, d);
	line[70] = 7;
	__asm__ volatile("mov %0, %%r8; clflush 64(%%r8); mfence; lfence;"
	    "sfence; prefetcht0 (%%r8); prefetchnta 64(%%r8);"
	    "prefetchw (%%r8); movnti %1, 128(%%r8); sfence; pause"
	    : : "r"(line), "r"(v) : "r8", "memory");
	SAME(line[70], 7);
	SAME(line[128], 42);
	if (b & 1u << 23)
		__asm__ volatile("mov %0, %%r11; clflushopt 64(%%r11)"
		    : : "r"(line) : "r11", "memory");
	if (b & 1u << 24)
		__asm__ volatile("clwb 64(%0)" : : "r"(line) : "memory");
	if (c & 1u << 25)
		__asm__ volatile("cldemote 64(%0)" : : "r"(line) : "memory");
	if (c & 1u << 27)
		__asm__ volatile("mov %1, %%r8; movdiri %%r8, 8(%0); sfence"
		    : : "r"(line), "r"(v) : "r8", "memory");
	if (c & 1u << 28) {
		line[0] = 1;
		__asm__ volatile("mov %0, %%r8; lea 128(%0), %%r11;"
		    "movdir64b (%%r8), %%r11; sfence" : : "r"(line)
		    : "r8", "r11", "memory");
		SAME(line[128], 1);
	}
	if (d & 1u << 14)
		__asm__ volatile(".byte 0x0f, 0x01, 0xe8" : : : "memory");
}

int
main(void)
{
	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 100; i++) {
		segments();
		tables();
		cache_lines();
	}
	victim_say("ok " VICTIM " %d\n", faults);
	return 0;
}
