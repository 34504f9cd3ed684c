/*
 * symimage - some of an object's debug sections, as an ELF file in memory
 *
 * When libdw opens a file, it inflates all its compressed debug sections by
 * zlib: for libc 12 MB although 2 would do, at a third of the speed of
 * libdeflate. (libdeflate must know the size of the result; sections have it.)
 * So libdw gets a file with only the sections it needs, inflated already:
 *
 *	header | .debug_line | .debug_line_str | names | section headers
 *
 * Only for plain 64-bit objects. What is unusual (split or shared DWARF,
 * relocations, another compression) is left to libdwfl, and so is what is not
 * compressed, which costs nothing to open.
 */
#include "symunit.h"

#include <gelf.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "in.h"

/*
 * DWARF is 2 to 10 times as large as when compressed. A header that says more
 * than this is damaged, most likely, and we would touch all of that memory.
 */
#define MAXFACTOR	64

enum { MAXSECTIONS = 16, ALIGN = 16 };

struct image_section {
	const char *name;
	const uint8_t *data;	/* in the object */
	size_t size;
	size_t full;		/* size when inflated */
	bool packed;
	size_t at, nameat;	/* in the image */
};

struct image_plan {
	struct image_section sec[MAXSECTIONS];
	unsigned n;
	Elf64_Ehdr head;
};

static bool
is_one_of(const char *name, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

/* -1: there is something unusual about the section. */
static int
plan_section(struct image_plan *p, Elf_Scn *scn, const GElf_Shdr *sh,
    const char *name)
{
	struct image_section *s = &p->sec[p->n];
	Elf_Data *data = elf_rawdata(scn, NULL);
	GElf_Chdr ch;

	if (p->n == MAXSECTIONS || data == NULL || data->d_buf == NULL ||
	    sh->sh_type != SHT_PROGBITS || sh->sh_flags & SHF_GROUP)
		return -1;
	*s = (struct image_section){ .name = name, .data = data->d_buf,
	    .size = data->d_size, .full = data->d_size };
	if (sh->sh_flags & SHF_COMPRESSED) {
		if (gelf_getchdr(scn, &ch) == NULL ||
		    ch.ch_type != ELFCOMPRESS_ZLIB ||
		    s->size < sizeof(Elf64_Chdr) ||
		    ch.ch_size / MAXFACTOR > s->size)
			return -1;
		s->data += sizeof(Elf64_Chdr);
		s->size -= sizeof(Elf64_Chdr);
		s->full = ch.ch_size;
		s->packed = true;
	}
	p->n++;
	return 0;
}

/* The first of the sections must be there, and compressed. */
static int
plan_image(struct image_plan *p, Elf *elf, const struct sym_sections *want)
{
	Elf64_Ehdr *head = elf64_getehdr(elf);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;
	const char *name;
	int first = 0;

	if (head == NULL || elf_getshdrstrndx(elf, &names) < 0 ||
	    head->e_ident[EI_DATA] != ELFDATA2LSB ||
	    (head->e_type != ET_DYN && head->e_type != ET_EXEC))
		return -1;
	p->head = *head;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &sh) == NULL ||
		    (name = elf_strptr(elf, names, sh.sh_name)) == NULL ||
		    is_one_of(name, want->without))
			return -1;
		if (!is_one_of(name, want->take))
			continue;
		if (plan_section(p, scn, &sh, name) < 0)
			return -1;
		if (strcmp(name, want->take[0]) == 0)
			first = p->sec[p->n - 1].packed;
	}
	return first ? 0 : -1;
}

static size_t
aligned(size_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* The image's headers and names, behind the sections. */
static void
write_headers(struct image_plan *p, char *mem, size_t names, size_t table)
{
	Elf64_Shdr *sh = (Elf64_Shdr *)(mem + table);
	unsigned i;

	p->head.e_phoff = 0;
	p->head.e_phnum = 0;
	p->head.e_shoff = table;
	p->head.e_shnum = (Elf64_Half)(p->n + 2);
	p->head.e_shstrndx = (Elf64_Half)(p->n + 1);
	p->head.e_shentsize = sizeof *sh;
	memcpy(mem, &p->head, sizeof p->head);
	memset(mem + names, 0, table - names);
	memset(sh, 0, (p->n + 2) * sizeof *sh);
	for (i = 0; i < p->n; i++) {
		strcpy(mem + names + p->sec[i].nameat, p->sec[i].name);
		sh[i + 1] = (Elf64_Shdr){
			.sh_name = (Elf64_Word)p->sec[i].nameat,
			.sh_type = SHT_PROGBITS, .sh_offset = p->sec[i].at,
			.sh_size = p->sec[i].full, .sh_addralign = 1,
		};
	}
	sh[p->n + 1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
	    .sh_offset = names, .sh_size = table - names, .sh_addralign = 1 };
}

static int
unpack(const struct image_plan *p, char *mem)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	const struct image_section *s;
	size_t got;
	int r = d == NULL ? -1 : 0;

	for (s = p->sec; r == 0 && s < p->sec + p->n; s++) {
		if (!s->packed)
			memcpy(mem + s->at, s->data, s->size);
		else if (libdeflate_zlib_decompress(d, s->data, s->size,
		    mem + s->at, s->full, &got) != LIBDEFLATE_SUCCESS ||
		    got != s->full)
			r = -1;
	}
	libdeflate_free_decompressor(d);
	return r;
}

