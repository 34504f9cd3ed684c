/*
 * place - the functions, files and lines of addresses
 *
 * A function of the input may have a name but no file, or neither. Its file is
 * that of its first line, so an address is needed to find it: where the
 * function is called, or any of its code. Code that is executed as the
 * function's may belong to another one (that was entered by a jump, not a
 * call), so such an address counts only if its symbol has the function's name;
 * if none has, the first one does.
 */
#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "in.h"
#include "mem.h"
#include "sym.h"

struct places {
	struct costnames *names;
	uint32_t unknown;	/* ??? */
	unsigned flags;
	struct sym **sym;	/* by number of the object's name */
	size_t nsym;
	uint32_t *found;	/* by function: 1 + the one with its file */
	size_t nfound;
	struct {		/* place_find's last lookup */
		uint32_t ob;
		uint64_t addr;
		struct place at;
	} last;
	/* names of strings of sym.h, which are interned */
	struct { const char *s; uint32_t name; } name[64];
};

struct places *
places_new(struct costnames *names, unsigned symflags)
{
	struct places *p = xcalloc(1, sizeof *p);

	p->names = names;
	p->flags = symflags;
	p->unknown = costnames_str(names, SYM_UNKNOWN);
	return p;
}

/* Search dir for debug files, too. */
static void
add_debug_path(const char *dir)
{
	static const char usual[] = ":.debug:/usr/lib/debug:";
	char *path = xmalloc(sizeof usual + strlen(dir));

	strcpy(path, usual);
	strcat(path, dir);
	sym_debug_path(path);
	free(path);
}

bool
place_option(int c, const char *arg, bool *inlines)
{
	switch (c) {
	case PLACE_EXTRA:
		add_debug_path(arg);
		return true;
	case PLACE_INLINE:
		*inlines = yes_arg("--inline", arg);
		return true;
	default:
		return false;
	}
}

bool
place_known(const struct places *p, uint32_t name)
{
	return name != 0 && name != p->unknown;
}

static uint32_t
name_of(struct places *p, const char *s)
{
	size_t i = (uintptr_t)s >> 4 & 63;

	if (p->name[i].s != s) {
		p->name[i].s = s;
		p->name[i].name = costnames_str(p->names, s);
	}
	return p->name[i].name;
}

static struct sym *
object(struct places *p, uint32_t ob)
{
	size_t n = p->nsym;

	if (ob >= n) {
		p->sym = xgrow(p->sym, &p->nsym, ob + (size_t)1,
		    sizeof *p->sym);
		memset(p->sym + n, 0, (p->nsym - n) * sizeof *p->sym);
	}
	if (p->sym[ob] == NULL) {
		p->sym[ob] = sym_open(costnames_get(p->names, ob), p->flags);
		in_older(costnames_get(p->names, ob));
	}
	return p->sym[ob];
}

void
place_prepare(struct places *p, uint32_t ob, bool inlines)
{
	sym_prepare(object(p, ob), inlines);
}

struct place
place_find(struct places *p, uint32_t ob, uint64_t addr)
{
	struct sym_at at;

	if (!place_known(p, ob))
		return (struct place){ p->unknown, 0 };
	if (p->last.ob != ob || p->last.addr != addr) {
		sym_find(object(p, ob), addr, &at);
		p->last.ob = ob;
		p->last.addr = addr;
		p->last.at = (struct place){ name_of(p, at.file), at.line };
	}
	return p->last.at;
}

struct place_frame
place_symbol(struct places *p, uint32_t ob, uint64_t addr)
{
	struct sym_at at;

	if (!place_known(p, ob))
		return (struct place_frame){ p->unknown, p->unknown, 0, 0 };
	sym_find(object(p, ob), addr, &at);
	return (struct place_frame){ name_of(p, at.fn), name_of(p, at.file),
	    at.line, at.start };
}

size_t
place_inline(struct places *p, uint32_t ob, uint64_t addr,
    struct place_frame *f)
{
	struct sym_frame chain[PLACE_MOST];
	size_t n, i;

	if (!place_known(p, ob)) {
		*f = (struct place_frame){ p->unknown, p->unknown, 0, 0 };
		return 1;
	}
	n = sym_inline(object(p, ob), addr, chain, PLACE_MOST);
	for (i = 0; i < n; i++)
		f[i] = (struct place_frame){ name_of(p, chain[i].fn),
		    name_of(p, chain[i].file), chain[i].line, chain[i].entry };
	return n;
}

/* ---- functions ---- */

/* Is the function, `f' or `f'2' or `f'caller', that of symbol s? */
static bool
has_name(const char *fn, const char *s)
{
	size_t n = strlen(s);

	return strncmp(fn, s, n) == 0 && (fn[n] == '\0' || fn[n] == '\'');
}

uint32_t
place_as_is(struct places *p, uint32_t fn)
{
	struct costfn f = costfn_get(p->names, fn);

	if (f.ctx == 0 && f.fl != 0)
		return fn;
	f.ctx = 0;
	f.fl = f.fl == 0 ? p->unknown : f.fl;
	return costfn_add(p->names, f);
}

uint32_t
place_function(struct places *p, uint32_t fn, uint64_t addr, bool own)
{
	struct costfn f = costfn_get(p->names, fn);
	struct sym_at at;
	const char *name = costnames_get(p->names, f.fn);
	size_t n = p->nfound;
	uint32_t found;

	if (fn >= n) {
		p->found = xgrow(p->found, &p->nfound, fn + (size_t)1,
		    sizeof *p->found);
		memset(p->found + n, 0, (p->nfound - n) * sizeof *p->found);
	}
	if (p->found[fn] != 0)
		return p->found[fn] - 1;
	if (place_known(p, f.fl) || !place_known(p, f.ob)) {
		p->found[fn] = place_as_is(p, fn) + 1;
		return p->found[fn] - 1;
	}
	if (strncmp(name, "0x", 2) == 0)
		addr = strtoull(name, NULL, 16);
	sym_function(object(p, f.ob), addr, &at);
	if (!place_known(p, f.fn))
		f.fn = name_of(p, at.fn);
	else if (at.end != 0 && !has_name(name, at.fn) && !own)
		return UINT32_MAX;
	f.fl = place_find(p, f.ob, at.end != 0 ? at.start : addr).file;
	f.ctx = 0;
	found = costfn_add(p->names, f);
	/* without a name the next address may be another function's */
	if (place_known(p, costfn_get(p->names, fn).fn))
		p->found[fn] = found + 1;
	return found;
}
