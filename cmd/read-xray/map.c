/*
 * map - find the functions that the numbers of an XRay log mean
 *
 * The compiler leaves a table of sleds (the code that XRay patches) in the
 * section xray_instr_map: 32 bytes for each sled, unaligned, in no order of
 * addresses.  The first sled's function has number 1; the number goes up by one
 * at each sled whose function differs from the sled before.  So the numbers
 * follow from the binary, if it is the one that ran.
 *
 * An entry has the addresses of the sled and of its function.  In versions 0
 * and 1 they are absolute: in a position-independent binary the file has zeros,
 * and relocations hold the addresses.  In version 2 each is relative to its own
 * field.
 *
 * A function of a shared library has the library's number in the upper 8 bits
 * of its 32-bit number; a log does not say which library that is.
 */
#include "read-xray.h"

#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "out.h"
#include "in.h"
#include "prog.h"
#include "segments.h"
#include "sym.h"

enum { SLED = 32, OBJECTS = 256 };

struct xray_object {
	char		*path;
	Elf		*elf;
	uint64_t	 bias;		/* added to addresses in M, G lines */
	uint64_t	*function;	/* address of number i + 1 */
	size_t		 n, cap;
	bool		*written;	/* by function: it has its G line */
	struct sym	*sym;
};

bool has_maps;
static struct xray_object objects[OBJECTS];

static Elf_Scn *
section(struct xray_object *o, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *s = NULL;
	size_t names;
	const char *is;

	if (elf_getshdrstrndx(o->elf, &names) != 0)
		return NULL;
	while ((s = elf_nextscn(o->elf, s)) != NULL) {
		if (gelf_getshdr(s, sh) == NULL)
			continue;
		is = elf_strptr(o->elf, names, sh->sh_name);
		if (is && strcmp(is, name) == 0)
			return s;
	}
	return NULL;
}

/* The value of a relocation; 0: its type does not occur in maps. */
static uint64_t
relocated(struct xray_object *o, const GElf_Shdr *sh, const GElf_Rela *r)
{
	GElf_Shdr symbols;
	GElf_Sym sym;
	Elf_Scn *s;

	if (GELF_R_TYPE(r->r_info) == R_X86_64_RELATIVE)
		return (uint64_t)r->r_addend;
	if (GELF_R_TYPE(r->r_info) != R_X86_64_64 ||
	    (s = elf_getscn(o->elf, sh->sh_link)) == NULL ||
	    gelf_getshdr(s, &symbols) == NULL ||
	    gelf_getsym(elf_getdata(s, NULL), (int)GELF_R_SYM(r->r_info),
	    &sym) == NULL || sym.st_shndx == SHN_UNDEF)
		return 0;
	return sym.st_value + (uint64_t)r->r_addend;
}

/* Apply the object's relocations to the n bytes of addr, copied to p. */
static void
relocate(struct xray_object *o, uint64_t addr, uint8_t *p, size_t n)
{
	Elf_Scn *s = NULL;
	GElf_Shdr sh;
	GElf_Rela r;
	Elf_Data *d;
	uint64_t to;
	size_t i;

	while ((s = elf_nextscn(o->elf, s)) != NULL) {
		if (gelf_getshdr(s, &sh) == NULL || sh.sh_type != SHT_RELA ||
		    !(sh.sh_flags & SHF_ALLOC) || sh.sh_entsize == 0 ||
		    (d = elf_getdata(s, NULL)) == NULL)
			continue;
		for (i = 0; i < sh.sh_size / sh.sh_entsize; i++) {
			if (gelf_getrela(d, (int)i, &r) == NULL ||
			    r.r_offset < addr || n < sizeof to ||
			    r.r_offset - addr > n - sizeof to)
				continue;
			to = relocated(o, &sh, &r);
			if (to != 0)
				memcpy(p + (r.r_offset - addr), &to, sizeof to);
		}
	}
}

