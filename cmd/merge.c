/*
 * merge - cost files -> their sum
 *
 *	events: Ir	events: Ir	events: Ir
 *	fl=a.c		fl=a.c		fl=a.c
 *	fn=main		fn=main		fn=main
 *	1 10		1 5		1 15
 *	2 7		3 2		2 7
 *					3 2
 *
 * The sum does not depend on the order of the files, nor on whether some were
 * merged before: the records come out in canonical order, and the header is
 * made of what all files say alike.
 *
 *	cmd:	the commands, if they differ their parts between "; ", sorted
 *	desc:	the lines that all have; if not all have the same, sorted
 *	event:	of two definitions the one that is first in byte order
 *	events:	as in the files; if they differ in order, Callgrind's order
 *
 * A difference (see diff) takes no part in the header if there is a file that
 * is none.  Records that add up to nothing are left out, so a difference added
 * to the one file gives the other.
 */
#include "cost.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "util.h"

/* The headers of the files that are differences, and of those that are not. */
struct heads {
	size_t n;
	struct cost_head h;	/* desc and derived are ours */
	bool same_desc;		/* all have had these, in this order */
	const char **cmd;
	size_t ncmd, cap;
};

static struct costnames *nm;
static struct costsum *table;
static struct heads plain, diffs;
static struct cost_head first;		/* its events are the table's columns */
static const char *first_name;
static bool same_order = true;		/* all files have the events in this order */
static bool all_cachegrind = true;
static int64_t total[COST_EVMAX];

/* The order of events that Callgrind and Cachegrind know. */
static const char *const known[] = {
	"Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "ILdmr",
	"DLdmr", "DLdmw", "Bc", "Bcm", "Bi", "Bim", "AcCost1", "SpLoss1",
	"AcCost2", "SpLoss2", "Ge", "allocCount", "allocSize", "sysCount",
	"sysTime", "sysCpuTime",
};

static size_t
place(const char *ev)
{
	size_t i, n = sizeof known / sizeof known[0];

	for (i = 0; i < n; i++)
		if (!strcmp(ev, known[i]))
			break;
	return i;
}

