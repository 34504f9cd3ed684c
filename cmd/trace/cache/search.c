/*
 * search - where a block that runs often mostly goes on
 *
 * The formatter's sample (stream/sample.c) says by which exits blocks were
 * left.  Of a block that came often we follow the exits that were taken most,
 * from block to block: that is its PATH, a length and a direction for each
 * conditional branch.  Its fragment is then made anew along it (block_follow):
 * over branches that are taken, jumps, calls, and their returns; small loops
 * are unrolled.
 *
 *	a: cmp; jne c   90 of 100 are left at the jne by id 7 = P 7 5 2
 *	...
 *	c: mov; jmp a	100 of 100 at the end: cmp, jne (taken), mov, jmp, cmp
 *
 * That makes fewer and longer lines, which is what the readers of the stream
 * spend their time on, and fewer exits for the program.  A path is a guess:
 * whatever it says, what is told is what ran.
 */
#include <string.h>

#include "cache/cache.h"
#include "cache/parts.h"
#include "stream/stream.h"
#include "xlate/xlate.h"

#define ENOUGH 3u		/* samples of a block, to know where it goes */

/* How often the block was told at all. */
static uint32_t
samples(const struct def *d)
{
	uint32_t sum = 0, id;
	unsigned n;

	for (n = 1; n <= def_length(d); n++)
		if ((id = def_id(d, n)) != 0)
			sum += sample_count(id);
	return sum;
}

/* While we look where it mostly goes on. */
struct view {
	app_pc head, pc;
	const struct def *d;	/* the block that we are in */
	unsigned k;		/* instructions of it done */
	uint32_t rest;		/* samples that came this far */
	unsigned n, branches, depth;
	unsigned round;		/* instructions until the head came again */
	unsigned whole;		/* instructions, at the end of the last block; 0: none */
	app_pc back[MAX_CALLS];
	uint64_t taken;
};

static int
on_at(struct view *l, app_pc pc)
{
	struct def *d = def_at(pc);

	if (pc == l->head) {
		if (l->round == 0)
			l->round = l->n;
		if (l->n + l->round > MAX_INSN)
			return 0;
	}
	if (d == NULL || samples(d) < ENOUGH)
		return 0;
	if (pc != l->head)
		def_pass(d);
	l->d = d;
	l->k = 0;
	l->rest = samples(d);
	l->pc = pc;
	l->whole = l->n;
	return 1;
}

static int
at_branch(struct view *l, const struct insn *in)
{
	uint32_t id = def_id(l->d, l->k), t;

	if (l->branches == 64 || l->k == def_length(l->d) || id == 0)
		return 0;
	t = sample_count(id) < l->rest ? sample_count(id) : l->rest;
	l->rest -= t;
	if (t > l->rest) {
		if (in->special == SP_SHORT || !on_at(l, in->target))
			return 0;
		l->taken |= 1ull << l->branches;
	}
	l->branches++;
	return 1;
}

/* Behind the instruction; 0: the path ends here. */
static int
look_on(struct view *l, const struct insn *in)
{
	l->n++;
	l->k++;
	l->pc = in->pc + in->len;
	if (in->special >= SP_EMULATE || in->emulate != 0)
		return 0;
	switch (in->flow) {
	case FLOW_NONE:
		break;
	case FLOW_COND:
		if (!at_branch(l, in))
			return 0;
		break;
	case FLOW_JUMP:
		return on_at(l, in->target);
	case FLOW_CALL:
		if (l->depth == MAX_CALLS)
			return 0;
		l->back[l->depth++] = l->pc;
		return on_at(l, in->target);
	case FLOW_RET:
		return l->depth > 0 && on_at(l, l->back[--l->depth]);
	default:
		return 0;
	}
	return l->k < def_length(l->d) || on_at(l, l->pc);
}

static int
find_path(struct view *l, const struct def *d, struct path *p)
{
	uint8_t code[15];
	struct insn in;

	memset(l, 0, sizeof *l);
	l->head = l->pc = def_pc(d);
	l->d = d;
	l->rest = samples(d);
	while (l->n < MAX_INSN) {
		if (maps_code(l->pc, code, sizeof code) < sizeof code ||
		    decode_again(&in, l->pc, code, sizeof code) < 0 ||
		    !look_on(l, &in))
			break;
	}
	/* no more than it can be: then up to where a block begins, that is known */
	p->ninsn = (uint8_t)(l->n < MAX_INSN ? l->n : l->whole);
	p->taken = l->taken;
	return l->whole != 0;
}

app_pc
search_next(void)
{
	struct path p;
	struct view l;
	struct def *d = def_of(sample_next());

	if (d == NULL || d != def_at(def_pc(d)) || maps_volatile(def_pc(d)))
		return 0;
	if (def_was_passed(d))		/* by who came first, perhaps */
		return 0;
	if (path_known(def_pc(d)) || !find_path(&l, d, &p))
		return 0;
	path_put(def_pc(d), &p);
	return def_pc(d);
}
