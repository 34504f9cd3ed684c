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

#include "hash.h"
#include "mem.h"

#define UNKNOWN "unknown"
#define MOST_WIDTHS 4096
#define WIDTH_MOST 80	/* bytes of such a name */

const char *const by_name[NBY] = { "mnemonic", "category", "extension", "set",
    "width" };

static ZydisDecoder decoder;
static char *width[MOST_WIDTHS];	/* from 1 on */
static unsigned nwidth;

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

/* ---- widths ---- */

/* The class of this name, which may be a new one; 0: there are too many. */
static unsigned
add_width(const char *name)
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
	char name[WIDTH_MOST] = "none", *p = name;
	unsigned same;

	for (unsigned k = 0; k < at->i->nref; k += same) {
		const struct ev_ref *r = &at->ref[k];

		for (same = 1; k + same < at->i->nref &&
		    r[same].kind == r->kind && r[same].size == r->size; )
			same++;
		if (p > name + 50)
			return add_width("many");
		p += sprintf(p, "%c%u", r->kind, r->size);
		if (same > 1)
			p += sprintf(p, "x%u", same);
	}
	return add_width(name);
}

/* Behind one of these letters and a number; NULL: they are not there. */
static const char *
behind(const char *s, const char *letters)
{
	size_t n = 0;

	if (*s != '\0' && strchr(letters, *s) != NULL)
		n = strspn(s + 1, "0123456789");
	return n == 0 ? NULL : s + 1 + n;
}

/* Is it a name that by_width may make? */
static bool
is_width(const char *s)
{
	if (strcmp(s, "none") == 0 || strcmp(s, "many") == 0)
		return true;
	if (*s == '\0' || strlen(s) >= WIDTH_MOST)
		return false;
	while (s != NULL && *s != '\0') {
		s = behind(s, "rwm");
		if (s != NULL && *s == 'x')
			s = behind(s, "x");
	}
	return s != NULL;
}

/* ---- */

unsigned
class_find(const char *name)
{
	if (opt.by == BY_WIDTH)
		return is_width(name) ? add_width(name) : 0;
	for (unsigned i = 1; i < class_count(); i++)
		if (strcmp(class_name(i), name) == 0)
			return i;
	return 0;
}

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

/*
 * How many of its first bytes decide on an instruction's class? Prefixes, the
 * opcode and the byte behind it do, displacements and constants do not; except
 * that 3DNow! has its opcode at the end.
 */
static unsigned
deciding(const uint8_t *b, unsigned len)
{
	static const uint8_t prefix[256] = {
		[0x26] = 1, [0x2e] = 1, [0x36] = 1, [0x3e] = 1,
		[0x40 ... 0x4f] = 1, [0x64 ... 0x67] = 1, [0xf0] = 1,
		[0xf2] = 1, [0xf3] = 1
	};
	unsigned n = 0;

	while (n < len && prefix[b[n]])
		n++;
	if (n + 3 > len)
		return len;
	if (b[n] == 0x0f)
		n += b[n + 1] == 0x0f ? len : b[n + 1] == 0x38 ||
		    b[n + 1] == 0x3a ? 2 : 1;
	else if (b[n] == 0xc5)
		n += 2;
	else if (b[n] == 0xc4 || b[n] == 0x8f)
		n += 3;
	else if (b[n] == 0x62)
		n += 4;
	return n + 2 < len ? n + 2 : len;
}

/*
 * Programs have few different instructions, but for displacements and
 * constants: most are decoded once.
 */
static unsigned
decode_once(const uint8_t *bytes, unsigned len)
{
	static struct known {
		uint64_t bytes;
		uint16_t class;		/* 0: none */
		uint8_t n, len;		/* deciding bytes, and all */
	} known[1 << 13];
	unsigned n = deciding(bytes, len);
	uint64_t first = 0;
	struct known *k;

	if (n > sizeof first)
		return decode(bytes, len);
	for (unsigned i = 0; i < n; i++)
		first |= (uint64_t)bytes[i] << 8 * i;
	k = &known[(first + len) * HASH_MULTIPLIER >> 51];
	if (k->class == 0 || k->bytes != first || k->n != n || k->len != len)
		*k = (struct known){ first, (uint16_t)decode(bytes, len),
		    (uint8_t)n, (uint8_t)len };
	return k->class;
}

unsigned
class_of(const struct insns_at *at)
{
	const uint8_t *bytes;
	unsigned class;

	if (opt.by == BY_WIDTH)
		return by_width(at);
	bytes = code_bytes(at);
	class = bytes == NULL ? 0 : decode_once(bytes, at->i->len);
	if (class == 0)
		code_unknown(at);
	return class;
}
