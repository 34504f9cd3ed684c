/*
 * costkey - the keys of a table's entries
 *
 * Words of a key, compared as numbers from the first on:
 *
 *	file<<32 | line   [addr]  [bb]				own cost
 *	  ... callee<<32 | to.line  [to.addr]  [to.bb]		call
 *	  ... tofile<<32 | to.line  [to.addr]  [to.bb]		jump
 *	      callee<<1 | cond
 *
 * A file is 0 if it is the function's own, else 1 + its name.
 */
#include "costsum.h"
#include "prog.h"

static inline uint64_t *
put_where(const struct costsum *t, uint64_t *k, uint32_t id,
    const struct cost_pos *pos)
{
	*k++ = (uint64_t)id << 32 | pos->line;
	if (t->positions & COST_INSTR)
		*k++ = pos->addr;
	if (t->positions & COST_BB)
		*k++ = pos->bb;
	return k;
}

static inline const uint64_t *
get_where(const struct costsum *t, const uint64_t *k, uint32_t *id,
    struct cost_pos *pos)
{
	*id = *k >> 32;
	pos->line = *k++;
	if (t->positions & COST_INSTR)
		pos->addr = *k++;
	if (t->positions & COST_BB)
		pos->bb = *k++;
	return k;
}

void
costkey_put(const struct costsum *t, const struct cost *c, uint64_t *k)
{
	k = put_where(t, k, c->file == t->own ? 0 : c->file + 1, &c->pos);
	if (c->kind == COST_CALL) {
		put_where(t, k, c->callee, &c->to);
	} else if (c->kind == COST_JUMP) {
		k = put_where(t, k, c->tofile == t->own ? 0 : c->tofile + 1,
		    &c->to);
		*k = (uint64_t)c->callee << 1 | c->cond;
	}
}

void
costkey_get(const struct costsum *t, const uint64_t *k, struct cost *c)
{
	k = get_where(t, k, &c->file, &c->pos);
	c->file = c->file ? c->file - 1 : t->own;
	if (c->kind == COST_CALL) {
		get_where(t, k, &c->callee, &c->to);
	} else if (c->kind == COST_JUMP) {
		k = get_where(t, k, &c->tofile, &c->to);
		c->tofile = c->tofile ? c->tofile - 1 : t->own;
		c->callee = *k >> 1;
		c->cond = *k & 1;
	}
}

void
costsum_add(const struct costsum *t, int64_t *to, const int64_t *n, size_t len)
{
	unsigned over = 0;
	size_t i;

	for (i = 0; i < len; i++)
		over |= __builtin_add_overflow(to[i], n[i], &to[i]);
	if (over)
		die("a sum of costs is beyond 64 bits%s%s",
		    t->cur ? ", in function " : "", t->cur ? costnames_get(
		    t->nm, costfn_get(t->nm, t->cur->fn).fn) : "");
}
