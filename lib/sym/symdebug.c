/*
 * symdebug - an object's file, and its separate debug file
 *
 * Both are mapped, and their descriptors closed: a program may have more
 * objects than files may be open. Unusual objects are left to libdwfl, which
 * keeps descriptors.
 *
 * libdwfl looks for the debug file by build-id, then by the name in
 * .gnu_debuglink, then asks a debuginfod server. The last step loads libcurl
 * and all that it needs, for 10 ms, only to find that no server is named. Most
 * programs have no debug file, so nearly every run would pay for that. So
 * libdwfl's search is skipped if it cannot find anything: no server is named,
 * and no file is where libdwfl looks for the name. libdwfl decides whether a
 * file that is there is the right one.
 */
#include "symunit.h"

#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "in.h"
#include "mem.h"
#include "prog.h"

static char *folders;

void
sym_debug_path(const char *path)
{
	free(folders);
	folders = path == NULL ? NULL : xstrdup(path);
}

bool
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
	path = rest = xstrdup(folders != NULL ? folders :
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

static bool
has_server(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls != NULL && *urls != '\0';
}

/* A name without its sum is the file shared with dwz. */
static int
find(Dwfl_Module *mod, void **arg, const char *modname,
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

/* ---- files in memory ---- */

/* From the first segment that is loaded to the end of the last one. */
static int
address_range(struct sym_dwfl *d)
{
	size_t n, i;
	GElf_Phdr ph;

	if (elf_getphdrnum(d->elf, &n) < 0)
		return -1;
	for (i = 0; i < n; i++) {
		if (gelf_getphdr(d->elf, (int)i, &ph) == NULL)
			return -1;
		if (ph.p_type != PT_LOAD)
			continue;
		if (d->end == 0)
			d->start = ph.p_vaddr & -ph.p_align;
		d->end = ph.p_vaddr + ph.p_memsz;
	}
	return d->end == 0 ? -1 : 0;
}

/*
 * Remember where libelf has mapped the file, at a page's beginning. Where it
 * could not be mapped it was read, and must not be given back.
 */
static void
find_file(struct sym_dwfl *d, int fd)
{
	char *p = elf_rawfile(d->elf, &d->size);
	void *probe = mmap(NULL, d->size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (probe == MAP_FAILED)
		return;
	munmap(probe, d->size);
	if (((uintptr_t)p & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1)) == 0)
		d->file = p;
}

/*
 * Map it and close fd. -1: it is unusual, or no object at all, or it is not
 * loaded where `of' is, whose debug file it would be.
 */
static int
report(struct sym_dwfl *d, const Dwfl_Callbacks *callbacks, const char *path,
    int fd, const struct sym_dwfl *of)
{
	void **arg;

	d->elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (elf_kind(d->elf) == ELF_K_ELF && address_range(d) == 0 &&
	    (of == NULL || (of->start == d->start && of->end == d->end)) &&
	    elf_cntl(d->elf, ELF_C_FDREAD) == 0 &&
	    (d->dwfl = dwfl_begin(callbacks)) != NULL) {
		find_file(d, fd);
		dwfl_report_begin(d->dwfl);
		d->mod = dwfl_report_module(d->dwfl, path, d->start, d->end);
	}
	if (d->mod == NULL) {
		elf_end(d->elf);
		dwfl_end(d->dwfl);
		*d = (struct sym_dwfl){ 0 };
		return -1;
	}
	dwfl_module_info(d->mod, &arg, NULL, NULL, NULL, NULL, NULL, NULL);
	*arg = d;
	dwfl_report_end(d->dwfl, NULL, NULL);
	close(fd);
	return 0;
}

/* libdwfl's callback: the module's file is in memory already. */
static int
find_elf(Dwfl_Module *mod, void **arg, const char *name, Dwarf_Addr base,
    char **path, Elf **elf)
{
	struct sym_dwfl *d = *arg;

	(void)mod;
	(void)base;
	*path = xstrdup(name);
	*elf = d->elf;
	d->elf = NULL;
	return -1;
}

static int find_debug(Dwfl_Module *, void **, const char *, Dwarf_Addr,
    const char *, const char *, GElf_Word, char **);

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debug,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &folders,
};

static int
keep_debug(struct sym_dwfl *d, const char *path, int fd)
{
	struct sym_dwfl *debug = xcalloc(1, sizeof *debug);

	if (report(debug, &callbacks, path, fd, d) < 0) {
		free(debug);
		return -1;
	}
	debug->path = xstrdup(path);
	d->debug = debug;
	return 0;
}

static int
keep_shared(struct sym_dwfl *d, int fd)
{
	d->altelf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (elf_kind(d->altelf) == ELF_K_ELF &&
	    elf_cntl(d->altelf, ELF_C_FDREAD) == 0)
		d->alt = dwarf_begin_elf(d->altelf, DWARF_C_READ, NULL);
	if (d->alt == NULL) {
		elf_end(d->altelf);
		d->altelf = NULL;
		return -1;
	}
	close(fd);
	return 0;
}

/*
 * libdwfl's callback. What is found is kept here and libdwfl told of nothing,
 * as it would keep the descriptor; but it is given what is unusual.
 */
static int
find_debug(Dwfl_Module *mod, void **arg, const char *modname, Dwarf_Addr base,
    const char *file, const char *debuglink, GElf_Word crc, char **found)
{
	struct sym_dwfl *d = *arg;
	bool shared = debuglink != NULL && crc == 0;
	int fd;

	/* a debug file has none itself */
	if (d != NULL && !shared && (d->debug != NULL || d->path != NULL))
		return -1;
	fd = find(mod, arg, modname, base, file, debuglink, crc, found);
	if (fd < 0 || d == NULL || (shared ? keep_shared(d, fd) :
	    keep_debug(d, *found != NULL ? *found : file, fd)) < 0)
		return fd;
	free(*found);
	*found = NULL;
	return -1;
}

/* ---- objects ---- */

const char *
sym_dwfl_open(struct sym_dwfl *d, const char *path)
{
	int fd = in_optional(path);

	if (fd < 0)
		return strerror(errno);
	elf_version(EV_CURRENT);
	if (report(d, &callbacks, path, fd, NULL) == 0)
		return NULL;
	/* libdwfl takes the descriptor, where it succeeds, or says why not */
	d->dwfl = dwfl_begin(&callbacks);
	if (d->dwfl != NULL) {
		dwfl_report_begin(d->dwfl);
		d->mod = dwfl_report_elf(d->dwfl, path, path, fd, 0, 1);
	}
	if (d->mod == NULL) {
		close(fd);
		return dwfl_errmsg(-1);
	}
	dwfl_report_end(d->dwfl, NULL, NULL);
	return NULL;
}

const char *
sym_dwfl_name(const struct sym_dwfl *d)
{
	return dwfl_module_info(d->mod, NULL, NULL, NULL, NULL, NULL, NULL,
	    NULL);
}

void
sym_dwfl_close(struct sym_dwfl *d)
{
	if (d->debug != NULL)
		sym_dwfl_close(d->debug);
	if (d->dwfl != NULL)
		dwfl_end(d->dwfl);
	dwarf_end(d->alt);
	elf_end(d->altelf);
	free(d->path);
	free(d);
}

void
sym_dwfl_unread(const struct sym_dwfl *d)
{
	for (; d != NULL; d = d->debug)
		if (d->file != NULL)
			madvise(d->file, d->size, MADV_DONTNEED);
}

static bool
has_symtab(Dwfl_Module *mod)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	Dwarf_Addr bias;
	Elf *elf = dwfl_module_getelf(mod, &bias);

	while (elf != NULL && (scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

/* The module that has the symbols: the object's or its debug file's. */
static Dwfl_Module *
symbols_module(const struct sym_dwfl *d)
{
	if (d->mod == NULL)
		return NULL;
	/* looks for a debug file if the object has no symbol table */
	dwfl_module_getsymtab(d->mod);
	if (d->debug != NULL && !has_symtab(d->mod) &&
	    has_symtab(d->debug->mod))
		return d->debug->mod;
	return d->mod;
}

/*
 * libdwfl leaves out the dynamic symbols of an object that has others. If these
 * are fewer, only some were kept (strip -K), and both are read.
 */
static void
add_dynamic(const struct sym *s, struct sym_symbol *y)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	Dwarf_Addr bias;
	Elf *elf = dwfl_module_getelf(s->dwfl->mod, &bias);

	while (elf != NULL && (scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) != NULL &&
		    sh.sh_type == SHT_DYNSYM && sh.sh_entsize != 0 &&
		    sh.sh_size / sh.sh_entsize > (size_t)y->n &&
		    (y->dynamic = elf_getdata(scn, NULL)) != NULL) {
			y->object = elf;
			y->names = sh.sh_link;
			y->left = sh.sh_size / sh.sh_entsize;
			return;
		}
}

struct sym_symbol
sym_symbols(const struct sym *s)
{
	struct sym_symbol y = { .mod = symbols_module(s->dwfl) };

	/* symbol 0 is none */
	y.i = 1;
	y.n = y.mod == NULL ? 0 : dwfl_module_getsymtab(y.mod);
	if (y.n > 0)
		add_dynamic(s, &y);
	return y;
}

static bool
next_dynamic(struct sym_symbol *y)
{
	while (y->left > 1) {
		if (gelf_getsym(y->dynamic, (int)--y->left, &y->elf) == NULL)
			continue;
		y->raw = elf_strptr(y->object, y->names, y->elf.st_name);
		y->addr = y->elf.st_value;
		y->type = GELF_ST_TYPE(y->elf.st_info);
		if (y->raw != NULL && y->elf.st_shndx != SHN_UNDEF)
			return true;
	}
	return false;
}

bool
sym_symbol_next(struct sym_symbol *y)
{
	while (y->i < y->n) {
		y->raw = dwfl_module_getsym_info(y->mod, y->i++, &y->elf,
		    &y->addr, NULL, NULL, NULL);
		y->type = GELF_ST_TYPE(y->elf.st_info);
		if (y->raw != NULL && y->elf.st_shndx != SHN_UNDEF)
			return true;
	}
	return next_dynamic(y);
}

bool
sym_symbol_is_code(const struct sym *s, const struct sym_symbol *y)
{
	return y->addr >= s->textlo && y->addr < s->texthi;
}

Dwarf *
sym_dwarf(const struct sym_dwfl *d, Dwarf_Addr *bias)
{
	Dwarf *dw = dwfl_module_getdwarf(d->mod, bias);

	if (dw == NULL && d->debug != NULL) {
		d = d->debug;
		dw = dwfl_module_getdwarf(d->mod, bias);
	}
	if (dw != NULL && d->alt != NULL)
		dwarf_setalt(dw, d->alt);
	return dw;
}
