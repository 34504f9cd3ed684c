/*
 * cost - test driver for lib/cost.h
 *
 *	cost dump FILE		one record a line, all names in full
 *	cost copy FLAGS FILE	read and write, record by record; flags as p r s,
 *				i: functions by their numbers
 *	cost sum FILE...	the table, in canonical order, as a cost file
 *	cost order FILE		is the file in canonical order? (cost_cmp)
 *	cost push		what a simulator writes
 *	cost random SEED KIND	some profile: cachegrind, line, instr, all
 */
#include "cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "prog.h"

static struct costnames *nm;

static void
show_fn(const char *word, uint32_t fn)
{
	struct costfn f = costfn_get(nm, fn);

	printf(" %s[%s|%s|%s]", word, costnames_get(nm, f.ob),
	    costnames_get(nm, f.fl), costnames_get(nm, f.fn));
}

static void
show_pos(const char *word, uint32_t file, const struct cost_pos *p)
{
	printf(" %s[%s|%" PRIx64 "|%" PRIx64 "|%u]", word,
	    costnames_get(nm, file), p->addr, p->bb, p->line);
}

static void
show(const struct costr *r, const struct cost *c)
{
	size_t i;

	printf("%s", c->kind == COST_SELF ? "self" : c->kind == COST_CALL ? "call" :
	    c->cond ? "jcnd" : "jump");
	show_fn("fn", c->fn);
	show_pos("at", c->file, &c->pos);
	if (c->kind != COST_SELF) {
		show_fn("to", c->callee);
		show_pos("at", c->tofile, &c->to);
		printf(" %" PRId64 "/%" PRId64, c->count[0], c->count[1]);
	}
	for (i = 0; c->kind != COST_JUMP && i < r->head.nev; i++)
		printf(" %" PRId64, c->n[i]);
	putchar('\n');
}

static void
dump(const char *name, bool partial)
{
	struct costr *r = costr_open(name, nm);
	struct cost c;
	size_t i;

	if (partial)
		costr_partial(r);
	while (costr_next(r, &c)) {
		if (c.kind != COST_PART) {
			show(r, &c);
			continue;
		}
		printf("part %s positions %u events", r->head.format ==
		    COST_CACHEGRIND ? "cachegrind" : "callgrind", r->head.positions);
		for (i = 0; i < r->head.nev; i++)
			printf(" %s", r->head.ev[i].name);
		for (i = 0; i < r->head.nderived; i++)
			printf(" (%s = %s)", r->head.derived[i].name,
			    r->head.derived[i].formula);
		printf(" cmd [%s] desc %zu%s\n", r->head.cmd ? r->head.cmd : "",
		    r->head.ndesc, r->head.is_diff ? " difference" : "");
	}
	if (r->truncated)
		printf("truncated\n");
	costr_close(r);
}

static void
copy(const char *flags, const char *name)
{
	struct costr *r = costr_open(name, nm);
	struct out *o = out_open(NULL);
	struct costw *w = NULL;
	struct cost c;
	unsigned f = 0;

	r->by_id = strchr(flags, 'i') != NULL;
	f |= strchr(flags, 'p') ? COSTW_PLAIN : 0;
	f |= strchr(flags, 'r') ? COSTW_RELATIVE : 0;
	f |= strchr(flags, 's') ? COSTW_SHORT : 0;
	while (costr_next(r, &c)) {
		if (c.kind != COST_PART)
			costw_put(w, &c);
		else if (w)
			costw_part(w, &r->head);
		else
			w = costw_begin(o, nm, &r->head, f);
	}
	costw_end(w);
	out_close(o);
	costr_close(r);
}

static void
sum(char **names)
{
	struct costsum *t = NULL;
	struct cost_head head = { .nev = 0 };
	struct out *o = out_open(NULL);
	struct costw *w;
	struct costr *r;
	struct cost c;

	for (; *names; names++) {
		r = costr_open(*names, nm);
		while (costr_next(r, &c))
			if (c.kind != COST_PART) {
				costsum_put(t, &c);
			} else if (!t) {
				head = r->head;
				head.desc = NULL;
				head.ndesc = head.nderived = 0;
				t = costsum_new(nm, head.positions, head.nev);
			} else {
				costsum_positions(t, r->head.positions);
				head.positions |= r->head.positions;
			}
		costr_close(r);
	}
	costsum_sort(t);
	w = costw_begin(o, nm, &head, 0);
	costw_total(w, costsum_total(t));
	while (costsum_next(t, &c))
		costw_put(w, &c);
	costw_end(w);
	out_close(o);
	costsum_free(t);
}

/* Every record of a canonical file is behind the one before. */
static int
order(const char *name)
{
	struct costr *r = costr_open(name, nm);
	struct cost c, last = { .kind = COST_PART };
	int bad = 0;

	while (costr_next(r, &c)) {
		if (c.kind != COST_PART && last.kind != COST_PART &&
		    cost_cmp(nm, &last, &c) >= 0)
			bad = 1;
		last = c;
	}
	costr_close(r);
	return bad;
}

