/*
 * window - find the functions that begin and end windows
 *
 * A function is given by its address, or by its name, which is looked up in
 * each object whose code is mapped.  The addresses where such a function begins
 * are POINTS: block.c ends a block before one, and gives it an exit of its own.
 */
#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in.h"
#include "sym.h"
#include "code/code.h"
#include "util.h"

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

/* An object's points, by offset in its file. */
static struct window_object {
	char *path;
	struct point *at;
	size_t n, cap;
} *objects;
static size_t nobjects, capobjects;

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
		points = xgrow(points, &cappoints, npoints + 1, sizeof *points);
		points[npoints].pc = f->addr;
		points[npoints++].which = which;
	}
}

/* The file offset of an object's code that was linked at `addr`. */
static bool
to_offset(Elf *elf, uint64_t addr, uint64_t *off)
{
	GElf_Phdr ph;
	size_t n, i;

	if (elf == NULL || elf_getphdrnum(elf, &n) < 0)
		return false;
	for (i = 0; i < n; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) == NULL ||
		    ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
		    addr - ph.p_vaddr >= ph.p_filesz)
			continue;
		*off = addr - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

struct found {
	struct window_object *o;
	struct window_fn *f;
	Elf *elf;
};

static void
found(void *arg, uint64_t addr)
{
	struct found *w = arg;
	struct window_object *o = w->o;
	uint64_t off;

	if (!to_offset(w->elf, addr, &off))
		return;
	w->f->seen = true;
	o->at = xgrow(o->at, &o->cap, o->n + 1, sizeof *o->at);
	o->at[o->n].pc = off;
	o->at[o->n++].which = w->f->which;
}

static void
read_object(struct window_object *o)
{
	struct found w = { o, NULL, NULL };
	struct sym *s;
	size_t i;
	int fd = in_optional(o->path);

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	w.elf = elf_begin(fd, ELF_C_READ, NULL);
	s = sym_open(o->path, 0);
	for (i = 0; i < nfns; i++) {
		w.f = &fns[i];
		if (w.f->addr == 0)
			sym_entries(s, w.f->name, found, &w);
	}
	sym_close(s);
	elf_end(w.elf);
	close(fd);
}

static struct window_object *
object_of(const char *path)
{
	struct window_object *o;
	size_t i;

	for (i = 0; i < nobjects; i++)
		if (strcmp(objects[i].path, path) == 0)
			return &objects[i];
	objects = xgrow(objects, &capobjects, nobjects + 1, sizeof *objects);
	o = &objects[nobjects++];
	memset(o, 0, sizeof *o);
	o->path = xstrdup(path);
	read_object(o);
	return o;
}

void
window_mapped(uint64_t start, uint64_t end, uint64_t off, const char *path)
{
	const struct window_object *o;
	struct point *p;
	size_t i;

	if (nfns == 0 || path[0] != '/')
		return;
	o = object_of(path);
	for (i = 0; i < o->n; i++) {
		if (o->at[i].pc - off >= end - start)
			continue;
		points = xgrow(points, &cappoints, npoints + 1, sizeof *points);
		p = &points[npoints++];
		p->pc = start + (o->at[i].pc - off);
		p->which = o->at[i].which;
	}
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
			warn("--%s=%s: no such function was mapped",
			    fns[i].which == WINDOWS_FROM ? "from" : "to",
			    fns[i].name);
	}
	return seen == asked;
}
