/*
 * block - collect the instructions of a superblock
 *
 * A block has one entry and goes straight on over conditional branches, until
 * an unconditional transfer, an instruction that must be last, or the limit.
 * Code is read as it is mapped now.
 * Where nothing is told it takes in the short leaves that it calls.
 */
#include <string.h>

#include "code/collect.h"
#include "ctl.h"

#define MAX_BYTES (COLD_INSN * MAX_LEN)
#define MAX_BRANCHES 12u
#define MAX_COMPARED 16u	/* instructions, where bytes are compared */

static bool
ends_block(const struct insn *in)
{
	if (in->flow != FLOW_NONE && in->flow != FLOW_COND)
		return true;
	return in->special == SP_TRAP || in->special == SP_EMULATE ||
	    in->emulate != 0;
}

/* In code that may change, a store may be what changes it. */
static bool
writes_memory(const struct insn *in)
{
	unsigned i;

	for (i = 0; i < in->nref; i++)
		if (in->ref[i].rw != 'r')
			return true;
	return false;
}

/* A client request, its first instructions and the last as one. */
static int
decode_client(struct insn *in, app_pc pc, const uint8_t *code, unsigned n)
{
	static const uint8_t magic[CLIENT_BYTES] = {
		0x48, 0xc1, 0xc7, 3, 0x48, 0xc1, 0xc7, 13,
		0x48, 0xc1, 0xc7, 61, 0x48, 0xc1, 0xc7, 51, 0x48, 0x87, 0xdb
	};
	const unsigned last = CLIENT_BYTES - 3;

	if (n < CLIENT_BYTES || memcmp(code, magic, CLIENT_BYTES) != 0 ||
	    decode_again(in, pc, code + last, 3) < 0)
		return -1;
	in->special = SP_EMULATE;
	in->emulate = EMU_CLIENT;
	in->len = MAX_LEN;	/* no more can be told */
	memcpy(in->bytes, code, MAX_LEN);
	return 0;
}

/* lods, of those that are repeated? */
static bool
is_load(const struct insn *in)
{
	return in->nref == 1 && in->ref[0].rw == 'r';
}

int
block_decode(struct insn *in, app_pc pc, const uint8_t *code, unsigned n)
{
	if ((opt->windows & WINDOWS_REQUESTS) && n > 0 && code[0] == 0x48 &&
	    decode_client(in, pc, code, n) == 0)
		return 0;
	if (decode_again(in, pc, code, n) < 0)
		return -1;
	/* Valgrind does not repeat it */
	if (opt->each && in->special == SP_REP && is_load(in))
		in->special = SP_NONE;
	return 0;
}

/* Its bytes of code. */
static unsigned
length(const struct insn *in)
{
	return in->emulate == EMU_CLIENT ? CLIENT_BYTES : in->len;
}

#define LEAF_MOST 17u		/* with its return */
#define CALLS_MOST 8u		/* of leaves in a block */

/* Does it begin with push or sub $n,%rsp?  No leaf does. */
static bool
has_frame(const uint8_t *code)
{
	const uint8_t *p = stub_past_endbr(code);

	if (p[0] == 0x48)
		return (p[1] == 0x83 || p[1] == 0x81) && p[2] == 0xec;
	return ((p[0] == 0x41 ? p[1] : p[0]) & 0xf8) == 0x50;
}

/* May it be in a leaf that is taken in? */
static bool
is_plain(const struct insn *in)
{
	unsigned i;

	for (i = 0; i < in->nref; i++)
		if (in->ref[i].base == RSP && in->ref[i].rw != 'r')
			return false;
	return in->special == SP_NONE && in->emulate == 0 &&
	    !(in->wr & BIT(RSP)) &&
	    (in->flow == FLOW_NONE || in->flow == FLOW_COND);
}

/*
 * The function at pc, if it is a short LEAF, straight on to its return, is
 * decoded behind the block; returns its instructions, or 0.  *sure: it neither
 * reads nor writes memory, so it surely returns to its call.
 */
static unsigned
read_leaf(struct block *b, app_pc pc, bool *sure)
{
	int64_t d = (int64_t)(pc - b->pc);
	uint8_t code[LEAF_MOST * MAX_LEN];
	unsigned got, n, at = 0;
	struct insn *in;

	if (d != (int32_t)d || maps_volatile(pc))
		return 0;
	got = maps_code(pc, code, sizeof code);
	if (got >= STUB_LOOK && has_frame(code))
		return 0;
	*sure = true;
	for (n = 0; n < LEAF_MOST; at += in->len, n++) {
		in = &b->in[b->n + n];
		if (at >= got ||
		    decode_again(in, pc + at, code + at, got - at) < 0)
			return 0;
		if (in->flow == FLOW_RET)
			return in->special == SP_NONE && in->imm == 0 ? n + 1 :
			    0;
		if (!is_plain(in))
			return 0;
		*sure = *sure && in->nref == 0;
	}
	return 0;
}

/*
 * Where nothing is told, go on over words that cannot change, and through short
 * leaves.  True: the block goes on behind its call.
 */
static bool
go_on(struct block *b, unsigned *calls)
{
	app_pc end = b->next;
	unsigned call = b->n - 1, n;
	bool sure;

	if (opt->kind->tells) {
		stub_go_direct(b);
		return false;
	}
	if (opt->store == NULL)
		stub_follow(b);
	if (b->in[call].flow != FLOW_CALL || *calls == CALLS_MOST ||
	    (opt->debug & DEBUG_NOSUPER))
		return false;
	n = read_leaf(b, b->in[b->n - 1].target, &sure);
	if (n == 0)
		return false;
	stub_append(b, n);
	b->taken[b->n - 1] = sure;
	b->next = end;
	++*calls;
	return true;
}

