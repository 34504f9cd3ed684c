/*
 * entries - where functions that are looked for begin
 */
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "in.h"
#include "mem.h"
#include "sym.h"
#include "code/entries.h"
#include "segments.h"

struct entry {
	uint64_t off;
	uint32_t what;
};

#define MOST_PERHAPS 3u		/* names; then ... */

struct perhaps {
	char *name[MOST_PERHAPS + 1];
	size_t n, len;
};

struct entries_object {
	char *path;
	struct entry *at;
	size_t n, cap;
};

/* What is being searched. */
static struct entries_object *here;
static Elf *elf;

bool
entries_found(uint64_t addr, uint32_t what)
{
	GElf_Phdr ph;
	size_t i;

	for (i = 0; segment_next_code(elf, &i, &ph); ) {
		if (addr - ph.p_vaddr >= ph.p_filesz)
			continue;
		here->at = xgrow(here->at, &here->cap, here->n + 1,
		    sizeof *here->at);
		here->at[here->n++] = (struct entry){ addr - ph.p_vaddr +
			ph.p_offset, what };
		return true;
	}
	return false;
}

static void
read_object(struct entries *e, struct entries_object *o)
{
	struct sym *s;
	int fd = in_optional(o->path);

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	s = sym_open(o->path, 0);
	here = o;
	e->search(s);
	sym_close(s);
	elf_end(elf);
	close(fd);
}

static struct entries_object *
object_of(struct entries *e, const char *path)
{
	struct entries_object *o;
	size_t i;

	for (i = 0; i < e->n; i++)
		if (strcmp(e->object[i].path, path) == 0)
			return &e->object[i];
	e->object = xgrow(e->object, &e->cap, e->n + 1, sizeof *o);
	o = &e->object[e->n++];
	memset(o, 0, sizeof *o);
	o->path = xstrdup(path);
	read_object(e, o);
	return o;
}

void
entries_mapped(struct entries *e, uint64_t start, uint64_t end, uint64_t off,
    const char *path, void (*each)(uint64_t pc, uint32_t what))
{
	const struct entries_object *o = object_of(e, path);
	size_t i;

	for (i = 0; i < o->n; i++)
		if (o->at[i].off - off < end - start)
			each(start + (o->at[i].off - off), o->at[i].what);
}

static void
add_perhaps(void *arg, const char *name)
{
	struct perhaps *p = arg;

	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->name[i], name) == 0)
			return;
	if (p->n > MOST_PERHAPS)
		return;
	p->name[p->n++] = xstrdup(name);
	p->len += strlen(name);
}

const char *
entries_perhaps(const struct entries *e, const char *name)
{
	struct perhaps p = { .n = 0 };
	struct sym *s;
	char *text, *to;

	for (size_t i = 0; i < e->n && p.n <= MOST_PERHAPS; i++) {
		s = sym_open(e->object[i].path, 0);
		sym_last_words(s, name, add_perhaps, &p);
		sym_close(s);
	}
	if (p.n == 0)
		return "";
	to = text = xmalloc(p.len + 64);
	for (size_t i = 0; i < p.n && i < MOST_PERHAPS; i++)
		to += sprintf(to, "%s %s", i == 0 ? "; perhaps" : ",",
		    p.name[i]);
	if (p.n > MOST_PERHAPS)
		strcpy(to, " ...");
	return text;
}
