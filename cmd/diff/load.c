/*
 * load - read a profile, with its names changed by the --mod options
 */
#include "diff.h"

#include <string.h>

#include "mem.h"
#include "prog.h"

struct name_subst *mods[NMOD];

/* name or function -> 1 + the changed one; 0: not computed yet */
struct renaming {
	uint32_t *to;
	size_t cap;
};
static struct renaming names[NMOD], fns;
static struct cost_head first;		/* both files must have its events */

const char *
str(uint32_t name)
{
	return costnames_get(diff.nm, name);
}

static uint32_t *
slot(struct renaming *m, uint32_t id)
{
	m->to = xgrow0(m->to, &m->cap, id + (size_t)1, sizeof *m->to);
	return &m->to[id];
}

static uint32_t
mod(enum name_kind what, uint32_t name)
{
	uint32_t *to, id;

	if (!mods[what])
		return name;
	to = slot(&names[what], name);
	if (!*to) {
		id = costnames_str(diff.nm, subst_apply(mods[what], str(name)));
		*to = id + 1;
	}
	return *to - 1;
}

static uint32_t
mod_fn(uint32_t fn)
{
	struct costfn f;
	uint32_t *to = slot(&fns, fn);

	if (!*to) {
		f = costfn_get(diff.nm, fn);
		f.ob = mod(MOD_OBJ, f.ob);
		f.fl = mod(MOD_FILE, f.fl);
		f.fn = mod(MOD_FUNC, f.fn);
		*to = costfn_add(diff.nm, f) + 1;
	}
	return *to - 1;
}

static void
change_names(struct cost *c)
{
	c->fn = mod_fn(c->fn);
	c->file = mod(MOD_FILE, c->file);
	if (c->kind == COST_SELF)
		return;
	c->callee = mod_fn(c->callee);
	c->tofile = mod(MOD_FILE, c->tofile);
}

int
find_event(const char *s, size_t len)
{
	return costderived_find(&diff.events, s, len);
}

/* One definition of each derived event, the first, serves both files. */
static void
derive(const struct costr *r)
{
	const struct cost_event *e, *has;
	size_t i;
	int at;

	costderived_add(&diff.events, &r->head);
	for (i = 0; i < r->head.nderived; i++) {
		e = &r->head.derived[i];
		at = find_event(e->name, strlen(e->name));
		has = at < 0 ? e : &diff.events.ev[at];
		if (strcmp(has->formula, e->formula))
			warn("%s: event %s is %s, taken as %s", r->name,
			    e->name, e->formula, has->formula);
	}
	diff.nrec = diff.events.nrec;
	diff.nev = diff.events.nev;
	for (i = 0; i < diff.nev; i++)
		diff.ev[i] = diff.events.ev[i].name;
}

static void
begin(struct costr *r, struct diff_side *s, const struct diff_side *other,
    size_t *map)
{
	if (!first.nev) {
		first = r->head;
		diff.cachegrind = true;
	}
	if (costhead_map(&first, &r->head, map) < 0)
		costr_die(r, "the events are not those of %s",
		    other->t ? other->name : s->name);
	derive(r);
	costset_add(&diff.settings, r, diff.strict);
	diff.positions |= r->head.positions;
	diff.cachegrind &= r->head.format == COST_CACHEGRIND;
	if (!s->t)
		s->t = costsum_new(diff.nm, r->head.positions, diff.nrec);
	costsum_positions(s->t, diff.positions);
	if (other->t)
		costsum_positions(other->t, diff.positions);
	if (!s->cmd)
		s->cmd = r->head.cmd ? r->head.cmd : "";
	s->creator = r->head.creator;
}

void
load(struct diff_side *s, struct diff_side *other)
{
	struct costr *r = costr_open(s->name, diff.nm);
	bool change = mods[MOD_FILE] || mods[MOD_FUNC] || mods[MOD_OBJ];
	size_t map[COST_EVMAX], i;
	int64_t n[COST_EVMAX];
	struct cost c;

	while (costr_next(r, &c)) {
		if (c.kind == COST_PART) {
			begin(r, s, other, map);
			continue;
		}
		if (change)
			change_names(&c);
		if (c.kind != COST_JUMP) {
			for (i = 0; i < diff.nrec; i++)
				n[map[i]] = c.n[i];
			c.n = n;
		}
		costsum_put(s->t, &c);
	}
	costr_sums(r, &first, r->total, s->total);
	costr_close(r);
	costsum_sort(s->t);
}

int64_t
minus(int64_t new, int64_t old)
{
	int64_t v;

	if (__builtin_sub_overflow(new, old, &v))
		die("a difference is beyond 64 bits");
	return v;
}
