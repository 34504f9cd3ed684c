/*
 * symfile - names of source files
 *
 * A line table names its files by a folder and a name within that; libdw puts
 * both together. A relative folder begins in the folder of the compilation,
 * which is the table's folder 0, and may be relative itself:
 *
 *	folder 0  its folder  name   libdw says  the name here
 *	/src      0           x.c    /src/x.c    /src/x.c
 *	/src      1, inc      x.h    inc/x.h     /src/inc/x.h
 *	src       0           x.c    src/x.c     src/x.c
 *	src       1, inc      x.h    inc/x.h     src/inc/x.h
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

static bool
is_below(const char *name, const char *dir)
{
	size_t n = dir == NULL ? 0 : strlen(dir);

	return n > 0 && strncmp(name, dir, n) == 0 && name[n] == '/';
}

/*
 * Does the relative name begin with the folder of the compilation already? It
 * does if it is in folder 0. Which folder it is in libdw does not tell: if
 * several could be it, we take the name for one of another. But compilers put
 * all of the way into the folder: ./elf/x.c is in ./elf, not in a folder `.'.
 */
static bool
has_folder(struct sym_table *t, const char *name, const char *dir)
{
	const char *const *other;
	size_t n, i;
	bool direct;

	if (!is_below(name, dir) ||
	    dwarf_getsrcdirs(t->files, &other, &n) != 0 || n == 0 ||
	    other[0] == NULL || strcmp(other[0], dir) != 0)
		return false;
	direct = strchr(name + strlen(dir) + 1, '/') == NULL;
	for (i = 1; i < n; i++)
		if (is_below(name, other[i]) &&
		    (!direct || strcmp(other[i], dir) == 0))
			return false;
	return true;
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
	if (dir == NULL || *dir == '\0' || has_folder(t, name, dir))
		return intern(name);
	return join(dir, name);
}
