/*
 * unpack - compressed data is recognized by its first bytes
 *
 * zstd's data may begin with a frame that is to be skipped, as pzstd writes it;
 * its first byte is 50 to 5f. A bzip2 file's fourth byte is a digit.
 */
#include "unpack.h"

#include <stdint.h>

#include "in.h"

#define NMAGIC	10

static const struct magic {
	struct packing packing;
	const char *bytes;
	unsigned n;
	unsigned loose;		/* byte of which only the high half counts */
} magics[] = {
	{ { "gzip", &gunzip }, "\x1f\x8b", 2, NMAGIC },
	{ { "zstd", &unzstd }, "\x28\xb5\x2f\xfd", 4, NMAGIC },
	{ { "zstd", &unzstd }, "\x50\x2a\x4d\x18", 4, 0 },
	{ { "xz", NULL }, "\xfd" "7zXZ", 6, NMAGIC },
	{ { "bzip2", NULL }, "BZh0\x31\x41\x59\x26\x53\x59", 10, 3 },
	{ { "lz4", NULL }, "\x04\x22\x4d\x18", 4, NMAGIC },
};

/* Are the first bytes, as many as there are, a magic's? */
static bool
begins(const struct magic *m, const unsigned char *p, size_t n)
{
	for (unsigned i = 0; i < m->n && i < n; i++) {
		unsigned differs = p[i] ^ (unsigned char)m->bytes[i];

		if (differs > (i == m->loose ? 0xf : 0))
			return false;
	}
	return true;
}

const struct packing *
packing_of(const unsigned char *p, size_t n, bool *more)
{
	*more = false;
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
		if (!begins(&magics[i], p, n))
			continue;
		if (n >= magics[i].n)
			return &magics[i].packing;
		*more = true;
	}
	return NULL;
}

bool
in_is_packed(const void *p, size_t n)
{
	bool more;

	return packing_of(p, n, &more) != NULL;
}
