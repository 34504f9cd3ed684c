/*
 * sites - which references often miss
 *
 * One that misses a fifth of the time or more is searched for without a branch
 * (hotsearch.S), which costs about 12 cycles: less than a misprediction, more
 * than a hit that is predicted. So now and then those that have begun to miss
 * are searched for; from time to time all are looked up as usual, until they
 * miss again.
 *
 * Code is only written between two runs of it, and only a serializing
 * instruction makes sure that what was written is run: one for all of them.
 */
#include "cachesim.h"

#include <string.h>

#include "cpu.h"

#define NSITE	2048
#define OFTEN	640	/* executions in which one misses 128 times */
#define REVIEW	((size_t)1 << 18)	/* 64-bit words of records */
#define FORGET	16	/* reviews */

/* When a reference was last seen to have missed 128 times more. */
static struct seen {
	const uint8_t *from;
	uint64_t executions;
	bool listed;		/* in site[] */
} seen[NSITE];

static const uint8_t *site[NSITE];
static unsigned nsearched, nsite;	/* the first ones are searched for */
static size_t ran, nreview;

void
sites_missed(const uint8_t *from, uint64_t executions)
{
	struct seen *s = &seen[(uintptr_t)from / 16 % NSITE];

	if (s->from != from)
		*s = (struct seen){ .from = from };
	else if (executions - s->executions <= OFTEN && !s->listed &&
	    nsite < NSITE) {
		site[nsite++] = from;
		s->listed = true;
	}
	s->executions = executions;
}

static void
review(void)
{
	unsigned old = nsearched;

	if (++nreview % FORGET == 0) {
		for (unsigned i = 0; i < nsearched; i++)
			hot_search(site[i], false);
		nsite = nsearched = 0;
		memset(seen, 0, sizeof seen);
	}
	for (; nsearched < nsite; nsearched++)
		hot_search(site[nsearched], true);
	if (nsearched != old)
		cpu_sync_code();
}

void
sites_ran(size_t words)
{
	ran += words;
	if (ran < REVIEW)
		return;
	ran = 0;
	review();
}
