/*
 * names - tell the names of code made at run time
 *
 * Blocks of such code are told with their bytes. When the run ends, another
 * image begins, or the newest records are dumped, each straight piece of them
 * is looked up among the names that the runtime has written (stream/names.c),
 * and the names are told with the blocks that they are of. So the stream stays
 * readable when the runtime's files are gone, and two functions at one address
 * stay two.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evpack.h"
#include "evw.h"
#include "jit.h"
#include "stream/stream.h"
#include "xlate/parts.h"
#include "xlate/xlate.h"
#include "mem.h"
#include "prog.h"

/* A block has code of a piece that jit.h knows. */
struct named {
	size_t code;
	uint32_t id;
};

static struct named *named;
static size_t nnamed, capnamed;
static size_t nmade, nfound, nall;	/* blocks */
static uint32_t ntold;			/* functions */
static uint32_t first;			/* definition of this image */

/* An instruction, and what follows it. */
struct straight {
	uint64_t addr;
	size_t n;
	uint8_t code[MAX_INSN * MAX_LEN];
};

static void
find(const struct straight *s, const struct def_told *d)
{
	size_t at, k;
	const struct jit_code *c;

	for (at = 0; at < s->n; ) {
		k = jit_find(names_jit(), s->addr + at, s->code + at,
		    s->n - at, d->known);
		if (k == JIT_NONE)
			return;
		c = jit_get(names_jit(), k);
		named = xgrow(named, &capnamed, nnamed + 1, sizeof *named);
		named[nnamed++] = (struct named){ k, d->id };
		at = (size_t)(c->start + c->size - s->addr);
	}
}

/* Look up the pieces of a block whose bytes are told. */
static void
find_block(const struct def_told *d)
{
	static struct ev_ref ref[255];
	static struct straight s;
	size_t before = nnamed;
	struct ev_each e;
	unsigned i;

	evpack_each(&e, d->packed, ref);
	s.n = 0;
	for (i = 0; i < d->n; i++) {
		ev_next_insn(&e);
		if (s.n != 0 && (e.code == NULL || e.insn.addr !=
		    s.addr + s.n)) {
			find(&s, d);
			s.n = 0;
		}
		if (e.code == NULL)
			continue;
		if (s.n == 0)
			s.addr = e.insn.addr;
		memcpy(s.code + s.n, e.code, e.insn.len);
		s.n += e.insn.len;
	}
	find(&s, d);
	nmade++;
	nfound += nnamed > before;
}

static int
by_code(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* ---- lines ---- */

static void
tell_function(struct evw *w, const struct jit_code *c)
{
	const struct jit_line *last = NULL;
	char *text = xmalloc(4 * JIT_NAME + 1);
	uint32_t i;

	evw_escape(text, c->name, 0);
	evw_line(w, "G %x %llx %llx %s", ++ntold, (unsigned long long)c->start,
	    (unsigned long long)c->size, text);
	for (i = 0; i < c->nline; i++) {
		const struct jit_line *l = &c->line[i];

		if (last != NULL && l->line == last->line &&
		    l->file == last->file)
			continue;
		last = l;
		evw_escape(text, l->file, 0);
		evw_line(w, "L %x %llx %x %s", ntold,
		    (unsigned long long)l->addr, l->line, text);
	}
	free(text);
}

/* Tell the blocks of named[i]'s function; returns the index behind them. */
static size_t
tell_blocks(struct evw *w, size_t i)
{
	static char line[EVW_MAXLINE];
	size_t code = named[i].code, n = 0;
	uint32_t last = 0;

	for (; i < nnamed && named[i].code == code; i++) {
		if (named[i].id == last)
			continue;
		last = named[i].id;
		if (n > sizeof line - 16) {
			evw_raw(w, line, n);
			n = 0;
		}
		if (n == 0)
			n = (size_t)sprintf(line, "G %x =", ntold);
		n += (size_t)sprintf(line + n, " %x", last);
	}
	evw_raw(w, line, n);
	return i;
}

/* A runtime that could have told names did not: say how it does. */
static void
advise(void)
{
	const char *how = names_advice();

	if (nfound != 0 || nmade < 64)
		return;
	if (how != NULL)
		warn("code made at run time has no names; what tells them: %s",
		    how);
	else if (nmade > 1000 && nmade > nall / 4)
		warn("%zu of %zu blocks are of code made at run time, without "
		    "names: some runtimes have options to write a perf map "
		    "or a jitdump", nmade, nall);
}

/* Look up the blocks of this image, from a definition on; the next one. */
static uint32_t
find_blocks(struct evw *w, uint32_t i)
{
	struct def_told d;

	names_known();
	nnamed = nmade = nfound = nall = 0;
	for (i = shelved_end(i); i < def_end(); i++)
		if (def_told(i, &d) && evw_written(w, d.id)) {
			nall++;
			if (d.made)
				find_block(&d);
		}
	nall += shelf_written();
	if (nnamed != 0)
		qsort(named, nnamed, sizeof *named, by_code);
	return i;
}

void
names_tell(struct evw *w, bool at_end)
{
	uint32_t next;
	size_t i;

	if (!opt->kind->tells)
		return;
	if (opt->last != 0)
		ntold = 0;
	names_lock();
	next = find_blocks(w, first);
	for (i = 0; i < nnamed; i = tell_blocks(w, i))
		tell_function(w, jit_get(names_jit(), named[i].code));
	names_unlock();
	if (!at_end)
		return;
	first = next;
	advise();
}
