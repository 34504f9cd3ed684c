/*
 * simhead - from H lines to the header of costs: what simulators keep
 */
#include "simhead.h"

#include <stdio.h>
#include <string.h>

#include "cost.h"
#include "ev.h"
#include "mem.h"

#define LABEL	18	/* columns of a description's label */

static void
keep(struct simhead *h, const char *label, const char *text)
{
	size_t n = strlen(text) + 20;
	char *s = xmalloc(n);

	snprintf(s, n, "%-*s%s", *label != '\0' ? LABEL : 0, label, text);
	h->desc = h->ndesc == 0 ? xmalloc(sizeof *h->desc) :
	    xrealloc(h->desc, (h->ndesc + 1) * sizeof *h->desc);
	h->desc[h->ndesc++] = s;
}

void
simhead_line(struct simhead *h, const struct ev *e)
{
	if (strcmp(e->text, "cmd") == 0)
		h->cmd = xstrdup(e->value);
	else if (strcmp(e->text, "cpu") == 0)
		keep(h, "CPU:", e->value);
	else if (strcmp(e->text, "desc") == 0)
		keep(h, "", e->value);
}

const char *
simhead_end(const struct ev *e)
{
	bool mark = e->line[0] == 'J';
	int sig = (int)e->num[mark];
	char *s;

	if (mark ? e->num[0] != EV_INTERRUPTED : strcmp(e->text, "signal") != 0)
		return NULL;
	s = xmalloc(100);
	snprintf(s, 100, "%-*sby signal %d, %.40s", LABEL, "Interrupted:", sig,
	    strsignal(sig));
	return s;
}

void
simhead_put(const struct simhead *h, struct cost_head *to)
{
	to->cmd = h->cmd;
	for (size_t i = 0; i < h->ndesc; i++)
		costhead_desc(to, h->desc[i]);
}
