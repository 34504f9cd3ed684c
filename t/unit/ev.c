/*
 * ev - drive the reader and the writer of events
 *
 *	ev read [file]		what the stream holds, as counts
 *	ev copy [file]		pass it through reader and writer
 *	ev random seed n file	a stream of n records, written, read, compared
 *	ev lone seed n file	the same of references, as in kind cache
 *	ev plain seed n file	ev plain-lone ...: by the plain way of the writer
 *	ev four seed n file	by four fields at once; 3: this processor cannot
 *	ev write n		a stream of n records, to time the writer
 *	ev bad			what the writer must refuse
 *	ev ways file		all ways to scan text are one
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "ev.h"
#include "ev/evscan.h"
#include "evw.h"
#include "ev/evwrec.h"
#include "in.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

static uint64_t seed;

static uint64_t
rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* ---- read: counts, the way a simulator would see them ---- */

static struct {
	uint64_t insns, loads, stores, modifies, cond, taken, calls, rets,
	    syscalls;
} sum;

/* A conditional branch that ended the thread's last execution. */
static const struct ev_block *open_block;
static const struct ev_insn *open_branch;

static void
went_on(uint64_t addr)
{
	if (open_branch == NULL)
		return;
	if (addr == open_block->target[open_branch->target] &&
	    addr != open_branch->addr + open_branch->len)
		sum.taken++;
	else if (addr != open_branch->addr + open_branch->len)
		die("a branch to nowhere");
	open_branch = NULL;
}

static void
flows(const struct ev_def *d)
{
	const struct ev_insn *i = d->block->insn, *end = i + d->n;

	went_on(i->addr);
	for (; i < end; i++)
		switch (i->flow) {
		case 'C':
			sum.cond++;
			open_block = d->block;
			open_branch = i;
			if (i + 1 < end)
				went_on(i[1].addr);
			break;
		case 'L':
		case 'X':
			sum.calls++;
			break;
		case 'R':
			sum.rets++;
			break;
		case 'S':
			sum.syscalls++;
			break;
		}
}

static void
execute(const struct ev_def *d, const uint64_t *diff)
{
	struct ev_walk w;

	ev_apply(d, diff);
	if (d->letter != 'Q' && d->letter != 'Z')
		flows(d);
	if (d->letter == 'Z')
		return;
	ev_walk(&w, d);
	while (ev_step(&w))
		switch (w.kind) {
		case 'i':
			sum.insns++;
			break;
		case 'r':
			sum.loads++;
			break;
		case 'w':
			sum.stores++;
			break;
		case 'm':
			sum.modifies++;
			break;
		}
}

static int
read_counts(const char *name)
{
	struct evr *r = ev_open(in_open(name));
	struct ev e;
	const uint64_t *p;
	int c;

	while ((c = ev_next(r, &e)) > 0) {
		if (c == 'K')
			went_on(e.num[1]);
		if (c != EV_EXECS)
			continue;
		for (p = e.rec; p < e.end; p = ev_skip(p))
			for (uint64_t n = 0; n <= ev_more(p); n++)
				execute(ev_def(r, ev_id(*p)), p + 1);
	}
	printf("insns %" PRIu64 " loads %" PRIu64 " stores %" PRIu64
	    " modifies %" PRIu64 " cond %" PRIu64 " taken %" PRIu64
	    " calls %" PRIu64 " rets %" PRIu64 " syscalls %" PRIu64 "\n",
	    sum.insns, sum.loads, sum.stores, sum.modifies, sum.cond,
	    sum.taken, sum.calls, sum.rets, sum.syscalls);
	return ev_close(r);
}

/* ---- copy ---- */

static int
copy(const char *name)
{
	struct evr *r = ev_open(in_open(name));
	struct out *o = out_open(NULL);
	struct evw *w = evw_open(o);
	struct ev e;
	const uint64_t *p;
	int c;

	while ((c = ev_next(r, &e)) > 0) {
		if (c == 'E')
			evw_end(w, e.text, (int)e.num[0]);
		else if (c != EV_EXECS)
			evw_raw(w, e.line, e.len);
		else
			for (p = e.rec; p < e.end; p = ev_skip(p))
				evw_exec(w, ev_def(r, ev_id(*p))->id,
				    ev_ngroups(*p), p + 1, ev_more(p));
		if (c == 'W')
			evw_told(w, e.num[1]);
	}
	evw_flush(w);
	out_close(o);
	return ev_close(r);
}