static void
push(void)
{
	struct cost_head h;
	struct out *o = out_open(NULL);
	struct costw *w;

	costhead_init(&h);
	if (costhead_events(&h, nm, "Ir Dr") < 0)
		die("events");
	h.positions = COST_INSTR;
	h.cmd = "prog arg";
	costhead_desc(&h, "I1 cache: none");
	w = costw_begin(o, nm, &h, 0);
	costw_object(w, "/usr/bin/prog");
	costw_addr(w, 0x1000, (int64_t[]){ 5, 1 });
	costw_addr(w, 0x1004, (int64_t[]){ 5, 0 });
	costw_object(w, "/lib/libc.so.6");
	costw_addr(w, 0x1004, (int64_t[]){ 1, 7 });
	costw_end(w);
	out_close(o);
	free(h.desc);
}

static uint64_t seed;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(seed >> 33) % n;
}

static uint32_t
name(const char *what, uint32_t n)
{
	char buf[64];

	snprintf(buf, sizeof buf, "%s%u", what, rnd(n));
	return costnames_str(nm, buf);
}

static uint32_t
some_fn(bool cachegrind)
{
	struct costfn f = { .fl = name("src/f.c", 6), .fn = name("fn ", 20) };

	if (!cachegrind)
		f.ob = name("/lib/ob", 3);
	return costfn_add(nm, f);
}

static struct cost_pos
some_pos(const struct cost_head *h)
{
	struct cost_pos p = { 0, 0, 0 };

	if (h->positions & COST_INSTR)
		p.addr = 0x1000 + rnd(50) + (rnd(20) ? 0 : 0xffffffff00000000);
	if (h->positions & COST_BB)
		p.bb = p.addr & ~(uint64_t)15;
	if (h->positions & COST_LINE)
		p.line = rnd(40);
	return p;
}

static void
some_record(struct cost *c, const struct cost_head *h)
{
	static int64_t n[COST_EVMAX];
	bool cachegrind = h->format == COST_CACHEGRIND;
	size_t i;

	if (!c->fn || !rnd(8)) {
		c->fn = some_fn(cachegrind);
		c->file = costfn_get(nm, c->fn).fl;
	}
	if (!cachegrind && !rnd(6))
		c->file = name("src/f.c", 6);
	c->kind = cachegrind || rnd(4) ? COST_SELF : rnd(4) || h->nev == 1 ?
	    COST_CALL : COST_JUMP;
	c->pos = some_pos(h);
	c->to = some_pos(h);
	c->callee = c->kind == COST_JUMP && rnd(2) ? c->fn : some_fn(cachegrind);
	c->tofile = costfn_get(nm, c->callee).fl;
	c->cond = c->kind == COST_JUMP && rnd(2);
	c->count[0] = 1 + rnd(1000);
	c->count[1] = c->cond ? (int64_t)rnd(1000) : c->count[0];
	c->n = n;
	for (i = 0; i < h->nev; i++)
		n[i] = rnd(3) ? rnd(rnd(2) ? 10 : 100000) :
		    rnd(2) ? 0 : (int64_t)rnd(1000) << 32;
}

static void
some_profile(const char *number, const char *kind)
{
	struct out *o = out_open(NULL);
	struct cost_head h;
	struct cost c = { .fn = 0 };
	struct costw *w;
	int i;

	seed = strtoull(number, NULL, 10) * 7919 + 1;
	costfn_add(nm, (struct costfn){ .ob = 0 });
	costhead_init(&h);
	if (!strcmp(kind, "cachegrind"))
		h.format = COST_CACHEGRIND;
	if (!strcmp(kind, "instr"))
		h.positions |= COST_INSTR;
	if (!strcmp(kind, "all"))
		h.positions |= COST_INSTR | COST_BB;
	if (costhead_events(&h, nm, "Ir Dr Dw") < 0)
		die("events");
	h.cmd = "prog";
	w = costw_begin(o, nm, &h, rnd(8));
	for (i = 0; i < 600; i++) {
		some_record(&c, &h);
		costw_put(w, &c);
	}
	costw_end(w);
	out_close(o);
}

int
main(int argc, char **argv)
{
	prog_init(argv[0]);
	nm = costnames_new();
	if (argc == 3 && !strcmp(argv[1], "dump"))
		dump(argv[2], false);
	else if (argc == 3 && !strcmp(argv[1], "partial"))
		dump(argv[2], true);
	else if (argc == 4 && !strcmp(argv[1], "copy"))
		copy(argv[2], argv[3]);
	else if (argc >= 3 && !strcmp(argv[1], "sum"))
		sum(argv + 2);
	else if (argc == 3 && !strcmp(argv[1], "order"))
		return order(argv[2]);
	else if (argc == 2 && !strcmp(argv[1], "push"))
		push();
	else if (argc == 4 && !strcmp(argv[1], "random"))
		some_profile(argv[2], argv[3]);
	else
		die("usage: cost what ...");
	return 0;
}
