/*
 * expand - %p and %q{VAR} in the file names that options give
 */
#include "expand.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

#define VAR "%q{"

struct text {
	char *s;
	size_t n, cap;
};

static void
put(struct text *t, const char *s, size_t n)
{
	t->s = xgrow(t->s, &t->cap, t->n + n + 1, 1);
	memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

const char *
expand_value(const char *var, size_t n)
{
	char *name = xstrndup(var, n);
	const char *v = getenv(name);

	free(name);
	return v;
}

/* Add the value of the variable at var; returns what is behind its }. */
static const char *
put_variable(struct text *t, const char *name, const char *var)
{
	const char *end = strchr(var, '}'), *v;

	if (end == NULL)
		die("%s: %%q{VAR} without its end", name);
	v = expand_value(var, (size_t)(end - var));
	if (v == NULL)
		die("%s: %.*s is not in the environment", name,
		    (int)(end - var), var);
	put(t, v, strlen(v));
	return end + 1;
}

char *
expand(const char *name, const char *number, bool exact)
{
	struct text t = { 0 };
	const char *p;

	put(&t, "", 0);
	for (p = name; *p != '\0'; ) {
		if (number != NULL && strncmp(p, "%p", 2) == 0) {
			put(&t, number, strlen(number));
			p += 2;
		} else if (strncmp(p, VAR, sizeof VAR - 1) == 0) {
			p = put_variable(&t, name, p + sizeof VAR - 1);
		} else if (exact && strncmp(p, "%%", 2) == 0) {
			put(&t, p, 1);
			p += 2;
		} else if (exact && *p == '%') {
			die("%s: %%p, %%q{VAR} or %%%%", name);
		} else {
			put(&t, p++, 1);
		}
	}
	return t.s;
}
