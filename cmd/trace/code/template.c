/*
 * template - decode by an earlier instruction that differs only in numbers
 *
 * The HEAD of an instruction, all its bytes before displacement and immediate,
 * decides everything about it but these two numbers.  So one decoded
 * instruction serves for all with the same head: for five in six of two million
 * in a compiler's run, at a tenth of the price.
 *
 *	48 8b 45 | f8		mov -8(%rbp),%rax	head of 3 bytes
 *	48 8b 45 | 10		mov 16(%rbp),%rax	the same
 *	0f 84 | 3a 01 00 00	je +13a			head of 2
 *
 * A table of opcodes guesses where the head ends.  An instruction becomes a
 * template only if the guess proves right, if its numbers mean nothing but an
 * address, a distance or an operand, and if a line of the processor's cache can
 * hold what is to be known of it.
 *
 * Templates lie in the order in which they came: those that most instructions
 * need come early, and so lie together.  Half of the time is to wait for them
 * all the same, so those of a block are prefetched: an index, which is small
 * enough to stay near, tells lengths without them.
 */
#include <stddef.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "code/decode.h"
#include "hash.h"
#include "mem.h"

#define NTEMPLATE 24000u	/* with as many, all are forgotten */
#define NINDEX (1u << 15)
#define MAX_HEAD 8u
#define MAX_PREFETCH 24u

/* What instructions with the same head have in common, but for a reference. */
#define SAME offsetof(struct insn, len)
#define SAME_BYTES (offsetof(struct insn, ref) - SAME)
#define REF_BYTES (offsetof(struct ref, locked) + sizeof(bool))

struct template {
	uint64_t head;		/* its bytes, then zeros; no head is another
				 * and zeros, since it says where it ends */
	uint8_t same[SAME_BYTES];
	uint8_t ref[REF_BYTES];
	int8_t disp;		/* of a reference without one in its bytes */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct template) == 64, "a line of the cache");

static struct template templates[NTEMPLATE];
static struct touched templatepages = { .size = sizeof templates };
static unsigned ntemplate;

/* By a head's hash; its template is looked at only where the hash fits. */
static struct place {
	uint16_t number;	/* of the template, + 1; 0: none here */
	uint8_t hash;		/* other bits of it */
	uint8_t more : 7;	/* bytes behind the head */
	uint8_t ends : 1;	/* goes on elsewhere: the last of a block */
} places[NINDEX];

/* What was prefetched, for decode_again to find it in this order. */
static struct found {
	const uint8_t *bytes;
	const struct template *template;
	unsigned head;
} found[MAX_PREFETCH];
static unsigned nfound, nused;

/* Opcodes without a ModRM byte, bit by bit. */
static const uint32_t plain1[8] = {
	0xf0f0f0f0, 0xf0f0f0f0, 0xffffffff, 0xfffff5f7,
	0xffff0000, 0xffffffff, 0x00f0ff3c, 0x3f3fffff
};
static const uint32_t plain2[8] = {	/* behind 0f */
	0x00004be0, 0x00ff0000, 0, 0x00800000, 0x0000ffff, 0x00000707,
	0x0000ff00, 0
};

/* What a byte of a head is, where its opcode is expected, and behind 0f. */
enum byte { PLAIN, WITH_MODRM, PREFIX, REX, ESCAPE, VEX2, VEX3, EVEX, LONG,
    UNKNOWN };
static uint8_t first[256], second[256];

void
decode_again_init(void)
{
	static const uint8_t prefix[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
		0x66, 0x67, 0xf0, 0xf2, 0xf3 };
	unsigned i;

	xtouch_all(places, sizeof places);
	for (i = 0; i < 256; i++) {
		first[i] = plain1[i / 32] >> i % 32 & 1 ? PLAIN : WITH_MODRM;
		second[i] = plain2[i / 32] >> i % 32 & 1 ? PLAIN : WITH_MODRM;
	}
	for (i = 0x40; i < 0x50; i++)
		first[i] = REX;
	for (i = 0; i < sizeof prefix; i++)
		first[prefix[i]] = PREFIX;
	first[0x0f] = ESCAPE;
	first[0xc5] = VEX2;
	first[0xc4] = VEX3;
	first[0x62] = EVEX;
	second[0x38] = second[0x3a] = LONG;
	second[0x0f] = UNKNOWN;
}

/* The head's length, where byte i of it is at *b and is what `is' says. */
static unsigned
rare_head(const uint8_t *b, unsigned i, enum byte is)
{
	switch (is) {
	case VEX2:
		i += 2;
		break;
	case VEX3:
	case LONG:
		i += is == LONG ? 1 : 3;
		break;
	case EVEX:
		i += 4;
		break;
	default:
		return 0;
	}
	i++;
	return i + 1 + ((b[i] & 0xc7) < 0xc0 && (b[i] & 7) == 4);
}

