/*
 * links - chains of callers: who calls whom, and where for memory
 *
 * The stream has the address behind the call for memory, so with --lines its
 * file and line are part of the first caller's name, and the functions that are
 * inlined there are callers of their own:
 *
 *	malloc < xmalloc (mem.c:12) < main (prog.c:40) < (below main)
 *
 * where xmalloc is inlined into main.  The calls further out are not known by
 * line.  Links with the same name of the same function are one.
 */
#include <stdio.h>
#include <string.h>

#include "cost.h"
#include "dataprof.h"
#include "func.h"
#include "hash.h"
#include "khash.h"
#include "mem.h"
#include "objmap.h"
#include "place.h"
#include "sym.h"

KHASH_MAP_INIT_STR(link, const struct chain_link *)

static khash_t(link) *links;		/* by name and the function's number */
static struct places *places;
static struct costnames *names;

/* How the code at an address was inlined; the outermost one is the function. */
struct inlined {
	uint64_t addr, code;	/* of which epoch of code */
	size_t n;
	const struct chain_link **link;
};

static const struct chain_link *
link_get(const struct func *fn, const char *name, uint64_t addr)
{
	static char key[4200];
	struct chain_link *l;
	khint_t k;
	int new;

	if (links == NULL)
		links = kh_init(link);
	snprintf(key, sizeof key, "%u %s", (unsigned)fn->num, name);
	k = kh_get(link, links, key);
	if (k != kh_end(links))
		return kh_val(links, k);
	l = xkeep(sizeof *l);
	l->name = strcmp(name, fn->name) == 0 ? fn->name : xstrdup(name);
	l->fn = fn;
	l->addr = addr;
	l->num = (uint32_t)kh_size(links);
	k = kh_put(link, links, xstrdup(key), &new);
	kh_val(links, k) = l;
	return l;
}

/* Is the line a part of its name? */
bool
link_has_line(const struct chain_link *l)
{
	return l->name != l->fn->name;
}

static const struct chain_link *
with_line(const struct func *fn, const struct place_frame *f, uint64_t addr)
{
	char name[4000];
	const char *file = costnames_get(names, f->file);
	const char *base = strrchr(file, '/');

	if (f->line == 0)
		return link_get(fn, costnames_get(names, f->fn), addr);
	snprintf(name, sizeof name, "%.3000s (%.800s:%u)",
	    costnames_get(names, f->fn), base == NULL ? file : base + 1,
	    (unsigned)f->line);
	return link_get(fn, name, addr);
}

/* The links of what is at an address, from the innermost on. */
static void
find_inlined(struct inlined *in, const struct func *fn, uint64_t addr)
{
	struct place_frame f[PLACE_MOST];
	uint64_t at = addr;
	const struct obj *ob = objmap_find(dp.map, addr, &at);
	size_t n = 0;

	if (places == NULL) {
		names = costnames_new();
		places = places_new(names, SYM_DEMANGLE | SYM_BELOW_MAIN);
	}
	if (ob != NULL)
		n = place_inline(places, costnames_str(names, ob->path), at, f);
	in->link = xkeep((n + 1) * sizeof *in->link);
	for (size_t i = 0; i < n; i++)
		in->link[i] = with_line(fn, &f[i], at);
	/* without a symbol it has the name that it has elsewhere */
	if (n == 0 || strcmp(costnames_get(names, f[n - 1].fn), SYM_UNKNOWN) ==
	    0) {
		in->link[0] = link_get(fn, fn->name, fn->start);
		n = 1;
	}
	in->n = n;
}

static const struct inlined *
inlined_at(const struct func *fn, uint64_t addr)
{
	static struct inlined cache[1024];
	struct inlined *in = &cache[addr * HASH_MULTIPLIER >> 54];

	if (in->n == 0 || in->addr != addr || in->code != epoch.code) {
		in->addr = addr;
		in->code = epoch.code;
		find_inlined(in, fn, addr);
	}
	return in;
}

/* Put the function that calls for memory there, by line; how many links? */
static size_t
put_caller(const struct chain_link **v, const struct func *fn, uint64_t caller)
{
	struct func_place at;
	const struct inlined *in;

	func_place(caller - 1, &at);
	if (at.fn != fn) {	/* it has jumped to what was called */
		v[0] = link_get(fn, fn->name, fn->start);
		return 1;
	}
	in = inlined_at(fn, caller - 1);
	memcpy(v, in->link, in->n * sizeof *v);
	return in->n;
}

unsigned
links_of(const struct func *const *chain, unsigned n, uint64_t caller,
    const struct chain_link ***to)
{
	static const struct chain_link **v;
	static size_t cap;
	size_t k = 0;

	v = xgrow(v, &cap, n + PLACE_MOST, sizeof *v);
	for (unsigned i = 0; i < n; i++)
		if (i == 1 && dp.lines)
			k += put_caller(v + k, chain[i], caller);
		else
			v[k++] = link_get(chain[i], chain[i]->name,
			    chain[i]->start);
	*to = v;
	return (unsigned)k;
}
