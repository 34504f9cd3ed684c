/*
 * codename - the names of code made at run time, by G and L lines
 */
#include "codename.h"

#include <stdlib.h>

#include "base/intern.h"
#include "ev.h"
#include "mem.h"

struct codenames {
	struct codename **v;
	size_t n, cap;
};

struct codenames *
codenames_new(void)
{
	return xcalloc(1, sizeof(struct codenames));
}

void
codenames_take(struct codenames *cn, const struct ev *e)
{
	struct codename *c;

	if (*e->line == 'L') {
		c = codename_get(cn, e->num[0]);
		c->line = xgrow(c->line, &c->capline, c->nline + 1,
		    sizeof *c->line);
		c->line[c->nline++] = (struct codename_line){ e->num[1],
		    intern(e->text), e->num[2] > INT32_MAX ? 0 :
		    (uint32_t)e->num[2] };
		return;
	}
	if (e->nnum != 3)
		return;
	c = xkeep(sizeof *c);
	*c = (struct codename){ .num = (uint32_t)cn->n + 1,
	    .start = e->num[1], .size = e->num[2], .name = intern(e->text) };
	cn->v = xgrow(cn->v, &cn->cap, cn->n + 1, sizeof *cn->v);
	cn->v[cn->n++] = c;
}

struct codename *
codename_get(const struct codenames *cn, uint64_t n)
{
	return cn->v[n - 1];
}

static int
by_addr(const void *a, const void *b)
{
	const struct codename_line *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

const struct codename_line *
codename_line(struct codename *c, uint64_t addr)
{
	size_t lo = 0, hi = c->nline, mid;

	if (c->sorted != c->nline) {
		qsort(c->line, c->nline, sizeof *c->line, by_addr);
		c->sorted = c->nline;
	}
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (c->line[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo == 0 ? NULL : &c->line[lo - 1];
}