/* More repeats than a line tells, by counts, and by records around them. */
static int
many(void)
{
	struct out *o = out_open(NULL);
	struct evw *w = evw_open(o);
	uint32_t rec[] = { 1 << 24 | 1, 5, 0, 1 << 24 | 1, 10, 0 };
	uint64_t five = 5;

	evw_line(w, EVW_HEADER);
	evw_block(w, 1, ">1000 1r8.0", 1, 1);
	evw_block(w, 2, ">2000 1", 0, 1);
	evw_records(w, rec, rec + 3);
	evw_exec(w, 1, 1, &five, 0x1ffffffff);
	evw_records(w, rec + 3, rec + 6);
	evw_count(w, 2, 0x100000000);
	evw_count(w, 2, 0x100000001);
	evw_end(w, "exit", 0);
	out_close(o);
	return 0;
}

/* ---- random streams ---- */

#define NBLOCK	300
#define NID	900

static struct {
	char items[4000];
	unsigned ninsn, ngroups;
	unsigned upto[64];	/* groups that the first i instructions use */
	uint64_t value[255];
} blocks[NBLOCK];

static struct {
	unsigned block, n, ngroups;
	uint32_t id;
} ids[NID];
static unsigned nids;

static uint32_t *records;
static size_t nrecords, caprecords;

static char *
random_ref(char *p, unsigned *g)
{
	static const char *const dist[] = { "", "+8", "-8", "+7fffffff",
	    "-123456789abcdef" };
	unsigned at;

	p += sprintf(p, "%c%x", "rwm"[rnd() % 3], (unsigned)(1 + rnd() % 64));
	switch (rnd() % 5) {
	case 0:
		return p + sprintf(p, "@%" PRIx64, rnd() >> rnd() % 64);
	case 1:
		return p;
	}
	at = *g < 250 && rnd() % 2 ? (*g)++ : *g != 0 ? rnd() % *g : (*g)++;
	p += sprintf(p, ".%x%s", at, dist[rnd() % 5]);
	if (rnd() % 30 == 0) {
		at = *g < 250 ? (*g)++ : rnd() % *g;
		p += sprintf(p, "*%x", at);
	}
	return p;
}

static void
random_block(unsigned b)
{
	char *p = blocks[b].items;
	unsigned g = 0, n = 1 + rnd() % (rnd() % 8 == 0 ? 60 : 12);
	/* now and then as many groups as a block may have */
	unsigned refs = rnd() % 50 == 0 ? 8 : 3;

	p += sprintf(p, ">%" PRIx64, rnd() >> 20);
	for (unsigned i = 0; i < n; i++) {
		p += sprintf(p, " %x", (unsigned)(1 + rnd() % 15));
		for (unsigned k = rnd() % refs; k > 0; k--)
			p = random_ref(p, &g);
		blocks[b].upto[i] = g;
	}
	switch (rnd() % 7) {
	case 0:
		p += sprintf(p, "S");
		break;
	case 1:
		p += sprintf(p, "C%" PRIx64, rnd() >> 20);
		break;
	case 2:
		p += sprintf(p, "R");
		break;
	}
	blocks[b].ninsn = n;
	blocks[b].ngroups = g;
}

static void
random_ids(struct evw *w)
{
	uint32_t id = 0;

	for (unsigned b = 0; b < NBLOCK; b++) {
		unsigned block;

		random_block(b);
		id += 1 + rnd() % 3 * (rnd() % 400);
		block = id;
		ids[nids].id = id;
		ids[nids].block = b;
		ids[nids].n = blocks[b].ninsn;
		ids[nids++].ngroups = blocks[b].ngroups;
		if (evw_block(w, id, blocks[b].items, blocks[b].ngroups,
		    blocks[b].ninsn) < 0)
			die("block %x is refused", id);
		for (unsigned k = rnd() % 3; k > 0; k--) {
			unsigned n;

			if (blocks[b].ninsn == 1)
				continue;
			n = 1 + rnd() % (blocks[b].ninsn - 1);
			ids[nids].id = ++id;
			ids[nids].block = b;
			ids[nids].n = n;
			ids[nids++].ngroups = blocks[b].upto[n - 1];
			if (evw_prefix(w, id, block, n,
			    blocks[b].upto[n - 1]) < 0)
				die("prefix %x is refused", id);
		}
	}
}

