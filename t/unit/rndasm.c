/*
 * rndasm - writes a random program in assembly, for a seed
 *
 *	rndasm [-b | -t] seed snippets [which] >program.S
 *
 * Each snippet starts with all registers, flags and vectors set, runs 1 to 40
 * random instructions of every operand shape, and ends in a hash over all
 * registers, flags, vectors, the x87 stack and the memory it may have
 * touched.  The program writes the hashes, 8 bytes each: natively and under
 * an engine they must agree; the first that does not names the snippet.  With
 * `which`, the program instead writes what snippet `which` left, and ends: the
 * memory, then from offset 2000 (hex) rax, rcx, ... r15 and the flags, and from
 * 2100 the vectors.  -b: only instructions that Valgrind knows.  -t: the
 * snippets run ROUNDS times while a timer ticks, whose handler changes nothing;
 * the hashes are those of the last time, and depend on what registers and flags
 * were before.
 *
 * What the generator keeps track of, so that nothing faults: registers that
 * point into the middle of `scratch` (ptrs), and small numbers (idxs).
 * Results that the manuals leave open are kept: one processor gives one
 * answer.  Nothing depends on where the stack or the clock is.
 */
#include <cpuid.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 1000
#define TICK_US 100

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, NREG = 16 };

static const char *const names[4][NREG] = {
	{ "al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b",
	  "r10b", "r11b", "r12b", "r13b", "r14b", "r15b" },
	{ "ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w",
	  "r10w", "r11w", "r12w", "r13w", "r14w", "r15w" },
	{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d",
	  "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d" },
	{ "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9",
	  "r10", "r11", "r12", "r13", "r14", "r15" },
};
static const char *const sizes[] = { "byte ptr", "word ptr", "dword ptr",
    "qword ptr" };
static const char *const conds[] = { "o", "no", "b", "ae", "e", "ne", "be",
    "a", "s", "ns", "p", "np", "l", "ge", "le", "g" };

static uint64_t state;
static unsigned ptrs, idxs;	/* sets of registers */
static unsigned reserved;	/* neither written nor chosen in this snippet */
static int depth;		/* of pushes in this snippet */
static int label;
static bool basic;		/* only what Valgrind knows */
static bool timed;		/* a timer ticks */
static bool has_avx, has_avx2, has_bmi, has_avx512;

static unsigned
rnd(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 11) % n);
}

static uint64_t
rnd64(void)
{
	uint64_t v = (uint64_t)rnd(1u << 31) << 32 ^ (uint64_t)rnd(1u << 31) <<
	    16 ^ rnd(1u << 16);

	switch (rnd(5)) {
	case 0:
		return v & 0xff;
	case 1:
		return v | 0xffffffff00000000;
	case 2:
		return (uint64_t)1 << rnd(64);
	default:
		return v;
	}
}

__attribute__((format(printf, 1, 2)))
static void
put(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	putchar('\t');
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
}

static bool
is_in(unsigned set, unsigned r)
{
	return set >> r & 1;
}

/* Any register that may be read. */
static unsigned
src(void)
{
	unsigned r;

	do
		r = rnd(4) == 0 ? (rnd(2) ? 8 : 11) : rnd(NREG);
	while (r == RSP);
	return r;
}

/* A register to be written: it is no pointer and no small number any more. */
static unsigned
dst(void)
{
	unsigned r;

	do {
		r = src();
	} while (is_in(reserved, r) ||
	    (is_in(ptrs, r) && __builtin_popcount(ptrs) < 3));
	ptrs &= ~(1u << r);
	idxs &= ~(1u << r);
	return r;
}

static unsigned
one_of(unsigned set)
{
	unsigned r;

	do
		r = rnd(NREG);
	while (!is_in(set, r));
	return r;
}

