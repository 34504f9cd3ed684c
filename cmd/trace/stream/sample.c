/*
 * sample - count how often each id comes, in a sample of the records
 *
 * The formatter counts one record in eight.  An id says by which exit a block
 * was left.  An id that comes often goes into a ring, from which the serving
 * thread takes it to search for the path that its block mostly takes
 * (cache/search.c).
 */
#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"
#include "mem.h"

#define OFTEN 128u		/* samples of an id; a power of two */
#define RING 1024u
#define PATIENCE 4u		/* a few of them wait for so many buffers */

/* What the formatter knows of an id. */
static struct seen {
	uint32_t next;		/* of the block that came behind it most,
				 * perhaps: the one that remains if each vote
				 * for another block takes one of its away */
	uint16_t count, votes;
} *seen;

/* The ids that came often. */
static uint32_t ring[RING];
static uint32_t put, taken;
static unsigned waited;

/* As a static array it would not let us start where memory is limited. */
void
sample_begin(void)
{
	seen = xreserve(NIDS, sizeof *seen, "table of samples");
}

static bool
is_wanted(void)
{
	return opt_makes_paths() && !(opt->debug & DEBUG_LONG);
}

static bool
same_block(uint32_t a, uint32_t b)
{
	return a == b || evw_packed(stream_writer, a) ==
	    evw_packed(stream_writer, b);
}

/* Behind the id that was seen comes this one. */
static void
vote(struct seen *s, uint32_t id)
{
	if (s->count == UINT16_MAX)
		return;
	if (s->votes == 0) {
		s->next = id;
		s->votes = 1;
	} else if (same_block(s->next, id)) {
		s->votes++;
	} else {
		s->votes--;
	}
}

/* Each call costs two switches of threads: not one for every id. */
static void
call_searcher(void)
{
	uint32_t n = put - __atomic_load_n(&taken, __ATOMIC_ACQUIRE);

	if (n != 0 && ++waited < PATIENCE && n < RING / 4)
		return;
	waited = 0;
	if (n != 0)
		bell_ring_sleeper();
}

void
sample(const uint32_t *a, const uint32_t *b)
{
	const uint32_t *end = a + 64 + (b - a) / 8;
	uint32_t id, n, at = put, head, last = 0;

	if (!is_wanted())
		return;
	for (end = end < b ? end : b; a < end;
	    a += 1 + 2 * record_nvalues(head)) {
		head = ONCE(*a);
		id = record_id(head);
		if (last != 0)
			vote(&seen[last], id);
		last = id;
		n = seen[id].count;
		if (n == UINT16_MAX)
			continue;
		seen[id].count = (uint16_t)++n;
		if (n >= OFTEN && (n & (n - 1)) == 0 && at - __atomic_load_n(
		    &taken, __ATOMIC_ACQUIRE) < RING)
			ring[at++ % RING] = id;
	}
	if (at != put)
		__atomic_store_n(&put, at, __ATOMIC_SEQ_CST);
	call_searcher();
}

bool
sample_pending(void)
{
	return __atomic_load_n(&put, __ATOMIC_SEQ_CST) != taken;
}

uint32_t
sample_next(void)
{
	uint32_t id = ring[taken % RING];

	__atomic_store_n(&taken, taken + 1, __ATOMIC_RELEASE);
	return id;
}

/* At least five of eight times. */
uint32_t
sample_follower(uint32_t id)
{
	return 4u * seen[id].votes >= seen[id].count ? seen[id].next : 0;
}

uint32_t
sample_count(uint32_t id)
{
	return seen[id].count;
}

void
sample_halve(uint32_t id)
{
	seen[id].count /= 2;
	seen[id].votes /= 2;
}
