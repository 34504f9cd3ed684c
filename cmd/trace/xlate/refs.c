/*
 * refs - kind cache with --contexts: count instructions, reads and writes
 *
 * REG_P is the record pointer there, so what calls take is measured by words in
 * the thread's part of the contexts: instructions are counted down as REG_P is
 * in kind counts, reads and writes upwards.  Exits step them by constants;
 * repeated instructions and the elements of gathers count for themselves.
 * Nothing here but refs_element changes the guest's flags.
 */
#include "xlate/parts.h"
#include "mem.h"

#define WORD(member) (T_CTX + (int32_t)CTX_WORDS + \
    (int32_t)offsetof(struct ctx_words, member))
#define IR WORD(ir)
#define TOP WORD(top)
#define REFS(k) (WORD(refs) + 8 * (k))
#define GATHERED(k) (WORD(gathered) + 8 * (k))
#define FRAME_P (int32_t)offsetof(struct ctx_frame, p)
#define FRAME_REFS(k) ((int32_t)CTX_MORE + 8 * (k) + \
    (int32_t)offsetof(struct ctx_frame_more, refs))
#define COUNT_REFS(k) (T_CTX + (int32_t)CTX_COUNTS + (int32_t)CTX_MORE + \
    8 * (k) + (int32_t)offsetof(struct ctx_count_more, refs))

static void
step(struct xlate *x, int32_t at, int32_t n, int r)
{
	if (n == 0)
		return;
	emit_load(&x->c, r, REG_T, at);
	emit_lea(&x->c, r, r, n);
	emit_store(&x->c, REG_T, at, r);
}

/* At exit e, whose counter has been stepped: r is free. */
void
refs_tell(struct xlate *x, unsigned e, int r)
{
	const uint8_t *n = x->does[x->exit[e].n];

	mark_part(x, e, MAP_STEPPED, 0);
	step(x, IR, -(int32_t)x->exit[e].n, r);
	mark_part(x, e, MAP_STEPPED, 1);
	step(x, REFS(0), n[0], r);
	mark_part(x, e, MAP_STEPPED, 2);
	step(x, REFS(1), n[1], r);
}

/* Into the new frame, whose address is in rcx; rdx is free. */
void
refs_push(struct xlate *x)
{
	struct emitter *c = &x->c;
	int k;

	emit_load(c, RDX, REG_T, IR);
	emit_store(c, RCX, FRAME_P, RDX);
	for (k = 0; k < 2; k++) {
		emit_load(c, RDX, REG_T, REFS(k));
		emit_store(c, RCX, FRAME_REFS(k), RDX);
	}
}

/*
 * What the frame at rax has cost is added to its arc's count, at rdx, but for
 * instructions: their number by now is in rax afterwards, and that at the call
 * in rcx.  l is the exit to behind the call.
 */
void
refs_pop(struct xlate *x, unsigned l)
{
	struct emitter *c = &x->c;
	int k;

	for (k = 0; k < 2; k++) {
		emit_load(c, RCX, RAX, FRAME_REFS(k));
		emit_not(c, RCX);
		emit_load(c, RAX, REG_T, REFS(k));
		emit_lea_sib(c, RCX, RCX, RAX, 1, 1, 0);
		emit_load_sib(c, RAX, REG_T, RDX, 1, COUNT_REFS(k));
		emit_lea_sib(c, RAX, RAX, RCX, 1, 0, 0);
		emit_store_sib(c, REG_T, RDX, 1, COUNT_REFS(k), RAX);
		mark_part(x, l, MAP_LAND, 1u + (unsigned)k);
		emit_load(c, RAX, REG_T, TOP);
	}
	emit_load(c, RCX, RAX, FRAME_P);
	emit_load(c, RAX, REG_T, IR);
}

/* Does it read or write? */
static unsigned
refs_kind(const struct ref *r)
{
	return r->rw == 'w' || (r->rw == 'm' && opt->writes) ? DO_WRITE :
	    DO_READ;
}

/* Reads and writes of one round of a repeated instruction. */
void
refs_of_round(const struct insn *in, uint8_t n[2])
{
	unsigned j;

	n[DO_READ] = n[DO_WRITE] = 0;
	for (j = 0; j < in->nref; j++)
		n[refs_kind(&in->ref[j])]++;
}