static int
by_place(const void *a, const void *b)
{
	const struct cost_event *x = a, *y = b;
	size_t i = place(x->name), j = place(y->name);

	return i != j ? (i < j ? -1 : 1) : strcmp(x->name, y->name);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void *
copy(const void *v, size_t n, size_t size)
{
	return n ? memcpy(xmalloc(n * size), v, n * size) : NULL;
}

/* Strings of one costnames are the same if their pointers are. */
static size_t
find(const char *const *v, size_t n, const char *s)
{
	size_t i;

	for (i = 0; i < n && v[i] != s; i++)
		continue;
	return i;
}

static void
add_cmd(struct heads *hs, const char *cmd)
{
	if (!cmd || find(hs->cmd, hs->ncmd, cmd) < hs->ncmd)
		return;
	hs->cmd = xgrow(hs->cmd, &hs->cap, hs->ncmd + 1, sizeof *hs->cmd);
	hs->cmd[hs->ncmd++] = cmd;
}

static void
common_desc(struct heads *hs, const struct cost_head *h)
{
	size_t i, k = 0;

	if (hs->h.ndesc != h->ndesc || (h->ndesc &&
	    memcmp(hs->h.desc, h->desc, h->ndesc * sizeof *h->desc)))
		hs->same_desc = false;
	for (i = 0; i < hs->h.ndesc; i++)
		if (find(h->desc, h->ndesc, hs->h.desc[i]) < h->ndesc)
			hs->h.desc[k++] = hs->h.desc[i];
	hs->h.ndesc = k;
}

/* The text that is first in byte order; one that is there before none. */
static const char *
lesser(const char *a, const char *b)
{
	if (!a || !b)
		return a ? a : b;
	return strcmp(a, b) < 0 ? a : b;
}

static void
add_derived(struct heads *hs, const struct cost_event *e)
{
	struct cost_event *d = hs->h.derived;
	size_t i;

	for (i = 0; i < hs->h.nderived; i++)
		if (d[i].name == e->name)
			break;
	if (i == hs->h.nderived) {
		hs->h.derived = d = xrealloc(d, (i + 1) * sizeof *d);
		hs->h.nderived++;
		d[i] = *e;
	}
	d[i].formula = lesser(d[i].formula, e->formula);
	d[i].longname = lesser(d[i].longname, e->longname);
}

static void
add_head(struct heads *hs, const struct cost_head *h)
{
	size_t i;
	int at;

	add_cmd(hs, h->cmd);
	if (!hs->n++) {
		hs->h.desc = copy(h->desc, h->ndesc, sizeof *h->desc);
		hs->h.ndesc = h->ndesc;
		hs->same_desc = true;
	} else {
		common_desc(hs, h);
	}
	for (i = 0; i < h->nderived; i++)
		add_derived(hs, &h->derived[i]);
	for (i = 0; i < h->nev; i++) {
		at = costhead_find(&first, h->ev[i].name);
		first.ev[at].longname = lesser(first.ev[at].longname,
		    h->ev[i].longname);
	}
}

/* A part begins: map is where its events are in the table; NULL: the same. */
static const size_t *
begin(struct costr *r, size_t *map)
{
	size_t i;

	if (!table) {
		first = r->head;
		first_name = xstrdup(r->name);
		table = costsum_new(nm, r->head.positions, r->head.nev);
	}
	if (costhead_map(&first, &r->head, map) < 0)
		costr_die(r, "the events are not those of %s", first_name);
	costsum_positions(table, r->head.positions);
	first.positions |= r->head.positions;
	all_cachegrind &= r->head.format == COST_CACHEGRIND;
	add_head(r->head.is_diff ? &diffs : &plain, &r->head);
	for (i = 0; i < r->head.nev && map[i] == i; i++)
		continue;
	if (i == r->head.nev)
		return NULL;
	same_order = false;
	return map;
}

static void
remap(int64_t *to, const int64_t *n, const size_t *map)
{
	size_t i;

	for (i = 0; i < first.nev; i++)
		to[map ? map[i] : i] = n[i];
}

static void
add_file(const char *name)
{
	struct costr *r = costr_open(name, nm);
	size_t store[COST_EVMAX], i;
	const size_t *map = NULL;
	int64_t n[COST_EVMAX];
	struct cost c;

	while (costr_next(r, &c)) {
		if (c.kind == COST_PART) {
			if (map && table)
				costr_die(r, "parts with events in another order");
			map = begin(r, store);
			continue;
		}
		if (map && c.kind != COST_JUMP) {
			remap(n, c.n, map);
			c.n = n;
		}
		costsum_put(table, &c);
	}
	remap(n, r->total, map);
	for (i = 0; i < first.nev; i++)
		if (__builtin_add_overflow(total[i], n[i], &total[i]))
			die("%s: the sum of %s is beyond 64 bits", r->name,
			    first.ev[i].name);
	costr_close(r);
}

static const char *
merged_cmd(struct heads *hs)
{
	const char **part = NULL, *s;
	size_t n = 0, cap = 0, i, len = 1;
	char *text;

	if (hs->ncmd < 2)
		return hs->ncmd ? hs->cmd[0] : NULL;
	for (i = 0; i < hs->ncmd; i++)
		for (s = hs->cmd[i]; s; s = strstr(s, "; "), s = s ? s + 2 : s) {
			const char *end = strstr(s, "; ");

			part = xgrow(part, &cap, n + 1, sizeof *part);
			part[n++] = costnames_get(nm, costnames_add(nm, s,
			    end ? (size_t)(end - s) : strlen(s)));
		}
	qsort(part, n, sizeof *part, by_text);
	for (i = 0; i < n; i++)
		len += strlen(part[i]) + 2;
	text = xcalloc(len, 1);
	for (len = i = 0; i < n; i++) {
		if (i && part[i] == part[i - 1])
			continue;
		if (len)
			len = stpcpy(text + len, "; ") - text;
		len = stpcpy(text + len, part[i]) - text;
	}
	return text;
}

static bool
is_nothing(const struct cost *c)
{
	size_t i;

	if (c->kind != COST_SELF && (c->count[0] || c->count[1]))
		return false;
	for (i = 0; c->kind != COST_JUMP && i < first.nev; i++)
		if (c->n[i])
			return false;
	return true;
}

static bool
has_negative(void)
{
	struct cost c;
	bool neg = false;
	size_t i;

	while (costsum_next(table, &c)) {
		neg |= c.count[0] < 0 || c.count[1] < 0;
		for (i = 0; c.kind != COST_JUMP && i < first.nev; i++)
			neg |= c.n[i] < 0;
	}
	return neg;
}

/* The header of the sum; to: where the table's columns go. */
static struct cost_head *
header(size_t *to)
{
	struct heads *hs = plain.n ? &plain : &diffs;
	struct cost_head *h = &hs->h;
	size_t i;

	h->format = all_cachegrind ? COST_CACHEGRIND : COST_CALLGRIND;
	h->positions = first.positions;
	h->nev = first.nev;
	memcpy(h->ev, first.ev, sizeof h->ev);
	if (!same_order)
		qsort(h->ev, h->nev, sizeof h->ev[0], by_place);
	for (i = 0; i < h->nev; i++)
		to[i] = costhead_find(h, first.ev[i].name);
	if (!hs->same_desc && h->ndesc)
		qsort(h->desc, h->ndesc, sizeof *h->desc, by_text);
	for (i = 0; i < h->ndesc; i++)
		h->is_diff |= !strncmp(h->desc[i], "Files compared:", 15);
	if (diffs.n && !h->is_diff && (!plain.n || has_negative()))
		costhead_desc(h, "Files compared: several");
	if (all_cachegrind && !h->ndesc)	/* cg_merge wants one */
		costhead_desc(h, "merged");
	h->cmd = merged_cmd(hs);
	return h;
}

static void
write_sum(const char *dest)
{
	size_t to[COST_EVMAX];
	int64_t n[COST_EVMAX];
	struct cost_head *h;
	struct out *o = out_open(dest);
	struct costw *w;
	struct cost c;

	costsum_sort(table);
	h = header(to);
	w = costw_begin(o, nm, h, h->positions & COST_INSTR ? COSTW_RELATIVE : 0);
	remap(n, total, to);
	costw_total(w, n);
	while (costsum_next(table, &c)) {
		if (is_nothing(&c))
			continue;
		if (!same_order && c.kind != COST_JUMP) {
			remap(n, c.n, to);
			c.n = n;
		}
		costw_put(w, &c);
	}
	costw_end(w);
	out_close(o);
}

int
main(int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	const char *dest = NULL;
	int c;

	prog_init(argv[0]);
	while ((c = getopt_long(argc, argv, "ho:", longopts, NULL)) != -1) {
		if (c == 'o')
			dest = optarg;
		else if (c == 'h')
			prog_help("usage: merge [-o file] [file ...]\n"
			    "Add up cost files, Cachegrind's and Callgrind's.\n");
		else if (c == 'V')
			prog_version();
		else
			prog_usage("[-o file] [file ...]");
	}
	nm = costnames_new();
	if (optind == argc)
		add_file("-");
	for (; optind < argc; optind++)
		add_file(argv[optind]);
	write_sum(dest);
	return 0;
}
