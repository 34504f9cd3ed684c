/*
 * costhead - the cost text: the header of a part
 */
#include "cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

void
costhead_init(struct cost_head *h)
{
	memset(h, 0, sizeof *h);
	h->positions = COST_LINE;
}

void
costhead_desc(struct cost_head *h, const char *text)
{
	h->desc = h->ndesc ?
	    xrealloc(h->desc, (h->ndesc + 1) * sizeof *h->desc) :
	    xmalloc(sizeof *h->desc);
	h->desc[h->ndesc++] = text;
	if (!strncmp(text, "Files compared:", 15))
		h->is_diff = true;
}

int
costhead_find(const struct cost_head *h, const char *ev)
{
	size_t i;

	for (i = 0; i < h->nev; i++)
		if (!strcmp(h->ev[i].name, ev))
			return i;
	return -1;
}

int
costhead_map(const struct cost_head *want, const struct cost_head *got,
    size_t *map)
{
	size_t i;
	int at;

	if (want->nev != got->nev)
		return -1;
	for (i = 0; i < got->nev; i++) {
		at = costhead_find(want, got->ev[i].name);
		if (at < 0)
			return -1;
		map[i] = at;
	}
	return 0;
}

static const char *
skip(const char *s)
{
	return s + strspn(s, " \t");
}

/* a string of the names', without blanks at either end */
static const char *
trimmed(struct costnames *nm, const char *s, size_t len)
{
	while (len && (*s == ' ' || *s == '\t'))
		s++, len--;
	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	return costnames_get(nm, costnames_add(nm, s, len));
}

/* the string that a text of the header stands for */
static const char *
text(struct costnames *nm, const char *s)
{
	size_t len = strlen(s);
	uint32_t name;
	char *buf;

	if (!strchr(s, '\\'))
		return costnames_get(nm, costnames_add(nm, s, len));
	buf = xstrdup(s);
	name = costnames_add(nm, buf, cost_undo_text(buf, len));
	free(buf);
	return costnames_get(nm, name);
}

int
costhead_events(struct cost_head *h, struct costnames *nm, const char *s)
{
	const char *name;
	size_t len;

	h->nev = 0;
	for (s = skip(s); *s; s = skip(s + len)) {
		len = strcspn(s, " \t");
		name = trimmed(nm, s, len);
		if (h->nev == COST_EVMAX || costhead_find(h, name) >= 0)
			return -1;
		memset(&h->ev[h->nev], 0, sizeof h->ev[0]);
		h->ev[h->nev++].name = name;
	}
	return h->nev ? 0 : -1;
}

/* "NAME [= formula] [: long name]" */
static const char *
event(struct cost_head *h, struct costnames *nm, const char *s)
{
	struct cost_event e = { 0 };
	size_t len = strcspn(s, " \t=:");

	if (!len)
		return "event: without a name";
	e.name = trimmed(nm, s, len);
	s = skip(s + len);
	if (*s == '=') {
		len = strcspn(++s, ":");
		e.formula = trimmed(nm, s, len);
		s += len;
	}
	if (*s == ':')
		e.longname = text(nm, trimmed(nm, s + 1, strlen(s + 1)));
	else if (*s)
		return "bad event: line";
	h->derived = h->nderived ?
	    xrealloc(h->derived, (h->nderived + 1) * sizeof e) :
	    xmalloc(sizeof e);
	h->derived[h->nderived++] = e;
	return NULL;
}

static const char *
positions(struct cost_head *h, const char *s)
{
	size_t len;

	h->positions = 0;
	for (; *s; s = skip(s + len)) {
		len = strcspn(s, " \t");
		if ((len == 5 && !memcmp(s, "instr", 5)) ||
		    (len == 4 && !memcmp(s, "addr", 4)))
			h->positions |= COST_INSTR;
		else if (len == 2 && !memcmp(s, "bb", 2))
			h->positions |= COST_BB;
		else if (len == 4 && !memcmp(s, "line", 4))
			h->positions |= COST_LINE;
		else
			return "positions: has other words than instr, bb, "
			    "line";
	}
	return h->positions ? NULL : "positions: is empty";
}

/* An "event:" line of a recorded event names it; other events are derived. */
void
costhead_done(struct cost_head *h)
{
	size_t i, k = 0;
	int at;

	for (i = 0; i < h->nderived; i++) {
		at = costhead_find(h, h->derived[i].name);
		if (at >= 0)
			h->ev[at].longname = h->derived[i].longname;
		else if (h->derived[i].formula)
			h->derived[k++] = h->derived[i];
	}
	h->nderived = k;
}

bool
costhead_key(const char *s)
{
	static const char *const keys[] = { "cmd", "creator", "desc", "event",
	    "events", "part", "pid", "positions", "thread", "version" };
	size_t i;

	for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (!strcmp(s, keys[i]))
			return true;
	return false;
}

const char *
costhead_set(struct cost_head *h, struct costnames *nm, const char *key,
    const char *value)
{
	const char *v = skip(value);
	struct { const char *key; const char **at; } texts[] = {
		{ "cmd", &h->cmd }, { "creator", &h->creator },
		{ "pid", &h->pid }, { "part", &h->part },
		{ "thread", &h->thread },
	};
	size_t i;

	if (!strcmp(key, "desc")) {
		costhead_desc(h, text(nm, v));
	} else if (!strcmp(key, "events")) {
		if (h->nev)
			return "events: is given twice";
		if (costhead_events(h, nm, v) < 0)
			return "events: has no event, one twice, or over 200";
	} else if (!strcmp(key, "event")) {
		return event(h, nm, v);
	} else if (!strcmp(key, "positions")) {
		return positions(h, v);
	} else if (!strcmp(key, "version")) {
		if (atoi(v) != 1)
			return "version: is not 1";
	}
	for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (!strcmp(key, texts[i].key))
			*texts[i].at = text(nm, v);
	return NULL;
}

void
costr_report(const struct costr *r, const struct cost_head *h)
{
	fputs("events:", stderr);
	for (size_t i = 0; i < h->nev; i++)
		fprintf(stderr, " %s", h->ev[i].name);
	fputs("\ntotals:", stderr);
	for (size_t i = 0; i < h->nev; i++)
		fprintf(stderr, " %" PRId64, r->total[i]);
	fputc('\n', stderr);
}
