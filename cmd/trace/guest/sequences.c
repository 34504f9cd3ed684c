/*
 * sequences - restartable sequences, found in a process that is attached to
 *
 * A thread enters a sequence by storing the address of its struct rseq_cs in
 * the thread's struct rseq.  Under us the kernel takes that address away at
 * the next signal or preemption, perhaps before the runtime has come by and
 * seen it.  But the structs are there before: they are data with relocations,
 * in private writable mappings of files, aligned to 32 bytes, and the four
 * bytes before their abort handler are the signature that rseq(2) was given.
 * What looks like one and is none costs nothing.
 */
#include <string.h>
#include <unistd.h>

#include "guest/guest.h"
#include "guest/parts.h"

#define MOST_BYTES (64u << 20)	/* that are looked at */
#define MOST_TRIES 100000u	/* abort handlers that are */
#define NEAR (1ull << 31)	/* bytes from a sequence to its abort handler */

struct rseq_cs {
	uint32_t version, flags;
	uint64_t start, len, abort;
};

struct search {
	uint64_t *found;	/* of NSEQUENCE */
	unsigned n;
	uint32_t sig;
	size_t bytes, tries;	/* that are left */
};

static bool
is_sequence(struct search *s, const struct rseq_cs *c)
{
	uint32_t sig;

	if (c->version != 0 || c->flags != 0 || c->start == 0 || c->len == 0 ||
	    c->len >= NEAR || c->abort - c->start < c->len ||
	    c->abort - c->start + NEAR >= 2 * NEAR || s->tries == 0)
		return false;
	s->tries--;
	return pread(guest.mem, &sig, sizeof sig, (off_t)(c->abort - 4)) ==
	    sizeof sig && sig == s->sig;
}

static void
look_in(struct search *s, uint64_t at, uint64_t end)
{
	static struct rseq_cs c[2048];
	uint64_t size;
	ssize_t n;

	for (; at < end && s->bytes != 0; at += size) {
		size = end - at < sizeof c ? end - at : sizeof c;
		if (size > s->bytes)
			size = s->bytes;
		s->bytes -= size;
		n = pread(guest.mem, c, size, (off_t)at);
		for (ssize_t i = 0; i < n / (ssize_t)sizeof *c; i++)
			if (s->n < NSEQUENCE && is_sequence(s, &c[i]))
				s->found[s->n++] = at + (uint64_t)i * sizeof *c;
	}
}

void
sequences_find(uint64_t sig, uint64_t found[NSEQUENCE])
{
	struct search s = { found, 0, (uint32_t)sig, MOST_BYTES, MOST_TRIES };
	struct mapped m;

	memset(found, 0, NSEQUENCE * sizeof *found);
	if (sig == 0)
		return;
	mapped_open(&m, guest.pid);
	while (mapped_next(&m))
		if (m.inode != 0 && m.mode[0] == 'r' && m.mode[1] == 'w' &&
		    m.mode[3] == 'p')
			look_in(&s, m.start, m.end);
}
