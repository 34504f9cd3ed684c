/*
 * curve - how much memory there is, from time to time
 *
 * Samples are taken at equal distances, which double whenever there are too
 * many of them; one of dp.detailed also has the bytes of each site.  The file
 * has the beginning, the peak and the end, too.
 */
#include <stdlib.h>

#include "dataprof.h"
#include "mem.h"

#define OTHERS	3u	/* the beginning, the peak and the end */

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

/* Leave out every second sample, and what too many details have. */
static void
thin_out(void)
{
	size_t i;

	for (i = 0; i < nsample; i++) {
		if (i % 2 != 0 || i / 2 % dp.detailed != 0) {
			free(samples[i].part);
			samples[i].part = NULL;
		}
		if (i % 2 == 0)
			samples[i / 2] = samples[i];
	}
	nsample = (nsample + 1) / 2;
	step = total_now()->time / nsample + 1;
}

static void
take_sample(void)
{
	samples[nsample] = *total_now();
	if (nsample % dp.detailed == 0)
		note_sites(&samples[nsample]);
	nsample++;
}

void
curve_look(void)
{
	uint64_t last = nsample == 0 ? 0 : samples[nsample - 1].time;

	if (!dp.massif || total_now()->time - last < step)
		return;
	take_sample();
	if (nsample > dp.samples - OTHERS)
		thin_out();
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
