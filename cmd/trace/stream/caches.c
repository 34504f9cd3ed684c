/*
 * caches - write the caches of this machine into the stream's head
 */
#include <unistd.h>

#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"

static void
one_cache(struct evw *w, const char *name, int size, int ways, int line)
{
	long s = sysconf(size), n = sysconf(ways), l = sysconf(line);

	if (s > 0 && n > 0 && l > 0)
		evw_line(w, "H %s %ld,%ld,%ld", name, s, n, l);
}

#ifdef _SC_LEVEL1_ICACHE_SIZE
void
stream_caches(struct evw *w)
{
	one_cache(w, "I1", _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_ASSOC,
	    _SC_LEVEL1_ICACHE_LINESIZE);
	one_cache(w, "D1", _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC,
	    _SC_LEVEL1_DCACHE_LINESIZE);
	if (sysconf(_SC_LEVEL3_CACHE_SIZE) > 0)
		one_cache(w, "LL", _SC_LEVEL3_CACHE_SIZE,
		    _SC_LEVEL3_CACHE_ASSOC, _SC_LEVEL3_CACHE_LINESIZE);
	else
		one_cache(w, "LL", _SC_LEVEL2_CACHE_SIZE,
		    _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE);
}
#else	/* not all C libraries know: readers take those of their machine */
void
stream_caches(struct evw *w)
{
	(void)w;
	(void)one_cache;
}
#endif
