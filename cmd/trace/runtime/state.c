/*
 * state - take the guest's state out of a thread that was interrupted
 *
 * places.c says what the address stands for.  Taking the state also tells what
 * ran so far: a prefix of the block, or the exit whose record was unfinished.
 */
#include "contexts.h"
#include "kinds.h"
#include "state.h"

bool
state_in_cache(uint64_t pc)
{
	return pc - rt.zone[0] < rt.zonesize[0] ||
	    pc - rt.zone[1] < rt.zonesize[1];
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

	if (place_find(uc->rip).m.rep == REP_CHECK)
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

/* Does the runtime do what the last instruction does, behind the exit? */
bool
state_is_outside(const struct exitmeta *x)
{
	return x->kind == EXIT_SYSCALL || (x->kind == EXIT_EMULATE &&
	    !emulated_inside(x->emulate));
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
		state_fp_saved(t, x);
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
	struct entries e = place_entries(p.f);
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
	while (place_each(&e) && e.m.off < p.m.off)
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
		told_exit(t, &x);
	else if (m->kind == MAP_COUNTED || m->kind == MAP_STEPPED)
		told_count_down(t, x.n);
	if (m->kind == MAP_STEPPED)
		contexts_cost(t, x.n, x.refs, m->rep, 1);
	if (n < m->n) {
		t->pc = place_pc(f, n);
		told_back(t, &x, n);
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
		return branches_settle(t, uc, m, &x, place_pc(f, *n - 1));
	}
	if (m->kind == MAP_LEARN) {
		m->kind = MAP_BODY;
		m->rep = 0;
	}
	return branches_rounds(t, place_pc(f, *n - 1), t->tmp2 - rounds_left(t),
	    goes_on);
}

/* The guest's flags; code that changes them for itself has kept them before. */
static void
take_flags(struct tarea *t, const struct kucontext *uc, const struct mapent *m)
{
	t->rflags = uc->eflags;
	if (m->flags)
		t->rflags = flags_kept(t->rflags, m->kind < MAP_LEFT_TMP ||
		    (rt.boot.flags & BOOT_BRANCHES) ? uc->rax : t->flags);
	t->df = uc->eflags >> 10 & 1;
}

/*
 * Find the guest's pc, and tell what ran: n of fragment f's instructions are
 * done.  The fragment may be gone once something has been told.
 */
static void
take_pc(struct tarea *t, struct kucontext *uc, const struct fragmeta *f,
    struct mapent *m, unsigned n)
{
	uint32_t block = f->block;

	switch (m->kind) {
	case MAP_BODY:
		if (n < m->n)
			m->rep = m->counted = 0;
		if (m->counted)
			rounds_uncount(t, m);
		m->n = (uint8_t)n;
		t->pc = place_pc(f, n);
		told_prefix(t, block, m, rounds_done(t, m));
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
		t->pc = uc->rcx + (m->kind == MAP_BACK ? 0 :
		    place_pc(f, m->n));
		told_prefix(t, block, m, 0);
		break;
	case MAP_RETURN:
	case MAP_LAND:
	case MAP_LAND_IR:
		t->pc = m->kind == MAP_RETURN ? uc->rcx : t->tmp1;
		contexts_unland(t, m);
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
		take_exit(t, uc, f, m, n);
		break;
	}
}

/*
 * The thread was interrupted in the cache: its state into its area.  The
 * fragment is there for as long as `incache` is 1, so all is copied first.
 */
void
state_take(struct tarea *t, struct kucontext *uc)
{
	struct cache_place p = place_find(uc->rip);
	const struct fragmeta *f = p.f;
	struct mapent m = p.m;
	uint32_t block = f->block;
	unsigned n = done_at(t, p), branch, missed;

	take_registers(t, uc, &m);
	take_flags(t, uc, &m);
	*(uint64_t *)((uint64_t)t + T_BIAS + t->p_at) = uc->r8;
	rounds_settle(t, &m);
	missed = settle_branch(t, uc, f, &m, &branch);
	take_pc(t, uc, f, &m, n);
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
	return place_find(from).f != p.f || ip == from || (ip < from &&
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
	struct cache_place p = place_find(uc->rip);
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
