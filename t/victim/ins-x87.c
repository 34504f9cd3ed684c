/*
 * ins-x87 - the x87 unit: its stack, its functions, its environment with the
 * address of the last instruction, which is the program's own
 * build: -lm
 */
#include <math.h>

#include "victim.h"

extern char x87_insn[], x87_insn2[];

struct env {
	uint32_t cw, sw, tw, ip, cs_op, dp, ds;
};

/* fninit empties the stack: the compiler keeps nothing there over a call. */
__attribute__((noinline)) static void
environment(void)
{
	static unsigned char fx[512] __attribute__((aligned(16)));
	static double zero = 0;
	struct env env;
	uint64_t ip;

	__asm__ volatile("fninit; .globl x87_insn; x87_insn: fldl %2;"
	    "fxsave64 %1; fnstenv %0; fstp %%st(0)"
	    : "=m"(env), "=m"(fx) : "m"(zero) : "memory");
	memcpy(&ip, fx + 8, 8);
	/* Some processors keep them only for unmasked exceptions: 0 then. */
	if (ip != 0)
		SAME(ip, (uintptr_t)x87_insn);
	if (env.ip != 0)
		SAME(env.ip, (uint32_t)(uintptr_t)x87_insn);
	__asm__ volatile("fninit; fldl %1; .globl x87_insn2; x87_insn2:"
	    "fsqrt; fnsave %0; frstor %0; fnstenv %0"
	    : "=m"(*(unsigned char (*)[108])fx) : "m"(zero) : "memory");
	memcpy(&env, fx, sizeof env);
	if (env.ip != 0)
		SAME(env.ip, (uint32_t)(uintptr_t)x87_insn2);
	__asm__ volatile("fninit");
}

static void
arithmetic(void)
{
	double x = 2.5, y = 4, r;
	long double e;
	int32_t i = 0;
	int16_t s = 0, sw;

	__asm__("fldl %1; fldl %2; fmulp; fldpi; faddp; fsqrt; fstpl %0"
	    : "=m"(r) : "m"(x), "m"(y));
	CHECK(fabs(r - sqrt(10 + M_PI)) < 1e-15);
	__asm__("fldl %1; fldl %2; fxch; fsubrp; fchs; fabs; fstpl %0"
	    : "=m"(r) : "m"(x), "m"(y));
	CHECK(r == 1.5);
	__asm__("fldt %1; fld %%st(0); fadd %%st, %%st(1); fstp %%st(0);"
	    "fstpt %0" : "=m"(e) : "m"((long double){ 3.25L }));
	CHECK(e == 6.5L);
	__asm__("fldl %2; fistl %0; fistps %1" : "=m"(i), "=m"(s) : "m"(y));
	CHECK(i == 4 && s == 4);
	__asm__("fldl %1; fsin; fldl %1; fcos; fmul %%st, %%st; fxch;"
	    "fmul %%st, %%st; faddp; fstpl %0" : "=m"(r) : "m"(x));
	CHECK(fabs(r - 1) < 1e-15);
	__asm__("fldl %2; fldl %1; fcomip %%st(1), %%st; fstp %%st(0);"
	    "seta %b0; movzbl %b0, %0" : "=q"(i) : "m"(y), "m"(x) : "cc");
	SAME(i, 1);
	__asm__("fldl %1; ftst; fnstsw %0; fstp %%st(0)" : "=a"(sw) : "m"(x));
	SAME(sw & 0x4500, 0);
	__asm__("fldz; fld1; mov $1, %%eax; cmp $2, %%eax; fcmovb %%st(1),"
	    "%%st; fstpl %0; fstp %%st(0)" : "=m"(r) : : "rax", "cc");
	CHECK(r == 0);
	__asm__("fbld %1; fbstp %1; fildll %2; fistpll %1"
	    : "=m"(r), "+m"(e) : "m"((uint64_t){ 5 }));
}

__attribute__((noinline)) static void
control(void)
{
	uint16_t cw, down = 0x77f;
	double x = 2.7, r;

	__asm__("fnstcw %0; fldcw %2; fldl %3; frndint; fstpl %1; fldcw %0"
	    : "=m"(cw), "=m"(r) : "m"(down), "m"(x));
	CHECK(r == 2);
	__asm__("fld1; fincstp; fdecstp; ffree %%st(0); fninit" : : );
}

int
main(void)
{
	for (int i = 0; i < 300; i++) {
		environment();
		arithmetic();
		control();
	}
	return victim_ok();
}