/* An operand in memory, of at most 64 bytes, in one of many forms. */
static const char *
mem(void)
{
	static char buf[8][96];
	static unsigned next;
	char *s = buf[next++ % 8];
	int disp = (int)rnd(800) - 400;
	/* after branches there may be no pointer left */
	unsigned form = ptrs != 0 ? rnd(10) : 6 + rnd(2);
	unsigned base = ptrs != 0 ? one_of(ptrs) : RAX;

	if (rnd(3) == 0)
		disp &= ~63;
	if (idxs == 0 && form >= 3 && form <= 5)
		form = 0;
	switch (form) {
	case 3:
		sprintf(s, "[%s+%s*%d%+d]", names[3][base],
		    names[3][one_of(idxs)], 1 << rnd(4), disp);
		break;
	case 4:
		sprintf(s, "[%s+%s*%d%+d]", names[2][base],
		    names[2][one_of(idxs)], 1 << rnd(4), disp);
		break;
	case 5:
		sprintf(s, "[%s*%d+scratch+%d]", names[3][one_of(idxs)],
		    1 << rnd(4), 1024 + disp);
		break;
	case 6:
		sprintf(s, "scratch[rip+%d]", 2048 + disp);
		break;
	case 7:
		sprintf(s, "[scratch+%d]", 2048 + disp);
		break;
	case 8:
		sprintf(s, "fs:[%d]", (disp & ~7) + 1024);
		break;
	case 9:
		sprintf(s, "[rsp%+d]", (int)rnd(64) - 96);
		break;
	default:
		sprintf(s, "[%s%+d]", names[3][base], disp);
		break;
	}
	return s;
}

static int64_t
imm(unsigned size)
{
	int64_t v = (int64_t)rnd64();

	if (rnd(2))
		v = (int8_t)v;
	switch (size) {
	case 0:
		return (int8_t)v;
	case 1:
		return (int16_t)v;
	default:
		return (int32_t)v;
	}
}

static void
gen_alu(void)
{
	static const char *const ops[] = { "add", "adc", "sub", "sbb", "and",
	    "or", "xor", "cmp", "test" };
	unsigned s = rnd(4);
	const char *op = ops[rnd(9)];
	bool locks = strcmp(op, "cmp") != 0 && strcmp(op, "test") != 0;

	switch (rnd(5)) {
	case 0: {
		unsigned r = src();

		put("%s %s, %s", op, names[s][dst()], names[s][r]);
		break;
	}
	case 1: {
		const char *m = mem();

		if (strcmp(op, "test") == 0)
			put("test %s, %s", m, names[s][src()]);
		else
			put("%s %s, %s", op, names[s][dst()], m);
		break;
	}
	case 2:
		put("%s%s %s, %s", locks && rnd(4) == 0 ? "lock " : "", op,
		    mem(), names[s][src()]);
		break;
	case 3:
		put("%s %s, %" PRId64, op, names[s][dst()], imm(s));
		break;
	default:
		put("%s %s %s, %" PRId64, op, sizes[s], mem(), imm(s));
		break;
	}
}

static void
gen_move(void)
{
	unsigned s = rnd(4), r = src();
	const char *m = mem();

	switch (rnd(11)) {
	case 0:
		put("mov %s, %s", names[s][dst()], m);
		break;
	case 1:
		put("mov %s, %s", m, names[s][r]);
		break;
	case 2:
		put("mov %s %s, %" PRId64, sizes[s], m, imm(s));
		break;
	case 3:
		put("movabs %s, %" PRIu64, names[3][dst()], rnd64());
		break;
	case 4:
		put("%s %s, %s %s", rnd(2) ? "movzx" : "movsx",
		    names[2 + rnd(2)][dst()], sizes[rnd(2)], m);
		break;
	case 5:
		put("%s %s, %s", rnd(2) ? "movzx" : "movsx",
		    names[2 + rnd(2)][dst()], names[rnd(2)][r]);
		break;
	case 6:
		put("movsxd %s, dword ptr %s", names[3][dst()], m);
		break;
	case 7:
		put("xchg %s, %s", m, names[s][dst()]);
		break;
	case 8:
		put("%sxadd %s, %s", rnd(2) ? "lock " : "", m,
		    names[s][dst()]);
		break;
	case 9:
		put("lea %s, %s", names[basic ? 3 : 1 + rnd(3)][dst()],
		    m[0] == 'f' ? "[rax+rcx*2]" : m);
		break;
	default: {
		unsigned a = dst();

		put("xchg %s, %s", names[s][a], names[s][dst()]);
		break;
	}
	}
}

