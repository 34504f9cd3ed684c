/*
 * head - the header of the sum
 */
#include "merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

struct cost_head first;
bool same_order = true;
bool strict;

static const char *first_name;
static struct costset settings;
static bool all_cachegrind = true;

struct heads {			/* headers of several files, joined */
	size_t n;		/* files */
	struct cost_head h;	/* desc and derived are copies */
	bool same_desc;		/* all files have these lines in this order */
	const char **cmd;
	size_t ncmd, cap;
};

/* A description of some of the files, perhaps not of all. */
struct counted {
	const char *text;	/* NULL: unused */
	uint64_t files;
	unsigned latest;	/* the number of the latest one, from 1 */
};

static struct costnames *texts;
static struct counted *counted;	/* by its text's number in texts */
static size_t ncounted, capcounted;
static unsigned file;		/* the number of the file that is read */

static struct heads diffs;	/* files that are differences (see diff) */
static struct heads plain;	/* all others */

/* The order of Callgrind's and Cachegrind's own events. */
static const char *const known[] = {
	"Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw",
	"ILdmr", "DLdmr", "DLdmw", "Bc", "Bcm", "Bi", "Bim", "AcCost1",
	    "SpLoss1",
	"AcCost2", "SpLoss2", "Ge", "allocCount", "allocSize", "sysCount",
	"sysTime", "sysCpuTime",
};

static size_t
rank(const char *ev)
{
	size_t i, n = sizeof known / sizeof known[0];

	for (i = 0; i < n; i++)
		if (!strcmp(ev, known[i]))
			break;
	return i;
}

