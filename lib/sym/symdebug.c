/*
 * symdebug - the separate debug file of an object
 *
 * libdwfl looks for it by build-id, then by the name in .gnu_debuglink, then
 * asks a debuginfod server. The last loads libcurl and all that it needs, for
 * 10 ms, only to find that no server is named: most programs have no debug
 * file, so nearly each run would pay for that. So libdwfl's own search is
 * left out where it cannot find anything: no server, and no file in any of
 * the places where it looks for the name. Whether a file that is there is the
 * right one is libdwfl's to say.
 */
#include "symunit.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "in.h"
#include "util.h"

char *sym_debug_folders;

void
sym_debug_path(const char *path)
{
	free(sym_debug_folders);
	sym_debug_folders = path == NULL ? NULL : xstrdup(path);
}

int
sym_is_odd(const char *beside, const char *dir, const char *name)
{
	const char *slash = strrchr(beside, '/');
	int len = *name == '/' || *dir == '/' || slash == NULL ? 0 :
	    (int)(slash - beside) + 1, r;
	struct stat st;
	char *path;

	if (*name == '/')
		dir = "";
	if (asprintf(&path, "%.*s%s%s%s", len, beside, dir,
	    *dir != '\0' ? "/" : "", name) < 0)
		die("a path: no memory");
	r = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
	free(path);
	return r;
}

/*
 * Is there dir/sub/name that is not the object itself? -1: there is, and it
 * is no regular file, which libdwfl would wait for.
 */
static int
is_there(const char *dir, const char *sub, const char *name,
    const struct stat *own)
{
	struct stat st;
	char *path = xmalloc(strlen(dir) + strlen(sub) + strlen(name) + 3);
	int r;

	sprintf(path, "%s/%s/%s", dir, sub, name);
	r = stat(path, &st) == 0 && (st.st_dev != own->st_dev ||
	    st.st_ino != own->st_ino);
	if (r && !S_ISREG(st.st_mode))
		r = -1;
	free(path);
	return r;
}

/* In one place of the search path, and with each folder of sub left out. */
static int
in_place(const char *dir, const char *sub, const char *const name[2],
    const struct stat *own)
{
	int r;

	for (;; sub++) {
		r = is_there(dir, sub, name[0], own);
		if (r == 0 && name[1] != NULL)
			r = is_there(dir, sub, name[1], own);
		if (r != 0)
			return r;
		if (*sub == '\0')
			return 0;
		sub += strcspn(sub, "/");
		if (*sub == '\0')
			sub--;
	}
}

/*
 * Could the search by name find something for the object of this name? -1: it
 * must not be tried.
 */
static int
may_find(const char *file, const char *debuglink)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash == NULL ? file : slash + 1;
	char *dir = slash == NULL ? xstrdup(".") : xstrdup(file), *made = NULL;
	char *path, *rest, *p;
	const char *name[2] = { debuglink, NULL };
	struct stat own = { 0 };
	int r = 0;

	if (slash != NULL)
		dir[slash - file] = '\0';
	if (debuglink == NULL) {
		made = xmalloc(strlen(base) + sizeof ".debug");
		sprintf(made, "%s.debug", base);
		name[0] = made;
		name[1] = base;
	}
	stat(file, &own);
	path = rest = xstrdup(sym_debug_folders != NULL ? sym_debug_folders :
	    ":.debug:/usr/lib/debug");
	while (!r && (p = strsep(&rest, ":")) != NULL) {
		p += *p == '+' || *p == '-';	/* check sums or not */
		r = *p == '/' ? in_place(p, dir, name, &own) :
		    in_place(dir, p, name, &own);
	}
	free(path);
	free(made);
	free(dir);
	return r;
}

static int
has_server(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls != NULL && *urls != '\0';
}

/* libdwfl's callback. A name without its sum is the file shared with dwz. */
int
sym_find_debug(Dwfl_Module *mod, void **arg, const char *modname,
    Dwarf_Addr base, const char *file, const char *debuglink, GElf_Word crc,
    char **found)
{
	char *real = NULL;
	int may, fd;

	if (file != NULL && debuglink != NULL && crc == 0 &&
	    sym_is_odd(file, "", debuglink))
		return -1;
	if (!has_server() && file != NULL && (debuglink == NULL || crc != 0)) {
		errno = 0;
		fd = dwfl_build_id_find_debuginfo(mod, arg, modname, base,
		    file, debuglink, crc, found);
		if (fd >= 0)
			return fd;
		in_lack(file);
		may = may_find(file, debuglink);
		if (may == 0 && (real = realpath(file, NULL)) != NULL &&
		    strcmp(real, file) != 0)
			may = may_find(real, debuglink);
		free(real);
		if (may <= 0)
			return -1;
	}
	errno = 0;
	fd = dwfl_standard_find_debuginfo(mod, arg, modname, base, file,
	    debuglink, crc, found);
	if (fd < 0)
		in_lack(file);
	return fd;
}