static void
gen_unary(void)
{
	static const char *const ops[] = { "inc", "dec", "neg", "not" };
	unsigned s = rnd(4);

	switch (rnd(6)) {
	case 0:
		put("%s%s %s %s", rnd(3) == 0 ? "lock " : "", ops[rnd(4)],
		    sizes[s], mem());
		break;
	case 1:
		put("set%s %s", conds[rnd(16)], names[0][dst()]);
		break;
	case 2:
		put("set%s %s", conds[rnd(16)], mem());
		break;
	case 3:
		put("bswap %s", names[2 + rnd(2)][dst()]);
		break;
	case 4: {
		const char *m = mem();
		unsigned r = src();

		if (rnd(2))
			put("cmov%s %s, %s", conds[rnd(16)],
			    names[1 + rnd(3)][dst()], m);
		else
			put("cmov%s %s, %s", conds[rnd(16)], names[3][dst()],
			    names[3][r]);
		break;
	}
	default:
		put("%s %s", ops[rnd(4)], names[s][dst()]);
		break;
	}
}

static void
gen_shift(void)
{
	static const char *const ops[] = { "shl", "shr", "sar", "rol", "ror",
	    "rcl", "rcr" };
	unsigned s = rnd(4);
	const char *op = ops[rnd(7)];

	switch (rnd(6)) {
	case 0:
		put("%s %s, %u", op, names[s][dst()], rnd(64));
		break;
	case 1:
		put("%s %s, cl", op, names[s][dst()]);
		break;
	case 2:
		put("%s %s %s, %u", op, sizes[s], mem(), rnd(32));
		break;
	case 3:
		put("%s %s %s, cl", op, sizes[s], mem());
		break;
	case 4: {
		unsigned r = src();

		put("%s %s, %s, %u", rnd(2) ? "shld" : "shrd",
		    names[2 + s % 2][dst()], names[2 + s % 2][r], rnd(32));
		break;
	}
	default:
		put("%s %s, %s, cl", rnd(2) ? "shld" : "shrd", mem(),
		    names[2 + s % 2][src()]);
		break;
	}
}

static void
gen_muldiv(void)
{
	unsigned s = 1 + rnd(3), r;

	switch (rnd(6)) {
	case 0:
		put("imul %s, %s", names[s][dst()], mem());
		break;
	case 1:
		r = src();
		put("imul %s, %s, %" PRId64, names[s][dst()], names[s][r],
		    imm(s));
		break;
	case 2:
		put("imul %s, %s %s, %" PRId64, names[s][dst()], sizes[s],
		    mem(), imm(s));
		break;
	case 3:
		if (is_in(ptrs | reserved, RAX) || is_in(ptrs | reserved, RDX))
			break;
		idxs &= ~(1u << RAX | 1u << RDX);
		put("%s %s", rnd(2) ? "mul" : "imul", names[s][src()]);
		break;
	case 4:
		if (is_in(ptrs | reserved, RAX) || is_in(ptrs | reserved, RDX))
			break;
		idxs &= ~(1u << RAX | 1u << RDX);
		put("mul %s %s", sizes[s], mem());
		break;
	default:
		if (is_in(ptrs | reserved, RAX) || is_in(ptrs | reserved, RDX))
			break;
		idxs &= ~(1u << RAX | 1u << RDX);
		do
			r = dst();
		while (r == RAX || r == RDX);
		put("xor edx, edx");
		put("or %s, 1", names[s][r]);
		put("%s %s", rnd(4) ? "div" : "mul", names[s][r]);
		break;
	}
}

