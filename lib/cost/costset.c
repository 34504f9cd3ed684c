/*
 * costset - the cost text: under what settings were costs simulated?
 *
 *	desc: D1 cache:         32768 B, 64 B, 8-way associative
 *
 * What two profiles tell of such a setting must be the same if one is to be
 * compared with the other, or added to it.
 */
#include "cost.h"

#include <stdio.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

static const char *const labels[COST_NSETTING] = { "I1 cache:", "D1 cache:",
    "LL cache:", "Branch predictor:", "CPU:" };

int
costset_of(const char *desc, const char **value)
{
	size_t len;
	int i;

	for (i = 0; i < COST_NSETTING; i++) {
		len = strlen(labels[i]);
		if (strncmp(desc, labels[i], len))
			continue;
		*value = desc + len + strspn(desc + len, " \t");
		return **value ? i : -1;
	}
	return -1;
}

static const char *
found(const struct cost_head *h, int setting)
{
	const char *value;
	size_t i;

	for (i = 0; i < h->ndesc; i++)
		if (costset_of(h->desc[i], &value) == setting)
			return value;
	return NULL;
}

/* Append "D1 cache: 1024 B (FILE: 2048 B)"; what does not fit is cut. */
static void
add(char *buf, size_t size, int setting, const char *value,
    const struct costset *s)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s%s %s (%s: %s)", len ? "; " : "",
	    labels[setting], value, s->file[setting], s->value[setting]);
}

/* What is not as in a file before, in words; or NULL. */
static const char *
take(struct costset *s, const struct costr *r)
{
	static char buf[2048];
	const char *value;
	int i;

	*buf = '\0';
	s->n++;
	for (i = 0; i < COST_NSETTING; i++) {
		value = found(&r->head, i);
		if (!value)
			continue;
		s->told[i]++;
		if (!s->value[i]) {
			s->value[i] = value;
			s->file[i] = xstrdup(r->name);
		} else if (strcmp(value, s->value[i])) {
			add(buf, sizeof buf, i, value, s);
			s->differs[i] = true;
		}
	}
	return *buf ? buf : NULL;
}

void
costset_add(struct costset *s, const struct costr *r, bool strict)
{
	const char *what = take(s, r);

	if (what && strict)
		die("%s: costs of another model: %s", r->name, what);
	if (what && !s->warned)
		warn("%s: costs of another model: %s", r->name, what);
	s->warned |= what != NULL;
}

const char *
costset_desc(struct costnames *nm, int setting, const char *value)
{
	char buf[256];

	snprintf(buf, sizeof buf, "%-17s %s", labels[setting], value);
	return costnames_get(nm, costnames_str(nm, buf));
}

void
costset_put(const struct costset *s, struct costnames *nm, struct cost_head *h)
{
	int i;

	for (i = 0; i < COST_NSETTING; i++)
		if (s->n && s->told[i] == s->n)
			costhead_desc(h, costset_desc(nm, i, s->differs[i] ?
			    COST_SEVERAL : s->value[i]));
}
