/*
 * filter - what a seccomp filter says, which the program is about to install
 *
 * A filter is a program of the classic BPF, run by the kernel for each system
 * call: on its number, its arguments and the instruction pointer.  Jumps go
 * forward only.  Where the runtime waits it would call futex and sched_yield,
 * so the filter is run for them here, with all that is not known left unknown:
 *
 *	ld [0]			a = 202, the number
 *	jeq #202, 0, 2		goes on at the next one
 *	ld [24]			a = FUTEX_WAIT, the lower half of argument 1
 *	jeq #0, 1, 0		goes to the last one
 *	ret #0x50000
 *	ret #0x7fff0000		permitted
 *
 * A jump that depends on what is unknown, as the word's address, forbids.
 */
#include "runtime.h"

#define X86_64 0xc000003eu	/* AUDIT_ARCH_X86_64 */
#define PERMITTED 0x7fff0000u	/* SECCOMP_RET_ALLOW */
#define MODE_FILTER 2u
#define NMEM 16u		/* words of scratch memory */

struct bpf {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

struct program {
	uint16_t len, pad[3];
	uint64_t at;
};

/* A register or a word of the scratch memory. */
struct value {
	uint32_t v;
	bool known;
};

struct machine {
	struct value a, x, mem[NMEM];
	uint32_t nr, op;	/* the call; of futex, what it does */
};

/* Read the filter that a call installs; false: it installs none. */
static bool
read_program(const struct tarea *t, uint64_t nr, struct program *p)
{
	uint64_t how = nr == __NR_seccomp ? (uint32_t)t->gpr[7] + 1u :
	    t->gpr[6];

	if (nr != __NR_seccomp && (nr != __NR_prctl ||
	    (uint32_t)t->gpr[7] != PR_SET_SECCOMP))
		return false;
	return how == MODE_FILTER &&
	    rt_copy(p, (void *)t->gpr[2], sizeof *p) == 0;
}

static bool
read_insn(const struct program *p, uint32_t i, struct bpf *f)
{
	return i < p->len &&
	    rt_copy(f, (void *)(p->at + i * sizeof *f), sizeof *f) == 0;
}

bool
filter_reads_pc(const struct tarea *t, uint64_t nr)
{
	struct program p;
	struct bpf f;
	uint32_t i;

	if (!read_program(t, nr, &p))
		return false;
	for (i = 0; read_insn(&p, i, &f); i++)
		/* ld of a word of struct seccomp_data */
		if (f.code == 0x20 && (f.k == 8 || f.k == 12))
			return true;
	return false;
}

/* A word of struct seccomp_data. */
static struct value
data(const struct machine *m, uint32_t at)
{
	switch (at) {
	case 0:
		return (struct value){ m->nr, true };
	case 4:
		return (struct value){ X86_64, true };
	case 24:
		return (struct value){ m->op, m->nr == __NR_futex };
	case 28:
		return (struct value){ 0, m->nr == __NR_futex };
	default:
		return (struct value){ 0, false };
	}
}

/* What a load loads; code: without its class. */
static struct value
loaded(const struct machine *m, const struct bpf *f)
{
	switch (f->code & 0xf8) {
	case 0x00:
		return (struct value){ f->k, true };
	case 0x20:
		return data(m, f->k);
	case 0x60:
		return m->mem[f->k % NMEM];
	case 0x80:		/* the length of the data */
		return (struct value){ 64, true };
	default:
		return (struct value){ 0, false };
	}
}

static struct value
operand(const struct machine *m, const struct bpf *f)
{
	return f->code & 8 ? m->x : (struct value){ f->k, true };
}

static struct value
computed(const struct machine *m, const struct bpf *f)
{
	struct value b = operand(m, f), r = m->a;

	r.known &= b.known;
	switch (f->code & 0xf0) {
	case 0x00: r.v += b.v; break;
	case 0x10: r.v -= b.v; break;
	case 0x20: r.v *= b.v; break;
	case 0x40: r.v |= b.v; break;
	case 0x50: r.v &= b.v; break;
	case 0x60: r.v <<= b.v & 31; break;
	case 0x70: r.v >>= b.v & 31; break;
	case 0x80: r.v = -r.v; r.known = m->a.known; break;
	case 0xa0: r.v ^= b.v; break;
	default: r.known = false; break;
	}
	return r;
}

/* How many instructions a jump leaves out; ~0: it is not known. */
static uint32_t
jump(const struct machine *m, const struct bpf *f)
{
	struct value b = operand(m, f);
	uint32_t a = m->a.v;
	bool is;

	if ((f->code & 0xf0) == 0)
		return f->k;
	if (!m->a.known || !b.known)
		return ~0u;
	switch (f->code & 0xf0) {
	case 0x10: is = a == b.v; break;
	case 0x20: is = a > b.v; break;
	case 0x30: is = a >= b.v; break;
	case 0x40: is = (a & b.v) != 0; break;
	default: return ~0u;
	}
	return is ? f->jt : f->jf;
}

/* Do an instruction that is neither a jump nor a return. */
static void
step(struct machine *m, const struct bpf *f)
{
	switch (f->code & 7) {
	case 0:
		m->a = loaded(m, f);
		break;
	case 1:
		m->x = loaded(m, f);
		break;
	case 2:
		m->mem[f->k % NMEM] = m->a;
		break;
	case 3:
		m->mem[f->k % NMEM] = m->x;
		break;
	case 4:
		m->a = computed(m, f);
		break;
	default:
		if (f->code & 0x80)
			m->a = m->x;
		else
			m->x = m->a;
		break;
	}
}

/* Does it permit the call, whatever its arguments, but futex's operation? */
static bool
permits(const struct program *p, uint32_t nr, uint32_t op)
{
	struct machine m;
	struct value r;
	struct bpf f;
	uint32_t i, skip;

	memset(&m, 0, sizeof m);
	m.a.known = m.x.known = true;
	m.nr = nr;
	m.op = op;
	for (i = 0; read_insn(p, i, &f); i++) {
		if ((f.code & 7) == 6) {
			r = (f.code & 0x18) == 0x10 ? m.a :
			    (struct value){ f.k, true };
			return r.known && (r.v & 0xffff0000) == PERMITTED;
		}
		if (f.code == 0x3c && (!m.x.known || m.x.v == 0))
			return false;	/* a division by 0 ends it */
		if ((f.code & 7) != 5) {
			step(&m, &f);
			continue;
		}
		skip = jump(&m, &f);
		if (skip >= p->len)
			return false;
		i += skip;
	}
	return false;
}

bool
filter_permits_futex(const struct tarea *t, uint64_t nr)
{
	struct program p;

	return read_program(t, nr, &p) &&
	    permits(&p, __NR_futex, FUTEX_WAIT) &&
	    permits(&p, __NR_futex, FUTEX_WAKE);
}

bool
filter_permits_yield(const struct tarea *t, uint64_t nr)
{
	struct program p;

	return read_program(t, nr, &p) && permits(&p, __NR_sched_yield, 0);
}