static void
gen_bits(void)
{
	static const char *const ops[] = { "bt", "bts", "btr", "btc" };
	static const char *const scans[] = { "bsf", "bsr", "popcnt", "tzcnt",
	    "lzcnt" };
	static const char *const bmi[] = { "andn", "bzhi", "pdep", "pext",
	    "shlx", "sarx", "shrx", "bextr" };
	unsigned s = 1 + rnd(3), r = src(), q = src(), k = rnd(8);

	switch (rnd(has_bmi ? 8 : 4)) {
	case 0:		/* Valgrind does these in memory */
		if (!basic)
			put("%s %s, %s", ops[rnd(4)], names[s][dst()],
			    names[s][r]);
		break;
	case 1:
		put("%s %s %s, %u", ops[rnd(4)], sizes[s], mem(), rnd(64));
		break;
	case 2:
		put("%s %s, %s", scans[rnd(has_bmi ? 5 : 3)],
		    names[s][dst()], mem());
		break;
	case 3:
		put("crc32 %s, %s", names[3][dst()], names[3][r]);
		break;
	case 4:
		if (k == 0 || k == 2 || k == 3)
			put("%s %s, %s, %s", bmi[k], names[3][dst()],
			    names[3][r], rnd(2) ? mem() : names[3][q]);
		else
			put("%s %s, %s, %s", bmi[k], names[3][dst()],
			    rnd(2) ? mem() : names[3][r], names[3][q]);
		break;
	case 5:
		put("rorx %s, %s, %u", names[3][dst()], mem(), rnd(64));
		break;
	case 6:
		put("%s %s, %s", rnd(2) ? "blsr" : "blsi", names[3][dst()],
		    names[3][r]);
		break;
	default:
		if (rnd(2))
			put("movbe %s, %s", names[s][dst()], mem());
		else
			put("%s %s, %s", rnd(2) ? "adcx" : "adox",
			    names[3][dst()], names[3][r]);
		break;
	}
}

static void
gen_stack(void)
{
	switch (rnd(9)) {
	case 0:
	case 1:
		put("push %s", names[3][src()]);
		depth++;
		break;
	case 2:
		put("push %" PRId64, imm(2));
		depth++;
		break;
	case 3:
		put("push qword ptr %s", mem());
		depth++;
		break;
	case 4:
		put("pushfq");
		depth++;
		break;
	case 5:
		if (depth > 0) {
			put("pop %s", names[3][dst()]);
			depth--;
		}
		break;
	case 6:
		if (depth > 0) {
			put("pop qword ptr %s", mem());
			depth--;
		}
		break;
	case 7:
		put("push %s", names[3][src()]);
		put("and qword ptr [rsp], 0x8d5");
		put("popfq");
		break;
	default:
		put("enter %u, 0", 8 + rnd(4) * 8);
		put("mov [rbp-8], %s", names[3][src()]);
		put("leave");
		break;
	}
}

static void
gen_string(void)
{
	static const char *const ops[] = { "movs", "stos", "lods", "cmps",
	    "scas" };
	static const char *const reps[] = { "", "rep ", "repe ", "repne " };
	unsigned op = rnd(5), rep = rnd(3);
	bool down = rnd(4) == 0;
	unsigned used = 1u << RSI | 1u << RDI | 1u << RCX |
	    (op == 2 ? 1u << RAX : 0);

	/* Two pointers must stay; what is reserved must not change. */
	if ((reserved & used) != 0 ||
	    __builtin_popcount(ptrs & ~used) < 1)
		return;
	ptrs &= ~used;
	idxs &= ~used;
	if (basic && (op == 2 || op == 3))
		rep = op == 3;
	if (rep > 0 && op >= 3)
		rep = basic ? 2 : 2 + rnd(2);
	else if (rep > 0)
		rep = 1;
	put("lea rsi, scratch[rip+%u]", 1024 + rnd(1024));
	put("lea rdi, scratch[rip+%u]", 1024 + rnd(1024));
	put("mov ecx, %u", rnd(3) == 0 ? rnd(3) : rnd(40));
	if (down)
		put("std");
	put("%s%s%s%c", !basic && rnd(8) == 0 ? "addr32 " : "", reps[rep], ops[op],
	    "bwdq"[rnd(4)]);
	if (down)
		put("cld");
	/* Both are still somewhere in the middle, cut to 32 bits perhaps. */
	ptrs |= 1u << RSI | 1u << RDI;
}

