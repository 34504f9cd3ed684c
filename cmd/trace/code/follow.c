/*
 * follow - collect a block along a frequent path
 *
 * Such a path is known by samples (cache/search.c).  The block goes over
 * branches that are taken, jumps, calls, the returns of these calls, and to
 * where other indirect transfers mostly lead.
 */
#include <stddef.h>
#include <string.h>

#include "code/collect.h"
#include "ctl.h"

/* How far a path has been followed, while its block is collected. */
struct walk {
	struct block *b;
	const struct path *path;
	uint8_t code[PIECE_BYTES];
	app_pc from;		/* the pc of code[0] */
	unsigned got;
	unsigned branches, guesses, calls, depth;
	app_pc back[MAX_CALLS];	/* where calls inside return to */
};

/* Go on at pc, in a new piece; false: the block cannot go on there. */
static bool
go_to(struct walk *w, app_pc pc)
{
	struct block *b = w->b;

	if (b->npiece == MAX_PIECES || maps_volatile(pc))
		return false;
	w->got = maps_code(pc, w->code, sizeof w->code);
	w->from = pc;
	if (w->got < MAX_LEN)
		return false;
	b->piece[b->npiece].start = b->piece[b->npiece].end = pc;
	b->npiece++;
	b->next = pc;
	return true;
}

bool
block_passes(const struct insn *in)
{
	return in->flow == FLOW_RET ? !opt->allocs : !opt->kind->learns;
}

/* Where an indirect transfer leads, on the path or by its word; 0: nowhere. */
static app_pc
guess(struct walk *w, const struct insn *in)
{
	app_pc target = 0;

	if (!block_passes(in))
		return 0;
	if (w->guesses < w->path->nto)
		target = w->path->to[w->guesses++];
	return target != 0 || block_word(in, &target) ? target : 0;
}

/* Where a jump, call or return leads; 0: unknown. */
static app_pc
leads_to(struct walk *w, const struct insn *in)
{
	if (in->flow == FLOW_JUMP || in->flow == FLOW_CALL)
		return in->target;
	if (in->flow == FLOW_RET && w->depth > 0)
		return w->back[--w->depth];
	return guess(w, in);
}

/* Go on behind `in`, the last so far; false: the block ends with it. */
static bool
pass(struct walk *w, const struct insn *in)
{
	struct block *b = w->b;
	app_pc target;
	bool taken;

	switch (in->flow) {
	case FLOW_NONE:
		return true;
	case FLOW_COND:
		if (w->branches == 64)
			return false;
		taken = w->path->taken >> w->branches++ & 1;
		if (!taken || in->special == SP_SHORT)
			return true;
		if (!go_to(w, in->target))
			return false;
		b->taken[b->n - 1] = true;
		return true;
	case FLOW_SYSCALL:
		return false;
	default:
		target = leads_to(w, in);
	}
	if (in->flow == FLOW_CALL || in->flow == FLOW_ICALL) {
		if (w->calls++ == MAX_CALLS)
			return false;
		w->back[w->depth++] = in->pc + in->len;
	}
	return target != 0 && go_to(w, target);
}

/* Add the next instruction; false: the block ends before it. */
static bool
append(struct walk *w)
{
	struct block *b = w->b;
	struct insn *in = &b->in[b->n];
	unsigned at = (unsigned)(b->next - w->from);

	if (b->n > 0 && (window_at(b->next, MODE_IN) ||
	    allocs_at(b->next, NULL)))
		return false;
	if (at + CLIENT_BYTES > w->got) {	/* read on, in a new piece */
		if (!go_to(w, b->next))
			return false;
		at = 0;
	}
	if (block_decode(in, b->next, w->code + at, w->got - at) < 0 ||
	    in->special >= SP_EMULATE || in->emulate != 0)
		return false;
	b->taken[b->n++] = false;
	b->next += in->len;
	b->piece[b->npiece - 1].end = b->next;
	return true;
}

int
block_follow(struct block *b, app_pc pc, const struct path *path)
{
	static struct walk w;

	memset(&w, 0, offsetof(struct walk, code));
	w.b = b;
	w.path = path;
	w.branches = w.guesses = w.calls = w.depth = 0;
	b->pc = pc;
	b->n = b->npiece = b->stub = 0;
	b->path = true;
	b->end = EXIT_DIRECT;
	b->is_volatile = b->is_compared = false;
	if (!go_to(&w, pc))
		return -1;
	while (b->n < path->ninsn && append(&w) &&
	    pass(&w, &b->in[b->n - 1]))
		;
	/* the last piece may have been begun for code that the block lacks */
	if (b->npiece > 1 &&
	    b->piece[b->npiece - 1].start == b->piece[b->npiece - 1].end)
		b->npiece--;
	return b->n > 0 ? 0 : -1;
}