/*
 * Read the first piece of the block's code; returns how many bytes.  *most: how
 * many may be read.  Code that is trusted until its page is written ends where
 * that page does, but one instruction across the end is compared.  What is
 * known of the page comes before its bytes.
 */
static unsigned
read_code(struct block *b, unsigned *most)
{
	app_pc limit;
	unsigned got;
	struct insn in;

	b->is_volatile = maps_volatile(b->pc);
	limit = b->is_volatile ? watch_limit(b->pc) : 0;
	b->is_compared = b->is_volatile && limit == 0;
	got = maps_code(b->pc, b->code, PIECE_BYTES);
	*most = MAX_BYTES;
	if (limit != 0 && limit - b->pc < MAX_BYTES)
		*most = (unsigned)(limit - b->pc);
	if (got <= *most)
		return got;
	if (block_decode(&in, b->pc, b->code, *most) == 0)
		return *most;
	b->is_compared = true;
	*most = MAX_BYTES;
	return got;
}

/* Read the rest, where an instruction may need it. */
static unsigned
read_rest(struct block *b, unsigned at, unsigned got, unsigned most)
{
	if (got - at >= CLIENT_BYTES || got >= most)
		return got;
	return got + maps_code(b->pc + got, b->code + got, most - got);
}

/*
 * Add instructions after which the block goes on, however many are known to be
 * next.  Returns their bytes.
 */
static unsigned
collect_run(struct block *b, const uint8_t *code)
{
	struct insn *from = &b->in[b->n];
	unsigned n = decode_run(from, b->next, code, COLD_INSN - b->n);
	app_pc pc = b->next;

	if (n == 0)
		return 0;
	memset(&b->taken[b->n], false, n);
	b->n += n;
	b->next = from[n - 1].pc + from[n - 1].len;
	return (unsigned)(b->next - pc);
}

/* How far the code is read, while its block is collected. */
struct reading {
	unsigned at;		/* bytes that are in the block */
	unsigned got, most;	/* that have been read, and may be read */
};

/* Does a window, an allocation or another function begin at pc? */
static bool
ends_before(app_pc pc, unsigned mode, app_pc *limit)
{
	return window_at(pc, mode) || allocs_at(pc, NULL) ||
	    (pc >= *limit && funcs_begins(pc, limit));
}

/*
 * Decode the instruction behind the block; false: the block ends before it, and
 * an empty one by what is wrong with it.
 */
static bool
decode_next(struct block *b, struct reading *r)
{
	struct insn *in = &b->in[b->n];

	r->got = read_rest(b, r->at, r->got, r->most);
	if (r->at >= r->got || block_decode(in, b->next, b->code + r->at,
	    r->got - r->at) < 0) {
		if (b->n == 0)
			b->end = r->got < MAX_LEN ? EXIT_FAULT : EXIT_REFUSE;
		return false;
	}
	if (in->special == SP_REFUSE) {
		if (b->n == 0)
			b->end = EXIT_REFUSE;
		return false;
	}
	if (in->special == SP_EMULATE && in->emulate == EMU_XGETBV &&
	    opt->cpu == CPU_NATIVE)
		in->special = SP_NONE;
	return true;
}

/* Does the block end behind `in', the last so far? */
static bool
ends_behind(const struct block *b, const struct insn *in, unsigned *branches)
{
	if (ends_block(in) || (b->is_compared && writes_memory(in)))
		return true;
	return in->flow == FLOW_COND && (++*branches == MAX_BRANCHES ||
	    (opt->debug & DEBUG_NOSUPER));
}

int
block_collect(struct block *b, app_pc pc, unsigned mode)
{
	struct reading r = { .at = 0 };
	unsigned branches = 0, calls = 0;
	app_pc limit = ~0ull;
	struct insn *in;
	bool asked = opt->windows != 0 || opt->allocs || opt->contexts != 0;

	b->pc = b->next = pc;
	b->n = 0;
	b->end = EXIT_DIRECT;
	b->npiece = b->stub = 0;
	b->path = false;
	r.got = read_code(b, &r.most);
	decode_prefetch(b->code, r.got);
	if (!(mode & MODE_PAST) && window_at(pc, mode)) {
		b->end = EXIT_WINDOW;
		return 0;
	}
	if (r.got == 0)
		return -1;
	if (opt->contexts != 0)
		funcs_begins(pc, &limit);
	while (b->n < (b->is_compared ? MAX_COMPARED : COLD_INSN)) {
		if (!asked && !b->is_compared) {
			r.at += collect_run(b, b->code + r.at);
			if (b->n == COLD_INSN)
				break;
		}
		if (b->n > 0 && asked && ends_before(pc + r.at, mode, &limit))
			break;
		if (!decode_next(b, &r))
			break;
		in = &b->in[b->n];
		r.at += length(in);
		b->taken[b->n++] = false;
		b->next = pc + r.at;
		if ((in->flow == FLOW_CALL || in->flow == FLOW_JUMP) &&
		    opt->contexts != 0 && !b->is_volatile)
			stub_add(b);
		if (in->flow != FLOW_NONE && opt->windows == 0 &&
		    !b->is_volatile && go_on(b, &calls))
			continue;
		if (ends_behind(b, in, &branches))
			break;
	}
	b->piece[0] = (struct code_piece){ pc, pc + r.at };
	return 0;
}