static void
gen_vector(void)
{
	static const char *const two[] = { "paddd", "psubq", "pxor", "pand",
	    "por", "pcmpeqb", "punpckldq", "pmuludq", "pshufb", "pminub",
	    "pavgb", "packuswb", "paddusw", "pmaddwd", "pcmpgtd", "pmulhw" };
	unsigned a = rnd(16), b = rnd(16), c = rnd(16);
	const char *op = two[rnd(16)];

	switch (rnd(has_avx2 ? 12 : has_avx ? 9 : 6)) {
	case 0:
		put("%s xmm%u, xmm%u", op, a, b);
		break;
	case 1:
		put("movdqu xmm%u, %s", a, mem());
		put("%s xmm%u, xmm%u", op, b, a);
		break;
	case 2:
		put("movups %s, xmm%u", mem(), a);
		break;
	case 3:
		put("movq xmm%u, %s", a, names[3][src()]);
		break;
	case 4:
		put("%s %s, xmm%u", rnd(2) ? "movq" : "pmovmskb",
		    names[3][dst()], a);
		break;
	case 5:
		put("pinsrd xmm%u, %s %s, %u", a, rnd(2) ? "dword ptr" : "",
		    mem(), rnd(4));
		put("pshufd xmm%u, xmm%u, %u", b, a, rnd(256));
		break;
	case 6:
		put("v%s xmm%u, xmm%u, xmm%u", op, a, b, c);
		break;
	case 7:
		put("v%s xmm%u, xmm%u, %s", op, a, b, mem());
		break;
	case 8:
		put("vmovdqu ymm%u, %s", a, mem());
		break;
	case 9:
		put("v%s ymm%u, ymm%u, ymm%u", op, a, b, c);
		break;
	case 10:
		put("v%s ymm%u, ymm%u, %s", op, a, b, mem());
		break;
	default:
		put("vmovups %s, ymm%u", mem(), a);
		break;
	}
}

/* Wide ones, with masks; all that they change is hashed but zmm16 and up. */
static void
gen_vector512(void)
{
	unsigned a = rnd(16), b = rnd(32), k = 1 + rnd(7);

	if (!has_avx512)
		return;
	switch (rnd(5)) {
	case 0:
		put("vpaddd zmm%u{k%u}%s, zmm%u, zmm%u", a, k,
		    rnd(2) ? "{z}" : "", b, a);
		break;
	case 1:
		put("vmovdqu32 zmm%u{k%u}, %s", b, k, mem());
		break;
	case 2:
		put("vmovdqu32 %s{k%u}, zmm%u", mem(), k, a);
		break;
	case 3:
		put("kmovw k%u, %s", k, names[2][src()]);
		break;
	default:
		put("kmovw %s, k%u", names[2][dst()], k);
		break;
	}
}

/* Floating point, of vectors and of the x87 stack, which is empty between. */
static void
gen_float(void)
{
	static const char *const ops[] = { "addsd", "mulps", "subpd", "divss",
	    "sqrtsd", "maxps", "cvtdq2ps", "unpcklpd" };
	static const char *const x87[] = { "fadd", "fmul", "fsub", "fsubr" };
	unsigned a = rnd(16), b = rnd(16);

	switch (rnd(basic ? 4 : 6)) {
	case 0:
		put("%s xmm%u, xmm%u", ops[rnd(8)], a, b);
		break;
	case 1:
		put("cvtsi2sd xmm%u, %s", a, rnd(2) ? names[3][src()] :
		    names[2][src()]);
		break;
	case 2:
		put("cvttsd2si %s, xmm%u", names[3][dst()], a);
		break;
	case 3:
		put("addsd xmm%u, qword ptr %s", a, mem());
		break;
	case 4:
		put("fild qword ptr %s", mem());
		put("%s dword ptr %s", x87[rnd(4)], mem());
		put("fstp qword ptr %s", mem());
		break;
	default:
		put("comisd xmm%u, xmm%u", a, b);
		break;
	}
}

static void
gen_flags(void)
{
	static const char *const ops[] = { "clc", "stc", "cmc", "nop",
	    "xchg ax, ax", "pause", "nop dword ptr [rax+rax*2+0x11]",
	    "prefetcht0 scratch[rip]", "lfence", "cmp rax, rax" };

	switch (rnd(4)) {
	case 0:
		if (!is_in(ptrs | reserved, RAX)) {
			idxs &= ~(1u << RAX);
			put("lahf");
		}
		break;
	case 1:
		put("sahf");
		break;
	default:
		put("%s", ops[rnd(10)]);
		break;
	}
}