static void
read_sleds(struct xray_object *o)
{
	uint64_t addr, function, last = 0;
	Elf_Data *d = NULL;
	GElf_Shdr sh;
	Elf_Scn *s;
	uint8_t *p;
	size_t i;

	s = section(o, "xray_instr_map", &sh);
	if (s == NULL)
		die("%s: no section xray_instr_map", o->path);
	d = elf_rawdata(s, NULL);
	if (d == NULL || d->d_size % SLED != 0)
		die("%s: xray_instr_map is no table of %d bytes an entry",
		    o->path, SLED);
	p = xmalloc(d->d_size + 1);
	if (d->d_size > 0)
		memcpy(p, d->d_buf, d->d_size);
	relocate(o, sh.sh_addr, p, d->d_size);
	for (i = 0; i < d->d_size; i += SLED) {
		memcpy(&function, p + i + 8, sizeof function);
		addr = sh.sh_addr + i + 8;
		if (p[i + 18] >= 2)
			function += addr;
		if (i > 0 && function == last)
			continue;
		o->function = xgrow(o->function, &o->cap, o->n + 1,
		    sizeof *o->function);
		o->function[o->n++] = last = function;
	}
	free(p);
	o->written = xcalloc(o->n + 1, sizeof *o->written);
}

void
map_add(const char *arg)
{
	struct xray_object *o;
	uint64_t number = 0;
	char path[PATH_MAX], *end;
	int fd;

	if (*arg >= '0' && *arg <= '9') {
		number = strtoul(arg, &end, 10);
		if (*end != '=')
			number = 0;
		else if (number >= OBJECTS)
			die("--map: object %s is not within 0 to %d", arg,
			    OBJECTS - 1);
		else
			arg = end + 1;
	}
	o = &objects[number];
	if (o->path)
		die("--map: object %d has two binaries", (int)number);
	if (realpath(arg, path) == NULL || (fd = in_regular(path)) < 0)
		die("%s: open:", arg);
	o->path = xstrdup(path);
	o->bias = number << 40;
	elf_version(EV_CURRENT);
	o->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (o->elf == NULL || elf_kind(o->elf) != ELF_K_ELF ||
	    gelf_getclass(o->elf) != ELFCLASS64)
		die("%s: no 64-bit ELF file", arg);
	read_sleds(o);
	o->sym = sym_open(path, SYM_DEMANGLE);
	has_maps = true;
}

static void
put_segment(struct out *out, const struct xray_object *o, const GElf_Phdr *ph)
{
	const uint64_t page = 4095;
	uint64_t from = o->bias + (ph->p_vaddr & ~page);
	uint64_t to = o->bias + ((ph->p_vaddr + ph->p_memsz + page) & ~page);

	out_printf(out, "M %zx %llx %llx %llx ", (size_t)(o - objects) + 1,
	    (unsigned long long)from, (unsigned long long)to,
	    (unsigned long long)(ph->p_offset & ~page));
	put_text(out, o->path, strlen(o->path));
	out_ch(out, '\n');
}

void
map_begin(struct out *out)
{
	struct xray_object *o;
	GElf_Phdr ph;

	for (o = objects; o < objects + OBJECTS; o++)
		for (size_t i = 0; o->path != NULL &&
		    segment_next_code(o->elf, &i, &ph); )
			put_segment(out, o, &ph);
}

void
map_name(struct out *out, uint32_t id)
{
	struct xray_object *o = &objects[id >> 24];
	size_t i = (id & 0xffffff) - 1;
	struct sym_at at;

	if (o->path == NULL || i >= o->n || o->written[i])
		return;
	o->written[i] = true;
	sym_find(o->sym, o->function[i], &at);
	out_printf(out, "G %x %llx ", id,
	    (unsigned long long)(o->bias + o->function[i]));
	if (strcmp(at.fn, SYM_UNKNOWN) != 0)
		put_text(out, at.fn, strlen(at.fn));
	else
		out_printf(out, "@%llx", (unsigned long long)o->function[i]);
	out_ch(out, '\n');
}
