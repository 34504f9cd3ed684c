/*
 * source - write events as lines of the program's source
 *
 *	B 1 >401000 4r8.0 3 2C401000	sum.c:4: sum
 *	1+7ffe1000			sum.c:5: sum
 *	1+8*2				sum.c:4: sum
 *	Y 231				sum.c:5: sum ...
 *
 * A STEP is a line of source in a function.  The steps of a block are found
 * when it is defined.  Executions that stay in one step become one line.
 */
#include "source.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ev.h"
#include "in.h"
#include "objmap.h"
#include "out.h"
#include "shown.h"
#include "sym.h"
#include "util.h"

enum { MOST = 16 };		/* functions inlined into each other */

struct step {
	const char *file;	/* or the object, or NULL */
	const char *fn;		/* function with the line */
	const char *outer;	/* function it was inlined into, or NULL */
	unsigned line;		/* 0: not known */
	uint32_t insn;		/* its first instruction in the block, from 0 */
};

struct steps {
	struct step *step;
	uint32_t n;
};

static struct out *out;
static struct objmap *map;
static struct sym **syms;	/* by object */
static size_t capsym;
static struct step *last;	/* by thread: its last step */
static size_t caplast;
static uint64_t tid, written;	/* thread: now, last written; 0: the only one */

static struct sym *
sym_of(unsigned object, const char *path)
{
	size_t had = capsym;

	syms = xgrow(syms, &capsym, object + 1, sizeof *syms);
	memset(syms + had, 0, (capsym - had) * sizeof *syms);
	if (syms[object] == NULL)
		syms[object] = sym_open(path, SYM_DEMANGLE);
	return syms[object];
}

static struct step
find(uint64_t addr)
{
	struct sym_frame f[MOST];
	struct step s = { .fn = SYM_UNKNOWN };
	const struct obj *ob;
	uint64_t link;
	size_t n;

	ob = objmap_find(map, addr, &link);
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
static bool
is_same(const struct step *a, const struct step *b)
{
	return a->line == b->line && a->fn == b->fn && a->file == b->file &&
	    a->outer == b->outer;
}

static void
define(const struct evr *r, uint32_t id)
{
	struct ev_block *b = ev_def(r, id)->block;
	struct steps *s = xcalloc(1, sizeof *s);
	size_t cap = 0;
	struct step at;
	uint32_t i;

	for (i = 0; i < b->ninsn; i++) {
		at = find(b->insn[i].addr);
		at.insn = i;
		if (s->n != 0 && is_same(&at, &s->step[s->n - 1]))
			continue;
		s->step = xgrow(s->step, &cap, s->n + 1, sizeof *s->step);
		s->step[s->n++] = at;
	}
	b->user = s;
}

static void
put_step(const struct step *s)
{
	if (s->file == NULL)
		out_str(out, SYM_UNKNOWN);
	else
		out_str(out, shown(s->file));
	if (s->line != 0) {
		out_ch(out, ':');
		out_u64(out, s->line);
	}
	out_str(out, ": ");
	out_str(out, shown(s->fn));
	if (s->outer != NULL) {
		out_str(out, " in ");
		out_str(out, shown(s->outer));
	}
}

/* The last step of the current thread. */
static struct step *
last_step(const struct evr *r)
{
	unsigned t = ev_thread(r);
	size_t had = caplast;

	last = xgrow(last, &caplast, t + 1, sizeof *last);
	memset(last + had, 0, (caplast - had) * sizeof *last);
	return &last[t];
}

/* Write the thread, unless it is the last one written. */
static void
put_thread(struct step *at)
{
	if (tid == written)
		return;
	written = tid;
	out_printf(out, "thread %" PRIu64 "\n", tid);
	at->fn = NULL;		/* its next step is written in any case */
}

/* Execute the first n instructions of a block once. */
static void
execution(struct step *at, const struct steps *s, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < s->n && s->step[i].insn < n; i++) {
		if (is_same(at, &s->step[i]))
			continue;
		*at = s->step[i];
		put_step(at);
		out_ch(out, '\n');
	}
}

static void
executions(const struct evr *r, const struct ev *e)
{
	struct step *at = last_step(r);
	const struct ev_def *d;
	const struct steps *s;
	uint64_t n;

	put_thread(at);
	for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p)) {
		d = ev_def(r, ev_id(*p));
		s = d->block->user;
		n = s->n == 1 ? 0 : ev_more(p);
		do
			execution(at, s, d->n);
		while (n-- > 0);
	}
}

static void
signal_line(const struct evr *r, const struct ev *e)
{
	struct step s = find(e->num[1]), *at = last_step(r);
	const char *name = strsignal((int)e->num[0]);

	put_thread(at);
	out_printf(out, "signal %" PRIu64 " (%s) at %" PRIx64 " ", e->num[0],
	    name != NULL ? name : "unknown", e->num[1]);
	put_step(&s);
	out_ch(out, '\n');
}

int
source_lines(const char *name, const char *output)
{
	struct evr *r = ev_open(in_open(name));
	struct ev e;
	int c;

	out = out_open(output);
	map = objmap_new();
	ev_accept(r, EV_ALL | EV_BLOCKS, "executions in order");
	while ((c = ev_next(r, &e)) > 0)
		switch (c) {
		case 'M':
		case 'U':
			objmap_line(map, e.line, e.len);
			break;
		case 'B':
			define(r, e.id);
			break;
		case 'T':
			tid = e.num[0];
			break;
		case 'K':
			signal_line(r, &e);
			break;
		case 'Y':
			put_thread(last_step(r));
			out_printf(out, "system call %" PRIu64 "\n", e.num[0]);
			break;
		case EV_EXECS:
			executions(r, &e);
			break;
		}
	out_close(out);
	return ev_close(r);
}