/* NULL: the object is not of the plain kind, or is damaged. */
static char *
make(Elf *elf, const struct sym_sections *want, size_t *size)
{
	struct image_plan p = { 0 };
	struct image_section *s;
	size_t at = aligned(sizeof p.head), names = 1, table;
	char *mem;

	if (plan_image(&p, elf, want) < 0)
		return NULL;
	for (s = p.sec; s < p.sec + p.n; s++) {
		s->at = at;
		s->nameat = names;
		at = aligned(at + s->full);
		names += strlen(s->name) + 1;
	}
	table = aligned(at + names);
	*size = table + (p.n + 2) * sizeof(Elf64_Shdr);
	/* all pages will be written: at once is cheaper than one by one */
	mem = mmap(NULL, *size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (mem == MAP_FAILED)
		return NULL;
	if (unpack(&p, mem) < 0) {
		munmap(mem, *size);
		return NULL;
	}
	write_headers(&p, mem, at, table);
	return mem;
}

/* Does libdwfl take the DWARF from the object itself? */
static bool
has_own(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;
	const char *name;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) != NULL &&
		    (name = elf_strptr(elf, names, sh.sh_name)) != NULL &&
		    sh.sh_type != SHT_NOBITS && (strstr(name, "debug_info") ||
		    strstr(name, "debug_line") || strstr(name, "debug_frame")))
			return true;
	return false;
}

/* The file that libdwfl would take the DWARF from, as far as it is known. */
static const char *
source(struct sym *s, uint64_t *bias)
{
	Dwfl_Module *mod = s->dwfl->mod;
	const char *object = NULL, *debug = NULL;
	Dwarf_Addr own = 0, other = 0;
	Elf *elf = dwfl_module_getelf(mod, &own);

	if (elf == NULL)
		return NULL;
	dwfl_module_info(mod, NULL, NULL, NULL, &other, NULL, &object, &debug);
	if (has_own(elf)) {
		*bias = own;
		return object;
	}
	if (s->dwfl->debug != NULL) {
		*bias = 0;
		return s->dwfl->debug->path;
	}
	*bias = other;
	return other == (Dwarf_Addr)-1 ? NULL : debug;
}

int
sym_image(struct sym *s, const struct sym_sections *want,
    struct sym_image *im)
{
	const char *path = s->dwfl->mod == NULL ? NULL : source(s, &im->bias);
	Elf *elf = NULL;
	int fd;

	if (path == NULL || (fd = in_optional(path)) < 0)
		return -1;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf != NULL)
		im->mem = make(elf, want, &im->size);
	elf_end(elf);
	close(fd);
	if (im->mem == NULL)
		return -1;
	im->elf = elf_memory(im->mem, im->size);
	if (im->elf != NULL)
		im->dwarf = dwarf_begin_elf(im->elf, DWARF_C_READ, NULL);
	if (im->dwarf != NULL)
		return 0;
	sym_image_close(im);
	return -1;
}

const void *
sym_image_section(const struct sym_image *im, const char *name, size_t *size)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)im->mem;
	const Elf64_Shdr *sh = (const Elf64_Shdr *)(im->mem + head->e_shoff);
	const char *names = im->mem + sh[head->e_shstrndx].sh_offset;
	unsigned i;

	for (i = 1; i < head->e_shstrndx; i++)
		if (strcmp(names + sh[i].sh_name, name) == 0) {
			*size = sh[i].sh_size;
			return im->mem + sh[i].sh_offset;
		}
	return NULL;
}

void
sym_image_close(struct sym_image *im)
{
	dwarf_end(im->dwarf);
	elf_end(im->elf);
	if (im->mem != NULL)
		munmap(im->mem, im->size);
	*im = (struct sym_image){ 0 };
}