static uint64_t
random_step(void)
{
	switch (rnd() % 8) {
	case 0:
		return 0;
	case 1:
		return rnd() >> rnd() % 64;
	case 2:
		return -(rnd() >> rnd() % 64);
	case 3:
		return (uint64_t)1 << rnd() % 64;
	case 4:
		return -(rnd() % 256);
	}
	return rnd() % 1000;
}

static void
random_records(size_t n)
{
	uint64_t step[255];

	while (n > 0) {
		unsigned i = rnd() % nids, b = ids[i].block;
		size_t rounds = rnd() % 4 == 0 ? 1 + rnd() % 20 : 1;

		for (unsigned g = 0; g < ids[i].ngroups; g++)
			step[g] = random_step();
		for (; rounds > 0 && n > 0; rounds--, n--) {
			records = xgrow(records, &caprecords,
			    nrecords + 1 + 510, sizeof *records);
			records[nrecords++] = ids[i].ngroups << 24 | ids[i].id;
			for (unsigned g = 0; g < ids[i].ngroups; g++) {
				blocks[b].value[g] += step[g];
				memcpy(records + nrecords,
				    &blocks[b].value[g], 8);
				nrecords += 2;
			}
		}
	}
}

/* Write in pieces with other lines between; the reader must see the same. */
static void
write_records(struct evw *w)
{
	const uint32_t *p = records, *end = records + nrecords;
	unsigned tid = 100;

	while (p < end) {
		const uint32_t *to = p;

		for (unsigned k = 1 + rnd() % 5000; k > 0 && to < end; k--)
			to += 1 + 2 * (*to >> 24);
		if (evw_records(w, p, to) != to)
			die("records: %s", evw_error(w));
		p = to;
		switch (rnd() % 4) {
		case 0:
			evw_line(w, "T %u", tid + (unsigned)(rnd() % 5));
			break;
		case 1:
			evw_line(w, "C %s", "1+2*3");
			break;
		case 2:
			evw_flush(w);
			break;
		}
	}
}

static const uint32_t *
compare(struct evr *r, const struct ev *e, const uint32_t *at)
{
	const uint32_t *end = records + nrecords;

	for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p))
		for (uint64_t n = 0; n <= ev_more(p); n++) {
			const struct ev_def *d = ev_def(r, ev_id(*p));

			if (at >= end || d->id != (*at & 0xffffff) ||
			    ev_ngroups(*p) != *at >> 24)
				die("another record was read");
			ev_apply(d, p + 1);
			if (memcmp(at + 1, d->stays ? ev_told(d) :
			    d->block->value,
			    d->ngroups * sizeof(uint64_t)) != 0)
				die("other values were read");
			at += 1 + 2 * d->ngroups;
		}
	return at;
}

/* The definition that was read must be the one that was registered. */
static void
compare_def(const struct ev_def *d)
{
	unsigned i = 0;

	while (i < nids && ids[i].id != d->id)
		i++;
	if (i == nids || d->n != ids[i].n || d->ngroups != ids[i].ngroups)
		die("id %x has another definition", d->id);
}

/* ---- random references, as in kind cache ---- */

#define NSINGLE 500

static struct {
	uint32_t id;
	uint64_t value;
} singles[NSINGLE];

static void
random_singles(struct evw *w)
{
	uint32_t id = ids[nids - 1].id;

	for (unsigned i = 0; i < NSINGLE; i++) {
		struct evw_ref q = { .stays = true };
		unsigned b;

		do
			b = rnd() % nids;
		while (ids[b].n != blocks[ids[b].block].ninsn);
		q.n = 1 + rnd() % ids[b].n;
		id += 1 + rnd() % 50 * (rnd() % 50);
		singles[i].id = id;
		if (evw_ref(w, id, ids[b].id, q) < 0)
			die("reference %x is refused", id);
	}
}

