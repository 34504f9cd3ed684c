/*
 * caches - the judge of cachesim
 *
 *	caches gen seed n		a random stream of n executions
 *	caches filter N L W stream	the same as kind cache
 *	caches judge I1 D1 LL once|each stream costs
 *
 * judge simulates the stream in the plainest way, one access after the other
 * on lists of lines, and compares with costs that cachesim wrote. It shares
 * no code with cachesim but the reading of its input.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cost.h"
#include "ev.h"
#include "evw.h"
#include "in.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

/* ---- random streams ---- */

#define NBLOCK	150
#define NGROUP	20

static uint64_t seed;

static uint64_t
rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

struct block {
	char items[3000];
	uint32_t id, prefix;		/* prefix 0: none */
	unsigned ninsn, part;
	unsigned ngroups, partgroups;
	unsigned counts;		/* bits: groups that are counts */
	bool many;			/* groups; none of them is a count */
	uint64_t value[NGROUP];
};

static struct block block[NBLOCK];

static char *
random_ref(char *p, struct block *b)
{
	static const unsigned size[] = { 1, 2, 4, 8, 8, 8, 16, 32, 64, 28,
	    108, 160, 512 };
	unsigned g;

	p += sprintf(p, "%c%x", "rrwwm"[rnd(5)],
	    size[rnd(rnd(20) == 0 ? 13 : 9)]);
	if (rnd(4) == 0)
		return p + sprintf(p, "@%" PRIx64, 0x600000 + rnd(0x3000));
	do {
		g = b->many && rnd(2) ? b->ngroups :
		    (unsigned)rnd(b->ngroups + 1);
		if (g == NGROUP - 1)
			g = 0;
	} while (b->counts >> g & 1);
	if (g == b->ngroups)
		b->ngroups++;
	p += sprintf(p, ".%x", g);
	if (rnd(2))
		p += sprintf(p, "%c%" PRIx64, "+-"[rnd(2)], rnd(200));
	else if (rnd(40) == 0)
		p += sprintf(p, "+%" PRIx64, (uint64_t)0x100000000);
	return p;
}

/* Like movs or scas: one or two references with a count. */
static char *
random_repeat(char *p, struct block *b)
{
	unsigned size = 1U << rnd(4), g, c;

	if (b->ngroups + 3 > NGROUP)
		return p;
	g = b->ngroups++;
	c = b->ngroups++;
	b->counts |= 1U << c;
	p += sprintf(p, "r%x.%x*%x", size, g, c);
	if (rnd(3))
		p += sprintf(p, "%c%x.%x*%x", "rw"[rnd(2)], size,
		    b->ngroups++, c);
	return p;
}

static void
random_block(struct block *b, uint32_t id)
{
	char *p = b->items;
	uint64_t addr = 0x400000 + rnd(0x18000);
	unsigned len, n = 2 + (unsigned)rnd(rnd(5) == 0 ? 40 : 10);

	b->id = id;
	b->ninsn = n;
	b->many = rnd(8) == 0;
	p += sprintf(p, ">%" PRIx64, addr);
	for (unsigned i = 1; i <= n; i++) {
		len = 1 + (unsigned)rnd(15);
		p += sprintf(p, " %x", len);
		addr += len;
		if (!b->many && rnd(60) == 0)
			p = random_repeat(p, b);
		else
			for (uint64_t k = rnd(9) / 4; k > 0; k--)
				p = random_ref(p, b);
		if (i == n / 2 && rnd(2) == 0) {
			b->prefix = id + 1;
			b->part = i;
			b->partgroups = b->ngroups;
		}
		if (i == n || rnd(8) != 0)
			continue;
		/* a branch not taken, a branch taken, a jump */
		switch (rnd(3)) {
		case 0:
			p += sprintf(p, "C%" PRIx64, rnd(0x400000));
			break;
		case 1:
			addr = addr + rnd(300) - 100;
			p += sprintf(p, "C%" PRIx64 " >%" PRIx64, addr, addr);
			break;
		case 2:
			addr = 0x400000 + rnd(0x18000);
			p += sprintf(p, "I >%" PRIx64, addr);
			break;
		}
	}
}

static uint64_t
random_value(struct block *b, unsigned g)
{
	if (b->counts >> g & 1)
		return rnd(8) == 0 ? -rnd(200) : rnd(4) == 0 ? 0 : rnd(150);
	if (rnd(50) == 0)
		return 0;
	if (rnd(4) == 0)
		return 0x7f0000000000 + rnd(0x8000) * 64 + rnd(64);
	if (rnd(300) == 0)
		return rnd(UINT64_MAX);
	return b->value[g] + rnd(24) - 8;
}

