/*
 * expand - %p and %q{VAR} in the names that options give
 *
 *	mpirun -n 2 trace -o mpi.%q{OMPI_COMM_WORLD_RANK}.ev ./mpi
 *
 * A command is text for the shell, which would obey what a variable's value has
 * in it, wherever it stands among the command's quotes. So a value there is
 * letters, digits and a few signs that mean nothing to the shell.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mem.h"
#include "prog.h"

#define VAR "%q{"
#define PLAIN \
	"abcdefghijklmnopqrstuvwxyz" "ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789" "_-+.,:/@="

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

/* The value of the variable of n bytes, or NULL. */
static const char *
value(const char *var, size_t n)
{
	char *name = xstrndup(var, n);
	const char *v = getenv(name);

	free(name);
	return v;
}

/* Die if what is behind %q{ in an option's name cannot be expanded. */
static void
check_variable(const char *option, const char *name, const char *var)
{
	const char *end = strchr(var, '}'), *v;
	int n = (int)(end - var);

	if (end == NULL || n == 0)
		die("%s %s: %%q{VAR} without its %s", option, name,
		    end == NULL ? "end" : "variable");
	v = value(var, (size_t)n);
	if (v == NULL)
		die("%s %s: %.*s is not in the environment", option, name, n,
		    var);
	if (name[0] == '|' && v[strspn(v, PLAIN)] != '\0')
		die("%s %s: %.*s has a character that the shell would take for "
		    "its own: write \"$%.*s\"", option, name, n, var, n, var);
}

void
expand_check(const char *option, const char *name)
{
	const char *at;

	if (name == NULL)
		return;
	for (at = name; (at = strstr(at, "%q")) != NULL; at += 2)
		if (at[2] == '{')
			check_variable(option, name, at + 3);
		else if (name[0] != '|')
			die("%s %s: %%q wants a variable, as in %%q{VAR}",
			    option, name);
}

const char *
expand(const char *name, const char *number)
{
	struct text t = { 0 };
	const char *p, *v, *end;

	put(&t, "", 0);
	for (p = name; *p != '\0'; ) {
		if (number != NULL && strncmp(p, "%p", 2) == 0) {
			put(&t, number, strlen(number));
			p += 2;
		} else if (strncmp(p, VAR, sizeof VAR - 1) == 0 &&
		    (end = strchr(p, '}')) != NULL) {
			p += sizeof VAR - 1;
			v = value(p, (size_t)(end - p));
			put(&t, v, strlen(v));
			p = end + 1;
		} else {
			put(&t, p++, 1);
		}
	}
	return t.s;
}
