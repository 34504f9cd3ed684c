/*
 * encodings - execute instructions of all encodings, and tell what each did
 *
 *	encodings legacy|vex|evex N K [WHICH]
 *
 * Of the encodings, which are numbered, those that are K modulo N; or only
 * number WHICH.  A line has the number, a hash of what the instruction left, and
 * its bytes: the signal, where it came, the registers, memory, and the stack.
 *
 * A trap comes before each, whose handler sets the registers, and one behind it.
 * What the processor refuses ends in a signal as well.  Left out are those that
 * tell the time, wait, enter the kernel, or change what this program stands on.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PAGE 4096
#define SEEN 0xcd5u	/* of the flags: DF, too */

static const int reg[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP,
    REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12,
    REG_R13, REG_R14, REG_R15 };

static uint8_t *code, *data, *stack;	/* stack: its middle */
static uint64_t first[16];		/* registers before */
static uint8_t vector[256];
static bool begun;
static sigjmp_buf done;
static uint64_t hash, seed;

static void
mix(const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ b[i]) * 1099511628211u;
}

static uint64_t
next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void
begin(greg_t *g, struct _libc_fpstate *f)
{
	for (int i = 0; i < 16; i++)
		g[reg[i]] = (greg_t)first[i];
	g[REG_RIP] = (greg_t)code;
	g[REG_EFL] = 0x202;
	memcpy(f->_xmm, vector, sizeof vector);
	f->mxcsr = 0x1f80;
	begun = true;
}

/* What a fault leaves in the flags may differ: see trace(1). */
static void
mix_all(int sig, const siginfo_t *info, const greg_t *g,
    const struct _libc_fpstate *f)
{
	uint64_t pc = (uint64_t)g[REG_RIP] - (uint64_t)code;
	uint64_t flags = g[REG_EFL] & SEEN;
	uint64_t where = sig == SIGTRAP ? 0 : (uint64_t)info->si_addr;

	mix(&sig, sizeof sig);
	mix(&info->si_code, sizeof info->si_code);
	mix(&pc, sizeof pc);
	mix(&where, sizeof where);
	for (int i = 0; i < 16; i++)
		mix(&g[reg[i]], 8);
	if (sig == SIGTRAP)
		mix(&flags, sizeof flags);
	mix(f->_xmm, sizeof f->_xmm);
	mix(f->_st, sizeof f->_st);
	mix(&f->mxcsr, sizeof f->mxcsr);
	mix(data, 1024);
	mix(stack - 512, 1024);
}

/*
 * Where the stack pointer has become no address, of 48 bits, some hypervisors
 * now and then make a SIGILL of any of the instructions behind: it is all that
 * counts.
 */
static void
take(int sig, const siginfo_t *info, const greg_t *g,
    const struct _libc_fpstate *f)
{
	greg_t sp = g[REG_RSP];

	hash = 14695981039346656037u;
	if (sp >> 47 == 0 || sp >> 47 == -1)
		mix_all(sig, info, g, f);
	else
		mix(&sp, sizeof sp);
}

static void
handler(int sig, siginfo_t *info, void *u)
{
	mcontext_t *m = &((ucontext_t *)u)->uc_mcontext;

	if (!begun) {
		begin(m->gregs, m->fpregs);
		return;
	}
	take(sig, info, m->gregs, m->fpregs);
	siglongjmp(done, 1);
}

/* Pointers in registers that are bases, small numbers in those that count. */
static void
prepare(uint64_t number)
{
	uint64_t x;

	seed = number * 0x9e3779b97f4a7c15u | 1;
	for (int i = 0; i < 5; i++)
		next();
	for (int i = 0; i < 16; i++)
		first[i] = i & 1 ? next() & 0xff : next();
	for (unsigned i = 0; i < sizeof vector; i += 8) {
		x = next() & 0x3fff3fff3fff3fffu;
		memcpy(vector + i, &x, 8);
	}
	for (int i = 0; i < 1024; i += 8) {
		x = next() & 0x3fff3fff3fff3fffu;
		memcpy(data + i, &x, 8);
	}
	first[0] = (uint64_t)data;
	first[1] = 5;
	first[4] = (uint64_t)stack;
	first[5] = (uint64_t)data + 128;
	first[6] = (uint64_t)data + 256;
	first[7] = (uint64_t)data + 512;
	first[8] = (uint64_t)data + 64;
	first[12] = (uint64_t)data + 192;
	first[13] = (uint64_t)data + 96;
	memset(stack - 512, 0x55, 1024);
	for (int i = 0; i < 3; i++) {	/* where what is taken from there leads */
		x = (uint64_t)code + 200 + 20 * (uint64_t)i;
		memcpy(i == 0 ? stack : data + 64 * (i - 1), &x, 8);
	}
}

