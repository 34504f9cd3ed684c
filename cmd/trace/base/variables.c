/*
 * variables - check %q{VAR} in the names that options give
 *
 *	mpirun -n 2 trace -o mpi.%q{OMPI_COMM_WORLD_RANK}.ev ./mpi
 *
 * A command is text for the shell, which would obey what a variable's value has
 * in it, wherever it stands among the command's quotes. So a value there is
 * letters, digits and a few signs that mean nothing to the shell.
 */
#include <string.h>

#include "base/base.h"
#include "expand.h"
#include "prog.h"

#define PLAIN \
	"abcdefghijklmnopqrstuvwxyz" "ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789" "_-+.,:/@="

/* Die if what is behind %q{ in an option's name cannot be expanded. */
static void
check_variable(const char *option, const char *name, const char *var)
{
	const char *end = strchr(var, '}'), *v;
	int n = end == NULL ? 0 : (int)(end - var);

	if (n == 0)
		die("%s %s: %%q{VAR} without its %s", option, name,
		    end == NULL ? "end" : "variable");
	v = expand_value(var, (size_t)n);
	if (v == NULL)
		die("%s %s: %.*s is not in the environment", option, name, n,
		    var);
	if (name[0] == '|' && v[strspn(v, PLAIN)] != '\0')
		die("%s %s: %.*s has a character that the shell would take for "
		    "its own: write \"$%.*s\"", option, name, n, var, n, var);
}

void
variables_check(const char *option, const char *name)
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
