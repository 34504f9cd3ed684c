/*
 * heapout - collapsed stacks of what is allocated
 *
 *	main;parse;strdup;malloc 4096
 *
 * for fmt-svg(1).  Mappings are left out: they are no part of the heap.
 */
#include <string.h>

#include "dataprof.h"
#include "func.h"
#include "out.h"
#include "shown.h"

/* A name, in which what separates functions is replaced. */
static void
put_name(struct out *o, const char *name)
{
	size_t n;

	for (; *name != '\0'; name += n + (name[n] == ';')) {
		n = strcspn(name, ";");
		out_shown(o, name, n);
		if (name[n] == ';')
			out_ch(o, ':');
	}
}

void
heap_stacks(struct out *o, enum figure f)
{
	const struct site *s;
	uint64_t n;
	size_t i;
	unsigned k;

	for (i = 0; i < site_count(); i++) {
		s = site_get(i);
		n = site_figure(i, f);
		if (n == 0 || s->maps)
			continue;
		for (k = s->nchain; k-- > 0; ) {
			put_name(o, s->chain[k]->name);
			out_ch(o, k == 0 ? ' ' : ';');
		}
		out_u64(o, n);
		out_ch(o, '\n');
	}
}
