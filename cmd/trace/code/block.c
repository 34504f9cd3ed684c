/*
 * block - collect the instructions of a superblock
 *
 * A block has one entry and goes straight on over conditional branches, until
 * an unconditional transfer, an instruction that must be last, or the limit.
 * Code is read as it is mapped now.
 *
 * Where a frequent path is known (cache/search.c), the block follows it: over
 * branches that are taken, jumps, calls, and the returns of these calls.
 */
#include <stddef.h>
#include <string.h>

#include "code/code.h"
#include "ctl.h"

#define MAX_BYTES (COLD_INSN * MAX_LEN)
#define MAX_BRANCHES 12u
#define PIECE_BYTES 256u	/* read at one time */
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

#define STUB_MOST 2u		/* instructions: endbr64, and the jump */
#define LEAF_MOST 17u		/* with its return */
#define CALLS_MOST 8u		/* of leaves in a block */

#define LOOK 15u		/* bytes that are looked at before decoding */

/* Behind the endbr64 with which a function or a stub may begin. */
static const uint8_t *
past_endbr(const uint8_t *code)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return memcmp(code, endbr64, sizeof endbr64) == 0 ?
	    code + sizeof endbr64 : code;
}

/* Is it a stub as linkers write them, jmp *word(%rip)? */
static bool
looks_like_stub(const uint8_t *code)
{
	const uint8_t *p = past_endbr(code);

	if (*p == 0xf2 || *p == 0x3e || *p == 0x48)
		p++;
	return p[0] == 0xff && p[1] == 0x25;
}

/* Does it begin with push or sub $n,%rsp?  No leaf does. */
static bool
has_frame(const uint8_t *code)
{
	const uint8_t *p = past_endbr(code);

	if (p[0] == 0x48)
		return (p[1] == 0x83 || p[1] == 0x81) && p[2] == 0xec;
	return ((p[0] == 0x41 ? p[1] : p[0]) & 0xf8) == 0x50;
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
	if (got >= LOOK && opt->contexts == 0 && !looks_like_stub(code))
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

/* Take in n instructions that were decoded behind the block. */
static void
append_decoded(struct block *b, unsigned n)
{
	const struct insn *last = &b->in[b->n + n - 1];

	b->next = last->pc + last->len;
	add_piece(b, b->in[b->n].pc, b->next);
	for (; n > 0; n--)
		b->taken[b->n++] = false;
}

static void
add_stub(struct block *b)
{
	unsigned call = b->n, n;

	if (!funcs_is_stub(b->in[call - 1].target))
		return;
	n = read_stub(b);
	if (n == 0)
		return;
	append_decoded(b, n);
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

/*
 * A block that ends by a word that cannot change, or in a stub that goes by
 * one, leads where the word says.  A jump to a stub alone has no code, so
 * single steps could not tell the two apart.
 */
static void
follow_word(struct block *b)
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
		append_decoded(b, n);
	add_piece(b, word, word + 8);
}

/*
 * In kind counts the block leads where a word that cannot change says, too, but
 * a stub of linkage is a block of its own, as it is told.  Where contexts are
 * told, calls and jumps are looked at one by one.
 */
static void
go_direct(struct block *b)
{
	app_pc word;

	if (opt->kind->intervals && opt->contexts == 0 && opt->store == NULL &&
	    make_direct(&b->in[b->n - 1], &word))
		add_piece(b, word, word + 8);
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
	if (got >= LOOK && has_frame(code))
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
follow(struct block *b, unsigned *calls)
{
	app_pc end = b->next;
	unsigned call = b->n - 1, n;
	bool sure;

	if (opt->kind->tells) {
		go_direct(b);
		return false;
	}
	if (opt->store == NULL)
		follow_word(b);
	if (b->in[call].flow != FLOW_CALL || *calls == CALLS_MOST ||
	    (opt->debug & DEBUG_NOSUPER))
		return false;
	n = read_leaf(b, b->in[b->n - 1].target, &sure);
	if (n == 0)
		return false;
	append_decoded(b, n);
	b->taken[b->n - 1] = sure;
	b->next = end;
	++*calls;
	return true;
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
			add_stub(b);
		if (in->flow != FLOW_NONE && opt->windows == 0 &&
		    !b->is_volatile && follow(b, &calls))
			continue;
		if (ends_behind(b, in, &branches))
			break;
	}
	b->piece[0] = (struct code_piece){ pc, pc + r.at };
	return 0;
}

/* ------------------------------------------------------------------- paths */

bool
block_word(const struct insn *in, app_pc *target)
{
	return goes_by_word(in) && maps_data(word_of(in), target);
}

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
