/*
 * costname.c - each string and each function of the cost files, once
 *
 * A profile has functions by the hundred thousand, each told once and most of
 * them new, so the tables are made to miss the cache once for a name and not
 * at all for a function: names are in a table of eight bytes a place, with
 * their hashes; the functions of one name are a list, in the order they came,
 * and only names that many files share (??? above all) have more of them in
 * a table.
 */
#include "cost.h"

#include <htslib/khash.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

enum { NEAR = 8 };		/* functions of a name that are in its list */

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

KHASH_INIT(fn, struct costfn, uint32_t, 1, fn_hash, fn_eq)

struct place {
	uint32_t hash, id;	/* id + 1; 0: nothing is here */
};

struct name {
	const char *s;
	uint32_t after;		/* the name that was asked for next, last time */
	uint32_t fn;		/* 1 + the first function of this name, or 0 */
};

struct fn {
	struct costfn f;
	uint32_t next;		/* 1 + the next function of this name, or 0 */
};

struct costnames {
	struct place *place;	/* nplace, a power of two; a quarter is free */
	size_t nplace;
	struct name *name;
	size_t nname, namecap;
	struct fn *fn;
	size_t nfn, fncap;
	khash_t(fn) *far;	/* functions that are not in a list */
	uint32_t last, last_fn;	/* asked for last */
	void *rooms;		/* all rooms for strings; each begins with the next */
	char *room;		/* where the next string goes */
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
		p = xmalloc(sizeof nm->rooms + nm->left);
		memcpy(p, &nm->rooms, sizeof nm->rooms);
		nm->rooms = p;
		nm->room = p + sizeof nm->rooms;
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

	nm->nplace = 1024;
	nm->place = xcalloc(nm->nplace, sizeof *nm->place);
	nm->far = kh_init(fn);
	if (!nm->far)
		die("out of memory");
	costnames_add(nm, "", 0);
	return nm;
}

void
costnames_free(struct costnames *nm)
{
	void *p, *next;

	for (p = nm->rooms; p; p = next) {
		memcpy(&next, p, sizeof next);
		free(p);
	}
	kh_destroy(fn, nm->far);
	free(nm->place);
	free(nm->name);
	free(nm->fn);
	free(nm);
}

static void
grow(struct costnames *nm)
{
	size_t n = nm->nplace, i, at;
	struct place *old = nm->place;

	nm->nplace *= 4;	/* each is moved a third of a time */
	nm->place = xcalloc(nm->nplace, sizeof *nm->place);
	for (i = 0; i < n; i++) {
		if (!old[i].id)
			continue;
		at = old[i].hash & (nm->nplace - 1);
		while (nm->place[at].id)
			at = (at + 1) & (nm->nplace - 1);
		nm->place[at] = old[i];
	}
	free(old);
}

static inline bool
is_name(const struct costnames *nm, uint32_t id, const char *s, size_t len)
{
	const char *t = nm->name[id].s;

	return !strncmp(t, s, len) && !t[len];
}

/*
 * Files tell their functions in much the same order, so the name that came
 * behind the last one is tried before the table is.
 */
uint32_t
costnames_add(struct costnames *nm, const char *s, size_t len)
{
	uint32_t h, id;
	size_t at;

	if (nm->nname) {
		id = nm->name[nm->last].after;
		if (is_name(nm, id, s, len))
			return nm->last = id;
	}
	if (len > UINT32_MAX)
		die("a name of %zu bytes is too long", len);
	h = hash(s, len);
	at = h & (nm->nplace - 1);
	for (; (id = nm->place[at].id); at = (at + 1) & (nm->nplace - 1))
		if (nm->place[at].hash == h && is_name(nm, id - 1, s, len))
			break;
	if (!id) {
		if (nm->nname == UINT32_MAX - 1)
			die("too many names");
		nm->name = xgrow(nm->name, &nm->namecap, nm->nname + 1,
		    sizeof *nm->name);
		nm->name[nm->nname] = (struct name){ keep(nm, s, len), 0, 0 };
		id = ++nm->nname;
		nm->place[at] = (struct place){ h, id };
		if (nm->nname > nm->nplace / 4 * 3)
			grow(nm);
	}
	nm->name[nm->last].after = id - 1;
	return nm->last = id - 1;
}

uint32_t
costnames_str(struct costnames *nm, const char *s)
{
	return costnames_add(nm, s, strlen(s));
}

const char *
costnames_get(const struct costnames *nm, uint32_t id)
{
	return nm->name[id].s;
}

uint32_t
costnames_count(const struct costnames *nm)
{
	return nm->nname;
}

static uint32_t
new_fn(struct costnames *nm, struct costfn f)
{
	nm->fn = xgrow(nm->fn, &nm->fncap, nm->nfn + 1, sizeof *nm->fn);
	nm->fn[nm->nfn] = (struct fn){ f, 0 };
	return nm->nfn++;
}

uint32_t
costfn_add(struct costnames *nm, struct costfn f)
{
	uint32_t *at = &nm->name[f.fn].fn, id, n;
	khiter_t it;
	int made;

	if (nm->last_fn + 1 < nm->nfn && fn_eq(nm->fn[nm->last_fn + 1].f, f))
		return ++nm->last_fn;
	for (n = 0; *at && n < NEAR; n++, at = &nm->fn[*at - 1].next)
		if (fn_eq(nm->fn[*at - 1].f, f))
			return nm->last_fn = *at - 1;
	if (n < NEAR) {
		id = nm->nfn;
		*at = id + 1;		/* before fn may move */
		return nm->last_fn = new_fn(nm, f);
	}
	it = kh_put(fn, nm->far, f, &made);
	if (made < 0)
		die("out of memory");
	if (made)
		kh_val(nm->far, it) = new_fn(nm, f);
	return nm->last_fn = kh_val(nm->far, it);
}

struct costfn
costfn_get(const struct costnames *nm, uint32_t id)
{
	return nm->fn[id].f;
}

uint32_t
costfn_count(const struct costnames *nm)
{
	return nm->nfn;
}