static void
random_executions(struct evw *w, size_t n)
{
	uint32_t rec[1 + 2 * NGROUP];
	struct block *b = block;
	unsigned ngroups, part = 0;

	for (; n > 0; n--) {
		if (rnd(3) == 0) {
			b = &block[rnd(4) ? rnd(NBLOCK / 8) : rnd(NBLOCK)];
			part = b->prefix != 0 && rnd(2);
		}
		ngroups = part ? b->partgroups : b->ngroups;
		rec[0] = ngroups << 24 | (part ? b->prefix : b->id);
		for (unsigned g = 0; g < ngroups; g++) {
			b->value[g] = rnd(12) ?
			    b->value[g] + (b->counts >> g & 1 ? 0 : 8) :
			    random_value(b, g);
			memcpy(rec + 1 + 2 * g, &b->value[g], 8);
		}
		evw_records(w, rec, rec + 1 + 2 * ngroups);
		if (evw_error(w) != NULL)
			die("%s", evw_error(w));
		if (rnd(2000) == 0)
			evw_line(w, "T %d", (int)rnd(3));
	}
}

static void
generate(size_t n)
{
	struct out *o = out_open(NULL);
	struct evw *w = evw_open(o);
	uint32_t id = 1;

	evw_line(w, EVW_HEADER);
	evw_line(w, "H cmd random");
	evw_line(w, "M 1 200000 220000 0 /nowhere/prog");
	for (unsigned i = 0; i < NBLOCK; i++, id += 1 + (unsigned)rnd(5)) {
		struct block *b = &block[i];

		random_block(b, id++);
		if (evw_block(w, b->id, b->items, b->ngroups, b->ninsn) < 0 ||
		    (b->prefix != 0 && evw_prefix(w, b->prefix, b->id,
		    b->part, b->partgroups) < 0))
			die("block %u is refused", i);
	}
	random_executions(w, n);
	evw_end(w, "exit", 0);
	out_close(o);
}

/* ---- kind all to kind cache ---- */

/*
 * A table of lines, one for code, one for data.  Each place of a set has a
 * line and the time of its last use.  A reference is left out if all its
 * lines are there, and it is not repeated.
 */
struct filter {
	uint64_t *line;		/* line + 1, or 0 */
	uint64_t *used;
	uint32_t leave;		/* id of its Z, or 0 */
	char letter;
};

static uint64_t fsets, fsize, fways;
static struct filter fcode = { .letter = 'i' }, fdata = { .letter = 'd' };
static struct evw *fw;
static uint32_t nextid;
static uint32_t *lone;		/* by number of block's event: Q's id */
static size_t caplone;
static uint64_t *fcount;	/* executions by id */
static size_t capcount;

static void
leaves(struct filter *f, uint64_t line)
{
	uint64_t addr = (line - 1) * fsize;
	uint32_t rec[3];

	if (f->leave == 0) {
		f->leave = nextid++;
		if (evw_leave(fw, f->leave, f->letter) < 0)
			die("a line that leaves is refused");
	}
	rec[0] = 1 << 24 | f->leave;
	memcpy(rec + 1, &addr, 8);
	evw_records(fw, rec, rec + 3);
}

/* The place of a set that was used longest ago; a free one was used at 0. */
static uint64_t
oldest(const struct filter *f, uint64_t set)
{
	uint64_t k = set * fways;

	for (uint64_t i = k; i < (set + 1) * fways; i++)
		if (f->used[i] < f->used[k])
			k = i;
	return k;
}

static void
empty_set(struct filter *f, uint64_t set)
{
	for (uint64_t n = fways; n > 0; n--) {
		uint64_t k = oldest(f, set);

		if (f->line[k] != 0)
			leaves(f, f->line[k]);
		f->line[k] = 0;
		f->used[k] = UINT64_MAX;
	}
	memset(f->used + set * fways, 0, fways * sizeof *f->used);
}

static void
empty(struct filter *f)
{
	for (uint64_t s = 0; s < fsets; s++)
		empty_set(f, s);
}

/* Where a line is, or the place to make room for it; true: it is there. */
static bool
find(const struct filter *f, uint64_t line, uint64_t *k)
{
	uint64_t set = line % fsets;

	for (*k = set * fways; *k < (set + 1) * fways; ++*k)
		if (f->line[*k] == line + 1)
			return true;
	*k = oldest(f, set);
	return false;
}

