/*
 * caches - write the caches of this machine into the stream's head
 */
#include "caches.h"
#include "evw.h"
#include "stream/parts.h"

static void
write_cache(struct evw *w, const char *name, const struct cache_found *f)
{
	if (f != NULL)
		evw_line(w, "H %s %llu,%llu,%llu", name,
		    (unsigned long long)f->size, (unsigned long long)f->ways,
		    (unsigned long long)f->line);
}

/*
 * For readers that simulate caches.  A virtual machine takes some microseconds
 * for each of the questions.
 */
void
stream_caches(struct evw *w)
{
	struct cache_found all[CACHES_MOST];
	struct caches_ends e = caches_ends(all, caches_find(all,
	    caches_cpuid));

	write_cache(w, "I1", e.i1);
	write_cache(w, "D1", e.d1);
	write_cache(w, "LL", e.ll);
}
