/*
 * sites - where memory is allocated, and how much of it there is
 *
 * A site is a chain of functions, the one that was called for memory and its
 * callers: an object of class DATA_HEAP, or DATA_MAP, with figures. glibc's
 * malloc keeps a word before each block, its size, so a site of malloc and its
 * like has a second object, of these words.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dataprof.h"
#include "func.h"
#include "hash.h"
#include "mem.h"

/* What the call of a function in a state, from a caller, makes. */
struct call_site {
	uint64_t function, caller, forgotten;
	uint32_t state, site;
};

/* The words before the blocks of a site. */
struct header {
	bool has;
	uint32_t object;	/* 1 + its number, or 0 */
};

static struct site *sites;
static size_t nsite, capsite;
static struct header *headers;		/* by site */
static size_t capheaders;
static uint32_t *site_of;		/* by object: 1 + its site */
static size_t capsite_of;
static uint64_t live, peak, left;	/* bytes, as those of a site */
static uint64_t ntop;			/* how often there was the most */

/* ---- figures ---- */

size_t
site_count(void)
{
	return nsite;
}

const struct site *
site_get(size_t i)
{
	return &sites[i];
}

uint64_t
site_unfreed(void)
{
	return live + left;
}

uint64_t
site_peak(void)
{
	return peak;
}

void
site_allocates(uint32_t i, uint64_t n)
{
	sites[i].number++;
	sites[i].bytes += n;
}

/* Its bytes change: note those that it had when there was the most. */
static void
note_top(struct site *s)
{
	if (s->topped != ntop)
		s->top = s->live;
	s->topped = ntop;
}

static uint64_t
top_of(const struct site *s)
{
	return s->topped == ntop ? s->top : s->live;
}

uint64_t
site_figure(size_t i, enum figure f)
{
	const struct site *s = &sites[i];

	switch (f) {
	case FIGURE_TOP:
		return top_of(s);
	case FIGURE_LEFT:
		return s->live + s->left;
	case FIGURE_BYTES:
		return s->bytes;
	case FIGURE_NUMBER:
		break;
	}
	return s->number;
}

void
site_grows(uint32_t i, uint64_t n)
{
	struct site *s = &sites[i];

	note_top(s);
	s->live += n;
	if (s->live > s->peak)
		s->peak = s->live;
	live += n;
	if (live > peak)
		peak = live;
	if (!s->maps)
		ntop += total_grows(n);
}

void
site_shrinks(uint32_t i, uint64_t n)
{
	note_top(&sites[i]);
	sites[i].live -= n;
	live -= n;
	if (!sites[i].maps)
		total_shrinks(n);
}

void
site_frees(uint32_t i, uint64_t life)
{
	sites[i].nfreed++;
	sites[i].life += life;
}

void
site_exec(void)
{
	size_t i;

	for (i = 0; i < nsite; i++) {
		note_top(&sites[i]);
		sites[i].left += sites[i].live;
		sites[i].live = 0;
	}
	left += live;
	live = 0;
	total_exec();
}

/* ---- which one ---- */

static uint32_t
site_at(uint32_t object)
{
	site_of = xgrow0(site_of, &capsite_of, object + (size_t)1,
	    sizeof *site_of);
	if (site_of[object] == 0) {
		sites = xgrow(sites, &capsite, nsite + 1, sizeof *sites);
		memset(&sites[nsite], 0, sizeof *sites);
		sites[nsite].object = object;
		site_of[object] = (uint32_t)++nsite;
	}
	return site_of[object] - 1;
}

/* Is it glibc's, and not another C library's or an allocator's own? */
static bool
is_glibc(const struct func *f)
{
	const char *path = f->ob == 0 ? "" : func_object(f->ob);
	const char *name = strrchr(path, '/') == NULL ? path :
	    strrchr(path, '/') + 1;

	return strcmp(name, "libc.so.6") == 0;
}

