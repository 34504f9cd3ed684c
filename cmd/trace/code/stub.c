/*
 * stub - blocks go on over stubs of linkage, and words that cannot change
 *
 * A stub jumps to where its WORD says, beside the code.  With contexts a stub
 * is part of its caller's block; where nothing is told, and in kind counts, a
 * block leads where a word says that cannot change (constants.c).
 */
#include <string.h>

#include "code/collect.h"
#include "ctl.h"

#define STUB_MOST 2u		/* instructions: endbr64, and the jump */

const uint8_t *
stub_past_endbr(const uint8_t *code)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return memcmp(code, endbr64, sizeof endbr64) == 0 ?
	    code + sizeof endbr64 : code;
}

/* Is it a stub as linkers write them, jmp *word(%rip)? */
static bool
looks_like_stub(const uint8_t *code)
{
	const uint8_t *p = stub_past_endbr(code);

	if (*p == 0xf2 || *p == 0x3e || *p == 0x48)
		p++;
	return p[0] == 0xff && p[1] == 0x25;
}

/*
 * The block ends in a call or jump.  If that leads to a stub of linkage, which
 * jumps to what its word says, decode the stub behind the block; returns its
 * instructions, or 0.
 */
static unsigned
read_stub(struct block *b)
{
	const struct insn *call = &b->in[b->n - 1];
	app_pc pc = call->target;
	int64_t d = (int64_t)(pc - b->pc);
	unsigned got, n = 0, at = 0;
	uint8_t code[STUB_MOST * MAX_LEN];

	if (call->special >= SP_EMULATE || d != (int32_t)d ||
	    maps_volatile(pc))
		return 0;
	got = maps_code(pc, code, sizeof code);
	/* With contexts its section says that it is one, whatever is there. */
	if (got >= STUB_LOOK && opt->contexts == 0 && !looks_like_stub(code))
		return 0;
	for (; n < STUB_MOST; at += b->in[b->n + n++].len)
		if (at >= got || decode_again(&b->in[b->n + n], pc + at,
		    code + at, got - at) < 0 ||
		    b->in[b->n + n].special != SP_NONE ||
		    b->in[b->n + n].flow != FLOW_NONE)
			break;
	if (n == STUB_MOST || at >= got ||
	    b->in[b->n + n].flow != FLOW_IJUMP ||
	    b->in[b->n + n].special != SP_NONE || window_at(pc, MODE_IN))
		return 0;
	return n + 1;
}

/* A piece of code, or a word, beside the block's own code, the first one. */
static void
add_piece(struct block *b, app_pc start, app_pc end)
{
	if (b->npiece == 0)
		b->npiece = 1;
	b->piece[b->npiece++] = (struct code_piece){ start, end };
}

void
stub_append(struct block *b, unsigned n)
{
	const struct insn *last = &b->in[b->n + n - 1];

	b->next = last->pc + last->len;
	add_piece(b, b->in[b->n].pc, b->next);
	for (; n > 0; n--)
		b->taken[b->n++] = false;
}

void
stub_add(struct block *b)
{
	unsigned call = b->n, n;

	if (!funcs_is_stub(b->in[call - 1].target))
		return;
	n = read_stub(b);
	if (n == 0)
		return;
	stub_append(b, n);
	b->stub = call;
}

/* jmp or call *disp(%rip), without a prefix that changes what is read? */
static bool
goes_by_word(const struct insn *in)
{
	unsigned i;

	if ((in->flow != FLOW_IJUMP && in->flow != FLOW_ICALL) ||
	    in->special != SP_NONE || !in->riprel)
		return false;
	for (i = 0; i < in->opcoff; i++)
		if (in->bytes[i] != 0xf2 && in->bytes[i] != 0x3e &&
		    (in->bytes[i] & 0xf0) != 0x40)
			return false;
	return true;
}

/* Where the word is that the jump or call goes by. */
static app_pc
word_of(const struct insn *in)
{
	int32_t d;

	memcpy(&d, in->bytes + in->dispoff, sizeof d);
	return in->pc + in->len + (uint64_t)(int64_t)d;
}

/*
 * Make a jump or call by a word that cannot change a direct one; false: its
 * word can.
 */
static bool
make_direct(struct insn *in, app_pc *at)
{
	app_pc target;
	uint8_t byte;

	if (!goes_by_word(in))
		return false;
	*at = word_of(in);
	if (!maps_word(*at, &target) || maps_code(target, &byte, 1) != 1)
		return false;
	in->target = target;
	in->flow = in->flow == FLOW_IJUMP ? FLOW_JUMP : FLOW_CALL;
	return true;
}

void
stub_follow(struct block *b)
{
	struct insn *last = &b->in[b->n - 1];
	app_pc word;
	unsigned n = 0;

	if (last->flow == FLOW_CALL || (last->flow == FLOW_JUMP && b->n > 1)) {
		n = read_stub(b);
		if (n == 0)
			return;
	}
	if (!make_direct(last + n, &word))
		return;
	if (n > 0)
		stub_append(b, n);
	add_piece(b, word, word + 8);
}

void
stub_go_direct(struct block *b)
{
	app_pc word;

	if (opt->kind->intervals && opt->contexts == 0 && opt->store == NULL &&
	    make_direct(&b->in[b->n - 1], &word))
		add_piece(b, word, word + 8);
}

bool
block_word(const struct insn *in, app_pc *target)
{
	return goes_by_word(in) && maps_data(word_of(in), target);
}

/* A call may be followed by the stub that it leads to, but not by a return. */
app_pc
block_landing(const struct block *b)
{
	const struct insn *in;
	unsigned i;

	for (i = 1; i <= STUB_MOST + 1 && i <= b->n; i++) {
		in = &b->in[b->n - i];
		if (in->flow == FLOW_CALL || in->flow == FLOW_ICALL)
			return in->pc + in->len;
		if (in->flow == FLOW_RET || in->flow == FLOW_COND ||
		    in->flow == FLOW_SYSCALL)
			return 0;
	}
	return 0;
}
