/*
 * class - which class an instruction belongs to
 *
 * Names are Zydis' own, its numbers plus 1 are ours. By width, a class is the
 * list of an instruction's references, as the stream has them: r8 reads 8
 * bytes, r8w8 reads and writes, r4x8 reads 8 times 4.
 */
#include "mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "util.h"

#define UNKNOWN "unknown"
#define MOST_WIDTHS 4096

static ZydisDecoder decoder;
static char *width[MOST_WIDTHS];	/* from 1 on */
static unsigned nwidth;

/* The instruction decoded last. */
static struct {
	const uint8_t *bytes;
	unsigned class;
} last;

void
class_init(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
	    ZYDIS_STACK_WIDTH_64);
	/* the mnemonic is known before what the instruction does */
	if (opt.by == BY_MNEMONIC)
		ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL,
		    ZYAN_TRUE);
}

static unsigned
most(void)
{
	switch (opt.by) {
	case BY_MNEMONIC:
		return ZYDIS_MNEMONIC_MAX_VALUE;
	case BY_CATEGORY:
		return ZYDIS_CATEGORY_MAX_VALUE;
	case BY_EXTENSION:
		return ZYDIS_ISA_EXT_MAX_VALUE;
	case BY_SET:
		return ZYDIS_ISA_SET_MAX_VALUE;
	default:
		return MOST_WIDTHS - 2;
	}
}

unsigned
class_count(void)
{
	return most() + 2;
}

const char *
class_name(unsigned class)
{
	const char *name = NULL;

	if (class == 0)
		return UNKNOWN;
	switch (opt.by) {
	case BY_MNEMONIC:
		name = ZydisMnemonicGetString((ZydisMnemonic)(class - 1));
		break;
	case BY_CATEGORY:
		name = ZydisCategoryGetString(
		    (ZydisInstructionCategory)(class - 1));
		break;
	case BY_EXTENSION:
		name = ZydisISAExtGetString((ZydisISAExt)(class - 1));
		break;
	case BY_SET:
		name = ZydisISASetGetString((ZydisISASet)(class - 1));
		break;
	case BY_WIDTH:
		name = class <= nwidth ? width[class] : NULL;
		break;
	}
	return name == NULL ? UNKNOWN : name;
}

unsigned
class_find(const char *name)
{
	for (unsigned i = 1; i < class_count(); i++)
		if (strcmp(class_name(i), name) == 0)
			return i;
	return 0;
}

/* ---- widths ---- */

unsigned
class_new(const char *name)
{
	for (unsigned i = 1; i <= nwidth; i++)
		if (strcmp(width[i], name) == 0)
			return i;
	if (nwidth + 2 == MOST_WIDTHS)
		return 0;
	width[++nwidth] = xstrdup(name);
	return nwidth;
}

static unsigned
by_width(const struct insns_at *at)
{
	char name[80] = "none", *p = name;
	unsigned same;

	for (unsigned k = 0; k < at->i->nref; k += same) {
		const struct ev_ref *r = &at->ref[k];

		for (same = 1; k + same < at->i->nref &&
		    r[same].kind == r->kind && r[same].size == r->size; )
			same++;
		if (p > name + 50)
			return class_new("many");
		p += sprintf(p, "%c%u", r->kind, r->size);
		if (same > 1)
			p += sprintf(p, "x%u", same);
	}
	return class_new(name);
}

/* ---- */

static unsigned
decode(const uint8_t *bytes, unsigned len)
{
	ZydisDecodedInstruction i;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes,
	    len, &i)) || i.length != len)
		return 0;
	switch (opt.by) {
	case BY_MNEMONIC:
		return (unsigned)i.mnemonic + 1;
	case BY_CATEGORY:
		return (unsigned)i.meta.category + 1;
	case BY_EXTENSION:
		return (unsigned)i.meta.isa_ext + 1;
	default:
		return (unsigned)i.meta.isa_set + 1;
	}
}

/* Programs have few different instructions: most are decoded once. */
static unsigned
decode_once(const uint8_t *bytes, unsigned len)
{
	static struct known {
		uint64_t key[2];	/* bytes, then their number */
		unsigned class;
	} known[1 << 12];
	uint64_t key[2] = { 0, 0 }, h;
	struct known *k;

	if (len >= sizeof key)
		return decode(bytes, len);
	memcpy(key, bytes, len);
	key[1] |= (uint64_t)len << 56;
	h = (key[0] ^ key[1] * 31) * UINT64_C(0x9e3779b97f4a7c15);
	k = &known[h >> 52];
	if (k->key[0] != key[0] || k->key[1] != key[1])
		*k = (struct known){ { key[0], key[1] }, decode(bytes, len) };
	return k->class;
}

unsigned
class_of(const struct insns_at *at)
{
	const uint8_t *bytes;

	if (opt.by == BY_WIDTH)
		return by_width(at);
	bytes = code_bytes(at);
	/* blocks overlap, and the same instruction comes several times */
	if (bytes != NULL && bytes != last.bytes) {
		last.bytes = bytes;
		last.class = decode_once(bytes, at->i->len);
	}
	if (bytes == NULL || last.class == 0) {
		code_unknown(at);
		return 0;
	}
	return last.class;
}
