/*
 * costname.c - each string and each function of the cost files, once
 */
#include "cost.h"

#include <htslib/khash.h>
#include <string.h>

#include "util.h"

struct slice {
	const char *s;
	uint32_t len, hash;
};

static inline bool
slice_eq(struct slice a, struct slice b)
{
	return a.hash == b.hash && a.len == b.len && !memcmp(a.s, b.s, a.len);
}

static inline uint32_t
fn_hash(struct costfn f)
{
	uint64_t h = f.ob;

	h = (h ^ f.fl) * 0x9e3779b97f4a7c15;
	h = (h ^ h >> 32 ^ f.fn) * 0x9e3779b97f4a7c15;
	h = (h ^ h >> 32 ^ f.ctx) * 0x9e3779b97f4a7c15;
	return h >> 32;
}

static inline bool
fn_eq(struct costfn a, struct costfn b)
{
	return a.fn == b.fn && a.fl == b.fl && a.ob == b.ob && a.ctx == b.ctx;
}

#define slice_hash(k) ((k).hash)
KHASH_INIT(str, struct slice, uint32_t, 1, slice_hash, slice_eq)
KHASH_INIT(fn, struct costfn, uint32_t, 1, fn_hash, fn_eq)

struct costnames {
	khash_t(str) *strs;
	khash_t(fn) *fns;
	const char **str;
	size_t nstr, strcap;
	uint32_t *after;		/* by name: the one asked for next last time */
	size_t aftercap;
	uint32_t last;			/* name, function asked for last */
	uint32_t last_fn;
	struct costfn *fn;
	size_t nfn, fncap;
	char *room;			/* where the next string goes */
	size_t left;
};

static uint32_t
hash(const char *s, size_t len)
{
	uint64_t h = len, w;

	for (; len >= 8; s += 8, len -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, s, len);
	h = (h ^ w) * 0x9e3779b97f4a7c15;
	return h >> 32 ^ h;
}

static char *
keep(struct costnames *nm, const char *s, size_t len)
{
	char *p;

	if (len + 1 > nm->left) {
		nm->left = len + 1 > 65536 ? len + 1 : 65536;
		nm->room = xmalloc(nm->left);
	}
	p = nm->room;
	memcpy(p, s, len);
	p[len] = '\0';
	nm->room += len + 1;
	nm->left -= len + 1;
	return p;
}

struct costnames *
costnames_new(void)
{
	struct costnames *nm = xcalloc(1, sizeof *nm);

	nm->strs = kh_init(str);
	nm->fns = kh_init(fn);
	if (!nm->strs || !nm->fns)
		die("out of memory");
	costnames_add(nm, "", 0);
	return nm;
}

/*
 * Files tell their functions in much the same order, so the name that came
 * behind the last one is tried before the table is.
 */
static bool
guess(struct costnames *nm, const char *s, size_t len)
{
	const char *t;

	if (!nm->nstr)
		return false;
	t = nm->str[nm->after[nm->last]];
	if (strncmp(t, s, len) || t[len])
		return false;
	nm->last = nm->after[nm->last];
	return true;
}

uint32_t
costnames_add(struct costnames *nm, const char *s, size_t len)
{
	struct slice k = { s, len, 0 };
	khiter_t it;
	int made;

	if (guess(nm, s, len))
		return nm->last;
	if (len > UINT32_MAX)
		die("a name of %zu bytes is too long", len);
	k.hash = hash(s, len);
	it = kh_put(str, nm->strs, k, &made);
	if (made < 0)
		die("out of memory");
	if (made) {
		nm->str = xgrow(nm->str, &nm->strcap, nm->nstr + 1, sizeof *nm->str);
		nm->str[nm->nstr] = keep(nm, s, len);
		nm->after = xgrow(nm->after, &nm->aftercap, nm->nstr + 1,
		    sizeof *nm->after);
		nm->after[nm->nstr] = 0;
		kh_key(nm->strs, it).s = nm->str[nm->nstr];
		kh_val(nm->strs, it) = nm->nstr++;
	}
	nm->after[nm->last] = kh_val(nm->strs, it);
	nm->last = kh_val(nm->strs, it);
	return nm->last;
}

uint32_t
costnames_str(struct costnames *nm, const char *s)
{
	return costnames_add(nm, s, strlen(s));
}

const char *
costnames_get(const struct costnames *nm, uint32_t id)
{
	return nm->str[id];
}

uint32_t
costnames_count(const struct costnames *nm)
{
	return nm->nstr;
}

uint32_t
costfn_add(struct costnames *nm, struct costfn f)
{
	khiter_t it;
	int made;

	if (nm->last_fn + 1 < nm->nfn && fn_eq(nm->fn[nm->last_fn + 1], f))
		return ++nm->last_fn;
	it = kh_put(fn, nm->fns, f, &made);
	if (made < 0)
		die("out of memory");
	if (made) {
		nm->fn = xgrow(nm->fn, &nm->fncap, nm->nfn + 1, sizeof *nm->fn);
		nm->fn[nm->nfn] = f;
		kh_val(nm->fns, it) = nm->nfn++;
	}
	nm->last_fn = kh_val(nm->fns, it);
	return nm->last_fn;
}

struct costfn
costfn_get(const struct costnames *nm, uint32_t id)
{
	return nm->fn[id];
}

uint32_t
costfn_count(const struct costnames *nm)
{
	return nm->nfn;
}