/* The head's length, or 0: not known. */
static inline unsigned
guess_head(const uint8_t *b)
{
	unsigned i = 0;
	enum byte is = first[b[0]];

	while (is == PREFIX && i < 4)
		is = first[b[++i]];
	if (is == REX)
		is = first[b[++i]];
	if (is == ESCAPE)
		is = second[b[++i]];
	if (is > WITH_MODRM)
		return rare_head(b, i, is);
	i++;
	if (is == PLAIN)
		return i;
	return i + 1 + ((b[i] & 0xc7) < 0xc0 && (b[i] & 7) == 4);
}

/* The head of so many bytes, as a number. */
static inline uint64_t
head_at(const uint8_t *bytes, unsigned head)
{
	static const uint64_t mask[MAX_HEAD + 1] = {
		0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff,
		0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff
	};
	uint64_t k;

	memcpy(&k, bytes, sizeof k);
	return k & mask[head];
}

static uint64_t
hash_of(uint64_t head)
{
	return head * HASH_MULTIPLIER;
}

/* The first place from this one on that has the hash, or is free. */
static struct place *
search(struct place *p, uint64_t hash)
{
	while (p->number != 0 && p->hash != hash >> 56)
		p = p + 1 < places + NINDEX ? p + 1 : places;
	return p;
}

static struct place *
first_place(uint64_t hash)
{
	return search(&places[(hash >> 32) % NINDEX], hash);
}

/* The head's place, where its template is or would be. */
static struct place *
place_of(uint64_t head)
{
	uint64_t hash = hash_of(head);
	struct place *p = first_place(hash);

	while (p->number != 0 && templates[p->number - 1].head != head)
		p = search(p + 1 < places + NINDEX ? p + 1 : places, hash);
	return p;
}

void
decode_prefetch(const uint8_t *bytes, unsigned n)
{
	unsigned i, head, at = 0;
	const struct place *p;

	nfound = nused = 0;
	for (i = 0; i < MAX_PREFETCH && at + MAX_LEN <= n; i++) {
		head = guess_head(bytes + at);
		if (head == 0 || head > MAX_HEAD)
			return;
		p = first_place(hash_of(head_at(bytes + at, head)));
		if (p->number == 0)
			return;
		found[i] = (struct found){ bytes + at,
		    &templates[p->number - 1], head };
		__builtin_prefetch(found[i].template);
		nfound = i + 1;
		if (p->ends)
			return;
		at += head + p->more;
	}
}

/* A number of 0, 1, 2 or 4 bytes, with its sign; 4 can be read. */
static inline int64_t
number(const uint8_t *p, unsigned len)
{
	unsigned unused = 32 - 8 * len;
	uint32_t d;

	memcpy(&d, p, sizeof d);
	return (int64_t)((uint64_t)d << 32 << unused) >> 32 >> unused;
}

/* The effect, where an operand of so many bytes may follow the head. */
static void
fill_effect(struct insn *in, int64_t disp, const uint8_t *operand, unsigned len)
{
	int64_t by = disp;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_SUB:
		by = -number(operand, len & 7);
		break;
	case ZYDIS_MNEMONIC_ADD:
		by = number(operand, len & 7);
		break;
	case ZYDIS_MNEMONIC_LEA:
		break;
	default:
		return;
	}
	in->effdisp = (int32_t)by;
	if (by != (int32_t)by)
		in->effdst = NOREG;
}

/*
 * Make `in` of the template, with the numbers at bytes.  An operand matters
 * only as a distance or in the effect, and has at most 4 bytes there: keep
 * looks.
 */
static inline void
fill(struct insn *in, const struct template *t, unsigned head, app_pc pc,
    const uint8_t *bytes)
{
	int64_t disp;

	memcpy((uint8_t *)in + SAME, t->same, SAME_BYTES);
	memcpy(in->bytes, bytes, MAX_LEN);
	in->pc = pc;
	in->target = 0;
	in->aux = in->imm = in->emulate = in->a32 = 0;
	disp = number(bytes + head, in->displen);
	if (in->flow >= FLOW_COND && in->flow <= FLOW_CALL)
		in->target = pc + in->len +
		    (uint64_t)number(bytes + head, (in->len - head) & 7u);
	if (in->nref > 0) {
		memcpy(&in->ref[0], t->ref, REF_BYTES);
		in->ref[0].disp = in->displen == 0 ? t->disp :
		    (int64_t)((uint64_t)disp + (in->riprel ? pc + in->len : 0));
	}
	if (in->effdst != NOREG)
		fill_effect(in, disp, bytes + head, in->len - head);
}

