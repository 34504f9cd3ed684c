/*
 * symfile - names of source files
 *
 * A line table names its files by a folder and a name within that; libdw puts
 * both together. A relative folder begins in the folder of the compilation.
 */
#include "symunit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "mem.h"

/* The folder of the compilation. A table has it as its first folder. */
static const char *
folder(struct sym_table *t)
{
	Dwarf_Attribute attr;
	const char *const *dir;
	size_t n;

	if (t->unit != NULL)
		return dwarf_attr(t->unit, DW_AT_comp_dir, &attr) == NULL ?
		    NULL : dwarf_formstring(&attr);
	return dwarf_getsrcdirs(t->files, &dir, &n) != 0 || n == 0 ? NULL :
	    dir[0];
}

static const char *
join(const char *dir, const char *name)
{
	char *path = xmalloc(strlen(dir) + strlen(name) + 2);
	const char *r;

	strcpy(path, dir);
	strcat(path, "/");
	strcat(path, name);
	r = intern(path);
	free(path);
	return r;
}

const char *
sym_file_name(struct sym_table *t, uint64_t no)
{
	const char *name = dwarf_filesrc(t->files, no, NULL, NULL), *dir;

	/* before DWARF 5 there is no file 0, which libdw calls ??? */
	if (name == NULL || *name == '\0' || strcmp(name, SYM_UNKNOWN) == 0)
		return intern(SYM_UNKNOWN);
	if (name[0] == '/')
		return intern(name);
	dir = folder(t);
	if (dir == NULL || *dir == '\0')
		return intern(name);
	return join(dir, name);
}