/* So many of them; a few are alike, and a few have other records between. */
static void
random_lone(size_t n)
{
	while (n > 0) {
		unsigned i = rnd() % NSINGLE;
		size_t rounds = rnd() % 50 == 0 ? 1 + rnd() % 20 : 1;
		uint64_t step = rnd() % 30 == 0 ? random_step() :
		    (uint64_t)((int64_t)rnd() >> (36 + rnd() % 28));

		for (; rounds > 0 && n > 0; rounds--, n--) {
			records = xgrow(records, &caprecords, nrecords + 3,
			    sizeof *records);
			records[nrecords] = 1U << 24 | singles[i].id;
			singles[i].value += step;
			memcpy(records + nrecords + 1, &singles[i].value, 8);
			nrecords += 3;
		}
		if (n > 0 && rnd() % 200 == 0) {
			random_records(1);
			n--;
		}
	}
}

static int
random_stream(const char *file, size_t n, int way, bool lone)
{
	struct out *o = out_open(file);
	struct evw *w = evw_open(o);
	struct evr *r;
	struct ev e;
	const uint32_t *at;
	int c;

	if (way >= 0) {
		w->way = evwrec_way((unsigned)way);
		w->single = evwrec_single_way((unsigned)way);
		if (w->way == NULL)
			return 3;
	}
	evw_line(w, EVW_HEADER);
	random_ids(w);
	if (lone) {
		evw_line(w, "H kind cache 64 64 8");
		random_singles(w);
		random_lone(n);
	} else {
		random_records(n);
	}
	write_records(w);
	evw_end(w, "exit", 0);
	if (evw_executions(w) != n)
		die("%" PRIu64 " executions were written",
		    evw_executions(w));
	out_close(o);
	r = ev_open(in_open(file));
	at = records;
	while ((c = ev_next(r, &e)) > 0)
		if (c == EV_EXECS)
			at = compare(r, &e, at);
		else if (c == 'B' || c == 'P')
			compare_def(ev_def(r, e.id));
	if (at != records + nrecords)
		die("%zd words were not read", records + nrecords - at);
	return ev_close(r);
}

static int
write_stream(size_t n)
{
	struct out *o = out_open(NULL);
	struct evw *w = evw_open(o);

	evw_line(w, EVW_HEADER);
	random_ids(w);
	random_records(100000);
	for (size_t k = 0; k < n; k += 100000)
		if (evw_records(w, records, records + nrecords) !=
		    records + nrecords)
			die("records: %s", evw_error(w));
	evw_end(w, "exit", 0);
	out_close(o);
	return 0;
}

/* ---- what is refused ---- */

#define EXPECT(cond) do { if (!(cond)) die("not so: %s", #cond); } while (0)

static int
refusals(void)
{
	struct out *o = out_open("/dev/null");
	struct evw *w = evw_open(o);
	uint32_t rec[] = { 1 << 24 | 1, 5, 0, 7, 1 << 24 | 1, 6 };
	struct evw_ref q = { .n = 1, .k = 1, .ngroups = 1 };

	EXPECT(evw_block(w, 0, ">1 1", 0, 1) < 0);
	EXPECT(evw_block(w, 0x1000000, ">1 1", 0, 1) < 0);
	EXPECT(evw_block(w, 1, ">1 1r1.0", 256, 1) < 0);
	EXPECT(evw_block(w, 1, ">1 1r1.0 1", 1, 2) == 0);
	EXPECT(evw_block(w, 1, ">1 1r1.0 1", 1, 2) < 0);
	EXPECT(evw_prefix(w, 2, 9, 1, 1) < 0);
	EXPECT(evw_prefix(w, 2, 1, 0, 1) < 0);
	EXPECT(evw_prefix(w, 2, 1, 2, 1) < 0);
	EXPECT(evw_prefix(w, 2, 1, 1, 2) < 0);
	EXPECT(evw_prefix(w, 2, 1, 1, 1) == 0);
	EXPECT(evw_prefix(w, 3, 2, 1, 1) < 0);
	EXPECT(evw_ref(w, 4, 1, q) == 0);
	q.group[0] = 1;
	EXPECT(evw_ref(w, 5, 1, q) < 0);
	EXPECT(evw_count(w, 9, 1) < 0);
	EXPECT(evw_total(w, 9, 1) < 0);
	/* an undefined id; then a record that is cut */
	EXPECT(evw_records(w, rec, rec + 6) == rec + 3);
	EXPECT(strstr(evw_error(w), "undefined id 7") != NULL);
	EXPECT(evw_records(w, rec + 4, rec + 6) == rec + 4);
	EXPECT(strstr(evw_error(w), "is cut") != NULL);
	rec[4] = 2 << 24 | 1;
	EXPECT(evw_records(w, rec + 4, rec + 6) == rec + 4);
	EXPECT(strstr(evw_error(w), "2 values instead of 1") != NULL);
	EXPECT(evw_executions(w) == 1);
	out_close(o);
	return 0;
}

