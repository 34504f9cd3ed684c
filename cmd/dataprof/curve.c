/*
 * curve - how much memory there is, from time to time, and when it is the most
 *
 * Mappings are left out.  Time is what Massif has as --time-unit=B: the bytes
 * that were allocated and freed so far, with what the allocator adds to each
 * block: a word, and what rounds it up to ALIGNMENT.
 *
 * Samples are taken at equal distances, which double whenever there are
 * MOST_SAMPLES of them; one of DETAILED also has the bytes of each site.  When
 * there was the most is known exactly, and what each site had then (sites.c).
 */
#include <stdlib.h>

#include "dataprof.h"
#include "mem.h"

#define MOST_SAMPLES 200u
#define DETAILED	10u
#define ALIGNMENT	16u
#define WORD		8u

static struct sample now, most, samples[MOST_SAMPLES];
static size_t nsample;
static uint64_t step = 1;

/* What an allocator adds to n bytes. */
static uint64_t
extra(uint64_t n)
{
	return (-n & (ALIGNMENT - 1)) + WORD;
}

static void
pass_time(uint64_t n)
{
	now.time += n + extra(n);
}

bool
curve_grows(uint64_t n)
{
	now.bytes += n;
	now.extra += extra(n);
	pass_time(n);
	if (now.bytes <= most.bytes)
		return false;
	most = now;
	return true;
}

void
curve_shrinks(uint64_t n)
{
	now.bytes -= n;
	now.extra -= extra(n) < now.extra ? extra(n) : now.extra;
	pass_time(n);
}

void
curve_exec(void)
{
	now.bytes = now.extra = 0;
}

/* The bytes of all sites that have any, now. */
static void
note_sites(struct sample *s)
{
	size_t i;

	s->part = xcalloc(site_count() + 1, sizeof *s->part);
	for (i = 0; i < site_count(); i++)
		if (!site_get(i)->maps && site_get(i)->live != 0)
			s->part[s->nparts++] = (struct sample_part){
			    (uint32_t)i, site_get(i)->live };
	s->part = xrealloc(s->part, (s->nparts + 1) * sizeof *s->part);
}

/* Leave out every second sample. */
static void
thin_out(void)
{
	size_t i;

	for (i = 0; i < nsample; i++)
		if (i % 2 != 0)
			free(samples[i].part);
		else
			samples[i / 2] = samples[i];
	nsample = (nsample + 1) / 2;
	step = now.time / nsample + 1;
}

static void
take_sample(void)
{
	samples[nsample] = now;
	if (nsample % DETAILED == 0)
		note_sites(&samples[nsample]);
	if (++nsample == MOST_SAMPLES)
		thin_out();
}

void
curve_look(void)
{
	uint64_t last = nsample == 0 ? 0 : samples[nsample - 1].time;

	if (dp.massif && now.time - last >= step)
		take_sample();
}

const struct sample *
curve_most(void)
{
	return &most;
}

const struct sample *
curve_samples(size_t *n)
{
	uint64_t last = nsample == 0 ? 0 : samples[nsample - 1].time;

	if (now.time != last)
		take_sample();
	*n = nsample;
	return samples;
}
