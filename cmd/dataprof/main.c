/*
 * dataprof - whose data the misses are on
 *
 *	trace --allocs -e cache --contexts ./prog | cachesim -t | dataprof |
 *	    fmt-callgrind >data.out
 *
 * A simulator's O line says what an instruction found. Which reference that
 * was, and where, follows from the execution before it: of the references of
 * the instruction, the first that reads or writes as the event's name says.
 * Costs of fetches are those of the function whose code it is.
 */
#include <htslib/khash.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codename.h"
#include "dataprof.h"
#include "func.h"
#include "in.h"
#include "objmap.h"
#include "out.h"
#include "simhead.h"
#include "util.h"

#define EVENTS	(COLUMNS - 2)	/* of O lines, at most */

static const char synopsis[] =
    "[-v] [-o file] [--by=object|type|page] [--depth=n] [--refs]\n"
    "                [--text] [--events=list] [--rows=n] [file]";

static const char help[] =
"Say which data the misses of a stream of events are on.\n"
"\n"
"      --by=WHAT        object, type or page                    [object]\n"
"      --depth=N        callers that name an allocation         [6]\n"
"      --refs           all references, too: Dr and Dw\n"
"      --text           a table instead of costs\n"
"      --events=LIST    columns of the table            [the main ones]\n"
"      --rows=N         of the table; 0: all                    [0]\n"
"  -o, --output=FILE    write to FILE\n"
"  -v, --verbose        what is allocated, on standard error\n"
"  -h, --help           this text\n"
"      --version        the version\n";

enum { OPT_BY = 256, OPT_DEPTH, OPT_REFS, OPT_TEXT, OPT_EVENTS, OPT_ROWS,
    OPT_VERSION };

