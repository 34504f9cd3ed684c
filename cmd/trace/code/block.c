/*
 * block - collect the instructions of a superblock
 *
 * One entry, straight on over conditional branches that are not taken, until
 * a transfer that is never passed, an instruction that must be last, or the
 * limit.  Code is read as it is mapped now.
 *
 * Where a path is known that runs often (hot.c), a block goes on along it:
 * over branches that are taken, jumps, calls, and returns of these calls.
 */
#include <stddef.h>
#include <string.h>

#include "code/code.h"

#define MAX_BYTES (COLD_INSN * 15u)
#define MAX_BRANCHES 12u
#define PIECE_BYTES 256u	/* read at one time */
#define MAX_VOLATILE 16u	/* instructions, where bytes are compared */

static int
ends_block(const struct insn *in)
{
	if (in->flow != FLOW_NONE && in->flow != FLOW_COND)
		return 1;
	return in->special == SP_TRAP || in->special == SP_EMULATE ||
	    in->emulate != 0;
}

/* In code that may change, a store may be what changes it. */
static int
writes(const struct insn *in)
{
	unsigned i;

	for (i = 0; i < in->nref; i++)
		if (in->ref[i].rw != 'r')
			return 1;
	return 0;
}

/* Nothing ran yet: the first byte cannot be executed or is no instruction. */
static int
collect_bad(struct block *b, const uint8_t *code, unsigned got)
{
	(void)code;
	b->n = 0;
	b->next = b->pc;
	b->end = got == 0 ? EXIT_FAULT : EXIT_REFUSE;
	return 0;
}

int
block_collect(struct block *b, app_pc pc, unsigned mode)
{
	uint8_t *code = b->code;
	unsigned got = maps_code(pc, code, MAX_BYTES), at = 0, branches = 0;
	struct insn *in;

	b->pc = b->next = pc;
	b->n = 0;
	b->end = EXIT_DIRECT;
	b->npiece = 0;
	b->is_volatile = maps_volatile(pc);
	if (!(mode & MODE_PAST) && window_at(pc, mode)) {
		b->end = EXIT_WINDOW;
		return 0;
	}
	if (got == 0)
		return -1;
	while (b->n < (b->is_volatile ? MAX_VOLATILE : COLD_INSN)) {
		in = &b->in[b->n];
		if (b->n > 0 && window_at(pc + at, mode))
			break;
		if (at >= got || decode_again(in, pc + at, code + at,
		    got - at > 15 ? 15 : got - at) < 0) {
			if (b->n == 0)
				return collect_bad(b, code, got - at < 15 ?
				    0 : got);
			break;
		}
		if (in->special == SP_REFUSE ||
		    (in->special == SP_EMULATE && in->emulate <= EMU_XGETBV &&
		    opt->cpu == CPU_NATIVE)) {
			if (in->special != SP_REFUSE) {
				in->special = SP_NONE;
			} else {
				if (b->n == 0)
					b->end = EXIT_REFUSE;
				break;
			}
		}
		at += in->len;
		b->taken[b->n++] = 0;
		b->next = pc + at;
		if (ends_block(in) || (b->is_volatile && writes(in)))
			break;
		if (in->flow == FLOW_COND && (++branches == MAX_BRANCHES ||
		    (opt->debug & DEBUG_NOSUPER)))
			break;
	}
	return 0;
}

/* ------------------------------------------------------------------- paths */

/* Where a path is, while its block is collected. */
struct way {
	struct block *b;
	const struct path *path;
	uint8_t code[PIECE_BYTES];
	app_pc from;		/* of code[0] */
	unsigned got;
	unsigned branches, calls, depth;
	app_pc back[MAX_CALLS];	/* where calls inside return to */
};

/* On at pc, in a new piece; 0: it cannot go on there. */
static int
go_to(struct way *w, app_pc pc)
{
	struct block *b = w->b;
	int64_t d = (int64_t)(pc - b->pc);

	if (b->npiece == MAX_PIECES || maps_volatile(pc) ||
	    d != (int32_t)d)
		return 0;
	w->got = maps_code(pc, w->code, sizeof w->code);
	w->from = pc;
	if (w->got < 15)
		return 0;
	b->piece[b->npiece].start = b->piece[b->npiece].end = pc;
	b->npiece++;
	b->next = pc;
	return 1;
}

/* Past the transfer `in`, the last so far; 0: the block ends with it. */
static int
pass(struct way *w, const struct insn *in)
{
	struct block *b = w->b;
	int taken;

	switch (in->flow) {
	case FLOW_NONE:
		return 1;
	case FLOW_COND:
		if (w->branches == 64)
			return 0;
		taken = w->path->taken >> w->branches++ & 1;
		if (!taken || in->special == SP_SHORT)
			return 1;
		if (!go_to(w, in->target))
			return 0;
		b->taken[b->n - 1] = 1;
		return 1;
	case FLOW_JUMP:
		return go_to(w, in->target);
	case FLOW_CALL:
		if (w->calls++ == MAX_CALLS)
			return 0;
		w->back[w->depth++] = in->pc + in->len;
		return go_to(w, in->target);
	case FLOW_RET:
		return w->depth > 0 && go_to(w, w->back[--w->depth]);
	default:
		return 0;
	}
}

/* The next instruction; 0: the block ends before it. */
static int
append(struct way *w)
{
	struct block *b = w->b;
	struct insn *in = &b->in[b->n];
	unsigned at = (unsigned)(b->next - w->from);

	if (b->n > 0 && window_at(b->next, MODE_IN))
		return 0;
	if (at + 15 > w->got) {		/* a new piece, at the same place */
		if (!go_to(w, b->next))
			return 0;
		at = 0;
	}
	if (decode_again(in, b->next, w->code + at, w->got - at > 15 ? 15 :
	    w->got - at) < 0 || in->special >= SP_EMULATE || in->emulate != 0)
		return 0;
	b->taken[b->n++] = 0;
	b->next += in->len;
	b->piece[b->npiece - 1].end = b->next;
	return 1;
}

int
block_follow(struct block *b, app_pc pc, const struct path *path)
{
	static struct way w;

	memset(&w, 0, offsetof(struct way, code));
	w.b = b;
	w.path = path;
	w.branches = w.calls = w.depth = 0;
	b->pc = pc;
	b->n = b->npiece = 0;
	b->end = EXIT_DIRECT;
	b->is_volatile = 0;
	if (!go_to(&w, pc))
		return -1;
	while (b->n < path->ninsn && append(&w) &&
	    pass(&w, &b->in[b->n - 1]))
		;
	return b->n > 0 ? 0 : -1;
}
