/*
 * costname - each string and each function of the cost files, once
 *
 * A profile has functions by the hundred thousand, each named once and most of
 * them new.  So the tables are made to miss the cache once for a name and not
 * at all for a function.  The hash table of names has slots of eight bytes,
 * with the hash.  The functions of one name are a list, in order of appearance;
 * only names of very many functions (??? above all) have the others in a hash
 * table.
 */
#include "cost.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"

enum { NEAR = 8 };		/* functions of a name that are in its list */

static inline uint32_t
fn_hash(struct costfn f)
{
	uint64_t h = f.ob;

	h = (h ^ f.fl) * HASH_MULTIPLIER;
	h = (h ^ h >> 32 ^ f.fn) * HASH_MULTIPLIER;
	h = (h ^ h >> 32 ^ f.ctx) * HASH_MULTIPLIER;
	return h >> 32;
}

static inline bool
fn_eq(struct costfn a, struct costfn b)
{
	return a.fn == b.fn && a.fl == b.fl && a.ob == b.ob && a.ctx == b.ctx;
}

KHASH_INIT(fn, struct costfn, uint32_t, 1, fn_hash, fn_eq)

struct name_slot {
	uint32_t hash, id;	/* id + 1; 0: nothing is here */
};

struct name_entry {
	const char *s;
	uint32_t after;		/* the name that followed it last time */
	uint32_t fn;		/* 1 + the first function of this name, or 0 */
};

struct fn_entry {
	struct costfn f;
	uint32_t next;		/* 1 + the next function of this name, or 0 */
};

struct costnames {
	struct name_slot *place;	/* a quarter is free */
	size_t nplace;			/* a power of two */
	struct name_entry *name;
	size_t nname, capname;
	struct fn_entry *fn;
	size_t nfn, capfn;
	khash_t(fn) *far;	/* functions that are not in a list */
	uint32_t last, last_fn;	/* the results of the last calls */
	void *rooms;		/* arenas for strings, a linked list */
	char *room;		/* where the next string goes */
	size_t left;
};

static uint32_t
hash(const char *s, size_t len)
{
	uint64_t h = len, w;

	for (; len >= 8; s += 8, len -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * HASH_MULTIPLIER;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, s, len);
	h = (h ^ w) * HASH_MULTIPLIER;
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
	struct name_slot *old = nm->place;

	nm->nplace *= 4;	/* so an entry moves 1/3 times on average */
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
 * Files have their functions in much the same order, so try the name that
 * followed the last one before the table.
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
		nm->name = xgrow(nm->name, &nm->capname, nm->nname + 1,
		    sizeof *nm->name);
		nm->name[nm->nname] =
		    (struct name_entry){ keep(nm, s, len), 0, 0 };
		id = ++nm->nname;
		nm->place[at] = (struct name_slot){ h, id };
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
	nm->fn = xgrow(nm->fn, &nm->capfn, nm->nfn + 1, sizeof *nm->fn);
	nm->fn[nm->nfn] = (struct fn_entry){ f, 0 };
	return nm->nfn++;
}

uint32_t
costfn_add(struct costnames *nm, struct costfn f)
{
	uint32_t *at = &nm->name[f.fn].fn, id, n;
	khiter_t it;
	int made;

	if (nm->last_fn < nm->nfn && fn_eq(nm->fn[nm->last_fn].f, f))
		return nm->last_fn;
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
	if (made)
		kh_val(nm->far, it) = new_fn(nm, f);
	return nm->last_fn = kh_val(nm->far, it);
}

struct costfn
costfn_get(const struct costnames *nm, uint32_t id)
{
	return nm->fn[id].f;
}