static int
by_rank(const void *a, const void *b)
{
	const struct cost_event *x = a, *y = b;
	size_t i = rank(x->name), j = rank(y->name);

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

/* Strings of one costnames are equal if their pointers are. */
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

/* The text that is first in byte order; NULL loses against any text. */
static const char *
lesser(const char *a, const char *b)
{
	if (!a || !b)
		return a ? a : b;
	return strcmp(a, b) < 0 ? a : b;
}

/* What remains of a line when h, another file's header, is joined; or NULL. */
static const char *
common(struct costnames *nm, const char *line, const struct cost_head *h)
{
	const char *value, *other;
	int is = costset_of(line, &value);
	size_t i;

	if (find(h->desc, h->ndesc, line) < h->ndesc)
		return line;
	for (i = 0; is >= 0 && i < h->ndesc; i++)
		if (costset_of(h->desc[i], &other) == is)
			return strcmp(value, other) ?
			    costset_desc(nm, is, COST_SEVERAL) :
			    lesser(line, h->desc[i]);
	return NULL;
}

/* ---- descriptions of some files ---- */

/* The files of a line "text (in 3 files)"; len: of the text. Else 0. */
static uint64_t
in_files(const char *line, size_t *len)
{
	const char *at = strrchr(line, '(');
	uint64_t n = 0;
	char *end;

	if (at == NULL || at == line || at[-1] != ' ' ||
	    strncmp(at, "(in ", 4) != 0 || (unsigned)(at[4] - '1') > 8)
		return 0;
	n = strtoull(at + 4, &end, 10);
	if (strcmp(end, n == 1 ? " file)" : " files)") != 0)
		return 0;
	*len = (size_t)(at - line) - 1;
	return n;
}

/* Some files, or this one, have this description. */
static void
count_desc(const char *text, size_t len, uint64_t files)
{
	struct counted *c;
	uint32_t id;

	if (texts == NULL)
		texts = costnames_new();
	id = costnames_add(texts, text, len);
	counted = xgrow0(counted, &capcounted, id + 1UL, sizeof *counted);
	if (id >= ncounted)
		ncounted = id + 1UL;
	c = &counted[id];
	c->text = costnames_get(texts, id);
	if (c->latest == file)
		return;		/* of another part */
	c->latest = file;
	c->files = c->files > UINT64_MAX - files ? UINT64_MAX :
	    c->files + files;
}

/* Count a line of a header if it is such a description. */
static bool
counts(const char *line)
{
	size_t len = strlen(line);
	uint64_t n = in_files(line, &len);

	if (n == 0 && strncmp(line, "Interrupted:", 12) != 0)
		return false;
	count_desc(line, len, n == 0 ? 1 : n);
	return true;
}

void
head_file(void)
{
	file++;
}

void
head_late(const struct costr *r)
{
	for (size_t i = 0; i < r->nlate; i++)
		if (strncmp(r->late[i], "Trigger:", 8) != 0)
			count_desc(r->late[i], strlen(r->late[i]), 1);
}

static int
by_counted(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	if (x->text == NULL || y->text == NULL)
		return (x->text == NULL) - (y->text == NULL);
	return strcmp(x->text, y->text);
}

static void
put_counted(struct cost_head *h)
{
	if (ncounted > 0)
		qsort(counted, ncounted, sizeof *counted, by_counted);
	for (size_t i = 0; i < ncounted && counted[i].text != NULL; i++) {
		const struct counted *c = &counted[i];
		char *line = xmalloc(strlen(c->text) + 40);

		sprintf(line, "%s (in %" PRIu64 " file%s)", c->text, c->files,
		    c->files == 1 ? "" : "s");
		costhead_desc(h, line);
	}
}

/* ---- all headers ---- */

static void
common_desc(struct costnames *nm, struct heads *hs, const struct cost_head *h)
{
	const char *line;
	size_t i, k = 0;

	if (hs->h.ndesc != h->ndesc || (h->ndesc &&
	    memcmp(hs->h.desc, h->desc, h->ndesc * sizeof *h->desc)))
		hs->same_desc = false;
	for (i = 0; i < hs->h.ndesc; i++) {
		line = common(nm, hs->h.desc[i], h);
		if (line)
			hs->h.desc[k++] = line;
	}
	hs->h.ndesc = k;
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
add_head(struct costnames *nm, struct heads *hs, const struct cost_head *h)
{
	size_t i;
	int at;

	add_cmd(hs, h->cmd);
	if (!hs->n++) {
		hs->h.desc = copy(h->desc, h->ndesc, sizeof *h->desc);
		hs->h.ndesc = h->ndesc;
		hs->same_desc = true;
	} else {
		common_desc(nm, hs, h);
	}
	for (i = 0; i < h->nderived; i++)
		add_derived(hs, &h->derived[i]);
	for (i = 0; i < h->nev; i++) {
		at = costhead_find(&first, h->ev[i].name);
		first.ev[at].longname = lesser(first.ev[at].longname,
		    h->ev[i].longname);
	}
}

const size_t *
head_add(struct costr *r, size_t *map)
{
	struct cost_head h;
	size_t i;

	if (!first_name) {
		first = r->head;
		first_name = xstrdup(r->name);
	}
	if (costhead_map(&first, &r->head, map) < 0)
		costr_die(r, "the events are not those of %s", first_name);
	first.positions |= r->head.positions;
	all_cachegrind &= r->head.format == COST_CACHEGRIND;
	costset_add(&settings, r, strict);
	h = r->head;
	h.desc = copy(r->head.desc, r->head.ndesc, sizeof *h.desc);
	for (i = h.ndesc = 0; i < r->head.ndesc; i++)
		if (!counts(r->head.desc[i]))
			h.desc[h.ndesc++] = r->head.desc[i];
	add_head(r->nm, r->head.is_diff ? &diffs : &plain, &h);
	free(h.desc);
	for (i = 0; i < r->head.nev && map[i] == i; i++)
		continue;
	if (i == r->head.nev)
		return NULL;
	same_order = false;
	return map;
}

bool
head_has_diff(void)
{
	return diffs.n > 0;
}

void
remap(int64_t *to, const int64_t *n, const size_t *map)
{
	size_t i;

	for (i = 0; i < first.nev; i++)
		to[map ? map[i] : i] = n[i];
}

static const char *
merged_cmd(struct costnames *nm, struct heads *hs)
{
	const char **part = NULL, *s;
	size_t n = 0, cap = 0, i, len = 1;
	char *text;

	if (hs->ncmd < 2)
		return hs->ncmd ? hs->cmd[0] : NULL;
	for (i = 0; i < hs->ncmd; i++)
		for (s = hs->cmd[i]; s; s = strstr(s, "; "),
		    s = s ? s + 2 : s) {
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

struct cost_head *
head_make(struct costnames *nm, size_t *to, bool negative)
{
	struct heads *hs = plain.n ? &plain : &diffs;
	struct cost_head *h = &hs->h;
	size_t i;

	h->format = all_cachegrind ? COST_CACHEGRIND : COST_CALLGRIND;
	h->positions = first.positions;
	h->nev = first.nev;
	memcpy(h->ev, first.ev, sizeof h->ev);
	if (!same_order)
		qsort(h->ev, h->nev, sizeof h->ev[0], by_rank);
	for (i = 0; i < h->nev; i++)
		to[i] = costhead_find(h, first.ev[i].name);
	if (!hs->same_desc && h->ndesc)
		qsort(h->desc, h->ndesc, sizeof *h->desc, by_text);
	for (i = 0; i < h->ndesc; i++)
		h->is_diff |= !strncmp(h->desc[i], "Files compared:", 15);
	if (diffs.n && !h->is_diff && (!plain.n || negative))
		costhead_desc(h, "Files compared: several");
	put_counted(h);
	if (all_cachegrind && !h->ndesc)	/* cg_merge wants one */
		costhead_desc(h, "merged");
	h->cmd = merged_cmd(nm, hs);
	return h;
}