static void
use(struct filter *f, uint64_t line, uint64_t k)
{
	static uint64_t now;

	f->line[k] = line + 1;
	f->used[k] = ++now;
}

/* All its lines, two at most, are there; else what is to be told with it. */
static bool
is_there(struct filter *f, uint64_t addr, uint64_t size, unsigned *place)
{
	uint64_t a = addr / fsize, z = (addr + size - 1) / fsize, k, m;
	int first = find(f, a, &k), second = a == z || find(f, z, &m);

	if (!first && !second && f->line[k] != 0)
		leaves(f, f->line[k]);
	use(f, a, k);
	*place = (unsigned)(k % fways);
	if (a != z)
		use(f, z, m);
	if (!second)
		*place = EV_SECOND + (unsigned)(m % fways);
	return first && second;
}

/* The groups of a reference, and of those that take turns with it. */
static void
groups(const struct ev_block *b, const struct ev_insn *i, uint32_t k,
    struct evw_ref *q)
{
	const struct ev_ref *from = &b->ref[i->ref + k - 1];
	const struct ev_ref *end = &b->ref[i->ref + i->nref];

	for (unsigned g = 0; g < b->ngroups; g++)
		for (const struct ev_ref *r = from; r < end &&
		    (r == from || r->count == from->count); r++)
			if ((r->where == EV_GROUP && r->group == g) ||
			    r->count == g + 1) {
				q->group[q->ngroups++] = (uint8_t)g;
				break;
			} else if (from->count == 0) {
				break;
			}
}

/*
 * Tell a reference; k 0 is the fetch. Ids by block, instruction and k. told:
 * the value of one that stays, or NULL.
 */
static void
tell(const struct ev_block *b, uint32_t insn, uint32_t k, const uint64_t *told)
{
	struct evw_ref q = { .n = insn + 1, .k = k, .stays = told != NULL };
	size_t key = (size_t)b->number + insn * 16 + k * 2 + q.stays;
	size_t old = caplone;
	uint32_t rec[33];

	if (k != 0 && told == NULL)
		groups(b, &b->insn[insn], k, &q);
	lone = xgrow(lone, &caplone, key + 1, sizeof *lone);
	memset(lone + old, 0, (caplone - old) * sizeof *lone);
	if (lone[key] == 0) {
		lone[key] = nextid++;
		if (evw_ref(fw, lone[key], b->id, q) < 0)
			die("reference is refused");
	}
	rec[0] = (told != NULL ? 1 : q.ngroups) << 24 | lone[key];
	if (told != NULL)
		memcpy(rec + 1, told, 8);
	for (unsigned i = 0; i < q.ngroups; i++)
		memcpy(rec + 1 + 2 * i, &b->value[q.group[i]], 8);
	evw_records(fw, rec, rec + 1 + 2 * (rec[0] >> 24));
	if (evw_error(fw) != NULL)
		die("%s", evw_error(fw));
}

static void
tell_stays(const struct ev_block *b, uint32_t insn, uint32_t k, uint64_t addr,
    unsigned place)
{
	uint64_t told = addr << 4 | place;

	tell(b, insn, k, &told);
}

static void
filter_insn(const struct ev_block *b, uint32_t insn)
{
	const struct ev_insn *i = &b->insn[insn];
	unsigned place;

	if (!is_there(&fcode, i->addr, i->len, &place))
		tell_stays(b, insn, 0, i->addr, place);
	for (uint32_t k = 0; k < i->nref; k++) {
		const struct ev_ref *r = &b->ref[i->ref + k];
		uint64_t addr = r->at;
		int happens = r->where != EV_GROUP || b->value[r->group] != 0;

		if (r->where == EV_GROUP)
			addr += b->value[r->group];
		if (r->count == 0 && r->size <= fsize) {
			if (!happens)
				tell(b, insn, k + 1, NULL);
			else if (!is_there(&fdata, addr, r->size, &place))
				tell_stays(b, insn, k + 1, addr, place);
			continue;
		}
		/* whatever lines it touches: begin anew */
		empty(&fdata);
		if (r->count == 0 || k == 0 || r[-1].count != r->count)
			tell(b, insn, k + 1, NULL);
	}
}

