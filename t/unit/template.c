/*
 * template - is an instruction like one before the same as decoded afresh?
 *
 *	template FILE ...	the bytes at every offset of the files
 *
 * prints how many instructions there were, and the first that differs. Once
 * more with the numbers changed: behind each head, bytes of a generator.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cmd/trace/code/decode.h"
#include "in.h"
#include "prog.h"

#define LEN 15u

static uint64_t n, seed = 1;

static unsigned
next_byte(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 56);
}

/* What is behind the last reference, and behind the bytes, is not told. */
static void
clean(struct insn *in)
{
	memset(in->ref + in->nref, 0, (3u - in->nref) * sizeof in->ref[0]);
	memset(in->bytes + in->len, 0, sizeof in->bytes - in->len);
	if (in->special != SP_GATHER)
		memset(&in->gather, 0, sizeof in->gather);
}

static void
one(const uint8_t *b)
{
	struct insn want, got;
	app_pc pc = 0x7ffff7a00000 + 16 * n;
	int r, q, i;

	memset(&want, 0, sizeof want);
	memset(&got, 0, sizeof got);
	r = decode(&want, pc, b, LEN);
	q = decode_again(&got, pc, b, LEN);
	if (r == 0) {
		n++;
		clean(&want);
		if (q == 0)
			clean(&got);
	}
	if (r == q && (r != 0 || memcmp(&want, &got, sizeof want) == 0))
		return;
	printf("differs:");
	for (i = 0; i < (int)LEN; i++)
		printf(" %02x", b[i]);
	for (i = 0; r == q && i < (int)sizeof want; i++)
		if (((char *)&want)[i] != ((char *)&got)[i])
			printf(" @%d", i);
	printf(" %d %d\n", r, q);
	exit(1);
}

/* Other numbers: all but the first k bytes. */
static void
changed(const uint8_t *b, unsigned k)
{
	uint8_t other[LEN];
	unsigned i;

	for (i = 0; i < LEN; i++)
		other[i] = i < k ? b[i] : (uint8_t)next_byte();
	one(other);
}

static void
file(const char *name)
{
	static uint8_t buf[1 << 16];
	struct in *in = in_open(name);
	ssize_t got;
	size_t have = 0, at;

	while ((got = in_read(in, buf + have, sizeof buf - have)) > 0) {
		have += (size_t)got;
		for (at = 0; at + LEN <= have; at++) {
			one(buf + at);
			changed(buf + at, 1 + next_byte() % 7);
		}
		memmove(buf, buf + at, have - at);
		have -= at;
	}
	in_close(in);
}

int
main(int argc, char *argv[])
{
	int i;

	prog_init(argv[0]);
	decode_init(~0ull);
	decode_again_init();
	for (i = 1; i < argc; i++)
		file(argv[i]);
	printf("%" PRIu64 " instructions\n", n);
	return 0;
}