static uint64_t number, every, rest, only;	/* only: WHICH, or 0 */

static void
execute(const uint8_t *b, unsigned n)
{
	uint32_t mxcsr = 0x1f80;

	number++;
	if (only != 0 ? number != only : number % every != rest)
		return;
	prepare(number);
	memset(code, 0xcc, 64);
	memcpy(code, b, n);
	begun = false;
	if (sigsetjmp(done, 1) == 0)
		__asm__ volatile("int3");
	__asm__ volatile("fninit; ldmxcsr %0; cld" : : "m"(mxcsr));
	printf("%lu %016lx", number, hash);
	for (unsigned i = 0; i < n; i++)
		printf(" %02x", b[i]);
	putchar('\n');
}

/* ---- encodings ---- */

/*
 * Operands: two registers, a register and memory, memory with base and index;
 * displacement 16, or 1 for EVEX, which scales it.  Immediates are 3, 0, 0, 0.
 */
static void
operands(uint8_t *b, unsigned n, unsigned r, unsigned form, unsigned disp)
{
	if (form == 0) {
		b[n++] = (uint8_t)(0xc2 | r << 3);
	} else if (form == 1) {
		b[n++] = (uint8_t)(r << 3);
	} else {
		b[n++] = (uint8_t)(0x44 | r << 3);
		b[n++] = 0x08;
		b[n++] = (uint8_t)disp;
	}
	b[n] = 3;
	memset(b + n + 1, 0, 4);
	execute(b, n + 5);
}

/* An instruction without operands is followed by what is a prefix of fs. */
#define HAS_FS(r, form) ((r) == 4 && (form) == 2)

static bool
is_in(unsigned op, const uint8_t *list, size_t n)
{
	return memchr(list, (int)op, n) != NULL;
}

/* Prefixes, and what changes segments, privileges or the trap flag. */
static const uint8_t one_byte[] = { 0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x40, 0x41,
	0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d,
	0x4e, 0x4f, 0x62, 0x64, 0x65, 0x66, 0x67, 0x8e, 0x8f, 0x9a, 0x9d, 0xc4,
	0xc5, 0xca, 0xcb, 0xcd, 0xcf, 0xe4, 0xea, 0xf0, 0xf2, 0xf3 };
/* System calls, time, random numbers, cpuid, segments, xstate. */
static const uint8_t two_bytes[] = { 0x00, 0x01, 0x05, 0x07, 0x31, 0x33, 0x34,
	0x35, 0x38, 0x3a, 0xa1, 0xa2, 0xa9, 0xae, 0xb2, 0xb4, 0xb5, 0xc7 };

/*
 * What these do with a prefix is the processor's own, and no compiler writes
 * them: AMD's take 66 for a target of 16 bits, and rep for the kind of loop.  A
 * call that faults leaves its return address, or not.
 */
static bool
is_odd(unsigned map, unsigned op, unsigned r, bool prefixed)
{
	bool branch = map == 0 ? (op >= 0x70 && op < 0x80) ||
	    (op >= 0xe0 && op <= 0xe3) || op == 0xe8 || op == 0xe9 ||
	    op == 0xeb || op == 0xc2 || op == 0xc3 :
	    map == 1 && op >= 0x80 && op < 0x90;

	return (branch && prefixed) ||
	    (map == 0 && op == 0xff && r >= 2 && r <= 5);
}

static void
legacy(unsigned map, const char *prefix, unsigned rex, unsigned op)
{
	uint8_t b[24];
	unsigned n;

	if (map == 0 ? is_in(op, one_byte, sizeof one_byte) :
	    map == 1 && is_in(op, two_bytes, sizeof two_bytes))
		return;
	for (unsigned form = 0; form < 3; form++)
		for (unsigned r = 0; r < 8; r++) {
			if (HAS_FS(r, form) || is_odd(map, op, r, *prefix != 0))
				continue;
			n = (unsigned)strlen(prefix);
			memcpy(b, prefix, n);
			if (rex != 0)
				b[n++] = (uint8_t)rex;
			if (map != 0)
				b[n++] = 0x0f;
			if (map > 1)
				b[n++] = map == 2 ? 0x38 : 0x3a;
			b[n++] = (uint8_t)op;
			operands(b, n, r, form, 16);
		}
}

