/*
 * load - read the profiles into one table
 */
#include "annotate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mem.h"
#include "prog.h"
#include "shown.h"

static struct cost_derived events;
static struct cost_head first;		/* all parts must have its events */

const char *
str(uint32_t name)
{
	return costnames_get(prof.nm, name);
}

const char *
show(uint32_t name)
{
	return shown(str(name));
}

const int64_t *
with_derived(const int64_t *n)
{
	return costderived_counts(&events, n);
}

static void
add_event(size_t ev)
{
	const struct cost_event *e = &events.ev[ev];

	prof.ev[ev] = shown(e->name);
	prof.what[ev] = ev < prof.nrec || e->longname ? e->longname :
	    e->formula;
	prof.nev = ev + 1;
}

static void
add_events(const struct cost_head *h)
{
	size_t i;

	costderived_add(&events, h);
	prof.nrec = events.nrec;
	for (i = 0; i < events.nev; i++)
		add_event(i);
}

/* For the page: sums of misses that the profile lacks. */
static void
add_sums(void)
{
	size_t ev, i, n, parts[COST_EVMAX], len;
	char name[32], what[512];
	int64_t *factor;

	for (ev = 0; ev < prof.nrec; ev++) {
		if (!rates_sum(ev, name, sizeof name, parts, &n))
			continue;
		factor = costderived_event(&events,
		    &(struct cost_event){ .name = xstrdup(name) });
		if (!factor)
			return;
		for (len = i = 0; i < n && len < sizeof what; i++) {
			factor[parts[i]] = 1;
			len += snprintf(what + len, sizeof what - len, "%s%s",
			    i ? " + " : "", prof.ev[parts[i]]);
		}
		events.ev[prof.nev].longname = xstrdup(what);
		add_event(prof.nev);
	}
}

/* Parse "A,B:5": events in order; limit: the number after a colon, or -1. */
static size_t
parse_events(const char *what, const char *s, size_t *ev, double *limit)
{
	size_t n = 0, len;
	char *end;
	int at;

	while (*s) {
		len = strcspn(s, limit ? ",:" : ",");
		at = costderived_find(&events, s, len);
		if (at < 0)
			die("%s: event %.*s is not in the profile", what,
			    (int)len, s);
		if (n == COST_EVMAX)
			die("%s: too many events", what);
		ev[n] = at;
		s += len;
		if (limit)
			limit[n] = -1;
		if (limit && *s == ':') {
			limit[n] = strtod(s + 1, &end);
			if (end == s + 1 || !(limit[n] >= 0 && limit[n] <= 100))
				die("%s: bad threshold '%s'", what, s + 1);
			s = *end == '%' ? end + 1 : end;
		}
		n++;
		if (*s && (*s++ != ',' || !*s))
			die("%s: bad list", what);
	}
	if (!n)
		die("%s: no event is named", what);
	return n;
}

static bool
is_in(size_t ev, const size_t *v, size_t n)
{
	while (n > 0)
		if (v[--n] == ev)
			return true;
	return false;
}

/* events shown at first where none is a miss: without, with inclusive costs */
enum { COLUMNS = 4, COLUMNS_CALLS = 2 };

/*
 * For the page: the first event and the misses, which the rest follows.  A
 * function or a line is there if it reaches the threshold of the first or of
 * the second of them.  In a difference only the first event decides.
 */
static void
choose_main(void)
{
	size_t miss[COST_EVMAX], n = rates_main(miss), i, k;

	prof.main[prof.nmain++] = 0;
	for (i = 0; i < n; i++)
		if (miss[i])
			prof.main[prof.nmain++] = miss[i];
	for (i = 1; !n && i < prof.nev && prof.nmain <
	    (prof.calls ? COLUMNS_CALLS : COLUMNS); i++)
		prof.main[prof.nmain++] = i;
	if (prof.nmain > (prof.calls ? COLUMNS_CALLS : COLUMNS))
		prof.nmain = prof.calls ? COLUMNS_CALLS : COLUMNS;
	memcpy(prof.show, prof.main, prof.nmain * sizeof *prof.show);
	for (k = prof.nmain, i = 0; i < prof.nev; i++)
		if (!is_in(i, prof.main, prof.nmain))
			prof.show[k++] = i;
	if (!n || prof.is_diff)
		return;
	prof.sort[0] = prof.main[prof.nmain > 1];
	for (k = 1, i = 0; i < prof.nev; i++)
		if (i != prof.sort[0])
			prof.sort[k++] = i;
	prof.nsort = k;
}

/* Events that were asked for are the main ones. */
static void
choose_given(void)
{
	size_t i;

	if (opt.show) {
		prof.nmain = prof.nshow;
		memcpy(prof.main, prof.show, prof.nshow * sizeof *prof.main);
	} else if (opt.sort) {
		prof.nmain = 1;
		for (i = 0; i < prof.nsort; i++)
			if (!is_in(prof.sort[i], prof.main, prof.nmain))
				prof.main[prof.nmain++] = prof.sort[i];
	}
}

