/*
 * constants - words of memory that nobody can write
 *
 * A word is constant while its mapping is private, can be read and cannot be
 * written.  Such a mapping is published with those of code (see the runtime's
 * touches_code), so a call that changes it is noticed.
 */
#include <stdlib.h>
#include <string.h>

#include "code/mapping.h"
#include "ctl.h"
#include "mem.h"

/* Mappings with constant words; they do not overlap. */
static struct code_range *fixed;
static size_t nfixed, capfixed;
/* The last mapping that was found writable, so without constant words. */
static struct code_range writable;

static void
add_fixed(uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	fixed = xgrow(fixed, &capfixed, nfixed + 1, sizeof *fixed);
	fixed[nfixed++] = (struct code_range){ start, end };
}

/* Nothing in [start, end) is constant any more. */
static void
cut_fixed(uint64_t start, uint64_t end)
{
	struct code_range r;
	size_t i;

	for (i = 0; i < nfixed; ) {
		r = fixed[i];
		if (r.start >= end || r.end <= start) {
			i++;
			continue;
		}
		fixed[i] = fixed[--nfixed];
		add_fixed(r.start, r.start < start ? start : r.start);
		add_fixed(end < r.end ? end : r.end, r.end);
	}
}

void
constants_publish(void)
{
	struct control *c = area.ctl;
	const struct mapping *m;
	size_t n, i;

	__atomic_store_n(&c->nrange, NRANGE + 1, __ATOMIC_SEQ_CST);
	for (n = 0; (m = maplist_at(n)) != NULL; n++)
		if (n < NRANGE)
			c->range[n] = (struct code_range){ m->start, m->end };
	for (i = 0; i < nfixed; i++, n++)
		if (n < NRANGE)
			c->range[n] = fixed[i];
	area.nrange = n > NRANGE ? NRANGE + 1 : (uint32_t)n;
	__atomic_store_n(&c->nrange, area.nrange, __ATOMIC_SEQ_CST);
}

void
constants_changed(uint64_t start, uint64_t end)
{
	writable.end = writable.start;
	cut_fixed(start, end);
}

void
constants_forget(void)
{
	nfixed = 0;
}

/* Can it be read, and nobody write there, nor the kernel?  *m: the mapping. */
static bool
is_constant(uint64_t at, struct mapping *m)
{
	bool named;

	if (mapbytes_gone() || mapread_is_ours(at) || !mapread_data(at, m))
		return false;
	named = m->path[0] == '/' || m->path[0] == '\0';
	free(m->path);
	if (m->write)
		writable = (struct code_range){ m->start, m->end };
	return named && !m->write && !m->shared;
}

/* Does the word at `at' lie in a mapping that is constant from here on? */
static bool
find_fixed(uint64_t at)
{
	struct mapping m, now;
	size_t i;

	for (i = 0; i < nfixed; i++)
		if (at - fixed[i].start < fixed[i].end - fixed[i].start)
			return true;
	if (at - writable.start < writable.end - writable.start ||
	    !is_constant(at, &m))
		return false;
	cut_fixed(m.start, m.end);
	add_fixed(m.start, m.end);
	constants_publish();
	/* calls are noticed now, but for one before, of all or of a part */
	if (!is_constant(at, &now))
		now.start = now.end = m.end;
	cut_fixed(m.start, now.start);
	cut_fixed(now.end, m.end);
	return now.start < now.end;
}

bool
maps_word(uint64_t at, uint64_t *word)
{
	const uint8_t *bytes;

	if (at % sizeof *word != 0 || !find_fixed(at))
		return false;
	bytes = mapbytes_page(at & ~(uint64_t)(PAGE - 1));
	if (bytes != NULL)
		memcpy(word, bytes + at % PAGE, sizeof *word);
	return bytes != NULL;
}