/* ---- the ways of the scanner ---- */

static void
compare_ways(const char *text, size_t n)
{
	static struct evscan one, other;
	size_t taken = evscan_plain(&one, text, n), end;

	for (unsigned w = 1; w < EVSCAN_WAYS; w++) {
		evscan_fn *scan = evscan_way(w);

		if (scan == NULL)
			continue;
		end = scan(&other, text, n);
		if (one.malformed != other.malformed)
			die("way %u: %s malformed", w,
			    one.malformed ? "not" : "is");
		if (one.malformed)
			continue;
		if (end != taken)
			die("way %u: another end", w);
		if (one.nword != other.nword || one.npiece != other.npiece ||
		    memcmp(one.word, other.word,
		    one.nword * sizeof *one.word) != 0 ||
		    memcmp(one.piece, other.piece,
		    (one.npiece + 1) * sizeof *one.piece) != 0)
			die("way %u: other words", w);
	}
}

/* Each line begins some text, of any length; then with bytes changed. */
static int
ways(const char *name)
{
	static char buf[EVSCAN_BEFORE + EVSCAN_TEXT + EVSCAN_BEHIND];
	static const char bytes[] = "0123456789abcdef+-.*\n\n*.Ag /";
	struct in *in = in_open(name);
	char *text = NULL, *copy = buf + EVSCAN_BEFORE;
	size_t cap = 0, size = 0, len, n;
	ssize_t got;

	do {
		text = xgrow(text, &cap, size + 65536, 1);
		got = in_read(in, text + size, 65536);
		size += (size_t)got;
	} while (got > 0);
	memset(buf, '\n', sizeof buf);
	for (size_t at = 0; at < size; at += len) {
		const char *nl = memchr(text + at, '\n', size - at);

		len = (size_t)(nl + 1 - (text + at));
		n = 1 + rnd() % (rnd() % 4 == 0 ? EVSCAN_TEXT : 300);
		if (n > size - at)
			n = size - at;
		memcpy(copy, text + at, n);
		while (n > 0 && copy[n - 1] != '\n')
			n--;
		compare_ways(copy, n);
		for (unsigned k = rnd() % 3; n > 1 && k > 0; k--)
			copy[rnd() % (n - 1)] =
			    bytes[rnd() % (sizeof bytes - 1)];
		compare_ways(copy, n);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *arg = argv[argc - 1];

	prog_init(argv[0]);
	if (strcmp(what, "read") == 0)
		return read_counts(argc > 2 ? arg : NULL);
	if (strcmp(what, "copy") == 0)
		return copy(argc > 2 ? arg : NULL);
	if (argc == 5 && (strcmp(what, "random") == 0 ||
	    strcmp(what, "plain") == 0 || strcmp(what, "four") == 0 ||
	    strcmp(what, "lone") == 0 || strcmp(what, "plain-lone") == 0)) {
		seed = num_arg("seed", argv[2], 1, UINT64_MAX);
		return random_stream(argv[4],
		    num_arg("records", argv[3], 1, 100000000),
		    *what == 'p' ? 0 : *what == 'f' ? 1 : -1,
		    strstr(what, "lone") != NULL);
	}
	if (strcmp(what, "write") == 0 && argc == 3) {
		seed = 42;
		return write_stream(num_arg("records", arg, 1, 1000000000));
	}
	if (strcmp(what, "bad") == 0)
		return refusals();
	if (strcmp(what, "many") == 0)
		return many();
	if (strcmp(what, "ways") == 0 && argc == 3) {
		seed = 4711;
		return ways(arg);
	}
	die("usage: ev read|copy [file] | random|plain|four|lone|plain-lone "
	    "seed n file | write n | "
	    "bad | ways file");
}
