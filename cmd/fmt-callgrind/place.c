/*
 * place - addresses to functions, files and lines
 *
 * A function of the input may have a name but no file, or neither. Its file is
 * that of its first line, so it takes an address to find it: where it is called,
 * or any of its code. Code that is executed as the function's need not be its
 * own (what was jumped into is not called), so an address counts only if the
 * symbol there has the function's name; failing that, the first one seen does.
 */
#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "sym.h"
#include "util.h"

struct costnames *names;
uint32_t unknown;

static unsigned flags;
static struct sym **sym;	/* by number of the object's name */
static size_t nsym;
static uint32_t *found;		/* by function: 1 + the one with its file */
static size_t nfound;

/* The last string that was asked for: strings of sym.h are interned. */
static struct { const char *s; uint32_t name; } last[64];

void
place_init(unsigned symflags)
{
	flags = symflags;
	names = costnames_new();
	unknown = costnames_str(names, SYM_UNKNOWN);
}

void
place_debug_path(const char *dir)
{
	static const char usual[] = ":.debug:/usr/lib/debug:";
	char *path = xmalloc(sizeof usual + strlen(dir));

	strcpy(path, usual);
	strcat(path, dir);
	sym_debug_path(path);
	free(path);
}

int
place_known(uint32_t name)
{
	return name != 0 && name != unknown;
}

static uint32_t
name_of(const char *s)
{
	size_t i = (uintptr_t)s >> 4 & 63;

	if (last[i].s != s) {
		last[i].s = s;
		last[i].name = costnames_str(names, s);
	}
	return last[i].name;
}

static struct sym *
object(uint32_t ob)
{
	size_t n = nsym;

	if (ob >= n) {
		sym = xgrow(sym, &nsym, ob + (size_t)1, sizeof *sym);
		memset(sym + n, 0, (nsym - n) * sizeof *sym);
	}
	if (sym[ob] == NULL)
		sym[ob] = sym_open(costnames_get(names, ob), flags);
	return sym[ob];
}

struct place
place_find(uint32_t ob, uint64_t addr)
{
	static struct { uint32_t ob; uint64_t addr; struct place at; } one;
	struct sym_at at;

	if (!place_known(ob))
		return (struct place){ unknown, 0 };
	if (one.ob != ob || one.addr != addr) {
		sym_find(object(ob), addr, &at);
		one.ob = ob;
		one.addr = addr;
		one.at = (struct place){ name_of(at.file), at.line };
	}
	return one.at;
}

size_t
place_inline(uint32_t ob, uint64_t addr, struct place_frame *f)
{
	struct sym_frame chain[PLACE_MOST];
	size_t n, i;

	if (!place_known(ob)) {
		*f = (struct place_frame){ unknown, unknown, 0, 0 };
		return 1;
	}
	n = sym_inline(object(ob), addr, chain, PLACE_MOST);
	for (i = 0; i < n; i++)
		f[i] = (struct place_frame){ name_of(chain[i].fn),
		    name_of(chain[i].file), chain[i].line, chain[i].entry };
	return n;
}

/* ---- functions ---- */

/* Is the function, `f' or `f'2' or `f'caller', that of symbol s? */
static int
has_name(const char *fn, const char *s)
{
	size_t n = strlen(s);

	return strncmp(fn, s, n) == 0 && (fn[n] == '\0' || fn[n] == '\'');
}

uint32_t
place_as_is(uint32_t fn)
{
	struct costfn f = costfn_get(names, fn);

	if (f.ctx == 0 && f.fl != 0)
		return fn;
	f.ctx = 0;
	f.fl = f.fl == 0 ? unknown : f.fl;
	return costfn_add(names, f);
}

uint32_t
place_function(uint32_t fn, uint64_t addr, int own)
{
	struct costfn f = costfn_get(names, fn);
	struct sym_at at;
	const char *name = costnames_get(names, f.fn);
	size_t n = nfound;

	if (fn >= n) {
		found = xgrow(found, &nfound, fn + (size_t)1, sizeof *found);
		memset(found + n, 0, (nfound - n) * sizeof *found);
	}
	if (found[fn] != 0)
		return found[fn] - 1;
	if (place_known(f.fl) || !place_known(f.ob))
		return (found[fn] = place_as_is(fn) + 1) - 1;
	if (strncmp(name, "0x", 2) == 0)
		addr = strtoull(name, NULL, 16);
	sym_function(object(f.ob), addr, &at);
	if (!place_known(f.fn)) {
		f.fn = name_of(at.fn);
	} else if (at.end != 0 && !has_name(name, at.fn) && !own) {
		return UINT32_MAX;
	}
	f.fl = place_find(f.ob, at.end != 0 ? at.start : addr).file;
	f.ctx = 0;
	n = costfn_add(names, f);
	/* without a name the next address may be another function's */
	if (place_known(costfn_get(names, fn).fn))
		found[fn] = (uint32_t)n + 1;
	return (uint32_t)n;
}
