/*
 * choose - the functions and files that --function and --file ask for
 *
 *	--function='parse*'	parse_line, and parse_line'2, in any file
 *	--file='*.h'		whatever function is in these
 *
 * Totals and percentages stay those of the whole profile.
 */
#include "annotate.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"
#include "wild.h"

/* What is known of an option's patterns and of names. */
struct choice {
	const char *option;
	bool *used;		/* by pattern: some name matches */
	size_t capused, capname;
	signed char *name;	/* by name: 0: not known, 1: chosen, -1: not */
	const char *(*part)(const char *name);	/* that may match, too */
};

/* Of f'2, or f'main, f; it is good until the next call. */
static const char *
before_quote(const char *name)
{
	static char *s;
	size_t len = strcspn(name, "'");

	free(s);
	s = xstrdup(name);
	s[len] = '\0';
	return s;
}

static const char *
last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static struct choice functions = { .option = "--function",
	.part = before_quote };
static struct choice files = { .option = "--file", .part = last_part };

static bool
has(struct choice *c, char **pattern, size_t n, uint32_t name)
{
	const char *s = str(name), *part;
	size_t i;

	if (!n)
		return true;
	c->used = xgrow0(c->used, &c->capused, n, sizeof *c->used);
	c->name = xgrow0(c->name, &c->capname, name + (size_t)1,
	    sizeof *c->name);
	if (c->name[name])
		return c->name[name] > 0;
	c->name[name] = -1;
	part = c->part(s);
	for (i = 0; i < n; i++)
		if (wild_matches(pattern[i], s) ||
		    wild_matches(pattern[i], part)) {
			c->used[i] = true;
			c->name[name] = 1;
		}
	return c->name[name] > 0;
}

bool
chosen(uint32_t fn, uint32_t file)
{
	bool function = has(&functions, opt.function, opt.nfunction,
	    costfn_get(prof.nm, fn).fn);

	return has(&files, opt.from, opt.nfrom, file) && function;
}

static void
warn_idle(const struct choice *c, char **pattern, size_t n, const char *what)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!c->used || !c->used[i])
			warn("%s: no %s %s has costs", c->option, what,
			    pattern[i]);
}

void
choose_warn(void)
{
	warn_idle(&functions, opt.function, opt.nfunction, "function");
	warn_idle(&files, opt.from, opt.nfrom, "file");
}