static void
filter_definition(struct evr *r, const struct ev *e)
{
	const struct ev_def *d = ev_def(r, e->id);
	static uint32_t events;

	if (d->letter == 'P') {
		evw_prefix(fw, e->id, d->block->id, d->n, d->ngroups);
		return;
	}
	evw_block(fw, e->id, xstrdup(strchr(e->line + 2, ' ') + 1),
	    d->ngroups, d->n);
	d->block->number = events;
	events += d->n * 16;
	if (e->id >= nextid)
		nextid = e->id + 1;
}

static void
filter_batch(struct evr *r, const struct ev *e)
{
	for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p))
		for (uint64_t k = 0; k <= ev_more(p); k++) {
			const struct ev_def *d = ev_def(r, ev_id(*p));
			size_t old = capcount;

			fcount = xgrow(fcount, &capcount, ev_id(*p) + 1,
			    sizeof *fcount);
			memset(fcount + old, 0,
			    (capcount - old) * sizeof *fcount);
			fcount[ev_id(*p)]++;
			ev_apply(d, p + 1);
			for (uint32_t i = 0; i < d->n; i++)
				filter_insn(d->block, i);
		}
}

static void
filter(const char *name)
{
	struct out *o = out_open(NULL);
	struct evr *r = ev_open(in_open(name));
	struct ev e;
	int c;

	fw = evw_open(o);
	fcode.line = xcalloc(fsets * fways, sizeof *fcode.line);
	fdata.line = xcalloc(fsets * fways, sizeof *fdata.line);
	fcode.used = xcalloc(fsets * fways, sizeof *fcode.used);
	fdata.used = xcalloc(fsets * fways, sizeof *fdata.used);
	/* above all ids of the stream */
	nextid = 0x800000;
	while ((c = ev_next(r, &e)) > 0) {
		if (c == EV_EXECS) {
			filter_batch(r, &e);
		} else if (c == 'B' || c == 'P') {
			filter_definition(r, &e);
		} else if (c == 'E') {
			for (uint32_t id = 0; id < capcount; id++)
				if (fcount[id] != 0)
					evw_total(fw, id, fcount[id]);
			evw_end(fw, e.text, (int)e.num[0]);
		} else {
			if (c == 'T') {
				empty(&fcode);
				empty(&fdata);
			}
			evw_raw(fw, e.line, e.len);
			if (e.line == strstr(e.line, "H quern"))
				evw_line(fw, "H kind cache %" PRIu64 " %"
				    PRIu64 " %" PRIu64, fsets, fsize, fways);
		}
	}
	out_close(o);
	if (ev_close(r) != 0)
		exit(2);
}

/* ---- the plain simulator ---- */

struct cache {
	uint64_t sets, assoc, size;	/* size: of a line */
	uint64_t *line;			/* by set, from the newest */
};

static struct cache i1, d1, ll;

static void
cache_make(struct cache *c, const char *arg)
{
	uint64_t size;

	if (sscanf(arg, "%" SCNu64 ",%" SCNu64 ",%" SCNu64, &size, &c->assoc,
	    &c->size) != 3)
		die("%s: not a cache", arg);
	c->sets = size / c->assoc / c->size;
	c->line = xmalloc(c->sets * c->assoc * sizeof *c->line);
	memset(c->line, 0xff, c->sets * c->assoc * sizeof *c->line);
}

static int
line_missed(struct cache *c, uint64_t line)
{
	uint64_t *set = c->line + line % c->sets * c->assoc, way = 0;
	int missed = 0;

	while (way < c->assoc && set[way] != line)
		way++;
	if (way == c->assoc) {
		missed = 1;
		way--;
	}
	for (; way > 0; way--)
		set[way] = set[way - 1];
	set[0] = line;
	return missed;
}

static int
missed(struct cache *c, uint64_t addr, uint64_t size)
{
	uint64_t n = (addr % c->size + size + c->size - 1) / c->size;
	int any = 0;

	for (uint64_t i = 0; i < n; i++)
		any |= line_missed(c, (addr + i * c->size) / c->size);
	return any;
}

/* ---- what it finds, by address ---- */

struct seen {
	uint64_t addr;
	int64_t n[9];	/* Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw */
};

static struct seen *seen;
static size_t nseen, capseen;

