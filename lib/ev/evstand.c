/*
 * evstand - standing outcomes, `O @id' lines
 */
#include "evstand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

void
evstand_close(struct evstand *s)
{
	for (size_t i = 0; i < s->cap; i++)
		free(s->line[i].line);
	free(s->line);
}

void
evstand_set(struct evstand *s, uint32_t id, uint32_t n, const char *events)
{
	size_t len = strlen(events), room = len + 16;
	struct evstand_line *l;

	s->line = xgrow0(s->line, &s->cap, id + (size_t)1, sizeof *s->line);
	l = &s->line[id];
	if (l->line != NULL)
		s->n--;
	free(l->line);
	l->line = NULL;
	if (len == 0)
		return;
	l->line = xmalloc(room);
	l->len = (uint32_t)snprintf(l->line, room, "O %x %s", n, events);
	l->n = n;
	l->events = l->len - (uint32_t)len;
	s->n++;
}

void
evstand_begin(struct evstand *s, const struct ev *e)
{
	s->rec = e->rec;
	s->end = e->end;
	s->rounds = 0;
}

static bool
has_events(const struct evstand *s, uint32_t id)
{
	return id < s->cap && s->line[id].line != NULL;
}

static int
part(struct ev *e, const uint64_t *rec, const uint64_t *end)
{
	e->line = NULL;
	e->len = 0;
	e->rec = rec;
	e->end = end;
	return EV_EXECS;
}

/* The next round of the record at rec, which has several. */
static int
round_of(struct evstand *s, struct ev *e)
{
	unsigned words = 1 + ev_ngroups(*s->rec);

	if (s->rounds == 0) {
		s->rounds = 1 + ev_more(s->rec);
		memcpy(s->one, s->rec, words * sizeof *s->one);
		s->one[0] &= ~EV_MORE;
	}
	if (--s->rounds == 0)
		s->rec = ev_skip(s->rec);
	return part(e, s->one, s->one + words);
}

static int
events_of(struct evstand *s, struct ev *e, uint32_t *id)
{
	const struct evstand_line *l = &s->line[s->last];

	*id = s->last;
	s->last = 0;
	e->line = l->line;
	e->len = l->len;
	e->num[0] = l->n;
	e->num[1] = 0;
	e->nnum = 2;
	e->text = l->line + l->events;
	e->textlen = l->len - l->events;
	return 'O';
}

int
evstand_next(struct evstand *s, struct ev *e, uint32_t *id)
{
	const uint64_t *from = s->rec, *p;

	if (s->last != 0)
		return events_of(s, e, id);
	for (p = from; p < s->end; p = ev_skip(p)) {
		*id = ev_id(*p);
		if (has_events(s, *id))
			break;
	}
	if (p < s->end && p == from && *p & EV_MORE) {
		s->last = *id;
		return round_of(s, e);
	}
	if (p < s->end && !(*p & EV_MORE)) {
		s->last = *id;
		p = ev_skip(p);
	}
	s->rec = p;
	return part(e, from, p);
}
