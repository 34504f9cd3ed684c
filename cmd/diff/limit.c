/*
 * limit - which limits of --limit are exceeded
 *
 *	Ir=1%			of a total
 *	Ir=10k
 *	Ir:parse_*=2%		of each function whose name matches
 *	Ir:ns::parse(int)=0
 *
 * The first colon and the last equals sign divide, for names may have both.
 */
#include "diff.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "mem.h"
#include "prog.h"
#include "wild.h"

static bool of_functions;	/* some limit is one of functions */

void
limit_add(const char *s)
{
	diff.limit = diff.nlimit ? xrealloc(diff.limit, (diff.nlimit + 1) *
	    sizeof *diff.limit) : xmalloc(sizeof *diff.limit);
	diff.limit[diff.nlimit++] = (struct event_limit){ .text = s };
}

/* "1%", "0.25%", "10k" */
static void
parse_number(struct event_limit *l, const char *s)
{
	const char *p;

	l->den = 1;
	l->percent = s[strlen(s) - 1] == '%';
	if (!l->percent) {
		l->num = num_arg("--limit", s, 0, INT64_MAX);
		return;
	}
	for (p = s; isdigit((unsigned char)*p) && l->num < 1000000000; p++)
		l->num = 10 * l->num + (*p - '0');
	if (p > s && *p == '.')
		for (p++; isdigit((unsigned char)*p) && l->den < 1000000; p++) {
			l->num = 10 * l->num + (*p - '0');
			l->den *= 10;
		}
	if (p == s || strcmp(p, "%"))
		die("--limit: '%s' is not a percentage", s);
}

static void
parse_limit(struct event_limit *l)
{
	const char *eq = strrchr(l->text, '=');
	const char *colon = strchr(l->text, ':'), *end = eq;
	int at;

	if (colon && eq && colon < eq)
		end = colon;
	if (!eq || !eq[1] || (end == colon && colon + 1 == eq))
		die("--limit: '%s' is not EVENT[:FUNCTION]=NUMBER[%%]",
		    l->text);
	at = find_event(l->text, end - l->text);
	if (at < 0)
		die("--limit: event %.*s is not in the profiles",
		    (int)(end - l->text), l->text);
	l->ev = at;
	if (end == colon) {
		l->functions = xstrdup(colon + 1);
		l->functions[eq - colon - 1] = '\0';
		of_functions = true;
	}
	parse_number(l, eq + 1);
}

void
limits_parse(void)
{
	size_t i;

	for (i = 0; i < diff.nlimit; i++)
		parse_limit(&diff.limit[i]);
}

static bool
is_beyond(const struct event_limit *l, __int128 old, __int128 new)
{
	__int128 change = new - old;

	if (old < 0)
		old = -old;
	if (l->percent)
		return change * 100 * l->den > old * l->num;
	return change > (__int128)l->num;
}

/* A function's counts: which limits name it, and which it exceeds. */
static void
judge_function(const struct record_pair *p)
{
	const char *name = str(costfn_get(diff.nm, p->c.fn).fn);
	struct event_limit *l;

	for (l = diff.limit; l < diff.limit + diff.nlimit; l++) {
		if (!l->functions || !wild_matches(l->functions, name))
			continue;
		l->in_old |= p->has_old;
		l->in_new |= p->has_new;
		if (!is_beyond(l, p->old[l->ev], p->new[l->ev]))
			continue;
		l->beyond = true;
		l->over = xgrow(l->over, &l->cap, l->nover + 1,
		    sizeof *l->over);
		l->over[l->nover++] = (struct function_change){ p->c.fn,
		    p->old[l->ev], p->new[l->ev] };
	}
}

static void
judge_functions(void)
{
	struct join j = join_functions();
	struct record_pair p;

	while (join_next(&j, &p))
		if (p.c.kind == COST_SELF)
			judge_function(&p);
}

bool
limit_is_idle(const struct event_limit *l)
{
	return l->functions && !l->in_new;
}

static bool
tell_idle(void)
{
	const struct event_limit *l;
	bool any = false;

	for (l = diff.limit; l < diff.limit + diff.nlimit; l++) {
		if (!limit_is_idle(l))
			continue;
		any = true;
		warn("--limit=%s: %s such a function", l->text,
		    l->in_old ? "only the old profile has" :
		    "neither profile has");
	}
	return any;
}

int
judge(void)
{
	struct join j = { .old = diff.old.t, .new = diff.new.t };
	struct record_pair p;
	struct event_limit *l;
	bool beyond = false;

	while (join_next(&j, &p)) {
		diff.differ |= pair_differs(&p);
		objects_see(&p);
	}
	objects_tell();
	if (of_functions)
		judge_functions();
	for (l = diff.limit; l < diff.limit + diff.nlimit; l++) {
		if (!l->functions)
			l->beyond = is_beyond(l, diff.old.total[l->ev],
			    diff.new.total[l->ev]);
		beyond |= l->beyond;
	}
	if (tell_idle())
		return 2;
	return diff.nlimit ? beyond : diff.differ;
}