static void
all_legacy(void)
{
	static const char *const prefix[] = { "", "\x66", "\xf3", "\xf2",
		"\x66\xf3", "\x67" };
	static const uint8_t rex[] = { 0, 0x48, 0x45, 0x4d, 0x47, 0x44 };

	for (unsigned map = 0; map < 4; map++)
		for (unsigned p = 0; p < 6; p++)
			for (unsigned x = 0; x < 6; x++)
				for (unsigned op = 0; op < 256; op++)
					legacy(map, prefix[p], rex[x], op);
}

/* bits: of the prefix, from the lowest: L, vvvv, pp, W, R X B */
static void
vex(unsigned map, unsigned bits, unsigned op)
{
	static const uint8_t vvvv[] = { 0x78, 0x38, 0x40, 0x00 };
	uint8_t b[24] = { 0xc4, (uint8_t)((bits & 64 ? 0x40 : 0xe0) | map),
	    (uint8_t)((bits & 32) << 2 | vvvv[bits >> 1 & 3] | (bits & 1) << 2 |
	    (bits >> 3 & 3)), (uint8_t)op };

	for (unsigned form = 0; form < 3; form++)
		for (unsigned r = 0; r < 8; r++)
			if (!HAS_FS(r, form))
				operands(b, 4, r, form, 16);
}

/* The same, with vvvv of one bit; then LL, the broadcast, and the mask. */
static void
evex(unsigned map, unsigned bits, unsigned op)
{
	uint8_t b[24] = { 0x62, (uint8_t)((bits & 16 ? 0x40 : 0xf0) | map),
	    (uint8_t)((bits & 8) << 4 | (bits & 1 ? 0x38 : 0x78) | 4 |
	    (bits >> 1 & 3)), (uint8_t)((bits >> 5 & 7) << 4 | 8 |
	    (bits >> 8 & 1)), (uint8_t)op };

	for (unsigned form = 0; form < 3; form++)
		for (unsigned r = 1; r < 8; r += 5)
			operands(b, 5, r, form, 1);
}

static void
all_vex(void)
{
	for (unsigned map = 1; map < 4; map++)
		for (unsigned bits = 0; bits < 128; bits++)
			for (unsigned op = 0; op < 256; op++)
				vex(map, bits, op);
}

static void
all_evex(void)
{
	for (unsigned map = 1; map < 7; map++)
		for (unsigned bits = 0; map != 4 && bits < 512; bits++)
			for (unsigned op = 0; op < 256; op++)
				evex(map, bits, op);
}

/* ---- */

/* Fixed places, so that addresses are the same in each run. */
static uint8_t *
place(uintptr_t at, int prot)
{
	void *p = mmap((void *)at, 2 * PAGE, prot, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (p == MAP_FAILED)
		exit(99);
	return p;
}

static void
catch_all(void)
{
	static const int sigs[] = { SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE };
	struct sigaction act = { .sa_flags = SA_SIGINFO | SA_ONSTACK |
	    SA_NODEFER, .sa_sigaction = handler };
	stack_t alt = { .ss_sp = malloc(1 << 20), .ss_size = 1 << 20 };

	sigaltstack(&alt, NULL);
	for (unsigned i = 0; i < sizeof sigs / sizeof sigs[0]; i++)
		sigaction(sigs[i], &act, NULL);
}

int
main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	every = strtoul(argv[2], NULL, 10);
	rest = strtoul(argv[3], NULL, 10);
	only = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
	catch_all();
	code = place(0x10000000, PROT_READ | PROT_WRITE | PROT_EXEC);
	memset(code, 0xcc, 2 * PAGE);
	data = place(0x20000000, PROT_READ | PROT_WRITE);
	stack = place(0x30000000, PROT_READ | PROT_WRITE) + PAGE;
	if (argv[1][0] == 'l')
		all_legacy();
	else if (argv[1][0] == 'v')
		all_vex();
	else
		all_evex();
	return 0;
}
