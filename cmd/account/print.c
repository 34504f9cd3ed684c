/*
 * print - write the table of functions as text, CSV or JSON
 */
#include "account.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"
#include "shown.h"

const char *const column_names[NCOLUMN] = {
	"funcid", "count", "min", "med", "90p", "99p", "max", "sum", "func"
};

static enum column key;
static bool rising;

static const char *
name(const struct fn_figures *r, char buf[16])
{
	if (r->fn->name)
		return r->fn->name;
	snprintf(buf, 16, "#%u", r->fn->id);
	return buf;
}

static unsigned __int128
value(const struct fn_figures *r, enum column c)
{
	switch (c) {
	case COUNT: return r->count;
	case MIN: return r->min;
	case MED: return r->median;
	case P90: return r->p90;
	case P99: return r->p99;
	case MAX: return r->max;
	case SUM: return r->sum;
	default: return r->fn->id;
	}
}

static int
by_key(const void *va, const void *vb)
{
	const struct fn_figures *a = va, *b = vb;
	unsigned __int128 x = value(a, key), y = value(b, key);
	char abuf[16], bbuf[16];
	int order = x < y ? -1 : x > y;

	if (key == FUNC)
		order = strcmp(name(a, abuf), name(b, bbuf));
	if (order != 0)
		return rising ? order : -order;
	return a->fn->id < b->fn->id ? -1 : a->fn->id > b->fn->id;
}

void
report_sort(struct fn_report *r, enum column c, bool ascending)
{
	key = c;
	rising = ascending;
	qsort(r->row, r->n, sizeof *r->row, by_key);
}

static char *
decimal(char buf[40], unsigned __int128 v)
{
	char *p = buf + 39;

	*p = '\0';
	do
		*--p = (char)('0' + (int)(v % 10));
	while ((v /= 10) != 0);
	return p;
}

/* Ticks as seconds with nanoseconds; hz 0: as they are. */
static char *
duration(char buf[64], unsigned __int128 ticks, uint64_t hz)
{
	const uint64_t nano = 1000000000;
	unsigned __int128 ns, whole;
	char digits[40];

	if (hz == 0) {
		strcpy(buf, decimal(digits, ticks));
		return buf;
	}
	whole = ticks / hz;
	ns = (ticks % hz * nano + hz / 2) / hz;
	if (ns == nano) {
		whole++;
		ns = 0;
	}
	snprintf(buf, 64, "%s.%09llu", decimal(digits, whole),
	    (unsigned long long)ns);
	return buf;
}

static const enum column times[] = { MIN, MED, P90, P99, MAX, SUM };
enum { NTIMES = sizeof times / sizeof *times };

/* A row's durations, each behind `sep' and so wide at least. */
static void
print_times(const struct fn_figures *f, uint64_t hz, const char *sep,
    int width, struct out *o)
{
	char buf[64];

	for (size_t c = 0; c < NTIMES; c++)
		out_printf(o, "%s%*s", sep, width,
		    duration(buf, value(f, times[c]), hz));
}

static void
print_text(const struct fn_report *r, struct out *o)
{
	char idname[16];
	size_t i, c;

	out_printf(o, "%zu functions, durations in %s\n", r->n,
	    r->hz ? "seconds" : "ticks");
	out_printf(o, "%10s %12s", "funcid", "count");
	for (c = 0; c < NTIMES; c++)
		out_printf(o, " %14s", column_names[times[c]]);
	out_str(o, "  function\n");
	for (i = 0; i < r->n; i++) {
		out_printf(o, "%10u %12llu", r->row[i].fn->id,
		    (unsigned long long)r->row[i].count);
		print_times(&r->row[i], r->hz, " ", 14, o);
		out_printf(o, "  %s\n", shown(name(&r->row[i], idname)));
	}
	if (r->no_entry == 0 && r->no_exit == 0 && r->open == 0)
		return;
	out_printf(o, "exits without their entries: %llu, entries without "
	    "their exits: %llu, not left at the end: %llu\n",
	    (unsigned long long)r->no_entry, (unsigned long long)r->no_exit,
	    (unsigned long long)r->open);
}

static void
print_csv(const struct fn_report *r, struct out *o)
{
	char idname[16];
	const char *s;
	size_t i;

	out_str(o, "funcid,count,min,median,90%ile,99%ile,max,sum,function\n");
	for (i = 0; i < r->n; i++) {
		out_printf(o, "%u,%llu", r->row[i].fn->id,
		    (unsigned long long)r->row[i].count);
		print_times(&r->row[i], r->hz, ",", 0, o);
		out_str(o, ",\"");
		for (s = shown(name(&r->row[i], idname)); *s; s++) {
			if (*s == '"')
				out_ch(o, '"');
			out_ch(o, *s);
		}
		out_str(o, "\"\n");
	}
}

/* jansson's integers end at 2^63; a larger number becomes a real one. */
static json_t *
number(unsigned __int128 v)
{
	return v > INT64_MAX ? json_real((double)v) :
	    json_integer((json_int_t)v);
}

static json_t *
text(const char *s)
{
	json_t *j = json_string(s);
	char *ascii, *p;

	if (j)
		return j;
	/* not UTF-8 */
	ascii = xstrdup(s);
	for (p = ascii; *p; p++)
		if (*p & 0x80)
			*p = '?';
	j = json_string(ascii);
	free(ascii);
	return j;
}

static void
print_json(const struct fn_report *r, struct out *o)
{
	static const char *const names[] = {
		"id", "count", "min", "median", "p90", "p99", "max", "sum"
	};
	json_t *top = json_object(), *all = json_array(), *f;
	char idname[16], *s;
	size_t i, c;

	json_object_set_new(top, "hz", number(r->hz));
	for (i = 0; i < r->n; i++) {
		f = json_object();
		json_object_set_new(f, "function",
		    text(name(&r->row[i], idname)));
		for (c = 0; c < sizeof names / sizeof *names; c++)
			json_object_set_new(f, names[c],
			    number(value(&r->row[i], (enum column)c)));
		json_array_append_new(all, f);
	}
	json_object_set_new(top, "functions", all);
	json_object_set_new(top, "exits_without_entries", number(r->no_entry));
	json_object_set_new(top, "entries_without_exits", number(r->no_exit));
	json_object_set_new(top, "not_left", number(r->open));
	s = json_dumps(top, JSON_INDENT(1));
	if (s == NULL)
		die("JSON: no memory");
	out_str(o, s);
	out_ch(o, '\n');
	free(s);
	json_decref(top);
}

void
report_print(const struct fn_report *r, enum report_format f, struct out *o)
{
	if (f == TEXT)
		print_text(r, o);
	else if (f == CSV)
		print_csv(r, o);
	else
		print_json(r, o);
}
