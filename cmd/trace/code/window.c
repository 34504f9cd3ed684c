/*
 * window - find the functions that begin and end windows
 *
 * A function is given by its address, or by its name, which is looked up in
 * each object whose code is mapped.  The addresses where such a function begins
 * are POINTS: block.c ends a block before one, and gives it an exit of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "mem.h"
#include "prog.h"
#include "sym.h"
#include "code/code.h"
#include "code/entries.h"

static struct window_fn {
	const char *name;
	uint64_t addr;		/* if given by address, else 0 */
	unsigned which;		/* WINDOWS_FROM or WINDOWS_TO */
	bool seen;
} *fns;
static size_t nfns, capfns;

static struct point {
	uint64_t pc;
	unsigned which;
} *points;
static size_t npoints, cappoints;
static bool enabled = true;

static void search(struct sym *);
static struct entries entries = { .search = search };

static void
add_point(uint64_t pc, uint32_t which)
{
	points = xgrow(points, &cappoints, npoints + 1, sizeof *points);
	points[npoints++] = (struct point){ pc, which };
}

void
window_add(const char *name, unsigned which)
{
	struct window_fn *f;
	char *end;

	fns = xgrow(fns, &capfns, nfns + 1, sizeof *fns);
	f = &fns[nfns++];
	memset(f, 0, sizeof *f);
	f->name = name;
	f->which = which;
	if (name[0] == '\0')
		die("--%s: no name of a function", which == WINDOWS_FROM ?
		    "from" : "to");
	if (strncmp(name, "0x", 2) == 0) {
		f->addr = strtoull(name, &end, 16);
		if (*end != '\0' || end == name + 2)
			die("%s: an address is 0x and hexadecimal digits",
			    name);
		f->seen = true;
		add_point(f->addr, which);
	}
}

static void
found(void *arg, uint64_t addr)
{
	struct window_fn *f = arg;

	if (entries_found(addr, f->which))
		f->seen = true;
}

static void
search(struct sym *s)
{
	size_t i;

	for (i = 0; i < nfns; i++)
		if (fns[i].addr == 0)
			sym_entries(s, fns[i].name, found, &fns[i]);
}

void
window_mapped(uint64_t start, uint64_t end, uint64_t off, const char *path)
{
	if (nfns != 0 && path[0] == '/')
		entries_mapped(&entries, start, end, off, path, add_point);
}

static bool
is_given(uint64_t pc)
{
	size_t i;

	for (i = 0; i < nfns; i++)
		if (fns[i].addr == pc)
			return true;
	return false;
}

void
window_unmapped(uint64_t start, uint64_t end)
{
	size_t i, k = 0;

	for (i = 0; i < npoints; i++)
		if (points[i].pc - start >= end - start ||
		    is_given(points[i].pc))
			points[k++] = points[i];
	npoints = k;
}

void
window_enable(bool on)
{
	enabled = on;
}

bool
window_at(app_pc pc, unsigned mode)
{
	unsigned which = mode & MODE_OUT ? WINDOWS_FROM : WINDOWS_TO;
	size_t i;

	if (!enabled)
		return false;
	for (i = 0; i < npoints; i++)
		if (points[i].pc == pc && points[i].which == which)
			return true;
	return false;
}

bool
window_tell(void)
{
	unsigned asked = 0, seen = 0;
	size_t i;

	for (i = 0; i < nfns; i++) {
		asked |= fns[i].which;
		if (fns[i].seen)
			seen |= fns[i].which;
		else
			warn("--%s=%s: no symbol of this name was mapped%s",
			    fns[i].which == WINDOWS_FROM ? "from" : "to",
			    fns[i].name, entries_perhaps(&entries,
			    fns[i].name));
	}
	return seen == asked;
}
