/*
 * frames - read collapsed stacks into a tree of frames
 */
#include "flame.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "in.h"
#include "khash.h"
#include "mem.h"
#include "num.h"
#include "prog.h"

KHASH_MAP_INIT_STR(name, uint32_t)
KHASH_MAP_INIT_INT64(child, uint32_t)

struct flame *frame;
size_t nframe;
bool compared;

/* What lines tell: one run, or two, with two counts; with --diff one of two. */
static enum { ONE_RUN, OLD_RUN, NEW_RUN } run;

static size_t capframe;
static khash_t(name) *names;
static khash_t(child) *children;
static const char **name;
static size_t nname, capname;

/* ---- the tree ---- */

static uint32_t
name_id(const char *s)
{
	khint_t k = kh_get(name, names, s);
	int new;

	if (k != kh_end(names))
		return kh_val(names, k);
	name = xgrow(name, &capname, nname + 1, sizeof *name);
	name[nname] = xstrdup(s);
	k = kh_put(name, names, name[nname], &new);
	return kh_val(names, k) = (uint32_t)nname++;
}

static uint32_t
on_top(uint32_t up, const char *s)
{
	uint32_t id = name_id(s);
	int new;
	khint_t k = kh_put(child, children, (uint64_t)up << 32 | id, &new);

	if (new == 0)
		return kh_val(children, k);
	frame = xgrow(frame, &capframe, nframe + 1, sizeof *frame);
	frame[nframe] = (struct flame){ .name = name[id], .up = up,
	    .first = NONE, .next = frame[up].first,
	    .depth = frame[up].depth + 1 };
	frame[up].first = (uint32_t)nframe;
	return kh_val(children, k) = (uint32_t)nframe++;
}

static void
add(uint64_t *to, uint64_t n, const struct in *in)
{
	if (__builtin_add_overflow(*to, n, to))
		die("%s:%" PRIu64 ": the sum is beyond 64 bits", in_name(in),
		    in_lineno(in));
}

/* ---- lines ---- */

/* Cut the number off the end of a line; false: there is none. */
static bool
cut_number(char *line, uint64_t *n)
{
	char *end = line + strlen(line), *p;

	while (end > line && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	for (p = end; p > line && isdigit((unsigned char)p[-1]); p--)
		continue;
	if (p == end || p == line || p[-1] != ' ')
		return false;
	*end = '\0';
	if (num_parse(p, COUNTS, n) < 0)
		return false;
	while (p > line && p[-1] == ' ')
		p--;
	*p = '\0';
	return true;
}

/* Cut the counts off a line. */
static void
cut_counts(char *line, const struct in *in, uint64_t *n, uint64_t *old)
{
	*old = 0;
	if (!cut_number(line, n))
		die("%s:%" PRIu64 ": no count at the end of the line",
		    in_name(in), in_lineno(in));
	if (cut_number(line, old)) {
		if (run != ONE_RUN)
			die("%s:%" PRIu64 ": two counts; --diff takes files "
			    "with one", in_name(in), in_lineno(in));
		compared = true;
	}
	if (run == OLD_RUN) {
		*old = *n;
		*n = 0;
	}
	if (*line == '\0')
		die("%s:%" PRIu64 ": no stack before the count", in_name(in),
		    in_lineno(in));
}

static void
stack_line(char *line, const struct in *in)
{
	uint64_t n, old;
	uint32_t f = 0;
	char *s = line, *end;
	bool more = true;

	cut_counts(line, in, &n, &old);
	/* a function's name may be empty, but a stack may not */
	for (; more; s = end + 1) {
		end = strchrnul(s, ';');
		add(&frame[f].n, n, in);
		add(&frame[f].old, old, in);
		more = *end != '\0';
		*end = '\0';
		f = on_top(f, *s == '\0' ? "?" : s);
	}
	add(&frame[f].n, n, in);
	add(&frame[f].old, old, in);
}

/* Is there no stack?  A function that a log numbers is called #3. */
static bool
is_comment(const char *line)
{
	return line[strspn(line, " \r")] == '\0' ||
	    (line[0] == '#' && (line[1] < '0' || line[1] > '9'));
}

/* What pipelines lead to us by mistake, by its first line. */
static void
check_first(const char *line, const struct in *in)
{
	static const char events[] = "H quern-events ";
	static const char costs[] = "# callgrind format";

	if (strncmp(line, events, sizeof events - 1) == 0)
		die("%s:1: events, not stacks: needs callgraph --contexts and "
		    "fmt-folded before this", in_name(in));
	if (strncmp(line, costs, sizeof costs - 1) == 0)
		die("%s:1: costs, not stacks: needs fmt-folded before this",
		    in_name(in));
}

static void
read_stacks(const char *file)
{
	struct in *in = in_open(file);
	char *line;
	size_t len;
	bool any = false;

	while ((line = in_line(in, &len)) != NULL) {
		if (strlen(line) != len)
			die("%s:%" PRIu64 ": a zero byte", in_name(in),
			    in_lineno(in));
		if (in_lineno(in) == 1)
			check_first(line, in);
		if (is_comment(line))
			continue;
		stack_line(line, in);
		any = true;
	}
	if (!any)
		die("%s: no stacks", in_name(in));
	in_close(in);
}

/* ---- order ---- */

static int
by_name(const void *a, const void *b)
{
	return strcmp(frame[*(const uint32_t *)a].name,
	    frame[*(const uint32_t *)b].name);
}

/* Sort a list of callees by name. */
static void
sort(uint32_t *first)
{
	static uint32_t *v;
	static size_t cap;
	size_t n = 0;

	for (uint32_t f = *first; f != NONE; f = frame[f].next) {
		v = xgrow(v, &cap, n + 1, sizeof *v);
		v[n++] = f;
	}
	if (n < 2)
		return;
	qsort(v, n, sizeof *v, by_name);
	*first = v[0];
	for (size_t i = 0; i < n; i++)
		frame[v[i]].next = i + 1 < n ? v[i + 1] : NONE;
}

static void
new_tree(void)
{
	names = kh_init(name);
	children = kh_init(child);
	frame = xgrow(frame, &capframe, 1, sizeof *frame);
	frame[nframe++] = (struct flame){ .name = "all", .up = NONE,
	    .first = NONE, .next = NONE };
}

static void
sort_all(void)
{
	for (size_t i = 0; i < nframe; i++)
		sort(&frame[i].first);
}

void
frames_read(const char *file)
{
	new_tree();
	read_stacks(file);
	sort_all();
}

void
frames_compare(const char *old, const char *new)
{
	new_tree();
	compared = true;
	run = OLD_RUN;
	read_stacks(old);
	run = NEW_RUN;
	read_stacks(new);
	sort_all();
}