static bool
is_one_of(const char *const *names, const struct func *f)
{
	while (*names != NULL && strcmp(f->name, *names) != 0)
		names++;
	return *names != NULL;
}

static bool
is_malloc(const struct func *f)
{
	static const char *const names[] = { "malloc", "calloc", "realloc",
		"aligned_alloc", "posix_memalign", "memalign", "valloc", NULL };

	return is_one_of(names, f);
}

/* Does it map pages, those of others among them? */
static bool
is_mmap(const struct func *f)
{
	static const char *const names[] = { "mmap", "mmap64", "__mmap",
		"__mmap64", "mremap", "__mremap", "sbrk", "__sbrk", NULL };

	return is_one_of(names, f);
}

/* A hash of all names, for those for which there is no room. */
static uint64_t
chain_hash(const struct chain_link *const *chain, unsigned n)
{
	uint64_t h = n;
	const char *s;

	for (unsigned i = 0; i < n; i++)
		for (s = chain[i]->name; ; s++) {
			h = (h ^ (uint8_t)*s) * HASH_MULTIPLIER;
			h ^= h >> 32;
			if (*s == '\0')
				break;
		}
	return h;
}

/* malloc < strdup < main; as far as there is room, and a hash then. */
static const char *
chain_name(const struct chain_link *const *chain, unsigned n)
{
	static char name[4000];
	const size_t room = sizeof name - sizeof " ... 0123456789abcdef";
	size_t at = 0;
	int k;

	for (unsigned i = 0; i < n && at <= room; i++) {
		k = snprintf(name + at, sizeof name - at, "%s%s",
		    i == 0 ? "" : " < ", chain[i]->name);
		at += k < 0 ? 0 : (size_t)k;
	}
	if (at > room)
		sprintf(name + room, " ... %016" PRIx64, chain_hash(chain, n));
	return name;
}

static uint32_t
site_of_chain(unsigned thread, uint64_t function, uint64_t caller,
    uint32_t state)
{
	struct func_place at;
	const struct func **fns;
	const struct chain_link **chain;
	unsigned n = stack_chain(thread, function, caller, state, &fns);
	uint32_t s;

	func_place(function, &at);
	n = links_of(fns, n, caller, &chain);
	s = site_at(object_get(is_mmap(at.fn) ? DATA_MAP : DATA_HEAP, "",
	    chain_name(chain, n)));

	if (sites[s].chain == NULL) {
		sites[s].chain = xkeep(n * sizeof *chain);
		memcpy(sites[s].chain, chain, n * sizeof *chain);
		sites[s].nchain = n;
	}
	headers = xgrow0(headers, &capheaders, s + (size_t)1, sizeof *headers);
	headers[s].has = is_glibc(at.fn) && is_malloc(at.fn);
	sites[s].maps = is_mmap(at.fn);
	return s;
}

uint32_t
site_of_call(unsigned thread, uint64_t function, uint64_t caller,
    uint32_t state)
{
	static struct call_site cache[1024];
	uint64_t key = (function ^ caller << 8 ^ (uint64_t)state << 32) *
	    HASH_MULTIPLIER;
	struct call_site *s = &cache[key >> 54];

	/* where calls are not followed, the state has the callers */
	if (dp.walks)
		return site_of_chain(thread, function, caller, state);
	if (s->function != function || s->caller != caller ||
	    s->state != state || s->forgotten != epoch.code)
		*s = (struct call_site){ function, caller, epoch.code, state,
		    site_of_chain(thread, function, caller, state) };
	return s->site;
}

bool
site_header(uint32_t i, uint32_t *object)
{
	struct header *h;
	char name[4100];

	headers = xgrow0(headers, &capheaders, i + (size_t)1, sizeof *h);
	h = &headers[i];
	if (!h->has)
		return false;
	if (h->object == 0) {
		snprintf(name, sizeof name, "header of %s",
		    object_at(sites[i].object)->name);
		h->object = 1 + object_get(DATA_HEAP, "", name);
	}
	*object = h->object - 1;
	return true;
}
