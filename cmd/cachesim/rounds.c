/*
 * rounds - many rounds of a record: which references move, and their counts
 */
#include "cachesim.h"

#include "mem.h"

#define MOSTBYTES ((uint64_t)1 << 48)	/* of a repeated reference */

static struct repeat_ref *ref;
static size_t cap, nref;

bool
rounds_alike(const uint64_t *rec)
{
	for (unsigned i = 1; i <= ev_ngroups(*rec); i++)
		if (rec[i] != 0)
			return false;
	return true;
}

static void
add(struct repeat_ref r)
{
	ref = xgrow(ref, &cap, nref + 1, sizeof *ref);
	ref[nref++] = r;
}

static void
add_code(const struct cold_block *c, uint32_t ninsn, unsigned ishift)
{
	const struct visit *v = c->visit;
	uint64_t size = (uint64_t)1 << ishift;

	for (; v < c->visit + c->nvisit && v->insn < ninsn; v++) {
		add((struct repeat_ref){ l1_code_line[v->a] << ishift,
		    size, 0, 0, false });
		if (v->b != 0)
			add((struct repeat_ref){ l1_code_line[v->b] << ishift,
			    size, 0, 0, false });
	}
}

/* The references of a block that has a record. */
static void
add_recorded(const struct cache_unit *u, const uint64_t *rec)
{
	const uint64_t *val = &record[u->rec];
	const struct fastref *f = &record_ref[u->ref];
	unsigned ngroups = ev_ngroups(*rec);

	for (uint32_t k = 0; k < u->nref; k++, f++) {
		bool is_value = f->val < ngroups;
		uint64_t by = is_value ? rec[1 + f->val] : 0;
		uint64_t value = val[f->val] + by;

		if (is_value && value == 0 && by == 0)
			continue;
		add((struct repeat_ref){ value + (uint64_t)(int64_t)f->dist,
		    ordered_size(f), by, value, is_value });
	}
}

/* A reference of a block that is kept. false: what it touches is unknown. */
static bool
add_kept(const struct ev_block *b, const struct ev_ref *r, const uint64_t *rec)
{
	struct repeat_ref one = { .addr = r->at, .size = r->size };
	uint64_t n;

	if (r->where == EV_GROUP) {
		one.is_value = true;
		one.by = rec[1 + r->group];
		one.value = b->value[r->group] + one.by;
		one.addr += one.value;
		if (one.value == 0 && one.by == 0)
			return true;
	}
	if (r->count != 0) {
		n = b->value[r->count - 1];
		if (rec[r->count] != 0)
			return false;
		if (n == 0)
			return true;
		if ((int64_t)n < 0) {
			n = -n;
			one.addr -= (n - 1) * r->size;
		}
		if (n > MOSTBYTES / r->size)
			return false;
		one.size *= n;
	}
	add(one);
	return true;
}

static bool
add_refs(const struct ev_def *d, const struct cache_unit *u,
    const uint64_t *rec)
{
	const struct ev_block *b = d->block;
	const struct ev_insn *last;

	if (u->ntouch != 0) {
		add_recorded(u, rec);
		return true;
	}
	last = &b->insn[d->n - 1];
	for (uint32_t k = 0; k < (uint32_t)last->ref + last->nref; k++)
		if (!add_kept(b, &b->ref[k], rec))
			return false;
	return true;
}

static rounds_fn *one_by_one;

static void
go(struct cache_repeat *r, uint64_t n)
{
	if (n != 0)
		one_by_one(r->what, n);
}

static void
left_out(struct cache_repeat *r, uint64_t n)
{
	const uint64_t *rec = r->what;
	struct cache_unit *u = &unit[ev_id(*rec)];

	u->count += n;
	for (unsigned i = 0; i < ev_ngroups(*rec); i++)
		record[u->rec + i] += rec[1 + i] * n;
}

void
rounds_record(struct evr *events, const uint64_t *rec, rounds_fn *fn)
{
	const struct ev_def *d = ev_def(events, ev_id(*rec));
	const struct cache_unit *u = &unit[ev_id(*rec)];
	struct cold_block *c = &cold_block[u->cold];
	uint64_t n = ev_more(rec) + 1;
	struct cache_repeat r = { .misses = cold_fetch(c),
	    .nmisses = c->nvisit + (size_t)c->block->nref, .cold = c,
	    .what = (void *)(uintptr_t)rec, .rounds = go,
	    .left_out = left_out };

	one_by_one = fn;
	if (rounds_alike(rec)) {
		repeat_alike(&r, n);
		return;
	}
	nref = 0;
	if (n >= repeat_least() && add_refs(d, u, rec)) {
		add_code(c, d->n, l1.ishift);
		r.ref = ref;
		r.nref = nref;
		repeat(&r, n);
	} else {
		go(&r, n);
	}
}
