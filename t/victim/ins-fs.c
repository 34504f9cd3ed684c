/*
 * ins-fs - the fs segment: overrides in every kind of operand, its base read
 * and set by instructions and by arch_prctl, selectors
 */
#include <asm/prctl.h>
#include <sys/auxv.h>

#include "victim.h"

static __thread uint64_t words[8];

static void
operands(void)
{
	uint64_t off = (uintptr_t)words - (uintptr_t)__builtin_thread_pointer();
	uint64_t v = 0, w = 10;

	for (int i = 0; i < 8; i++)
		words[i] = (uint64_t)i * 100;
	__asm__ volatile("mov %%fs:16(%1), %0" : "=r"(v) : "r"(off));
	SAME(v, 200);
	__asm__ volatile("mov %1, %%r8; mov $3, %%r11d;"
	    "add %0, %%fs:(%%r8, %%r11, 8)" : : "r"(w), "r"(off)
	    : "r8", "r11", "memory", "cc");
	SAME(words[3], 310);
	__asm__ volatile("lock xadd %0, %%fs:(%1)" : "+r"(w) : "r"(off)
	    : "memory", "cc");
	SAME(w, 0);
	SAME(words[0], 10);
	__asm__ volatile("pushq %%fs:40(%1); popq %%fs:48(%1)" : "+r"(v)
	    : "r"(off) : "memory");
	SAME(words[6], 500);
	__asm__ volatile("movdqu %%fs:(%1), %%xmm4; movdqu %%xmm4,"
	    "%%fs:32(%1)" : "+r"(v) : "r"(off) : "xmm4", "memory");
	SAME(words[4], 10);
	SAME(words[5], 100);
	__asm__ volatile("cmpb $10, %%fs:(%1); sete %b0; movzbl %b0, %k0"
	    : "=q"(v) : "r"(off) : "cc");
	SAME(v, 1);
	/* lea does not know segments; the base itself is at fs:0. */
	__asm__ volatile(".byte 0x64; lea 8(%1), %0" : "=r"(v) : "r"(off));
	SAME(v, off + 8);
	__asm__ volatile("mov %%fs:0, %0" : "=r"(v));
	SAME(v, (uintptr_t)__builtin_thread_pointer());
}

static void
bases(void)
{
	uint64_t old = (uintptr_t)__builtin_thread_pointer(), now, v;
	static uint64_t other[16] = { 0, 0x1111, 0x2222 };

	CHECK(syscall(SYS_arch_prctl, ARCH_GET_FS, &now) == 0);
	SAME(now, old);
	if ((getauxval(AT_HWCAP2) & 2) == 0)
		return;
	__asm__ volatile("rdfsbase %0" : "=r"(now));
	SAME(now, old);
	__asm__ volatile("wrfsbase %2; mov %%fs:8, %0; rdfsbase %1;"
	    "wrfsbase %3" : "=&r"(v), "=&r"(now) : "r"(other), "r"(old));
	SAME(v, 0x1111);
	SAME(now, (uintptr_t)other);
	/* By the system call, with no libc between. */
	__asm__ volatile("syscall; mov %%fs:16, %%rdx; mov %4, %%rsi;"
	    "mov %5, %%eax; syscall"
	    : "=a"(now), "=&d"(v)
	    : "0"(SYS_arch_prctl), "D"(ARCH_SET_FS), "r"(old),
	    "i"(SYS_arch_prctl), "S"(other)
	    : "rcx", "r11", "memory");
	SAME(now, 0);
	SAME(v, 0x2222);
}

static void
selectors(void)
{
	uint16_t ds, es, ss, cs, fs, gs;

	__asm__ volatile("mov %%ds, %0; mov %%es, %1; mov %%ss, %2;"
	    "mov %%cs, %3; mov %%fs, %4; mov %%gs, %5"
	    : "=m"(ds), "=m"(es), "=m"(ss), "=m"(cs), "=m"(fs), "=m"(gs));
	SAME(cs, 0x33);
	SAME(ss, 0x2b);
	SAME(fs, 0);
	SAME(gs, 0);
	__asm__ volatile("mov %0, %%ds; mov %1, %%es; mov %2, %%ss; nop"
	    : : "m"(ds), "m"(es), "m"(ss));
	__asm__ volatile("mov %0, %%es; mov %0, %%ds" : : "r"(0x2b));
	__asm__ volatile("mov %%es, %0" : "=m"(es));
	SAME(es, 0x2b);
	__asm__ volatile("mov %0, %%es; mov %0, %%ds" : : "r"(0));
}

int
main(void)
{
	for (int i = 0; i < 300; i++) {
		operands();
		bases();
		selectors();
	}
	return victim_ok();
}
