/*
 * xraydump - the calls of an XRay log, by a small decoder of its own
 *
 * Prints "PID TID LETTER ID TSC" (decimal) for each entry, exit and tail exit,
 * "A VALUE", "CPU N TSC" and so on, buffers as they lie in the log.  For whole
 * logs only.  It is written apart from lib, to test lib's reader.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char b[1 << 26];

static uint64_t
le(size_t at, int n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | b[at + (size_t)n];
	return v;
}

static void
basic(size_t len, unsigned version)
{
	size_t i;

	for (i = 32; i + 32 <= len; i += 32)
		if (le(i, 2) == 1)
			printf("A %" PRIu64 "\n", le(i + 16, 8));
		else
			printf("%" PRIu64 " %" PRIu64 " %c %" PRIu64 " %" PRIu64 "\n",
			    version < 3 ? 0 : le(i + 20, 4), le(i + 16, 4),
			    "NXVN"[b[i + 3]], le(i + 4, 4), le(i + 8, 8));
}

/* a metadata record; returns how far the next is */
static size_t
meta(size_t i, unsigned version, uint64_t *tsc, uint64_t who[2])
{
	int typed = b[i] == 0x11;
	uint64_t t;

	switch (b[i] >> 1) {
	case 0: who[1] = le(i + 1, 4); who[0] = 0; break;
	case 2: *tsc = le(i + 3, 8); break;
	case 3: *tsc = le(i + 1, 8); break;
	case 6: printf("A %" PRIu64 "\n", le(i + 1, 8)); break;
	case 9: who[0] = le(i + 1, 4); break;
	case 5: case 8:
		t = version < 5 ? le(i + 5, 8) :
		    (*tsc += (uint64_t)(int32_t)le(i + 5, 4));
		printf("%" PRIu64 " %" PRIu64 " D %d %" PRIu64 "\n", who[0], who[1],
		    typed ? (int)le(i + (version == 5 ? 9 : 13), 2) : -1, t);
		return 16 + le(i + 1, 4);
	}
	return 16;
}

int
main(int argc, char **argv)
{
	static const char letters[] = "NXVN";
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : stdin;
	size_t len = f ? fread(b, 1, sizeof b - 64, f) : 0, i = 32, start = 32;
	uint64_t tsc = 0, who[2] = { 0, 0 };
	unsigned version = (unsigned)le(0, 2);

	if (len < 32)
		return 1;
	if (le(2, 2) == 0) {
		basic(len, version);
		return 0;
	}
	while (i < len) {
		if (version == 1 && b[i] == 0x01)
			start = i;
		if (version == 1 && b[i] == 0x03) {
			i = start + le(16, 8);
			continue;
		}
		if (b[i] & 1) {
			i += meta(i, version, &tsc, who);
			continue;
		}
		tsc += le(i + 4, 4);
		printf("%" PRIu64 " %" PRIu64 " %c %" PRIu64 " %" PRIu64 "\n",
		    who[0], who[1], letters[b[i] >> 1 & 3], le(i, 4) >> 4, tsc);
		i += 8;
	}
	return 0;
}
