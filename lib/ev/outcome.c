/*
 * outcome - sum up O lines, events(5)
 */
#include "outcome.h"

#include <stdlib.h>
#include <string.h>

#include "ev.h"
#include "evout.h"
#include "khash.h"
#include "mem.h"
#include "sum.h"

KHASH_MAP_INIT_INT64(sums, uint64_t)

#define KNOWN_BITS	6

/* Few lists come again and again: keep what they say. */
struct known {
	char text[56];
	unsigned len;
	struct outcome_list list;
};

struct outcomes {
	char name[OUTCOME_MAX][32];
	unsigned n;
	int bc, bi;		/* columns of Bc and Bi, or -1 */
	khash_t(sums) *sum;	/* by instruction * OUTCOME_MAX + column */
	struct outcome_list *list[EV_LISTS];	/* outcome_numbered */
	struct known known[1 << KNOWN_BITS], odd;	/* outcome_text */
};

struct outcomes *
outcome_new(void)
{
	struct outcomes *o = xcalloc(1, sizeof *o);

	o->bc = o->bi = -1;
	o->sum = kh_init(sums);
	return o;
}

static int
find(const struct outcomes *o, const char *name)
{
	for (unsigned i = 0; i < o->n; i++)
		if (strcmp(o->name[i], name) == 0)
			return (int)i;
	return -1;
}

/* The column of an event, a new one if there is none; -1: too many. */
static int
column(struct outcomes *o, const char *name)
{
	int i = find(o, name);

	if (i >= 0)
		return i;
	if (o->n == OUTCOME_MAX)
		return -1;
	strcpy(o->name[o->n], name);
	return (int)o->n++;
}

int
outcome_head(struct outcomes *o, const char *value)
{
	char name[32];
	uint64_t n;
	int r, i = 0;

	while (i >= 0 && (r = ev_outcome(&value, name, &n)) > 0) {
		if (strcmp(name, "Bc") == 0 || strcmp(name, "Bcm") == 0)
			i = o->bc = column(o, "Bc");
		if (strcmp(name, "Bi") == 0 || strcmp(name, "Bim") == 0)
			i = o->bi = column(o, "Bi");
		if (i >= 0)
			i = column(o, name);
	}
	return i < 0 || r < 0 ? -1 : 0;
}

bool
outcome_has(const struct outcomes *o, const char *const *name, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (find(o, name[i]) >= 0)
			return true;
	return false;
}

unsigned
outcome_columns(const struct outcomes *o)
{
	return o->n;
}

const char *
outcome_name(const struct outcomes *o, unsigned i)
{
	return o->name[i];
}

/* Returns NULL, or what is wrong; then the list is empty. */
static const char *
read_list(const struct outcomes *o, struct outcome_list *l, const char *text)
{
	char name[32];
	uint64_t n;
	int r, i;

	l->n = 0;
	while ((r = ev_outcome(&text, name, &n)) > 0) {
		i = find(o, name);
		if (i >= 0 && l->n < OUTCOME_MAX && n <= INT64_MAX) {
			l->event[l->n].column = (unsigned)i;
			l->event[l->n++].n = n;
			continue;
		}
		l->n = 0;
		return i < 0 ? "O: an event that no `H outcomes' names" :
		    n > INT64_MAX ? "O: more than 2^63 events" :
		    "O: too many events";
	}
	if (r == 0)
		return NULL;
	l->n = 0;
	return "O: malformed events";
}

const struct outcome_list *
outcome_text(struct outcomes *o, const char *text, size_t len,
    const char **wrong)
{
	struct known *k = &o->odd;
	const char *bad;

	if (len < sizeof k->text) {
		k = &o->known[evout_hash(text, len, KNOWN_BITS)];
		if (k->len == len && k->list.n != 0 &&
		    memcmp(k->text, text, len) == 0)
			return &k->list;
		memcpy(k->text, text, len);
		k->len = (unsigned)len;
	}
	bad = read_list(o, &k->list, text);
	if (bad != NULL)
		*wrong = bad;
	return &k->list;
}

const struct outcome_list *
outcome_numbered(struct outcomes *o, const struct evr *r, unsigned number,
    const char **wrong)
{
	struct outcome_list *l = o->list[number];

	if (l != NULL)
		return l;
	l = xkeep(sizeof *l);
	*wrong = read_list(o, l, ev_list(r, number));
	return *wrong != NULL ? NULL : (o->list[number] = l);
}

void
outcome_put(struct outcomes *o, uint64_t insn, const struct outcome_list *l)
{
	khint_t k;
	int new;

	for (unsigned i = 0; i < l->n; i++) {
		k = kh_put(sums, o->sum, insn * OUTCOME_MAX +
		    l->event[i].column, &new);
		if (new != 0)
			kh_val(o->sum, k) = 0;
		sum_count(&kh_val(o->sum, k), l->event[i].n, INT64_MAX);
	}
}

void
outcome_add(const struct outcomes *o, uint64_t insn, int flow, uint64_t times,
    int64_t *n)
{
	if (flow == 'C' && o->bc >= 0)
		n[o->bc] += (int64_t)times;
	if ((flow == 'I' || flow == 'X') && o->bi >= 0)
		n[o->bi] += (int64_t)times;
	if (kh_size(o->sum) == 0)
		return;
	for (unsigned i = 0; i < o->n; i++) {
		khint_t k = kh_get(sums, o->sum, insn * OUTCOME_MAX + i);

		if (k != kh_end(o->sum))
			n[i] += (int64_t)kh_val(o->sum, k);
	}
}

void
outcome_zero(struct outcomes *o)
{
	kh_clear(sums, o->sum);
}
