/*
 * caches - write the caches of this machine into the stream's head
 */
#include "caches.h"
#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"

static void
write_cache(struct evw *w, const char *name, const struct cache_found *f)
{
	if (f != NULL)
		evw_line(w, "H %s %llu,%llu,%llu", name,
		    (unsigned long long)f->size, (unsigned long long)f->ways,
		    (unsigned long long)f->line);
}

/*
 * Those of the first level, and the last level, for readers that simulate
 * caches.  A virtual machine takes some microseconds for each of the questions.
 */
void
stream_caches(struct evw *w)
{
	const struct cache_found *i1 = NULL, *d1 = NULL, *ll = NULL, *f;
	struct cache_found found[CACHES_MOST];
	unsigned n = caches_find(found, caches_cpuid);

	for (f = found; f < found + n; f++)
		if (f->level > 1 && f->holds == HOLDS_BOTH)
			ll = ll == NULL || f->level > ll->level ? f : ll;
		else if (f->level == 1 && f->holds != HOLDS_BOTH)
			*(f->holds == HOLDS_CODE ? &i1 : &d1) = f;
	write_cache(w, "I1", i1);
	write_cache(w, "D1", d1);
	write_cache(w, "LL", ll);
}
