/*
 * evwalk - step through an execution, one fetch or reference at a time
 *
 * For programs that handle each fetch and reference. Programs that must be
 * fast translate a block's references into structures of their own instead.
 */
#include "evdef.h"

/* The fields of a Q's execution line belong to its groups, in their order. */
static void
apply_ref(const struct ev_def *d, const uint64_t *diff)
{
	uint64_t used[4];

	if (d->ngroups == 1) {
		d->block->value[d->group] += *diff;
		return;
	}
	evdef_groups(d, used);
	for (unsigned k = 0; k < 4; k++)
		for (; used[k] != 0; used[k] &= used[k] - 1)
			d->block->value[64 * k +
			    (unsigned)__builtin_ctzll(used[k])] += *diff++;
}

void
ev_apply(const struct ev_def *d, const uint64_t *diff)
{
	if (d->stays) {
		*ev_told(d) += *diff;
		return;
	}
	if (d->letter == 'Q' || d->letter == 'Z') {
		if (d->ngroups != 0)
			apply_ref(d, diff);
		return;
	}
	for (unsigned i = 0; i < d->ngroups; i++)
		d->block->value[i] += diff[i];
}

void
ev_walk(struct ev_walk *w, const struct ev_def *d)
{
	const struct ev_insn *i;

	w->block = d->block;
	w->insn = 0;
	w->end = d->n;
	w->kind = 0;
	w->first = w->last = w->ref = 0;
	w->round = w->rounds = 0;
	w->alone = d->letter == 'Q';
	w->stays = d->stays;
	w->told = d->stays ? ev_told_addr(*ev_told(d)) : 0;
	if (d->letter == 'Q') {
		i = &d->block->insn[d->n - 1];
		w->insn = d->n - 1;
		if (d->k != 0) {
			w->kind = 'q';
			w->ref = i->ref + d->k - 1U;
		}
	}
}

/* How many rounds a reference has, and those that take turns with it. */
static uint64_t
rounds_of(const struct ev_block *b, const struct ev_ref *r)
{
	uint64_t n;

	if (r->count == 0)
		return 1;
	n = b->value[r->count - 1];
	return (int64_t)n < 0 ? -n : n;
}

/* Set the event to reference w->ref in this round: false: it did not happen. */
static bool
happens(struct ev_walk *w)
{
	const struct ev_block *b = w->block;
	const struct ev_ref *r = &b->ref[w->ref];
	uint64_t step = 0;

	if (!w->stays && r->where == EV_GROUP && b->value[r->group] == 0)
		return false;
	if (r->count != 0)
		step = (int64_t)b->value[r->count - 1] < 0 ?
		    -w->round * r->size : w->round * r->size;
	w->kind = r->kind;
	w->size = r->size;
	w->addr = r->where == EV_BARE ? 0 : r->at + step;
	if (w->stays)
		w->addr = w->told;
	else if (r->where == EV_GROUP)
		w->addr += b->value[r->group];
	return true;
}

/* Begin the references from `from` on that take turns, up to `end` at most. */
static void
begin_turns(struct ev_walk *w, uint32_t from, uint32_t end)
{
	const struct ev_ref *r = w->block->ref;

	w->first = w->ref = from;
	w->last = from + 1;
	w->round = 0;
	w->rounds = 1;
	if (w->stays)			/* one round, of this one alone */
		return;
	while (r[from].count != 0 && w->last < end &&
	    r[w->last].count == r[from].count)
		w->last++;
	w->rounds = rounds_of(w->block, &r[from]);
}

/* Go on to the next reference of this instruction: false: there is none. */
static bool
next_ref(struct ev_walk *w, uint32_t end)
{
	for (;;) {
		if (w->round < w->rounds) {
			if (++w->ref < w->last)
				return true;
			w->ref = w->first;
			if (++w->round < w->rounds)
				return true;
		}
		if (w->last >= end)
			return false;
		begin_turns(w, w->last, end);
		if (w->rounds != 0)
			return true;
	}
}

/* Go on to the first reference of this instruction: false: there is none. */
static bool
first_ref(struct ev_walk *w, uint32_t from, uint32_t end)
{
	if (from >= end)
		return false;
	begin_turns(w, from, end);
	return w->rounds != 0 || next_ref(w, end);
}

static bool
fetch(struct ev_walk *w)
{
	const struct ev_insn *i = &w->block->insn[w->insn];

	w->kind = 'i';
	w->addr = i->addr;
	w->size = i->len;
	return true;
}

bool
ev_step(struct ev_walk *w)
{
	const struct ev_insn *i;
	uint32_t end;
	bool more;

	if (w->insn >= w->end)
		return false;
	i = &w->block->insn[w->insn];
	end = (uint32_t)i->ref + i->nref;
	switch (w->kind) {
	case 0:
		return fetch(w);
	case 'q':
		begin_turns(w, w->ref, end);
		end = w->last;
		more = w->rounds != 0;
		break;
	case 'i':
		more = !w->alone && first_ref(w, i->ref, end);
		break;
	default:
		if (w->alone)
			end = w->last;
		more = next_ref(w, end);
	}
	while (more) {
		if (happens(w))
			return true;
		more = next_ref(w, end);
	}
	if (w->alone || ++w->insn >= w->end) {
		w->insn = w->end;
		return false;
	}
	return fetch(w);
}