static void
choose_events(void)
{
	size_t i;
	bool any = false;

	for (i = 0; i < prof.nev; i++) {
		prof.show[i] = prof.sort[i] = i;
		prof.limit[i] = -1;
	}
	prof.nshow = prof.nev;
	prof.nsort = prof.nrec;
	if (opt.html)
		choose_main();
	if (opt.show)
		prof.nshow = parse_events("--show", opt.show, prof.show, NULL);
	if (opt.sort)
		prof.nsort = parse_events("--sort", opt.sort, prof.sort,
		    prof.limit);
	if (opt.html)
		choose_given();
	for (i = 0; i < prof.nsort; i++)
		any |= prof.limit[i] >= 0;
	if (!any)
		prof.limit[0] = opt.has_threshold ? opt.threshold :
		    choosing() ? 0 : opt.old && prof.callgrind ? 99 : 0.1;
	if (!any && opt.html && !opt.sort && prof.sort[0])
		prof.limit[1] = prof.limit[0];
}

static const char *
joined(const struct cost_head *h)
{
	size_t len = 1, i;
	char *s, *p;

	for (i = 0; i < h->ndesc; i++)
		len += strlen(shown(h->desc[i])) + 1;
	p = s = xmalloc(len);
	*p = '\0';
	for (i = 0; i < h->ndesc; i++)
		p = stpcpy(stpcpy(p, shown(h->desc[i])), "\n");
	return s;
}

/* The descriptions of a file with those that came behind its header. */
static const char *
with_late(struct costr *r, const char *desc)
{
	struct cost_head h = { .ndesc = 0 };
	const char *late;
	char *s;

	costr_late(r, &h);
	late = joined(&h);
	s = xmalloc(strlen(desc) + strlen(late) + 1);
	stpcpy(stpcpy(s, desc), late);
	return s;
}

static void
begin_part(struct costr *r, struct input *in, size_t *map)
{
	if (!prof.t) {
		first = r->head;
		add_events(&r->head);
		if (opt.html)
			add_sums();
		prof.t = costsum_new(prof.nm, COST_LINE, prof.nrec);
	}
	if (costhead_map(&first, &r->head, map) < 0)
		costr_die(r, "the events are not those of %s",
		    prof.input[0].name);
	prof.addresses |= (r->head.positions & COST_INSTR) != 0;
	if (opt.assembly || opt.html)
		costsum_positions(prof.t, r->head.positions);
	prof.is_diff |= r->head.is_diff;
	prof.callgrind |= r->head.format == COST_CALLGRIND;
	if (in->desc)
		return;
	in->cmd = r->head.cmd;
	in->creator = r->head.creator;
	in->pid = r->head.pid;
	in->part = r->head.part;
	in->thread = r->head.thread;
	in->desc = joined(&r->head);
}

static int64_t
mtime(const char *name)
{
	struct stat st;

	if (!strcmp(name, "-") || stat(name, &st) < 0 || !S_ISREG(st.st_mode))
		return INT64_MAX;
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

bool
has_function(const struct cost *c)
{
	const char *name = str(costfn_get(prof.nm, c->fn).fn);

	return *name != '\0' && strcmp(name, "???");
}

static bool
read_input(struct input *in)
{
	bool named = false, unnamed = false;
	unsigned positions = 0;
	struct costr *r = costr_open(in->name, prof.nm);
	size_t map[COST_EVMAX], i;
	int64_t n[COST_EVMAX];
	struct cost c;
	bool has;

	costr_partial(r);
	while (costr_next(r, &c)) {
		if (c.kind == COST_PART) {
			begin_part(r, in, map);
			positions |= r->head.positions;
			continue;
		}
		if (c.kind == COST_JUMP && !opt.assembly)
			continue;
		prof.calls |= c.kind == COST_CALL;
		if (!named)
			*(has_function(&c) ? &named : &unnamed) = true;
		for (i = 0; c.kind != COST_JUMP && i < prof.nrec; i++)
			n[map[i]] = c.n[i];
		c.n = n;
		costsum_put(prof.t, &c);
	}
	costr_sums(r, &first, r->summary, n);
	sums_add(prof.summary, n, prof.nrec);
	if (r->nlate > 0)
		in->desc = with_late(r, in->desc);
	has = r->has_summary;
	in->truncated = r->truncated;
	if (unnamed && !named && positions == COST_INSTR && !r->truncated)
		warn("%s: has addresses without functions: fmt-cachegrind "
		    "finds their names", r->name);
	prof.truncated |= r->truncated;
	costr_close(r);
	return has;
}

void
load(void)
{
	size_t i;
	bool has = true;

	prof.nm = costnames_new();
	prof.ninput = opt.nfile;
	prof.input = xcalloc(prof.ninput, sizeof *prof.input);
	for (i = 0; i < prof.ninput; i++) {
		prof.input[i].name = opt.file[i];
		prof.input[i].mtime = mtime(opt.file[i]);
		has &= read_input(&prof.input[i]);
	}
	costsum_sort(prof.t);
	memcpy(prof.total, with_derived(costsum_total(prof.t)),
	    prof.nev * sizeof prof.total[0]);
	memcpy(prof.whole, prof.total, sizeof prof.whole);
	choose_events();
	for (i = 0; i < prof.nrec; i++)
		if (!has || !opt.old)
			prof.summary[i] = prof.total[i];
	memmove(prof.summary, with_derived(prof.summary),
	    prof.nev * sizeof prof.total[0]);
}
