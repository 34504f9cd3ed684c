/*
 * asm - annotated assembler
 *
 * It groups the addresses of the profile by object and by the symbol that
 * covers them, or where none does, by the function that the profile names.  It
 * shows each function from its first to its last instruction, but instructions
 * without costs only near those with costs.  The source line stands above an
 * instruction where it changes.
 */
#include "annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "mem.h"
#include "num.h"
#include "out.h"
#include "prog.h"
#include "shown.h"

struct spot {			/* an address */
	uint32_t ob;
	uint64_t addr;
	uint32_t fn;		/* costfn: the costliest one that has it */
	int64_t *n;		/* its self costs, nev of them */
	uint64_t start;		/* where its symbol begins, or its function */
	struct sym_at at;	/* its symbol; end 0: it has none */
};

struct note {			/* a call or a jump from an address */
	uint32_t ob;
	uint64_t addr;
	struct cost c;
	int64_t *n;		/* costs of a call; NULL: a jump */
};

struct asm_function {
	size_t first, end;	/* its spots */
	struct object_code *code;
	struct sym_at at;
	int64_t *n;		/* sum of its spots */
};

static struct spot *spot;
static size_t nspot, capspot;
static struct note *note;
static size_t nnote, capnote;
static struct asm_function *func;
static size_t nfunc, capfunc;

static int
cmp_spot(uint32_t ob, uint64_t addr, uint32_t ob2, uint64_t addr2)
{
	if (ob != ob2)
		return ob < ob2 ? -1 : 1;
	return addr < addr2 ? -1 : addr > addr2;
}

static int
by_spot(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	int c = cmp_spot(x->ob, x->addr, y->ob, y->addr);

	if (!c)
		c = cmp_counts(x->n, y->n);
	return c ? c : x->fn < y->fn ? -1 : x->fn > y->fn;
}

static int
by_note(const void *a, const void *b)
{
	const struct note *x = a, *y = b;
	int c = cmp_spot(x->ob, x->addr, y->ob, y->addr);

	if (!c)
		c = (int)x->c.kind - (int)y->c.kind;
	if (!c && x->c.kind == COST_CALL)
		c = cmp_counts(x->n, y->n);
	if (c)
		return c;
	return x->c.callee < y->c.callee ? -1 : x->c.callee > y->c.callee;
}

static int64_t *
copy(const int64_t *n)
{
	return memcpy(xmalloc(prof.nev * sizeof *n), n, prof.nev * sizeof *n);
}

/* An address may stand in the contexts of several functions: add those up. */
static void
merge_spots(void)
{
	size_t i, k = 0;

	for (i = 0; i < nspot; i++) {
		if (k && !cmp_spot(spot[k - 1].ob, spot[k - 1].addr,
		    spot[i].ob, spot[i].addr))
			sums_add(spot[k - 1].n, spot[i].n, prof.nev);
		else
			spot[k++] = spot[i];
	}
	nspot = k;
}

static void
gather(void)
{
	struct cost c;
	uint32_t ob;

	graph_make();
	while (costsum_next(prof.t, &c)) {
		ob = costfn_get(prof.nm, c.fn).ob;
		if (c.kind == COST_SELF && !chosen(c.fn, c.file))
			continue;
		if (c.kind == COST_SELF) {
			spot = xgrow(spot, &capspot, nspot + 1, sizeof *spot);
			spot[nspot++] = (struct spot){ .ob = ob,
			    .addr = c.pos.addr, .fn = c.fn,
			    .n = copy(with_derived(c.n)) };
			continue;
		}
		note = xgrow(note, &capnote, nnote + 1, sizeof *note);
		note[nnote++] = (struct note){ ob, c.pos.addr, c,
		    c.kind == COST_CALL ? copy(call_costs(&c)) : NULL };
	}
	if (nspot)
		qsort(spot, nspot, sizeof *spot, by_spot);
	if (nnote)
		qsort(note, nnote, sizeof *note, by_note);
	merge_spots();
}

/* The function's name, without the depth of a recursion: of `f'2', f. */
static uint32_t
plain_name(uint32_t fn)
{
	uint32_t name = costfn_get(prof.nm, fn).fn, plain = name;
	const char *depth = strrchr(str(name), '\'');
	char *s;

	if (!depth || !depth[1] ||
	    depth[1 + strspn(depth + 1, "0123456789")])
		return name;
	s = xstrdup(str(name));
	s[depth - str(name)] = '\0';
	plain = costnames_str(prof.nm, s);
	free(s);
	return plain;
}

