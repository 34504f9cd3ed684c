/*
 * state - find the guest's state at any address of the code cache
 *
 * Each fragment has map entries in order of their cache offset.  The last one
 * at or before an address says how many guest instructions are done, which
 * registers are at home, and whether the exit has been recorded.  Taking the
 * state also records what ran so far: a prefix of the block, or the exit whose
 * record was unfinished.
 */
#include "runtime.h"

bool
state_in_cache(uint64_t pc)
{
	return pc - rt.zone[0] < rt.zonesize[0] ||
	    pc - rt.zone[1] < rt.zonesize[1];
}

static uint32_t
find_fragment(unsigned z, uint32_t off)
{
	uint32_t lo = 0, hi = rt.ctl->nfrag[z], mid;
	const struct fragmeta *f = rt.frags[z];

	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (f[mid].code <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Which registers are at home now; returns the end of what tells it. */
static const uint8_t *
next_homed(const uint8_t *p, struct mapent *m, unsigned more)
{
	if (more & MAP_ONE) {
		m->homed ^= (uint16_t)(1u << (more >> MAP_ONE_SHIFT & 15));
	} else if (more & MAP_HOMED) {
		m->homed = (uint16_t)(p[0] | p[1] << 8);
		p += 2;
	} else if (more & MAP_TOGGLE) {
		m->homed ^= (uint16_t)(1u << (*p & 15) | 1u << (*p >> 4));
		p++;
	}
	return p;
}

/* Make of *m the entry behind it, which begins at p; returns the end. */
static const uint8_t *
next_entry(const struct fragmeta *f, const uint8_t *p, struct mapent *m)
{
	unsigned head = *p++, more = 0, far;
	bool exits;

	m->off = (uint16_t)(m->off + (head & MAP_STEP));
	if (head & MAP_FAR) {
		far = *p++;
		m->off = (uint16_t)(m->off + ((far & (MAP_FARTHER - 1)) << 4));
		if (far & MAP_FARTHER)
			m->off = (uint16_t)(m->off + (*p++ << 11));
	}
	if (head & MAP_LAST)
		((uint8_t *)m)[7] = *p++;
	exits = map_has_exit(m->kind);
	m->n = (uint8_t)(m->n + (head & MAP_NEXT && !exits));
	m->exit = (uint8_t)(m->exit + (head & MAP_NEXT && exits));
	if (head & MAP_MORE)
		more = *p++;
	if (more & MAP_N)
		m->n = *p++;
	if (more & MAP_LOC)
		m->loc = *p++;
	if (more & MAP_EXITNO)
		m->exit = *p++;
	if (exits)
		m->n = rt.exits[f->exit + m->exit].n;
	return next_homed(p, m, more);
}

/* The entries of a fragment, one by one: each(&e) gives the next, *e.m. */
struct entries {
	const struct fragmeta *f;
	const uint8_t *p;
	unsigned i, n;		/* of so many */
	struct mapent m;
};

static struct entries
entries_of(const struct fragmeta *f)
{
	struct entries e = { .f = f, .p = rt.maps + f->map, .m = MAP_BEFORE };

	e.n = f->nmap & ~(MAP_ENTRY | MAP_ENTRY31);
	e.n += f->nmap == e.n ? 0 : NMAP_ENTRY;
	return e;
}

/* false: there is no other one. */
static bool
each(struct entries *e)
{
	unsigned which = e->f->nmap & (MAP_ENTRY | MAP_ENTRY31);

	if (e->i == e->n)
		return false;
	if (which != 0 && e->i < NMAP_ENTRY)
		e->m = map_entry(which, e->i);
	else
		e->p = next_entry(e->f, e->p, &e->m);
	e->i++;
	return true;
}

/* The last entry at or before an offset; the first if there is none. */
static struct mapent
find_entry(const struct fragmeta *f, uint32_t off)
{
	struct entries e = entries_of(f);
	struct mapent m = MAP_BEFORE;

	while (each(&e) && (e.i == 1 || e.m.off <= off))
		m = e.m;
	return m;
}

/*
 * Look-ups begin at an offset from code: where that which has another offset,
 * or the last one before it, goes on.
 */
static uint32_t
look_goes_on(uint64_t code, uint32_t at, uint32_t off)
{
	const uint32_t *asked;
	uint32_t next = at;

	do {
		at = next;
		asked = (const uint32_t *)(code + at);
		next += look_fetch_bytes(asked[1]);
	} while (next <= off);
	return at + (uint32_t)((int32_t)asked[1] >> 16);
}

/* The same of data. */
static uint32_t
look_data_goes_on(uint64_t code, uint32_t at, uint32_t off)
{
	int32_t place;

	at += (off - at) / LOOK_DATA_BYTES * LOOK_DATA_BYTES;
	memcpy(&place, (const void *)(code + at + LOOK_DATA_ENTRY),
	    sizeof place);
	return (uint32_t)((uint64_t)(int64_t)place + rt.place[place < 0] -
	    code);
}

/* The state at an offset from code, where the fragment begins. */
static struct mapent
find_map(const struct fragmeta *f, uint64_t code, uint32_t off)
{
	struct mapent m = find_entry(f, off);

	if (m.kind == MAP_BACK && m.counted == MAP_LOOKS)
		m = find_entry(f, m.rep == 0 ? look_goes_on(code, m.off, off) :
		    look_data_goes_on(code, m.off, off));
	return m;
}

struct cache_place {
	const struct fragmeta *f;
	struct mapent m;
};

static struct cache_place
find(uint64_t ip)
{
	unsigned z = ip - rt.zone[0] < rt.zonesize[0] ? 0 : 1;
	uint32_t off = (uint32_t)(ip - rt.zone[z]);
	struct cache_place p;

	p.f = rt.frags[z] + find_fragment(z, off);
	p.m = find_map(p.f, rt.zone[z] + p.f->code, off - p.f->code);
	return p;
}

/* The i-th 4 bits from p on. */
static uint32_t
nibble(const uint8_t *p, unsigned i)
{
	return p[i / 2] >> i % 2 * 4 & 15;
}

/* The guest pc of the fragment's instruction n, from 0. */
static uint64_t
pc_of(const struct fragmeta *f, unsigned n)
{
	const uint8_t *p = rt.maps + f->map + f->pcs;
	uint64_t pc = f->pc;
	unsigned i = 0, k;
	uint64_t d;

	for (; n > 0; n--) {
		d = nibble(p, i++);
		for (k = d == 0 ? 0 : PC_BITS; k < PC_BITS; k += 4)
			d |= (uint64_t)nibble(p, i++) << k;
		pc += (uint64_t)((int64_t)(d << (64 - PC_BITS)) >>
		    (64 - PC_BITS));
	}
	return pc;
}

/*
 * Is it an instruction of ours?  Ours use a stolen register as base, which no
 * instruction of the guest's does here, or read the guest's code.
 */
bool
state_is_ours(const struct kucontext *uc)
{
	const uint8_t *p = (const uint8_t *)uc->rip;
	unsigned base;

	if (find(uc->rip).m.rep == REP_CHECK)
		return true;
	while (*p == 0x66 || *p == 0x67 || *p == 0xf2 || *p == 0xf3)
		p++;
	if ((*p & 0xf1) != 0x41)	/* a REX prefix with its B bit */
		return false;
	p += p[1] == 0x0f ? 3 : 2;
	if (*p >> 6 == 3)
		return false;
	base = 8u + ((*p & 7) == 4 ? p[1] & 7u : *p & 7u);
	return (base == REG_P && !p_is_guests()) || base == REG_T;
}

static const uint8_t order[16] = {
	/* gpr number -> index of its word behind kucontext.r8 */
	13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7
};

static uint64_t *
reg_of(struct kucontext *uc, unsigned r)
{
	return &uc->r8 + order[r];
}

static void
take_registers(struct tarea *t, struct kucontext *uc, const struct mapent *m)
{
	unsigned r, p = m->loc & 15, h = m->loc >> 4;

	for (r = 0; r < 16; r++)
		if ((r != REG_P || p_is_guests()) && r != REG_T &&
		    !(m->homed >> r & 1))
			t->gpr[r] = *reg_of(uc, r);
	if (m->homed & (RSP_IN_RDX | RSP_IN_RAX))
		t->gpr[4] = m->homed & RSP_IN_RAX ? uc->rax : uc->rdx;
	if (p != REG_P)
		t->gpr[REG_P] = *reg_of(uc, p);
	if (h != REG_T)
		t->gpr[REG_T] = *reg_of(uc, h);
}

/* So many instructions more, or less, for an interval's end, or --for. */
static void
count_down(struct tarea *t, uint64_t n)
{
	if (t->skips || (rt.boot.countbytes != 0 && !p_is_kept()))
		t->p -= n;
	else if (rt.boot.countbytes != 0)
		t->left -= n;
}

/* One more, or less, for exit x, unless its counter is another's by now. */
static void
count_one(struct tarea *t, const struct exitmeta *x, int64_t times)
{
	uint64_t *c = (uint64_t *)((uint64_t)t + T_BIAS + (int64_t)T_COUNT);
	uint32_t counter = x->id;

	count_down(t, x->n * (uint64_t)times);
	contexts_cost(t, x->n, x->refs, 0, times);
	if (rt.boot.countbytes == 0 || t->skips ||
	    t->renewed != __atomic_load_n(&rt.ctl->renewed, __ATOMIC_SEQ_CST))
		return;
	counters_room(t, counter + 1ull);
	c[counter] += (uint64_t)times;
}

/*
 * trace has counted them; and, kind cache, the record of a repeated one that
 * was cut.
 */
static void
tell_counted(struct tarea *t, uint64_t n, uint64_t rounds)
{
	uint32_t head = (uint32_t)t->slot->ret[1];
	uint32_t countat = (uint32_t)(t->slot->ret[1] >> 32);
	uint64_t refs = t->slot->ret[0];
	unsigned size = record_size(record_nvalues(head));

	count_down(t, n);
	contexts_cost(t, n, (uint8_t [2]){ (uint8_t)refs,
	    (uint8_t)(refs >> 8) }, 0, 1);
	if (t->bufend == 0)
		return;
	table_empty(t);
	if (head == 0 || rounds == 0)
		return;
	contexts_tell(t, 0);
	buffer_room(t, size);
	memcpy((void *)(t->p + 4), t->vec, size - 4);
	memcpy((void *)(t->p + countat), &rounds, 8);
	*(volatile uint32_t *)t->p = head;
	t->p += size;
}

/*
 * Tell the first n instructions of a block.  The thread counts as outside of
 * the cache while it asks: whoever answers may be waiting for that.
 */
static void
tell_prefix(struct tarea *t, uint32_t block, const struct mapent *m,
    uint64_t rounds)
{
	uint64_t arg[4] = { block, m->n, m->rep, 0 };
	uint32_t id, step, countat, most;

	if (m->rep == 1 && rounds != 0)
		arg[1]++;
	if (t->skips) {
		t->p -= arg[1];
		return;
	}
	__atomic_store_n(&t->slot->incache, 0, __ATOMIC_SEQ_CST);
	if (ask(t, REQ_PARTIAL, arg) < 0)
		return;
	id = (uint32_t)t->slot->ret[0];
	step = t->slot->ret[1] & 0xffff;
	countat = t->slot->ret[1] >> 16 & 0xffff;
	most = (uint32_t)(t->slot->ret[1] >> 32);
	if (rt.boot.countbytes != 0) {
		tell_counted(t, arg[1], rounds);
		return;
	}
	if (t->bufend == 0)
		return;
	if (id != 0) {
		buffer_room(t, step);
		if (m->rep != 0 && rounds != 0)
			memcpy((void *)(t->p + countat), &rounds, 8);
		*(volatile uint32_t *)t->p = record_head(id, (step - 4) / 8);
		t->p += step;
		most -= step;
	}
	if (t->p + most > t->bufend)
		most = (uint32_t)(t->bufend - t->p);
	memset((void *)t->p, 0, most);
}

static void
tell_exit(struct tarea *t, const struct exitmeta *x)
{
	unsigned size = record_size(record_nvalues(x->id));

	if (x->n == 0)
		return;
	if (t->bufend == 0 || rt.boot.countbytes != 0) {
		count_one(t, x, 1);
		return;
	}
	buffer_room(t, size);
	*(volatile uint32_t *)t->p = x->id;
	t->p += size;
}

/* What is left of a repeated instruction's count: rcx, or its low half. */
static uint64_t
rounds_left(const struct tarea *t)
{
	return t->gpr[1] > t->tmp2 ? (uint32_t)t->gpr[1] : t->gpr[1];
}

static uint64_t
rounds_done(struct tarea *t, const struct mapent *m)
{
	uint64_t n;

	if (m->rep == 0 || m->rep == REP_CHECK)
		return 0;
	n = t->tmp2 - rounds_left(t);
	return t->df ? -n : n;
}

/*
 * The whole count of the repeated instruction has been added to its counter;
 * take off what it has not done, and the execution with none if it has not
 * begun.  No counter is freed before the thread has left the cache.
 */
static void
uncount_rounds(struct tarea *t, const struct mapent *m)
{
	uint64_t *c = (uint64_t *)((uint64_t)t + T_BIAS + (int64_t)T_COUNT) +
	    (t->tmp0 & (NIDS - 1));

	contexts_rounds(t, m, rounds_left(t));
	if (m->kind == MAP_ROUNDS && m->counted)
		return;
	c[0] -= rounds_left(t);
	if (m->rep == 1 && t->tmp2 == 0)
		c[1]--;
}

/* Interrupted while the rounds are being counted: now they are not. */
static void
settle_rounds(struct tarea *t, struct mapent *m)
{
	uint8_t rep = m->counted ? 2 : 1;

	if (m->kind != MAP_ROUNDS)
		return;
	uncount_rounds(t, m);
	m->kind = MAP_BODY;
	m->rep = rep & 3;
	m->counted = 0;
}

/*
 * Exit x was told whole, but n of its instructions are done: take that back
 * and tell those.  Nothing was recorded or published since.
 */
static void
untell(struct tarea *t, const struct exitmeta *x, unsigned n)
{
	struct mapent m;

	memset(&m, 0, sizeof m);
	m.n = (uint8_t)n;
	if (x->n == 0)
		return;
	if (t->bufend == 0 || rt.boot.countbytes != 0) {
		count_one(t, x, -1);
	} else {
		t->p -= record_size(record_nvalues(x->id));
		*(volatile uint32_t *)t->p = 0;
	}
	tell_prefix(t, x->block, &m, 0);
}

/* Record all but its last instruction instead. */
void
state_untell(struct tarea *t, const struct exitmeta *x)
{
	untell(t, x, x->n - 1);
}

/* Does the runtime do what the last instruction does, behind the exit? */
bool
state_is_outside(const struct exitmeta *x)
{
	return x->kind == EXIT_SYSCALL || (x->kind == EXIT_EMULATE &&
	    !emulated_inside(x->emulate));
}

/*
 * The guest's pc for an address that the x87 unit remembers; the address
 * itself where it is not in the cache, or no longer.  lo: some bits of it
 * only, those of `bits`.
 */
static uint64_t
fp_pc(const struct tarea *t, uint64_t lo, uint64_t bits)
{
	uint64_t ip = lo, pc;
	struct cache_place p;
	unsigned z;

	for (z = 0; z < 2; z++) {
		ip = rt.zone[z] + ((lo - rt.zone[z]) & bits);
		if (ip - rt.zone[z] < rt.zonesize[z])
			break;
	}
	if (z == 2 || rt.ctl->nfrag[z] == 0)
		return lo;
	p = find(ip);
	pc = pc_of(p.f, p.m.kind == MAP_BODY || p.m.kind == MAP_ROUNDS ?
	    p.m.n : p.m.n - (p.m.n > 0));
	/* after a flush the maps are others */
	return __atomic_load_n(&rt.ctl->gen, __ATOMIC_SEQ_CST) == t->gen ?
	    pc & bits : lo;
}

uint64_t
state_fp_pc(const struct tarea *t, uint64_t ip)
{
	return fp_pc(t, ip, ~0ull);
}

/* What the instruction of exit x wrote at t->operand is put right. */
static void
fpsave(struct tarea *t, const struct exitmeta *x)
{
	unsigned what = x->aux & 7, n = what == FP_FXSAVE64 ? 8 : 4;
	uint64_t at = t->operand + (what == FP_ENV ? 12 : 8);
	uint64_t bits = ~0ull >> (64 - 8 * n), v = 0, used = 1;

	if ((x->aux & FP_XSAVE) && (!(t->gpr[0] & 1) || rt_copy(&used,
	    (void *)(t->operand + 512), 8) < 0 || !(used & 1)))
		return;
	if (rt_copy(&v, (void *)at, n) < 0)
		return;
	v = fp_pc(t, v, bits);
	rt_copy((void *)at, &v, n);
}

/* The bases that references by fs and gs are told with, as they are now. */
static void
read_bases(struct tarea *t)
{
	uint64_t v;

	if (rt.ctl->polling)	/* a filter may forbid it */
		return;
	if (sys2(__NR_arch_prctl, ARCH_GET_FS, &v) == 0)
		t->fsbase = v;
	if (sys2(__NR_arch_prctl, ARCH_GET_GS, &v) == 0)
		t->gsbase = v;
}

/* Exit x's last instruction was executed in the cache: note what it did. */
void
state_noted(struct tarea *t, const struct exitmeta *x)
{
	uint64_t v = t->gpr[x->aux & 15];

	if (x->kind != EXIT_EMULATE)
		return;
	if (!(x->aux & 16))
		v = (uint32_t)v;
	switch (x->emulate) {
	case EMU_FPSAVE:
		fpsave(t, x);
		break;
	case EMU_WRFSBASE:
		t->fsbase = v;
		break;
	case EMU_WRGSBASE:
		t->gsbase = v;
		break;
	case EMU_SEGMENT:
		read_bases(t);
		break;
	default:		/* popf: the direction flag is looked at */
		break;
	}
}

/*
 * Before the maps may go: the x87 unit itself remembers the guest's pc
 * instead.
 */
void
state_fp_settle(struct tarea *t)
{
	uint8_t *fx = (uint8_t *)t - T_OFF + T_FRAME;
	uint64_t was, pc;

	__asm__ volatile("fxsave64 (%0)" : : "r"(fx) : "memory");
	memcpy(&was, fx + 8, 8);
	pc = fp_pc(t, was, ~0ull);
	if (pc == was)
		return;
	memcpy(fx + 8, &pc, 8);
	__asm__ volatile("fxrstor64 (%0)" : : "r"(fx) : "memory");
}

/* Is it mov to ss, behind which the processor raises no trap? */
static bool
is_mov_ss(uint64_t pc)
{
	uint8_t b[4] = { 0 };
	unsigned i = 0;

	if (rt_copy(b, (void *)pc, sizeof b) < 0)
		return false;
	if (b[i] == 0x66)
		i++;
	if ((b[i] & 0xf0) == 0x40)
		i++;
	return b[i] == 0x8e && (b[i + 1] >> 3 & 7) == 2;
}

/*
 * How many of the fragment's instructions are done.  A direct jump takes no
 * code, so with the instruction before it it seems done, too: under the trap
 * flag, where they are done one by one, the first alone is.  Did the second
 * have code, there would be an entry for what is behind the first.
 */
static unsigned
done_at(const struct tarea *t, struct cache_place p)
{
	struct entries e = entries_of(p.f);
	unsigned n = p.m.n, first;
	struct exitmeta x;

	if ((p.m.kind >= MAP_EXIT && p.m.kind <= MAP_LEFT) ||
	    p.m.kind == MAP_STEPPED) {
		x = exit_at(p.f->exit + p.m.exit);
		n -= (unsigned)state_is_outside(&x);
	}
	if (!t->tf || n < 2)
		return n;
	first = is_mov_ss(p.f->pc) ? 2 : 1;
	while (each(&e) && e.m.off < p.m.off)
		if (e.m.n == first)
			return n;
	return first;
}

static void
take_exit(struct tarea *t, struct kucontext *uc, const struct fragmeta *f,
    const struct mapent *m, unsigned n)
{
	uint32_t number = f->exit + m->exit;
	struct exitmeta x = exit_at(number);

	if (m->kind == MAP_EXIT)
		tell_exit(t, &x);
	else if (m->kind == MAP_COUNTED || m->kind == MAP_STEPPED)
		count_down(t, x.n);
	if (m->kind == MAP_STEPPED)
		contexts_cost(t, x.n, x.refs, m->rep, 1);
	if (n < m->n) {
		t->pc = pc_of(f, n);
		untell(t, &x, n);
		return;
	}
	state_noted(t, &x);
	if (x.kind != EXIT_INDIRECT)
		t->pc = x.target;
	else
		t->pc = m->kind == MAP_LEFT_TMP ||
		    m->kind == MAP_CALL ? t->tmp1 : uc->rcx;
	contexts_left(t, &x, contexts_exit(number));
}

/* It was on its way to t->pc by an indirect jump. */
static void
jumped(struct tarea *t)
{
	struct exitmeta x;

	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return;
	x = exit_at(t->exitno);
	contexts_left(t, &x, contexts_exit((uint32_t)t->exitno));
}

/*
 * The flags with those that lahf and seto %al have kept.  Before sahf brings
 * them back, 0x7f is added to al, which is 0x7f or 0x80 then.
 */
static uint64_t
flags_kept(uint64_t flags, uint64_t kept)
{
	uint8_t al = (uint8_t)kept;
	uint64_t overflow = al == 1 || al == 0x80;

	return (flags & ~0x8d5ull) | (kept >> 8 & 0xd5) | overflow << 11;
}

/* Is it in, or behind, an instruction whose rounds have not been learnt? */
static bool
has_rounds(const struct tarea *t, const struct mapent *m)
{
	if (t->skips || !rounds_each(t->tmp0))
		return false;
	if (m->kind == MAP_LEARN)
		return m->rep == LEARN_ROUNDS;
	return m->kind == MAP_BODY && (m->rep == 2 ||
	    (m->rep == 1 && m->counted && t->tmp2 != rounds_left(t)));
}

/*
 * Interrupted before a branch, or rounds, have been learnt: now they are.
 * Instruction *n was mispredicted so often, which is not counted.
 */
static unsigned
settle_branch(struct tarea *t, struct kucontext *uc, const struct fragmeta *f,
    struct mapent *m, unsigned *n)
{
	bool goes_on = m->kind == MAP_BODY && m->rep == 1;
	struct exitmeta x;

	*n = m->n + goes_on;
	if (!(rt.boot.flags & BOOT_BRANCHES) || *n == 0)
		return 0;
	if (!has_rounds(t, m)) {
		x = exit_at(f->exit + m->exit);
		return branches_settle(t, uc, m, &x, pc_of(f, *n - 1));
	}
	if (m->kind == MAP_LEARN) {
		m->kind = MAP_BODY;
		m->rep = 0;
	}
	return branches_rounds(t, pc_of(f, *n - 1), t->tmp2 - rounds_left(t),
	    goes_on);
}

/*
 * The thread was interrupted in the cache: its state into its area.  The
 * fragment is there for as long as `incache` is 1, so all is copied first.
 */
void
state_take(struct tarea *t, struct kucontext *uc)
{
	struct cache_place p = find(uc->rip);
	const struct fragmeta *f = p.f;
	struct mapent m = p.m;
	uint32_t block = f->block;
	unsigned n = done_at(t, p), branch, missed;

	take_registers(t, uc, &m);
	t->rflags = uc->eflags;
	if (m.flags)
		t->rflags = flags_kept(t->rflags, m.kind < MAP_LEFT_TMP ||
		    (rt.boot.flags & BOOT_BRANCHES) ? uc->rax : t->flags);
	t->df = uc->eflags >> 10 & 1;
	*(uint64_t *)((uint64_t)t + T_BIAS + t->p_at) = uc->r8;
	settle_rounds(t, &m);
	missed = settle_branch(t, uc, f, &m, &branch);
	switch (m.kind) {
	case MAP_BODY:
		if (n < m.n)
			m.rep = m.counted = 0;
		if (m.counted)
			uncount_rounds(t, &m);
		m.n = (uint8_t)n;
		t->pc = pc_of(f, n);
		tell_prefix(t, block, &m, rounds_done(t, &m));
		break;
	case MAP_IBL:
		t->pc = uc->rcx + f->pc;
		jumped(t);
		break;
	case MAP_IBL0:
		t->pc = uc->rcx - owner_key(contexts_owner(t));
		jumped(t);
		break;
	case MAP_BACK:
	case MAP_BACK_LESS:
		t->pc = uc->rcx + (m.kind == MAP_BACK ? 0 : pc_of(f, m.n));
		tell_prefix(t, block, &m, 0);
		break;
	case MAP_RETURN:
	case MAP_LAND:
	case MAP_LAND_IR:
		t->pc = m.kind == MAP_RETURN ? uc->rcx : t->tmp1;
		contexts_unland(t, &m);
		jumped(t);
		break;
	case MAP_CALLED:	/* perhaps before the landing was pushed */
		contexts_top(t)->landing = (uint64_t)rt_return;
		t->pc = contexts_arc(t)->target;
		break;
	case MAP_CALL:
		contexts_uncall(t, uc->rax);
		/* fallthrough */
	default:
		take_exit(t, uc, f, &m, n);
		break;
	}
	allocs_settle(t);
	__atomic_store_n(&t->slot->incache, 0, __ATOMIC_SEQ_CST);
	if (missed != 0)
		branches_missed(t, block, branch, missed);
}

/*
 * Before any instruction of its fragment, the thread has come to p from the
 * cache address `from' by an instruction of the guest's: a branch that leads to
 * another fragment, or to the start of its own; or a round.  The first trap, 0,
 * is where the cache was entered.  Where something is told, code of ours may
 * lead back as well, and branches have code of their own.
 */
static bool
has_left(struct cache_place p, uint64_t from, uint64_t ip)
{
	if (from == 0 || (p.m.kind != MAP_BODY && p.m.kind != MAP_ROUNDS))
		return false;
	return find(from).f != p.f || ip == from || (ip < from &&
	    rt.boot.countbytes == 0 && rt.bufs == 0);
}

/*
 * Under the trap flag, at a trap: 1: since the cache was entered, or the last
 * trap, an instruction of the guest's was done, or a round of one that is
 * repeated: where the pc is the same as before.
 */
bool
state_advanced(struct tarea *t, const struct kucontext *uc)
{
	struct cache_place p = find(uc->rip);
	uint64_t from = t->trapped;
	unsigned n = done_at(t, p);

	t->trapped = uc->rip;
	if (n == 0 && !has_left(p, from, uc->rip))
		return false;
	if (n == 1 && is_mov_ss(p.f->pc))
		return false;
	t->trapped = 0;
	return true;
}

/* The thread was interrupted where the guest itself put the pc. */
void
state_native(struct tarea *t, struct kucontext *uc)
{
	unsigned r;

	for (r = 0; r < 16; r++)
		t->gpr[r] = *reg_of(uc, r);
	t->pc = uc->rip;
	t->rflags = uc->eflags;
}

/* What a program may set by itself. */
#define FLAGS_FREE (X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF |	\
    X86_EFLAGS_ZF | X86_EFLAGS_SF | X86_EFLAGS_TF | X86_EFLAGS_DF |	\
    X86_EFLAGS_OF | X86_EFLAGS_NT | X86_EFLAGS_RF | X86_EFLAGS_AC |	\
    X86_EFLAGS_ID)
_Static_assert(FLAGS_FREE == 0x254dd5, "flags");

/* The guest's state into a frame. */
void
state_put(struct tarea *t, struct kucontext *uc)
{
	unsigned r;

	for (r = 0; r < 16; r++)
		*reg_of(uc, r) = t->gpr[r];
	uc->rip = t->pc;
	uc->eflags = (t->rflags & FLAGS_FREE) | FLAGS_SET;
	if (t->df)
		uc->eflags |= X86_EFLAGS_DF;
	else
		uc->eflags &= ~X86_EFLAGS_DF;
}
