/*
 * block - collect the instructions of a superblock
 *
 * One entry, straight on over conditional branches that are not taken, until
 * a transfer that is never passed, an instruction that must be last, or the
 * limit.  Code is read as it is mapped now.
 */
#include "trace.h"

#define MAX_BYTES (MAX_INSN * 15u)
#define MAX_BRANCHES 12u
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
	b->is_volatile = maps_volatile(pc);
	if (!(mode & MODE_PAST) && window_at(pc, mode)) {
		b->end = EXIT_WINDOW;
		return 0;
	}
	if (got == 0)
		return -1;
	while (b->n < (b->is_volatile ? MAX_VOLATILE : MAX_INSN)) {
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
		    opt.cpu == CPU_NATIVE)) {
			if (in->special != SP_REFUSE) {
				in->special = SP_NONE;
			} else {
				if (b->n == 0)
					b->end = EXIT_REFUSE;
				break;
			}
		}
		at += in->len;
		b->n++;
		b->next = pc + at;
		if (ends_block(in) || (b->is_volatile && writes(in)))
			break;
		if (in->flow == FLOW_COND && (++branches == MAX_BRANCHES ||
		    (opt.debug & DEBUG_NOSUPER)))
			break;
	}
	b->bytes = at;
	return 0;
}