/* Whether a template has room for it, and fill knows what its numbers mean. */
static bool
is_regular(const struct insn *in, unsigned head)
{
	unsigned end = in->siboff != 0xff ? in->siboff :
	    in->modrmoff != 0xff ? in->modrmoff : in->opcoff;
	unsigned immlen = in->len - head - in->displen;

	if (head != end + 1u || head > MAX_HEAD || in->nref > 1 || in->a32 ||
	    in->emulate != 0 || in->aux != 0 || in->imm != 0 ||
	    (in->special != SP_NONE && in->special != SP_SHORT))
		return false;
	if (immlen > 8 || (immlen & (immlen - 1)) != 0)
		return false;
	if (immlen != 0 && in->flow == FLOW_RET)
		return false;
	if (in->displen == 0)
		return in->nref == 0 || in->ref[0].disp ==
		    (int8_t)in->ref[0].disp;
	return in->displen <= 4 && in->dispoff == head &&
	    in->evexoff == 0xff && in->mnemonic != ZYDIS_MNEMONIC_POP;
}

static void
keep(const struct insn *in, uint64_t bytes, unsigned head, struct place *p)
{
	struct template *t = &templates[ntemplate];
	struct insn again;

	xtouch(templates, &templatepages, (ntemplate + 1) * sizeof *t);
	t->head = bytes;
	memcpy(t->same, (const uint8_t *)in + SAME, SAME_BYTES);
	memcpy(t->ref, &in->ref[0], REF_BYTES);
	t->disp = in->nref == 0 ? 0 : (int8_t)in->ref[0].disp;
	fill(&again, t, head, in->pc, in->bytes);
	if (again.target != in->target || again.effdst != in->effdst ||
	    again.effdisp != in->effdisp ||
	    (in->nref > 0 && again.ref[0].disp != in->ref[0].disp))
		return;
	if (++ntemplate == NTEMPLATE) {
		memset(places, 0, sizeof places);
		ntemplate = nfound = 0;
		return;
	}
	*p = (struct place){ .number = (uint16_t)ntemplate,
	    .hash = (uint8_t)(hash_of(bytes) >> 56),
	    .more = (in->len - head) & 0x7f,
	    .ends = in->flow != FLOW_NONE && in->flow != FLOW_COND };
}

/*
 * The next that was prefetched, if it is at these bytes, and its template is
 * not another's: a template's own head has the length that was guessed.  NULL:
 * no.
 */
static inline const struct found *
next_found(const uint8_t *bytes)
{
	const struct found *f = &found[nused];

	if (nused >= nfound || f->bytes != bytes)
		return NULL;
	nused++;
	return head_at(bytes, f->head) == f->template->head ? f : NULL;
}

_Static_assert(sizeof ((struct insn *)0)->flow == 1 &&
    sizeof ((struct insn *)0)->special == 1, "goes_on reads bytes");

/* Do its instructions neither transfer control nor need more than a copy? */
static inline bool
goes_on(const struct template *t)
{
	return t->same[offsetof(struct insn, flow) - SAME] == FLOW_NONE &&
	    t->same[offsetof(struct insn, special) - SAME] == SP_NONE;
}

unsigned
decode_run(struct insn *in, app_pc pc, const uint8_t *bytes, unsigned most)
{
	const struct found *f;
	unsigned n;

	for (n = 0; n < most; n++, in++) {
		f = next_found(bytes);
		if (f == NULL)
			break;
		if (!goes_on(f->template)) {
			nused--;
			break;
		}
		fill(in, f->template, f->head, pc, bytes);
		pc += in->len;
		bytes += in->len;
	}
	return n;
}

/* Decode it where it was not prefetched. */
static __attribute__((noinline)) int
decode_anew(struct insn *in, app_pc pc, const uint8_t *bytes, unsigned n)
{
	unsigned head = n < MAX_LEN ? 0 : guess_head(bytes);
	struct place *p;
	uint64_t k;
	int r;

	if (head == 0 || head > MAX_HEAD)
		return decode(in, pc, bytes, n);
	k = head_at(bytes, head);
	p = place_of(k);
	if (p->number != 0) {
		fill(in, &templates[p->number - 1], head, pc, bytes);
		return 0;
	}
	r = decode(in, pc, bytes, n);
	if (r == 0 && is_regular(in, head))
		keep(in, k, head, p);
	return r;
}

int
decode_again(struct insn *in, app_pc pc, const uint8_t *bytes, unsigned n)
{
	const struct found *f = n < MAX_LEN ? NULL : next_found(bytes);

	if (f == NULL)
		return decode_anew(in, pc, bytes, n);
	fill(in, f->template, f->head, pc, bytes);
	return 0;
}
