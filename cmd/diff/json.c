/*
 * json - the difference as JSON
 */
#include "diff.h"

#include <jansson.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"

static json_t *
made(json_t *j)
{
	if (!j)
		die("out of memory");
	return j;
}

/* A name may be any bytes: if it is not UTF-8, read it as Latin-1. */
static json_t *
text(const char *s)
{
	json_t *j = json_string(s);
	size_t n = strlen(s), i, k = 0;
	char *u;

	if (j)
		return j;
	u = xmalloc(2 * n + 1);
	for (i = 0; i < n; i++) {
		unsigned char c = s[i];

		if (c >= 0x80)
			u[k++] = (char)(0xc0 | c >> 6);
		u[k++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	u[k] = '\0';
	return made(json_string(u));
}

static void
set(json_t *j, const char *key, json_t *value)
{
	if (json_object_set_new(j, key, value) < 0)
		die("out of memory");
}

/* The same with the name of an event, which may be any bytes, too. */
static void
set_event(json_t *j, size_t ev, json_t *value)
{
	json_t *name = text(diff.ev[ev]);

	set(j, json_string_value(name), value);
	json_decref(name);
}

static json_t *
counts(int64_t old, int64_t new)
{
	return made(json_pack("{s:I, s:I, s:I}", "old", (json_int_t)old, "new",
	    (json_int_t)new, "change", (json_int_t)minus(new, old)));
}

static json_t *
function(uint32_t fn)
{
	struct costfn f = costfn_get(diff.nm, fn);
	json_t *j = made(json_object());

	if (*str(f.ob))
		set(j, "object", text(str(f.ob)));
	set(j, "file", text(str(f.fl)));
	set(j, "name", text(str(f.fn)));
	return j;
}

static json_t *
row(enum diff_by by, const struct change_row *r)
{
	json_t *j = made(json_object()), *ev = made(json_object());
	size_t i;

	if (by == BY_LINE) {
		set(j, "file", text(str(r->file)));
		set(j, "line", made(json_integer(r->line)));
	} else {
		set(j, by == BY_CALL ? "caller" : "function", function(r->fn));
	}
	if (by == BY_CALL) {
		set(j, "callee", function(r->callee));
		set(j, "calls", counts(r->old[diff.nev], row_new(r)[diff.nev]));
	}
	for (i = 0; i < diff.nshow; i++)
		set_event(ev, diff.show[i], counts(r->old[diff.show[i]],
		    row_new(r)[diff.show[i]]));
	set(j, "events", ev);
	return j;
}

static json_t *
list(enum diff_by by)
{
	json_t *a = made(json_array());
	size_t ev, n, changed, i;
	struct change_row **v = rows(by, &n, &changed, &ev);

	for (i = 0; i < n; i++)
		if (json_array_append_new(a, row(by, v[i])) < 0)
			die("out of memory");
	return a;
}

static json_t *
side(const struct diff_side *s)
{
	json_t *j = made(json_object());

	set(j, "name", text(s->name));
	set(j, "command", text(s->cmd));
	return j;
}

static json_t *
exceeding(const struct event_limit *l)
{
	json_t *a = made(json_array()), *j;
	size_t i;

	for (i = 0; i < l->nover; i++) {
		j = counts(l->over[i].old, l->over[i].new);
		set(j, "function", function(l->over[i].fn));
		if (json_array_append_new(a, j) < 0)
			die("out of memory");
	}
	return a;
}

static json_t *
limits(void)
{
	json_t *a = made(json_array()), *j;
	const struct event_limit *l;

	for (l = diff.limit; l < diff.limit + diff.nlimit; l++) {
		j = made(json_object());
		set(j, "limit", text(l->text));
		set(j, "exceeded", made(json_boolean(l->beyond)));
		if (l->functions) {
			set(j, "found", made(json_boolean(l->in_new)));
			set(j, "functions", exceeding(l));
		}
		if (json_array_append_new(a, j) < 0)
			die("out of memory");
	}
	return a;
}

static int
put(const char *s, size_t n, void *arg)
{
	out_write(arg, s, n);
	return 0;
}

void
write_json(void)
{
	json_t *j = made(json_object()), *total = made(json_object());
	size_t i;

	set(j, "schema", text("quern/diff/1"));
	set(j, "old", side(&diff.old));
	set(j, "new", side(&diff.new));
	for (i = 0; i < diff.nshow; i++)
		set_event(total, diff.show[i],
		    counts(diff.old.total[diff.show[i]],
		    diff.new.total[diff.show[i]]));
	set(j, "differ", made(json_boolean(diff.differ)));
	set(j, "total", total);
	set(j, "limits", limits());
	if (diff.by & BY_FUNCTION)
		set(j, "functions", list(BY_FUNCTION));
	if (diff.by & BY_LINE)
		set(j, "lines", list(BY_LINE));
	if (diff.by & BY_CALL)
		set(j, "calls", list(BY_CALL));
	if (json_dump_callback(j, put, out,
	    JSON_COMPACT | JSON_PRESERVE_ORDER) < 0)
		die("JSON: out of memory");
	out_ch(out, '\n');
	json_decref(j);
}