/* A register becomes a pointer, or a small number. */
static void
gen_address(void)
{
	unsigned r;

	if (rnd(2) == 0) {
		r = dst();
		if (rnd(3) == 0)
			put("lea %s, scratch[rip+%u]", names[3][r],
			    1500 + rnd(1000));
		else
			put("mov %s, offset scratch+%u", names[2 + rnd(2)][r],
			    1500 + rnd(1000));
		ptrs |= 1u << r;
	} else {
		r = dst();
		if (rnd(2))
			put("mov %s, %u", names[2][r], rnd(20));
		else
			put("and %s, 15", names[3][r]);
		idxs |= 1u << r;
	}
}

static void gen_some(int n);

static unsigned
swap_8_11(unsigned set)
{
	return (set & ~0x900u) | (set >> 8 & 1) << 11 | (set >> 11 & 1) << 8;
}

/* Which subroutine to call; what it does to the registers is done here. */
static unsigned
pick_sub(void)
{
	unsigned s = rnd(4);

	if ((s == 0 && is_in(reserved, RAX)) ||
	    (s == 2 && (reserved & 0x900) != 0))
		s = 1;
	if (s == 2) {
		ptrs = swap_8_11(ptrs);
		idxs = swap_8_11(idxs);
	}
	return s;
}

/* Branches: over some instructions, loops, calls by register and memory. */
static void
gen_flow(void)
{
	int l = label++, d = depth, odd;
	unsigned p, i, r, held = reserved;

	switch (rnd(7)) {
	case 0:
	case 1:		/* what is known on both ways is known behind */
		put("j%s 1%03df", conds[rnd(16)], l);
		p = ptrs, i = idxs;
		gen_some(1 + (int)rnd(4));
		while (depth > d) {
			put("lea rsp, [rsp+8]");
			depth--;
		}
		odd = d - depth;
		if (odd > 0)
			put("lea rsp, [rsp-%d]", 8 * odd);
		depth = d;
		ptrs &= p;
		idxs &= i;
		printf("1%03d:\n", l);
		break;
	case 2:
		r = dst();
		reserved |= 1u << r;
		put("mov %s, %u", names[2][r], 1 + rnd(5));
		printf("1%03d:\n", l);
		put("add dword ptr scratch[rip+%u], 3", 8 * rnd(100));
		put("adc word ptr %s, 1", mem());
		put("dec %s", names[2][r]);
		put("jnz 1%03db", l);
		break;
	case 3:
		r = dst();
		put("lea %s, 1%03df[rip]", names[3][r], l);
		put("jmp %s", names[3][r]);
		put("ud2");
		printf("1%03d:\n", l);
		break;
	case 4:
		r = dst();
		put("lea %s, sub_%u[rip]", names[3][r], pick_sub());
		put("call %s", names[3][r]);
		break;
	case 5:
		put("call qword ptr sub_table[rip+%u]", 8 * pick_sub());
		break;
	default:
		put("call sub_%u", pick_sub());
		break;
	}
	reserved = held;
}

static void
gen_one(void)
{
	/* These leave some flags open, and Valgrind's answer is another. */
	static void (*const open_flags[])(void) = { gen_shift, gen_muldiv,
	    gen_bits };
	static void (*const gens[])(void) = { gen_alu, gen_alu, gen_alu,
	    gen_move, gen_move, gen_move, gen_unary, gen_shift, gen_muldiv,
	    gen_bits, gen_stack, gen_string, gen_vector, gen_vector,
	    gen_vector512, gen_float, gen_flags, gen_address, gen_flow };

	void (*gen)(void);

	if (ptrs == 0 || __builtin_popcount(ptrs) < 2)
		gen_address();
	gen = gens[rnd(sizeof gens / sizeof gens[0])];
	gen();
	for (int i = 0; i < 3; i++)
		if (basic && gen == open_flags[i])
			put("test esp, esp");
}

static void
gen_some(int n)
{
	for (int i = 0; i < n; i++)
		gen_one();
}

