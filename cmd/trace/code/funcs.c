/*
 * funcs - where the program's functions begin, for --contexts
 */
#include <string.h>

#include "code/code.h"
#include "func.h"
#include "objmap.h"

static struct objmap *map;

void
funcs_start(void)
{
	map = objmap_new();
	func_map(map);
	func_demangle(false);
}

void
funcs_mapped(const char *lines)
{
	const char *nl;

	for (; (nl = strchr(lines, '\n')) != NULL; lines = nl + 1)
		objmap_line(map, lines, (size_t)(nl - lines));
}

/* Is going on from one address to the next executed, by no call, a call? */
bool
funcs_is_call(app_pc from, app_pc to)
{
	struct func_place a, b;

	func_place(to, &b);
	if (b.entry)
		return true;
	func_place(from, &a);
	return a.section != b.section;
}

bool
funcs_is_stub(app_pc pc)
{
	struct func_place at;

	func_place(pc, &at);
	return at.fn->skip;
}

bool
funcs_begins(app_pc pc, app_pc *limit)
{
	struct func_place at;

	*limit = func_place(pc, &at);
	return at.entry;
}
