/*
 * ins-bits - bit manipulation: popcnt, lzcnt, tzcnt, bmi1 and bmi2, adx,
 * movbe, crc32, bswap, xlat, with high registers as operands
 */
#include <cpuid.h>

#include "victim.h"

#define UNARY(insn, x)							\
	({								\
		uint64_t r_;						\
		__asm__ volatile("mov %1, %%r11; " insn " %%r11, %%r8;"	\
		    "mov %%r8, %0" : "=r"(r_) : "r"((uint64_t)(x))	\
		    : "r8", "r11", "cc");				\
		r_;							\
	})
#define BINARY(insn, x, y)						\
	({								\
		uint64_t r_;						\
		__asm__ volatile("mov %1, %%r11; mov %2, %%r15;" insn	\
		    " %%r11, %%r15, %%r8; mov %%r8, %0" : "=r"(r_)	\
		    : "r"((uint64_t)(x)), "r"((uint64_t)(y))		\
		    : "r8", "r11", "r15", "cc");			\
		r_;							\
	})

static uint64_t
deposit(uint64_t v, uint64_t mask)
{
	uint64_t r = 0;

	for (int i = 0; i < 64; i++)
		if (mask >> i & 1) {
			r |= (v & 1) << i;
			v >>= 1;
		}
	return r;
}

static void
bmi(uint64_t x, uint64_t y)
{
	uint64_t hi, lo, n = y & 63;
	unsigned __int128 p = (unsigned __int128)x * y;

	SAME(UNARY("tzcnt", x), x ? __builtin_ctzl(x) : 64);
	SAME(UNARY("lzcnt", x), x ? __builtin_clzl(x) : 64);
	SAME(UNARY("blsr", x), x & (x - 1));
	SAME(UNARY("blsi", x), x & -x);
	SAME(UNARY("blsmsk", x), x ^ (x - 1));
	SAME(BINARY("andn", x, y), x & ~y);
	SAME(BINARY("bzhi", n, x), x & ((1ul << n) - 1));
	SAME(BINARY("bextr", n | 0x800, x), x >> n & 0xff);
	SAME(BINARY("shlx", y, x), x << n);
	SAME(BINARY("shrx", y, x), x >> n);
	SAME(BINARY("sarx", y, x), (int64_t)x >> n);
	SAME(BINARY("pdep", x, y), deposit(y, x));
	SAME(deposit(BINARY("pext", x, y), x), y & x);
	__asm__ volatile("mov %2, %%rdx; mov %3, %%r11;"
	    "mulx %%r11, %%r8, %%r15; mov %%r8, %0; mov %%r15, %1"
	    : "=&r"(lo), "=&r"(hi) : "r"(x), "r"(y)
	    : "rdx", "r8", "r11", "r15");
	SAME(lo, (uint64_t)p);
	SAME(hi, (uint64_t)(p >> 64));
	SAME(UNARY("rorx $13,", x), x >> 13 | x << 51);
}

static void
adx(uint64_t x, uint64_t y)
{
	uint64_t a = x, b = x, flags;

	/* Two carry chains at once. */
	__asm__ volatile("mov %3, %%r8; mov %0, %%r11; mov %1, %%r15;"
	    "xor %%eax, %%eax; adcx %%r8, %%r11; adox %%r8, %%r15;"
	    "adox %%r8, %%r15; adcx %%rax, %%r11; mov %%r11, %0;"
	    "mov %%r15, %1; pushf; pop %2" : "+&r"(a), "+&r"(b), "=&r"(flags)
	    : "r"(y) : "rax", "r8", "r11", "r15", "cc", "memory");
	SAME(a, x + y + (x + y < x));
	SAME(b, x + 2 * y + (x + y < x));
}

static void
older(uint64_t x)
{
	static unsigned char table[256];
	uint64_t v, w = 0;

	for (int i = 0; i < 256; i++)
		table[i] = (unsigned char)(255 - i);
	SAME(UNARY("popcnt", x), __builtin_popcountl(x));
	SAME(UNARY("bsf", x | 1ul << 60), __builtin_ctzl(x | 1ul << 60));
	SAME(UNARY("bsr", x | 1), 63 - __builtin_clzl(x | 1));
	__asm__ volatile("mov %1, %%r8; bswap %%r8; mov %%r8, %0" : "=r"(v)
	    : "r"(x) : "r8");
	SAME(v, __builtin_bswap64(x));
	__asm__ volatile("mov %1, %%r11; movbe %%r11, %0; movbe %0, %%r8;"
	    "mov %%r8, %%r11" : "+m"(w) : "r"(x) : "r8", "r11");
	SAME(w, __builtin_bswap64(x));
	__asm__ volatile("xlat" : "=a"(v) : "b"(table), "a"(x));
	SAME(v & 0xff, 255 - (x & 0xff));
	SAME(v >> 8, x >> 8);
	__asm__ volatile("xor %%r8d, %%r8d; mov %1, %%r11;"
	    "crc32q %%r11, %%r8; crc32b %%r11b, %%r8d; mov %%r8, %0"
	    : "=r"(v) : "r"(0x3132333435363738ul) : "r8", "r11");
	w = v;
	__asm__ volatile("xor %%eax, %%eax; mov %1, %%rcx;"
	    "crc32q %%rcx, %%rax; crc32b %%cl, %%eax; mov %%rax, %0"
	    : "=r"(v) : "r"(0x3132333435363738ul) : "rax", "rcx");
	SAME(v, w);
}

/* What not all compilers have a name for. */
static int has_lzcnt, has_adx, has_movbe;

static void
ask(void)
{
	unsigned a, b = 0, c = 0, d;

	has_movbe = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_MOVBE);
	has_adx = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_ADX);
	has_lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
}

int
main(void)
{
	uint64_t x = 0x123456789abcdef, y;
	int has_bmi;

	ask();
	has_bmi = __builtin_cpu_supports("bmi2") && has_lzcnt;
	if (!__builtin_cpu_supports("sse4.2") || !has_movbe)
		victim_skip("no SSE4.2 or no movbe");
	for (int i = 0; i < 2000; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		y = x * 0x9e3779b97f4a7c15;
		if (i % 50 == 0)
			x &= 0xffff;
		older(x);
		if (has_bmi)
			bmi(x, y);
		if (has_adx)
			adx(x, y);
	}
	return victim_ok();
}
