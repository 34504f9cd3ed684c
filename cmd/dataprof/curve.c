/*
 * curve - how much memory there is, from time to time
 *
 * Samples are taken at equal distances, which double whenever there are
 * MOST_SAMPLES of them; one of DETAILED also has the bytes of each site.
 */
#include <stdlib.h>

#include "dataprof.h"
#include "mem.h"

#define MOST_SAMPLES	200u
#define DETAILED	10u

static struct sample samples[MOST_SAMPLES];
static size_t nsample;
static uint64_t step = 1;

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
	step = total_now()->time / nsample + 1;
}

static void
take_sample(void)
{
	samples[nsample] = *total_now();
	if (nsample % DETAILED == 0)
		note_sites(&samples[nsample]);
	if (++nsample == MOST_SAMPLES)
		thin_out();
}

void
curve_look(void)
{
	uint64_t last = nsample == 0 ? 0 : samples[nsample - 1].time;

	if (dp.massif && total_now()->time - last >= step)
		take_sample();
}

const struct sample *
curve_samples(size_t *n)
{
	uint64_t last = nsample == 0 ? 0 : samples[nsample - 1].time;

	if (total_now()->time != last)
		take_sample();
	*n = nsample;
	return samples;
}
