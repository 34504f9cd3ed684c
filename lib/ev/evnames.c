/*
 * evnames - names of code made at run time: G and L lines
 *
 * Functions have numbers from 1 in the order of their definitions, in the
 * stream as well as here.
 */
#include "evnames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "evdef.h"
#include "mem.h"

void
evnames_close(struct evnames *g)
{
	free(g->ids);
}

/* G n start size name */
static int
define(struct evnames *g, const struct ev *e, char why[EV_WHY])
{
	if (g->n == UINT32_MAX || e->num[0] != g->n + 1)
		return evwhy(why, "G: function %" PRIx64 " behind %" PRIx32,
		    e->num[0], g->n);
	if (e->num[2] == 0 || e->num[1] + (e->num[2] - 1) < e->num[1])
		return evwhy(why, "G: code of %" PRIx64 " bytes at %" PRIx64,
		    e->num[2], e->num[1]);
	g->n++;
	return 0;
}

/* G n = id ... */
static int
list(struct evnames *g, const struct evdef *def, struct ev *e,
    char why[EV_WHY])
{
	const struct ev_def *d;
	const char *s = e->text;
	uint64_t id;

	for (e->nids = 0; *s == ' '; e->nids++) {
		s++;
		if (ev_hex(&s, &id) < 0)
			return evwhy(why, "G: not an id at `%.20s'", s);
		d = evdef_find(def, id);
		if (d == NULL || d->letter != 'B')
			return evwhy(why, "G: id %" PRIx64 " is no block's",
			    id);
		g->ids = xgrow(g->ids, &g->capids, e->nids + 1,
		    sizeof *g->ids);
		g->ids[e->nids] = ev_id(def->head[id]);
	}
	if (*s != '\0' || e->nids == 0)
		return evwhy(why, "G: not a list of ids at `%.20s'", s);
	e->ids = g->ids;
	return 0;
}

int
evnames_line(struct evnames *g, const struct evdef *def, struct ev *e,
    char why[EV_WHY])
{
	if (*e->line == 'G' && e->nnum == 3)
		return define(g, e, why);
	if (e->num[0] == 0 || e->num[0] > g->n)
		return evwhy(why, "%c: undefined function %" PRIx64, *e->line,
		    e->num[0]);
	return *e->line == 'G' ? list(g, def, e, why) : 0;
}
