/*
 * ins-partial - writes to parts of registers: 8 and 16 bits keep the rest, 32
 * clear the upper half, conditional moves that do not move too
 */
#include "victim.h"

#define ALL(f)								\
	f(rax, eax, ax, al) f(rbx, ebx, bx, bl) f(rcx, ecx, cx, cl)	\
	f(rdx, edx, dx, dl) f(rsi, esi, si, sil) f(rdi, edi, di, dil)	\
	f(r8, r8d, r8w, r8b) f(r9, r9d, r9w, r9b)			\
	f(r10, r10d, r10w, r10b) f(r11, r11d, r11w, r11b)		\
	f(r12, r12d, r12w, r12b) f(r13, r13d, r13w, r13b)		\
	f(r14, r14d, r14w, r14b) f(r15, r15d, r15w, r15b)

#define START "movabs $0x1122334455667788, "

#define AFTER(text, r, want)						\
	__asm__ volatile(START "%%" #r ";" text "; push %%" #r ";"	\
	    "popq %0" : "=m"(v) : : #r, "memory", "cc");		\
	SAME(v, want);

#define CHECK_ONE(r, d, w, b)						\
	AFTER("mov $0x99, %%" #b, r, 0x1122334455667799)		\
	AFTER("mov $0x9999, %%" #w, r, 0x1122334455669999)		\
	AFTER("mov $0x99999999, %%" #d, r, 0x99999999)			\
	AFTER("xor %%" #d ", %%" #d, r, 0)				\
	AFTER("xor %%" #b ", %%" #b, r, 0x1122334455667700)		\
	AFTER("add $1, %%" #d, r, 0x55667789)				\
	AFTER("stc; setc %%" #b, r, 0x1122334455667701)			\
	AFTER("stc; adc %%" #b ", %%" #b, r, 0x1122334455667711)	\
	AFTER("inc %%" #w, r, 0x1122334455667789)			\
	AFTER("cmp %%" #r ", %%" #r "; cmovne %%" #d ", %%" #d, r,	\
	    0x55667788)							\
	AFTER("cmp %%" #r ", %%" #r "; cmovne %%" #w ", %%" #w, r,	\
	    0x1122334455667788)						\
	AFTER("movzbl %%" #b ", %%" #d, r, 0x88)			\
	AFTER("movsbw %%" #b ", %%" #w, r, 0x112233445566ff88)		\
	AFTER("movsbl %%" #b ", %%" #d, r, 0xffffff88)			\
	AFTER("movsbq %%" #b ", %%" #r, r, 0xffffffffffffff88)		\
	AFTER("movslq %%" #d ", %%" #r, r, 0x55667788)			\
	AFTER("shl $4, %%" #b, r, 0x1122334455667780)			\
	AFTER("rol $4, %%" #w, r, 0x1122334455667887)			\
	AFTER("bswap %%" #d, r, 0x88776655)				\
	AFTER("xchg %%" #d ", %%" #d, r, 0x55667788)			\
	AFTER("neg %%" #w, r, 0x1122334455668878)			\
	AFTER("not %%" #d, r, 0xaa998877)				\
	AFTER("lea 1(%%" #r "), %%" #w, r, 0x1122334455667789)		\
	AFTER("lea 1(%%" #r "), %%" #d, r, 0x55667789)			\
	AFTER("pushw $0x4321; popw %%" #w, r, 0x1122334455664321)

static void
high_bytes(void)
{
	uint64_t v;

	AFTER("mov $0x99, %%ah", rax, 0x1122334455669988)
	AFTER("mov %%al, %%ah; add %%ah, %%al", rax, 0x1122334455668810)
	AFTER("mov %%bh, %%bl", rbx, 0x1122334455667777)
	AFTER("xchg %%ch, %%cl", rcx, 0x1122334455668877)
	AFTER("movzbl %%dh, %%edx", rdx, 0x77)
	AFTER("stc; setc %%dh", rdx, 0x1122334455660188)
	AFTER("lahf; mov $0, %%ah", rax, 0x1122334455660088)
}

int
main(void)
{
	uint64_t v;

	for (int i = 0; i < 20; i++) {
		ALL(CHECK_ONE)
		high_bytes();
	}
	return victim_ok();
}