static int
by_addr(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static struct seen *
at(uint64_t addr)
{
	/* few addresses: a table by their low bits that grows in place */
	static uint32_t table[1 << 20];
	uint32_t *t = &table[addr % (1 << 20)];

	if (*t != 0 && seen[*t - 1].addr == addr)
		return &seen[*t - 1];
	if (*t != 0)
		die("two addresses in one place of the table");
	seen = xgrow(seen, &capseen, nseen + 1, sizeof *seen);
	memset(&seen[nseen], 0, sizeof *seen);
	seen[nseen].addr = addr;
	*t = (uint32_t)++nseen;
	return &seen[nseen - 1];
}

static void
access_to(struct cache *first, uint64_t addr, uint64_t size, int64_t *n)
{
	n[0]++;
	if (missed(first, addr, size)) {
		n[1]++;
		n[2] += missed(&ll, addr, size);
	}
}

/* Valgrind fetches a repeated instruction for each round and more. */
static int64_t
more_fetches(const struct ev_block *b, const struct ev_insn *i)
{
	int64_t count = 0, writes = 0;

	for (const struct ev_ref *r = b->ref + i->ref;
	    r < b->ref + i->ref + i->nref; r++) {
		writes |= r->kind != 'r';
		if (r->count != 0)
			count = (int64_t)b->value[r->count - 1];
	}
	if (count < 0)
		count = -count;
	return writes ? count : count > 0 ? count - 1 : 0;
}

static void
simulate(const struct ev_def *d, const uint64_t *diff, int each)
{
	struct ev_walk w;
	struct seen *s = NULL;

	ev_apply(d, diff);
	ev_walk(&w, d);
	while (ev_step(&w))
		if (w.kind == 'i') {
			s = at(w.addr);
			access_to(&i1, w.addr, w.size, s->n);
			if (each)
				s->n[0] += more_fetches(w.block,
				    &w.block->insn[w.insn]);
		} else {
			access_to(&d1, w.addr, w.size,
			    s->n + (w.kind == 'w' ? 6 : 3));
		}
}

static void
simulate_stream(const char *name, int each)
{
	struct evr *r = ev_open(in_open(name));
	struct ev e;
	int c;

	while ((c = ev_next(r, &e)) > 0)
		if (c == EV_EXECS)
			for (const uint64_t *p = e.rec; p < e.end;
			    p = ev_skip(p))
				for (uint64_t k = 0; k <= ev_more(p); k++)
					simulate(ev_def(r, ev_id(*p)), p + 1,
					    each);
	if (ev_close(r) != 0)
		exit(2);
	qsort(seen, nseen, sizeof *seen, by_addr);
}

static int
compare(const char *name)
{
	struct costr *r = costr_open(name, costnames_new());
	struct cost c;
	size_t k = 0;
	int64_t sum[9] = { 0 };

	while (costr_next(r, &c) != COST_END) {
		if (c.kind != COST_SELF)
			continue;
		if (k == nseen || c.pos.addr != seen[k].addr)
			die("%" PRIx64 ": should not be in the costs",
			    c.pos.addr);
		for (int i = 0; i < 9; i++) {
			if (c.n[i] != seen[k].n[i])
				die("%" PRIx64 ": column %d is %" PRId64
				    ", should be %" PRId64, c.pos.addr, i,
				    c.n[i], seen[k].n[i]);
			sum[i] += c.n[i];
		}
		k++;
	}
	if (k != nseen)
		die("%" PRIx64 ": should be in the costs", seen[k].addr);
	for (int i = 0; i < 9; i++)
		printf("%" PRId64 "%c", sum[i], i == 8 ? '\n' : ' ');
	return 0;
}

int
main(int argc, char **argv)
{
	prog_init(argv[0]);
	if (argc == 4 && strcmp(argv[1], "gen") == 0) {
		seed = num_arg("seed", argv[2], 1, UINT64_MAX);
		generate(num_arg("executions", argv[3], 1, UINT64_MAX));
		return 0;
	}
	if (argc == 6 && strcmp(argv[1], "filter") == 0) {
		fsets = num_arg("sets", argv[2], 1, 1 << 20);
		fsize = num_arg("line size", argv[3], 1, 1 << 20);
		fways = num_arg("ways", argv[4], 1, EV_PLACES);
		filter(argv[5]);
		return 0;
	}
	if (argc == 8 && strcmp(argv[1], "judge") == 0) {
		cache_make(&i1, argv[2]);
		cache_make(&d1, argv[3]);
		cache_make(&ll, argv[4]);
		simulate_stream(argv[6], strcmp(argv[5], "each") == 0);
		return compare(argv[7]);
	}
	die("usage: caches gen seed n | filter N L stream | "
	    "judge I1 D1 LL once|each stream costs");
}