static void
snippet(int k)
{
	unsigned p1 = src(), p2;

	do
		p2 = src();
	while (p2 == p1);
	printf("snippet_%d:\n", k);
	ptrs = 1u << p1 | 1u << p2;
	idxs = 0;
	reserved = 0;
	depth = 0;
	for (unsigned r = 0; r < NREG; r++) {
		if (r == RSP)
			continue;
		if (is_in(ptrs, r))
			put("mov %s, offset scratch+%u", names[3][r],
			    1500 + rnd(1000));
		else if (rnd(4) == 0) {
			put("mov %s, %u", names[2][r], rnd(16));
			idxs |= 1u << r;
		} else
			put("movabs %s, %" PRIu64, names[3][r], rnd64());
	}
	put("push %u", (rnd(4096) & 0x8d5) | 0x202);
	put("popfq");
	gen_some(1 + (int)rnd(40));
	put("mov qword ptr resume[rip], offset after_%d", k);
	put("jmp store");
	printf("after_%d:\n", k);
}

static void
prologue(int n, int which)
{
	printf("\t.intel_syntax noprefix\n\t.globl _start\n\t.bss\n"
	    "\t.balign 4096\nscratch:\t.space 4096\nstack:\t.space 2048\n"
	    "stack_top:\t.space 2048\nregs:\t.space 2048\nresume:\t.quad 0\n"
	     "\t.balign 64\nfx:\t.space 512\n"
	    "work:\t.space 4096\nwork_top:\nout:\t.space %d\n"
	    "outp:\t.quad 0\n\t.data\n"
	    "sub_table:\t.quad sub_0, sub_1, sub_2, sub_3\n\t.text\n", 8 * n);
	/* Subroutines that change a few things. */
	printf("sub_0:\tadc rax, 0\n\tret\n"
	    "sub_1:\tadd qword ptr scratch[rip], 0x1234567\n\tret\n"
	    "sub_2:\tpush r8\n\tpush r11\n\tpop r8\n\tpop r11\n"
	    "\tsetc scratch[rip+9]\n\tret\n"
	    "sub_3:\tcmp rcx, rdx\n\tjb 1f\n\tpaddq xmm8, xmm3\n1:\tret\n");
	if (has_avx512)
		puts("\t.set WIDE, 1");
	else
		printf("\t.set WIDE, 0\n\t.set AVX, %d\n", has_avx);
	puts("store:\n\tmov regs[rip+32], rsp\n\tmov rsp, offset work_top\n"
	    "\tpushfq\n\tpop qword ptr regs[rip+128]");
	for (unsigned r = 0; r < NREG; r++)
		if (r != RSP)
			put("mov regs[rip+%u], %s", 8 * r, names[3][r]);
	for (unsigned r = 0; r < 16; r++)
		put(has_avx512 ? "vmovdqu64 regs[rip+%u], zmm%u" : has_avx ?
		    "vmovdqu regs[rip+%u], ymm%u" :
		    "movdqu regs[rip+%u], xmm%u", 256 + 64 * r, r);
	puts(basic ? "\tcld" : "\tcld\n\tfxsave64 fx[rip]");
	if (timed)
		puts("\tcmp qword ptr rounds[rip], 1\n\tje 2f\n"
		    "\tmov rax, regs[rip+136]\n\tmov rdi, 0x100000001b3\n"
		    "\tmov rsi, offset regs\n\tmov ecx, 17\n"
		    "1:\txor rax, [rsi]\n\timul rax, rdi\n\trol rax, 17\n"
		    "\tadd rsi, 8\n\tdec ecx\n\tjnz 1b\n"
		    "\tmov regs[rip+136], rax\n"
		    "\tmov rsp, offset stack_top - 128\n"
		    "\tjmp qword ptr resume[rip]\n2:");
	if (which >= 0)
		printf("\tcmp qword ptr resume[rip], offset after_%d\n"
		    "\tjne 1f\n\tmov edi, 1\n\tmov rsi, offset scratch\n"
		    "\tmov edx, 0x2600\n\tmov eax, 1\n\tsyscall\n"
		    "\tjmp finish\n1:\n", which);
	puts(
	    "\tmov rax, 0xcbf29ce484222325\n"
	    "\tmov rdi, 0x100000001b3\n"
	    "\tmov rsi, offset scratch\n"
	    "\tmov ecx, (4096 + 2048 + 2048 + 2048) / 8\n"
	    "1:\txor rax, [rsi]\n\timul rax, rdi\n\trol rax, 17\n"
	    "\tadd rsi, 8\n\tdec ecx\n\tjnz 1b\n"
	    "\txor rax, fx[rip+32]\n\timul rax, rdi\n"
	    "\txor ax, fx[rip+2]\n"
	    "\tmov rdi, outp[rip]\n\tmov [rdi], rax\n"
	    "\tadd qword ptr outp[rip], 8\n"
	    "\tmov rsp, offset stack_top - 128\n"
	    "\tjmp qword ptr resume[rip]");
}