static const struct option longopts[] = {
	{ "by", required_argument, NULL, OPT_BY },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "refs", no_argument, NULL, OPT_REFS },
	{ "text", no_argument, NULL, OPT_TEXT },
	{ "events", required_argument, NULL, OPT_EVENTS },
	{ "rows", required_argument, NULL, OPT_ROWS },
	{ "output", required_argument, NULL, 'o' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

static struct codenames *codes;	/* of code made at run time */
static bool refs;		/* count all references */
static const char *output;
static struct simhead stream;
static struct report how = { .head = &stream };

/* What an event says of its reference. */
enum side { SIDE_ANY, SIDE_READ, SIDE_WRITE, SIDE_FETCH, NSIDE, SIDE_NONE };
static const char *column[COLUMNS];
static enum side side[COLUMNS];
static char *event[EVENTS];	/* of O lines */
static unsigned column_of[EVENTS];	/* 1 + its column, or 0 */
static unsigned nevent;

/*
 * The list of an O line, parsed: for each side its costs, and the most of one
 * event. There are few different lists.
 */
struct list {
	bool kept;		/* its address is good for ever */
	unsigned nside;		/* so many are not 0 */
	bool any[NSIDE];
	uint64_t most[NSIDE];
	int64_t cost[NSIDE][COLUMNS];
};

/*
 * Kind cache: a reference alone, by id. What it found is not added to a row
 * each time, but when its row or its standing outcomes change.
 */
struct alone {
	uint64_t value;		/* of one that stays, see ev.h */
	uint64_t lo, hi, epoch;	/* where row is that of its addresses */
	uint64_t found;		/* this often since it was added */
	size_t row;
	const struct list *standing;	/* or NULL */
	struct list *own;	/* that, if it is not kept; or NULL */
	enum side side;		/* of its standing events */
	bool ready;
	bool frames;		/* its addresses show where the stack is */
};
static struct alone *alones;
static size_t nalone;
/* By label of O lines: the row that it stands for. */
static size_t *labels;
static size_t nlabels;
/* Kind all: by block, the groups' values; lib/walk has those of its own. */
static uint64_t **values;
static size_t nvalues;

/* ---- options ---- */

static void
set_by(const char *arg)
{
	static const char *const words[] = { "object", "type", "page" };

	dp.by = (enum by)word_arg("--by", arg, words, 3);
}

static void
option(int c)
{
	switch (c) {
	case OPT_BY:
		set_by(optarg);
		break;
	case OPT_DEPTH:
		dp.depth = (unsigned)num_arg("--depth", optarg, 1, 1000);
		break;
	case OPT_REFS:
		refs = true;
		break;
	case OPT_TEXT:
		how.table = true;
		break;
	case OPT_EVENTS:
		how.events = optarg;
		break;
	case OPT_ROWS:
		how.rows = num_arg("--rows", optarg, 0, UINT64_MAX);
		break;
	case 'o':
		output = optarg;
		break;
	case 'v':
		how.verbose = true;
		break;
	case 'h':
		prog_help(help);
	case OPT_VERSION:
		prog_version();
	default:
		prog_usage(synopsis);
	}
}

/* ---- columns ---- */

/* D1mr: a read; L2Dmw: a write; ILmr, L1Imr, T1Im, Iwk: a fetch. */
static enum side
side_of(const char *name)
{
	const char *s = name;
	size_t n = strlen(name);

	if (*s == 'B')
		return SIDE_NONE;	/* a branch's */
	if ((*s == 'L' || *s == 'T') && s[1] >= '0' && s[1] <= '9')
		for (s++; *s >= '0' && *s <= '9'; s++)
			;
	if (*s == 'I' && strcmp(s, "Inv") != 0)
		return SIDE_FETCH;
	if (n > 2 && strcmp(name + n - 2, "mr") == 0)
		return SIDE_READ;
	if (n > 2 && strcmp(name + n - 2, "mw") == 0)
		return SIDE_WRITE;
	return SIDE_ANY;
}

static void
add_column(const char *name, enum side s)
{
	column[dp.ncol] = name;
	side[dp.ncol++] = s;
}

/* H outcomes */
static void
add_events(const char *list)
{
	char *s = xstrdup(list), *word, *save = NULL;

	for (word = strtok_r(s, " ", &save); word != NULL;
	    word = strtok_r(NULL, " ", &save)) {
		if (nevent == EVENTS) {
			ev_bad(dp.events, "H outcomes: more than %d events",
			    EVENTS);
			return;
		}
		event[nevent++] = word;
	}
}

/* Those of data come first: viewers sort by the first. */
static void
make_columns(void)
{
	enum side s;

	if (refs) {
		add_column("Dr", SIDE_READ);
		add_column("Dw", SIDE_WRITE);
		dp.ndata = dp.ncol;
	}
	for (unsigned k = 0; k < 2 * nevent; k++) {
		s = side_of(event[k % nevent]);
		if (s == SIDE_NONE || (s == SIDE_FETCH) != (k >= nevent))
			continue;
		add_column(event[k % nevent], s);
		column_of[k % nevent] = dp.ncol;
		if (s != SIDE_FETCH)
			dp.ndata = dp.ncol;
	}
	dp.column = column;
}

/* ---- references ---- */

static size_t
code_row(const struct insn_cache *c)
{
	return tally_row(c->code - 1, object_code(DATA_CODE,
	    tally_code_at(c->code - 1)->fn));
}

static void
fetched(const struct insn_cache *c, const int64_t *cost)
{
	tally_add(code_row(c), cost, 1);
}

/* Where a block's groups are, in kind all. */
static uint64_t *
values_of(const struct ev_block *b)
{
	values = xgrow0(values, &nvalues, b->id + (size_t)1, sizeof *values);
	if (values[b->id] == NULL)
		values[b->id] = xcalloc(b->ngroups + 1U, sizeof **values);
	return values[b->id];
}

/* ---- executions ---- */

static void
batch_all(const struct ev *e)
{
	const struct ev_def *d;
	const uint64_t *rec;
	uint64_t *value, rounds;

	for (rec = e->rec; rec < e->end; rec = ev_skip(rec)) {
		d = ev_def(dp.events, ev_id(*rec));
		value = values_of(d->block);
		if (refs) {
			refs_rounds(d, value, rec);
			continue;
		}
		rounds = 1 + ev_more(rec);
		dp.time += d->n * rounds;
		for (unsigned i = 0; i < d->ngroups; i++)
			value[i] += rec[1 + i] * rounds;
	}
	if (!refs)
		stack_batch(e);
}

/* Each id that is defined has one. */
static void
alone_room(uint32_t id)
{
	alones = xgrow0(alones, &nalone, id + (size_t)1, sizeof *alones);
}

/* What was found at its row is added there. */
static void
settle(struct alone *a)
{
	const struct list *l = a->standing;
	int64_t cost[COLUMNS];

	if (a->found == 0)
		return;
	for (unsigned i = 0; i < dp.ncol; i++)
		cost[i] = l->cost[a->side][i] * (int64_t)a->found;
	tally_add(a->row, cost, l->most[a->side] * a->found);
	a->found = 0;
}

/* The reference that a Q line names; it is not that of the fetch. */
static const struct ev_ref *
alone_ref(const struct ev_def *d)
{
	const struct ev_block *b = d->block;

	return &b->ref[b->insn[d->n - 1].ref + d->k - 1];
}

/* Where a reference alone was. */
static uint64_t
alone_addr(const struct alone *a, const struct ev_def *d)
{
	struct ev_walk w;

	if (d->stays)
		return ev_told_addr(a->value);
	ev_walk(&w, d);
	return ev_step(&w) ? w.addr : 0;
}

/* A reference alone whose row is not known, or that cannot have one. */
__attribute__((noinline))
static void
look_up(struct alone *a, const struct ev_def *d)
{
	unsigned thread = ev_thread(dp.events);
	struct insn_cache *c = insn_cache(d->block, d->n - 1);
	const struct list *l = a->standing;
	uint64_t addr = alone_addr(a, d);

	if (a->frames)
		stack_saw(thread, addr);
	if (l == NULL)
		return;
	settle(a);
	for (unsigned s = 0; s < NSIDE; s++) {
		if (!l->any[s])
			continue;
		if (d->k == 0)
			fetched(c, l->cost[s]);
		else
			refer(c, alone_ref(d), addr, l->cost[s], l->most[s]);
		a->side = (enum side)s;
	}
	/* one side's events at one row: those that follow are counted */
	if (!d->stays || l->nside != 1 || a->frames ||
	    (d->k != 0 && c->row == TALLY_HOLD))
		return;
	a->lo = d->k == 0 ? 0 : c->lo;
	a->hi = d->k == 0 ? UINT64_MAX : c->hi;
	a->epoch = d->k == 0 ? epoch.now : c->epoch;
	a->row = d->k == 0 ? code_row(c) : c->row;
}

static void
alone_define(struct alone *a, const struct ev_def *d)
{
	char flow = (char)d->block->insn[d->n - 1].flow;

	a->ready = true;
	a->frames = !dp.frames && d->k != 0 &&
	    (flow == 'L' || flow == 'X' || flow == 'R');
}

static void
alone_rounds(struct alone *a, const struct ev_def *d, const uint64_t *rec)
{
	uint64_t rounds;

	if (!a->ready)
		alone_define(a, d);
	for (rounds = 1 + ev_more(rec); rounds > 0; rounds--) {
		if (d->stays)
			a->value += rec[1];
		else
			ev_apply(d, rec + 1);
		if (a->standing != NULL || a->frames)
			look_up(a, d);
	}
}

static void
batch_cache(const struct ev *e)
{
	const struct ev_def *d;
	const uint64_t *rec;
	struct alone *a;
	uint64_t addr;

	for (rec = e->rec; rec < e->end; rec = ev_skip(rec)) {
		a = &alones[ev_id(*rec)];
		addr = ev_told_addr(a->value + rec[1]);
		/* a reference that has lo and hi stays: it has one field */
		if (addr >= a->lo && addr < a->hi && !(*rec & EV_MORE) &&
		    epoch_holds(a->epoch, addr)) {
			a->value += rec[1];
			a->found++;
			continue;
		}
		d = ev_def(dp.events, ev_id(*rec));
		if (d->letter == 'Q')
			alone_rounds(a, d, rec);
	}
}

/* ---- outcomes ---- */

/* The reference of an instruction that an event is about, or NULL. */
static const struct ev_ref *
meant(const struct ev_block *b, uint32_t insn, const uint64_t *value,
    enum side s, uint64_t *addr)
{
	const struct ev_ref *r = &b->ref[b->insn[insn].ref], *any = NULL;
	const struct ev_ref *end = r + b->insn[insn].nref;
	uint64_t at;

	for (; r < end; r++) {
		if (!ref_address(value, r, &at))
			continue;
		if (s == SIDE_ANY || (s == SIDE_WRITE) == (r->kind == 'w')) {
			*addr = at;
			return r;
		}
		if (any == NULL) {
			any = r;
			*addr = at;
		}
	}
	return any;
}

KHASH_MAP_INIT_STR(list, struct list *)
#define LISTS	4096		/* are kept */

static int
parse(struct list *l, const char *text)
{
	char name[32];
	uint64_t n;
	unsigned i, c;
	int r;

	memset(l, 0, sizeof *l);
	while ((r = ev_outcome(&text, name, &n)) > 0) {
		for (i = 0; i < nevent && strcmp(event[i], name) != 0; i++)
			;
		if (i == nevent || n > INT64_MAX)
			return -1;
		if (column_of[i] == 0)
			continue;
		c = column_of[i] - 1;
		l->nside += !l->any[side[c]];
		l->any[side[c]] = true;
		l->cost[side[c]][c] += (int64_t)n;
		if (n > l->most[side[c]])
			l->most[side[c]] = n;
	}
	return r;
}

/* NULL: malformed. */
static const struct list *
parsed(const char *text)
{
	static khash_t(list) *lists;
	static struct list other;
	struct list *l = &other;
	khint_t k;
	int new;

	if (lists == NULL)
		lists = kh_init(list);
	k = kh_get(list, lists, text);
	if (k != kh_end(lists))
		return kh_val(lists, k);
	if (parse(&other, text) < 0)
		return NULL;
	if (kh_size(lists) < LISTS)
		*(l = xmalloc(sizeof *l)) = other;
	l->kept = l != &other;
	if (l->kept) {
		k = kh_put(list, lists, xstrdup(text), &new);
		if (new < 0)
			die("events:");
		kh_val(lists, k) = l;
	}
	return l;
}

/* Events of one side, of instruction insn of what was executed last. */
static void
add_side(const struct ev_def *d, uint32_t insn, const struct list *l,
    enum side s)
{
	struct insn_cache *cache = insn_cache(d->block, insn);
	const struct ev_ref *r = NULL;
	uint64_t addr = 0;

	if (d->letter == 'Q') {
		addr = alone_addr(&alones[ev_last_id(dp.events)], d);
		r = d->k == 0 ? NULL : alone_ref(d);
	} else if (s != SIDE_FETCH) {
		r = meant(d->block, insn, values_of(d->block), s, &addr);
	}
	if (r == NULL)
		fetched(cache, l->cost[s]);
	else
		refer(cache, r, addr, l->cost[s], l->most[s]);
}

/* O n=label: what the instruction refers to now is what is meant later. */
static void
set_label(const struct ev_def *d, uint32_t insn, uint64_t label)
{
	struct insn_cache *cache = insn_cache(d->block, insn);
	const struct ev_ref *r;
	struct data_place p;
	uint64_t addr;

	labels = xgrow0(labels, &nlabels, label + 1, sizeof *labels);
	r = meant(d->block, insn, values_of(d->block), SIDE_ANY, &addr);
	labels[label] = r == NULL ? code_row(cache) :
	    tally_find(ev_thread(dp.events), addr, r->size, cache->code - 1,
	    false, &p);
}

/* O =label: of whatever side the events are. */
static void
add_label(uint64_t label, const struct list *l)
{
	for (unsigned s = 0; s < NSIDE; s++)
		if (l->any[s])
			tally_add(labels[label], l->cost[s], l->most[s]);
}

/* O @id: the reference has these events from now on. */
static void
set_standing(struct alone *a, const struct list *l)
{
	settle(a);
	a->lo = a->hi = 0;
	free(a->own);
	a->own = NULL;
	if (!l->kept) {
		a->own = xmalloc(sizeof *a->own);
		*a->own = *l;
		l = a->own;
	}
	a->standing = l->nside == 0 ? NULL : l;
}

static void
outcome(const struct ev *e)
{
	const struct ev_def *d = ev_last(dp.events);
	const struct list *l = parsed(e->text);
	uint64_t label = e->num[1];

	if (l == NULL) {
		ev_bad(dp.events, "O: malformed, or an event that is in no "
		    "H outcomes line");
		return;
	}
	if (e->num[0] == 0 && label == 0)
		set_standing(&alones[e->id], l);
	else if (e->num[0] == 0)
		add_label(label, l);
	if (e->num[0] == 0)
		return;
	for (unsigned s = 0; s < NSIDE; s++)
		if (l->any[s])
			add_side(d, (uint32_t)e->num[0] - 1, l, s);
	if (label != 0)
		set_label(d, (uint32_t)e->num[0] - 1, label);
}

/* ---- lines ---- */

static void
head(const struct ev *e)
{
	simhead_line(&stream, e);
	if (strcmp(e->text, "allocs") == 0)
		dp.allocs = true;
	if (strcmp(e->text, "outcomes") == 0)
		add_events(e->value);
}

/* All H lines were read. */
static void
begin(void)
{
	unsigned kind = ev_kind(dp.events);

	dp.walks = kind == EV_ALL;
	dp.frames = kind == EV_ALL || (kind == EV_CACHE &&
	    ev_contexts(dp.events));
	dp.unit = kind == EV_ALL ? "instructions" : "allocations and frees";
	if (kind == EV_ALL && nevent == 0)
		refs = true;
	if (kind == EV_CACHE && nevent == 0)
		ev_bad(dp.events, "a stream of kind cache without outcomes "
		    "does not tell which references miss: needs cachesim -t "
		    "or memsim -t before this");
	else if (kind != EV_ALL && refs)
		ev_bad(dp.events, "--refs: only kind all tells all "
		    "references");
	else if (kind == EV_COUNTS && !dp.allocs)
		ev_bad(dp.events, "a stream of kind counts without "
		    "allocations tells nothing of data: needs trace --allocs");
	make_columns();
	stack_begin(refs ? refs_count : NULL);
}

static const struct func *
code_function(const struct codename *c)
{
	static const struct func **made;	/* by its number */
	static size_t cap;

	made = xgrow0(made, &cap, c->num + (size_t)1, sizeof *made);
	if (made[c->num] == NULL)
		made[c->num] = func_new(0, c->start, c->name);
	return made[c->num];
}

/* The instructions of a block that lie in a function's range are its code. */
static void
name_block(uint32_t block, uint32_t ninsn, const struct codename *c)
{
	const struct insn_cache *cache = insn_caches(block);
	uint32_t n;

	for (uint32_t i = 0; cache != NULL && i < ninsn; i++) {
		if (cache[i].code == 0)
			continue;
		n = cache[i].code - 1;
		if (tally_code_at(n)->addr - c->start < c->size)
			tally_code_named(n, code_function(c));
	}
}

/* G n = id ..., of code made at run time */
static void
code_names(const struct ev *e)
{
	const struct ev_block *b;

	codenames_take(codes, e);
	for (size_t i = 0; i < e->nids; i++) {
		b = ev_def(dp.events, e->ids[i])->block;
		name_block(b->id, b->ninsn, codename_get(codes, e->num[0]));
	}
}

/* U of all addresses: threads, their stacks and memory are gone. */
static void
exec_over(void)
{
	hold_end();
	heap_exec();
	images_exec();
	stack_exec();
	dp.image = dp.time;
}

static void	/* table */
line(int letter, const struct ev *e)
{
	unsigned thread = ev_thread(dp.events);
	struct heap_made made;

	switch (letter) {
	case 'B':
	case 'P':
	case 'Q':
	case 'Z':
		alone_room(e->id);
		break;
	case 'D':
		if (!dp.walks)
			dp.time = dp.image + e->num[0];
		if (heap_line(e, thread, &made))
			hold_settle(thread, &made);
		break;
	case 'G':
	case 'L':
		code_names(e);
		break;
	case 'E':
	case 'J':
		if (how.late == NULL)
			how.late = simhead_end(e);
		break;
	case 'O':
		outcome(e);
		break;
	case 'M':
	case 'U':
		if (objmap_line(dp.map, e->line, e->len) < 0) {
			ev_bad(dp.events, "%c: malformed", letter);
			break;
		}
		epoch.code++;
		images_line(e, (char)letter);
		if (letter == 'U' && e->num[0] == 0 &&
		    e->num[1] == UINT64_MAX)
			exec_over();
		break;
	}
	stack_line(e, (char)letter);
}

/* false: there is nothing to report. */
static bool
run(void)
{
	struct ev e;
	bool ready = false;
	int c;

	while ((c = ev_next(dp.events, &e)) > 0) {
		if (c == 'H') {
			head(&e);
			continue;
		}
		if (!ready)
			begin();
		if (!ready && ev_error(dp.events) != NULL)
			return false;
		ready = true;
		if (c != EV_EXECS) {
			line(c, &e);
			continue;
		}
		if (dp.walks)
			batch_all(&e);
		else if (ev_kind(dp.events) == EV_CACHE)
			batch_cache(&e);
	}
	for (size_t i = 0; i < nalone; i++)
		settle(&alones[i]);
	hold_end();
	tally_names_end();
	how.whole = c == 0;
	return ready;
}

int
main(int argc, char **argv)
{
	struct out *o;
	int c;

	prog_init(argv[0]);
	while ((c = getopt_long(argc, argv, "ho:v", longopts, NULL)) != -1)
		option(c);
	if (argc - optind > 1)
		prog_usage(synopsis);
	o = out_open(output);
	dp.events = ev_open(in_open(argv[optind]));
	dp.map = objmap_new();
	codes = codenames_new();
	func_map(dp.map);
	ev_standing(dp.events);
	ev_accept(dp.events, EV_ALL | EV_CACHE | EV_COUNTS,
	    "the addresses of references");
	if (run())
		report(o, &how);
	out_close(o);
	return ev_close(dp.events);
}
