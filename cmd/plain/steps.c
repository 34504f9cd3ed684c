/*
 * steps - lines of source, of addresses and of blocks
 */
#include <inttypes.h>

#include "mem.h"
#include "objmap.h"
#include "out.h"
#include "shown.h"
#include "source.h"
#include "sym.h"

enum { MOST = 16 };		/* functions inlined into each other */

static struct objmap *map;
static struct sym **syms;	/* by object */
static size_t capsym;

void
steps_map(const struct ev *e)
{
	if (map == NULL)
		map = objmap_new();
	objmap_line(map, e->line, e->len);
}

static struct sym *
sym_of(unsigned object, const char *path)
{
	syms = xgrow0(syms, &capsym, object + 1, sizeof *syms);
	if (syms[object] == NULL)
		syms[object] = sym_open(path, SYM_DEMANGLE);
	return syms[object];
}

struct step
step_at(uint64_t addr)
{
	struct sym_frame f[MOST];
	struct step s = { .fn = SYM_UNKNOWN };
	const struct obj *ob;
	uint64_t link;
	size_t n;

	ob = map == NULL ? NULL : objmap_find(map, addr, &link);
	if (ob == NULL)
		return s;
	n = sym_inline(sym_of(ob->id, ob->path), link, f, MOST);
	s.fn = f[0].fn;
	s.outer = n > 1 ? f[n - 1].fn : NULL;
	s.line = f[0].line;
	s.file = s.line == 0 ? ob->path : f[0].file;
	return s;
}

/* Names are interned and paths do not move, so pointers suffice. */
bool
step_is_same(const struct step *a, const struct step *b)
{
	return a->line == b->line && a->fn == b->fn && a->file == b->file &&
	    a->outer == b->outer;
}

static struct steps **steps;	/* by a block's number, from 1 */
static uint32_t nsteps;

void
steps_define(struct ev_block *b)
{
	struct steps *s = xcalloc(1, sizeof *s);
	static size_t capsteps;
	size_t cap = 0;
	struct step at;
	uint32_t i;

	for (i = 0; i < b->ninsn; i++) {
		at = step_at(b->insn[i].addr);
		at.insn = i;
		if (s->n != 0 && step_is_same(&at, &s->step[s->n - 1]))
			continue;
		s->step = xgrow(s->step, &cap, s->n + 1, sizeof *s->step);
		s->step[s->n++] = at;
	}
	steps = xgrow(steps, &capsteps, nsteps + 1UL, sizeof *steps);
	steps[nsteps++] = s;
	b->number = nsteps;
}

const struct steps *
steps_of(const struct ev_block *b)
{
	return b->number == 0 ? NULL : steps[b->number - 1];
}

void
step_put(struct out *o, const struct step *s)
{
	if (s->file == NULL)
		out_str(o, SYM_UNKNOWN);
	else
		out_str(o, shown(s->file));
	if (s->line != 0) {
		out_ch(o, ':');
		out_u64(o, s->line);
	}
	out_str(o, ": ");
	out_str(o, shown(s->fn));
	if (s->outer != NULL) {
		out_str(o, " in ");
		out_str(o, shown(s->outer));
	}
}

void
step_put_addr(struct out *o, uint64_t addr)
{
	struct step s = step_at(addr);

	out_printf(o, "%" PRIx64 " ", addr);
	step_put(o, &s);
	out_ch(o, '\n');
}