/* Find the start of each spot's function; they are all of one object. */
static void
find_starts(struct sym *sym, struct spot *s, const struct spot *end)
{
	struct sym_at at = { .end = 0 };
	struct tally named;		/* by name: its first address */
	size_t i, n;

	tally_init(&named, 1);
	for (; s < end; s++) {
		if (sym && s->addr >= at.end)
			sym_find(sym, s->addr, &at);
		s->at = at;
		s->start = at.start;
		if (at.end)
			continue;
		n = named.n;
		i = tally_find(&named, plain_name(s->fn));
		if (i == n)
			*tally_at(&named, i) = (int64_t)s->addr;
		s->start = (uint64_t)*tally_at(&named, i);
	}
}

static int
by_start(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static struct asm_function *
new_function(struct object_code *code, size_t first)
{
	struct asm_function *p;

	func = xgrow(func, &capfunc, nfunc + 1, sizeof *func);
	p = &func[nfunc++];
	*p = (struct asm_function){ .first = first, .code = code,
	    .at = spot[first].at,
	    .n = xcalloc(prof.nev, sizeof *p->n) };
	if (!p->at.end) {
		p->at.start = spot[first].addr;
		p->at.fn = str(plain_name(spot[first].fn));
	}
	return p;
}

/* code NULL: the object cannot be read. */
static void
add_functions(struct object_code *code, size_t first, size_t end)
{
	struct asm_function *p = NULL;
	size_t i;

	find_starts(code ? code_sym(code) : NULL, spot + first, spot + end);
	qsort(spot + first, end - first, sizeof *spot, by_start);
	for (i = first; i < end; i++) {
		if (!p || spot[i].start != spot[p->first].start)
			p = new_function(code, i);
		if (p->at.end <= spot[i].addr)
			p->at.end = spot[i].addr + 1;
		sums_add(p->n, spot[i].n, prof.nev);
		p->end = i + 1;
	}
}

/* The functions of an object that cannot be read go away again. */
static void
drop_functions(size_t first, uint32_t ob)
{
	size_t i;

	for (i = first; i < nfunc; i++)
		if (passes_threshold(func[i].n) && strcmp(str(ob), "???")) {
			warn("%s: cannot be read for its instructions",
			    str(ob));
			break;
		}
	nfunc = first;
}

static int
by_function(const void *a, const void *b)
{
	const struct asm_function *x = a, *y = b;
	int c = cmp_counts(x->n, y->n);

	return c ? c : x->first < y->first ? -1 : 1;
}

static const struct note *
first_note(const struct spot *s)
{
	size_t lo = 0, hi = nnote, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (cmp_spot(note[mid].ob, note[mid].addr, s->ob, s->addr) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return note + lo;
}

static bool
is_note_of(const struct note *n, const struct spot *s)
{
	return n < note + nnote && n->ob == s->ob && n->addr == s->addr;
}

static void
put_notes(const struct cols *c, const struct spot *s)
{
	const struct note *n = first_note(s);
	struct costfn f;
	char a[32], b[32];

	for (; is_note_of(n, s); n++) {
		if (n->c.kind == COST_CALL) {
			f = costfn_get(prof.nm, n->c.callee);
			cols_put(c, n->n, NULL);
			out_printf(out, " => %s:%s (%sx)\n", show(f.fl),
			    show(f.fn), num_commas(a, n->c.count[0]));
		} else {
			cols_put(c, NULL, NULL);
			out_printf(out, " -> %" PRIx64 ", %s of %s times\n",
			    n->c.to.addr, num_commas(a, n->c.count[1]),
			    num_commas(b, n->c.count[0]));
		}
	}
}

/* Put the source line, unless it equals the last one. */
static void
put_source(const struct cols *c, struct object_code *code, uint64_t addr,
    struct sym_at *last)
{
	struct sym_at at;
	const char *text;

	sym_find(code_sym(code), addr, &at);
	if (at.file == last->file && at.line == last->line)
		return;
	*last = at;
	text = at.line ? source_line(at.file, at.line) : NULL;
	cols_put(c, NULL, NULL);
	out_printf(out, " %s:%u%s", shown(at.file), at.line, text ? ":  " : "");
	if (text)
		put_text(text, strlen(text));
	out_ch(out, '\n');
}

struct listing {		/* the instructions of a function */
	uint64_t *addr;
	size_t *at;		/* index of the spot, or SIZE_MAX */
	size_t n, capaddr, capat;
};

static void
disassemble(struct listing *l, const struct asm_function *p)
{
	uint64_t addr = p->at.start, end = p->at.end;
	size_t i = p->first, len;
	char text[512];

	l->n = 0;
	while (addr < end) {
		/* an address of the profile begins an instruction */
		while (i < p->end && spot[i].addr < addr)
			i++;
		l->addr = xgrow(l->addr, &l->capaddr, l->n + 1,
		    sizeof *l->addr);
		l->at = xgrow(l->at, &l->capat, l->n + 1, sizeof *l->at);
		l->addr[l->n] = addr;
		l->at[l->n++] = i < p->end &&
		    spot[i].addr == addr ? i : SIZE_MAX;
		len = code_insn(p->code, addr, text, sizeof text);
		if (!len)
			len = 1;
		if (i < p->end && spot[i].addr > addr &&
		    spot[i].addr < addr + len)
			addr = spot[i].addr;
		else
			addr += len;
	}
}

/* Is an instruction with costs within the context of i? */
static bool
wanted(const struct listing *l, size_t i)
{
	size_t lo = i > opt.context ? i - opt.context : 0, k;

	for (k = lo; k < l->n && k <= i + opt.context; k++)
		if (l->at[k] != SIZE_MAX)
			return true;
	return false;
}

static void
set_columns(struct cols *c, const struct asm_function *p)
{
	const struct note *n;
	struct extremes x;
	size_t i;

	ext_init(&x);
	for (i = p->first; i < p->end; i++) {
		ext_add(&x, spot[i].n);
		for (n = first_note(&spot[i]); is_note_of(n, &spot[i]); n++)
			if (n->n)
				ext_add(&x, n->n);
	}
	cols_set(c, &x, NULL);
}

static void
put_instruction(const struct cols *c, const struct asm_function *p,
    uint64_t addr, const struct spot *s)
{
	char text[512];

	heat_begin(s ? s->n : NULL);
	cols_put(c, s ? s->n : NULL, NULL);
	if (!code_insn(p->code, addr, text, sizeof text))
		strcpy(text, "(bad)");
	out_printf(out, " %8" PRIx64 ":  ", addr);
	out_shown(out, text, strlen(text));
	heat_end();
	out_ch(out, '\n');
	if (s)
		put_notes(c, s);
}

static void
print_function(const struct asm_function *p)
{
	static struct listing l;
	struct sym_at last = { .line = 0 };
	struct cols c;
	bool gap = false;
	size_t i;

	put_title("Annotated assembler: %s [%s]", shown(p->at.fn),
	    show(spot[p->first].ob));
	set_columns(&c, p);
	cols_head(&c, "", "");
	out_ch(out, '\n');
	disassemble(&l, p);
	for (i = 0; i < l.n; i++) {
		if (!wanted(&l, i)) {
			gap = true;
			continue;
		}
		if (gap)
			out_printf(out, "-- %" PRIx64 " --------------------"
			    "--------------------\n", l.addr[i]);
		gap = false;
		put_source(&c, p->code, l.addr[i], &last);
		put_instruction(&c, p, l.addr[i],
		    l.at[i] == SIZE_MAX ? NULL : &spot[l.at[i]]);
	}
	out_ch(out, '\n');
}

void
print_asm(void)
{
	struct object_code *code;
	size_t i, end, n;

	if (!prof.addresses)
		die("--asm: the profile has no addresses (positions: instr)");
	gather();
	for (i = 0; i < nspot; i = end) {
		for (end = i; end < nspot && spot[end].ob == spot[i].ob; end++)
			continue;
		code = code_open(str(spot[i].ob), opt.intel);
		n = nfunc;
		add_functions(code, i, end);
		if (!code)
			drop_functions(n, spot[i].ob);
	}
	if (nfunc)
		qsort(func, nfunc, sizeof *func, by_function);
	for (i = 0; i < nfunc; i++)
		if (passes_threshold(func[i].n))
			print_function(&func[i]);
}
