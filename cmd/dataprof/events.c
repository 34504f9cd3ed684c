/*
 * events - the events of O lines, and the columns that they become
 *
 * What an event says of its reference, whether that reads, writes or is a
 * fetch, follows from the event's name. Lists of O lines are parsed once: there
 * are few different ones.
 */

#include <stdlib.h>
#include <string.h>

#include "dataprof.h"
#include "khash.h"
#include "mem.h"
#include "sum.h"

#define EVENTS	(COLUMNS - 2)	/* of O lines, at most */

static const char *column[COLUMNS];
static enum side side[COLUMNS];
static char *event[EVENTS];
static unsigned column_of[EVENTS];	/* 1 + its column, or 0 */
static unsigned nevent;

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

void
events_add(const char *list)
{
	char *s = xstrdup(list), *word, *save = NULL;

	for (word = strtok_r(s, " ", &save); word != NULL;
	    word = strtok_r(NULL, " ", &save)) {
		if (nevent == EVENTS) {
			ev_bad(dp.events, "H outcomes: more than %d events",
			    EVENTS);
			return;
		}
		if (strlen(word) > 31) {	/* as O lines have them */
			ev_bad(dp.events, "H outcomes: an event's name has "
			    "more than 31 bytes");
			return;
		}
		event[nevent++] = word;
	}
}

bool
events_any(void)
{
	return nevent != 0;
}

/* Those of data come first: viewers sort by the first. */
void
events_columns(bool refs)
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

/* ---- lists ---- */

KHASH_MAP_INIT_STR(list, struct event_list *)
#define LISTS	4096		/* are kept */

static int
parse(struct event_list *l, const char *text)
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
		sum_add(&l->cost[side[c]][c], (int64_t)n);
		if (n > l->most[side[c]])
			l->most[side[c]] = n;
	}
	return r;
}

const struct event_list *
events_parse(const char *text)
{
	static khash_t(list) *lists;
	static struct event_list other;
	struct event_list *l = &other;
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
		kh_val(lists, k) = l;
	}
	return l;
}