/*
 * --rep=each: as many more instructions as register s has rounds, but a first
 * one that only reads is counted by the exit; s is used.
 */
void
refs_each(struct xlate *x, int s, int r)
{
	struct emitter *c = &x->c;
	uint8_t n[2];
	int less;

	if (!counts_each())
		return;
	refs_of_round(&x->b->in[x->i], n);
	less = n[DO_WRITE] == 0;
	mark(x, x->i, MAP_ROUNDS, counts_refs() ? 2 : 0);
	emit_not(c, s);
	if (!counts_refs()) {
		emit_lea_sib(c, REG_P, REG_P, s, 1, 1 + less, 0);
		return;
	}
	emit_load(c, r, REG_T, IR);
	emit_lea_sib(c, r, r, s, 1, 1 + less, 0);
	emit_store(c, REG_T, IR, r);
}

/* The same behind one that only reads: -1 - s rounds have not been done. */
void
refs_uneach(struct xlate *x, int s, int r)
{
	struct emitter *c = &x->c;

	if (!counts_each())
		return;
	mark(x, x->i + 1, MAP_ROUNDS, counts_refs() ? 1 : 0);
	emit_not(c, s);
	if (!counts_refs()) {
		emit_lea_sib(c, REG_P, REG_P, s, 1, 0, 0);
		return;
	}
	emit_load(c, r, REG_T, IR);
	emit_lea_sib(c, r, r, s, 1, 0, 0);
	emit_store(c, REG_T, IR, r);
}

/* Before x->i, a repeated instruction: its rounds are in s; r is free. */
void
refs_rounds(struct xlate *x, int s, int r)
{
	struct emitter *c = &x->c;
	uint8_t n[2];
	int k;

	refs_of_round(&x->b->in[x->i], n);
	for (k = 0; k < 2; k++) {
		mark(x, x->i, MAP_ROUNDS, (unsigned)k);
		if (n[k] == 0)
			continue;
		emit_load(c, r, REG_T, REFS(k));
		emit_lea_sib(c, r, r, s, n[k], 0, 0);
		emit_store(c, REG_T, REFS(k), r);
	}
}

/* Behind one that only reads: -1 - s of its rounds have not been done. */
void
refs_unround(struct xlate *x, int s, int r)
{
	struct emitter *c = &x->c;
	uint8_t n[2];

	refs_of_round(&x->b->in[x->i], n);
	mark(x, x->i + 1, MAP_ROUNDS, 0);
	emit_load(c, r, REG_T, REFS(0));
	emit_lea_sib(c, r, r, s, n[0], n[0], 0);
	emit_store(c, REG_T, REFS(0), r);
}

/* Add 1 unless the carry flag is set: sbb qword [T+at], -1 */
static void
count_up(struct xlate *x, int32_t at)
{
	emit_bytes(&x->c, 0x9b8349u | (uint64_t)(uint32_t)at << 24 |
	    0xffull << 56, 8);
}

/* The address of a gathered element is in s; 0: it did not happen. */
void
refs_element(struct xlate *x, int s)
{
	int k = x->b->in[x->i].ref[0].rw == 'w';
	int32_t at[2] = { REFS(k), GATHERED(k) };
	int i;

	for (i = 0; i < 2; i++) {
		emit_cmp_imm(&x->c, s, 1);
		count_up(x, at[i]);
	}
}

const uint8_t (*
refs_first_do(const struct block *b))[NDO]
{
	uint8_t (*does)[NDO], round[2];
	unsigned i, j;

	if (!counts_refs() && !counts_each())
		return NULL;
	does = xkeep((b->n + 1u) * sizeof *does);
	for (i = 0; i < b->n; i++) {
		const struct insn *in = &b->in[i];

		memcpy(does[i + 1], does[i], sizeof *does);
		if (in->special == SP_REP || in->special == SP_REPCMP) {
			refs_of_round(in, round);
			does[i + 1][DO_REPEAT] += round[DO_WRITE] == 0;
			continue;
		}
		for (j = 0; j < in->nref && in->special != SP_GATHER; j++)
			does[i + 1][refs_kind(&in->ref[j])]++;
	}
	return (const uint8_t (*)[NDO])does;
}