/* The timer, its handler, and a stack for that. */
static void
timer(void)
{
	printf("\t.data\nrounds:\t.quad %d\nticks:\t.quad 0\n"
	    "altstack:\t.quad handlers, 0, 65536\n"
	    "action:\t.quad handler, 0x1c000000, restorer, 0\n"
	    "every:\t.quad 0, %d, 0, %d\nnever:\t.quad 0, 0, 0, 0\n"
	    "\t.bss\n\t.balign 64\nhandlers:\t.space 65536\n\t.text\n"
	    "handler:\tinc qword ptr ticks[rip]\n\tret\n"
	    "restorer:\tmov eax, 15\n\tsyscall\n", ROUNDS, TICK_US, TICK_US);
}

static void
start_timer(void)
{
	puts("\tmov rdi, offset altstack\n\txor esi, esi\n\tmov eax, 131\n"
	    "\tsyscall\n\tmov edi, 14\n\tmov rsi, offset action\n"
	    "\txor edx, edx\n\tmov r10d, 8\n\tmov eax, 13\n\tsyscall\n"
	    "\txor edi, edi\n\tmov rsi, offset every\n\txor edx, edx\n"
	    "\tmov eax, 38\n\tsyscall\n"
	    "again:\tmov qword ptr outp[rip], offset out");
}

static void
stop_timer(void)
{
	puts("\tdec qword ptr rounds[rip]\n\tjnz again\n"
	    "\txor edi, edi\n\tmov rsi, offset never\n\txor edx, edx\n"
	    "\tmov eax, 38\n\tsyscall");
}

/* adx by its bit: not all compilers have a name for it. */
static void
ask_cpu(void)
{
	unsigned a, b = 0, c, d;
	bool has_adx = __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
	    (b & bit_ADX) != 0;

	has_avx = __builtin_cpu_supports("avx");
	has_avx2 = __builtin_cpu_supports("avx2");
	has_bmi = has_avx2 && !basic && __builtin_cpu_supports("bmi2") &&
	    has_adx;
	has_avx512 = !basic && __builtin_cpu_supports("avx512bw");
}

int
main(int argc, char **argv)
{
	int n;

	basic = argc > 1 && strcmp(argv[1], "-b") == 0;
	timed = argc > 1 && strcmp(argv[1], "-t") == 0;
	argc -= basic || timed;
	argv += basic || timed;
	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: rndasm [-b | -t] seed snippets [which]\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15 + 1;
	n = atoi(argv[2]);
	ask_cpu();
	prologue(n, argc == 4 ? atoi(argv[3]) : -1);
	if (timed)
		timer();
	puts("_start:\n\tmov edi, 0x1002\n\tmov rsi, offset scratch+1024\n"
	    "\tmov eax, 158\n\tsyscall\n"
	    "\tmov qword ptr outp[rip], offset out\n"
	    "\tmov rsp, offset stack_top - 128");
	if (timed)
		start_timer();
	for (int k = 0; k < n; k++)
		snippet(k);
	if (timed)
		stop_timer();
	printf("\tmov edi, 1\n\tmov rsi, offset out\n\tmov edx, %d\n"
	    "\tmov eax, 1\n\tsyscall\nfinish:\txor edi, edi\n\tmov eax, 231\n"
	    "\tsyscall\n\t.section .note.GNU-stack, \"\", @progbits\n", 8 * n);
	return ferror(stdout) != 0;
}
