/*
 * exits - the exits of a fragment: their numbers, and what leaves by one
 *
 * An exit is linked by one store of 4 bytes, while threads run it.  So the
 * displacement of a branch that is linked lies within 8 aligned bytes.
 */
#include <string.h>

#include "xlate/parts.h"

unsigned
exit_new(struct xlate *x, unsigned kind, app_pc target, unsigned n)
{
	struct xexit *e = &x->exit[x->nexit];

	memset(e, 0, sizeof *e);
	e->kind = (uint8_t)kind;
	e->target = target;
	e->n = (uint8_t)n;
	return x->nexit++;
}

void
exit_leave(struct xlate *x, unsigned e)
{
	emit_store_simm(&x->c, REG_T, TO(exitno), (int32_t)(x->firstexit + e));
	emit_jmp_mem(&x->c, REG_T, TO(rt_exit));
}

/* Displacements that are patched lie within 8 aligned bytes. */
void
exit_align(struct emitter *c, unsigned opcode_bytes)
{
	unsigned at = (unsigned)(emit_here(c) + opcode_bytes) & 7;

	if (at > 4)
		emit_nop(c, 8 - at);
}

uint8_t *
exit_jump(struct emitter *c)
{
	exit_align(c, 1);
	return emit_jmp32(c);
}

/* rcx += v, flags are kept; rax is used if v is wide */
void
exit_add_rcx(struct xlate *x, uint64_t v)
{
	if ((int64_t)v == (int32_t)v) {
		emit_lea(&x->c, RCX, RCX, (int32_t)v);
	} else {
		emit_imm(&x->c, RAX, v);
		emit_lea_sib(&x->c, RCX, RCX, RAX, 1, 0, 0);
	}
}

void
exit_add_key(struct xlate *x, unsigned e)
{
	if (x->exit[e].move == MOVE_IJUMP)
		exit_add_rcx(x, owner_key(x->owner));
}

/* May a search for paths ask where indirect exit e leads (cache/recent.c)? */
static bool
is_sampled(const struct xlate *x, unsigned e)
{
	const struct block *b = x->b;

	return x->kind->counters && x->kind->paths && opt_makes_paths() &&
	    !b->path && !b->is_volatile &&
	    block_passes(&b->in[x->exit[e].n - 1]);
}

void
exit_by_word(struct xlate *x, unsigned e)
{
	struct emitter *c = &x->c;

	exit_add_key(x, e);
	if (x->exit[e].move == MOVE_IJUMP)
		mark(x, 0, MAP_IBL0, 0);
	if (is_sampled(x, e))
		emit_store(c, REG_T, T_CELL + 8 * (int32_t)((x->firstexit + e) %
		    FOLLOW_CELLS), RCX);
	emit_movzx16(c, RAX, RCX);
	emit_jmp_sib(c, REG_T, RAX, 8, x->kind->outside ?
	    T_IBL + (int32_t)IBL_SIZE : T_IBL);
}
