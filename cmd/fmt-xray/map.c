/*
 * map - write the names of functions for readers of XRay logs
 *
 * Readers number the functions by the entries of the instrumentation map: the
 * number goes up by one at each entry whose function address differs from the
 * entry before.  So map_write makes an entry for each number from 1 to the last
 * one named, each with an address of its own: the function's if that is known
 * and not taken, else an invented one behind all known addresses.
 */
#include "fmt-xray.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "khash.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

KHASH_SET_INIT_INT64(taken)

enum { SLED = 32, MOST = 1 << 22 };
enum { TEXT = 1, MAP, SYMTAB, STRTAB, SHSTRTAB };	/* sections */

struct map_function {
	uint64_t	addr;	/* 0: not known */
	char		*name;	/* or NULL */
};

static struct map_function *functions;	/* by number */
static size_t nfunction, capfunction;

void
map_name(uint32_t id, const uint64_t *addr, const char *name)
{
	if (id == 0 || id >= MOST)
		return;
	if (id >= nfunction) {
		functions = xgrow0(functions, &capfunction, (size_t)id + 1,
		    sizeof *functions);
		nfunction = (size_t)id + 1;
	}
	free(functions[id].name);
	functions[id] = (struct map_function){ addr ? *addr : 0,
	    xstrdup(name) };
}

/* Give all functions addresses; they lie in [*from, *to). */
static void
lay_out(uint64_t *from, uint64_t *to)
{
	uint64_t lowest = UINT64_MAX, highest = 0x1000;
	khash_t(taken) *taken = kh_init(taken);
	struct map_function *f;
	int new;

	for (f = functions + 1; f < functions + nfunction; f++) {
		if (f->addr > highest)
			highest = f->addr;
		if (f->addr != 0 && f->addr < lowest)
			lowest = f->addr;
	}
	highest = (highest + 0x1000) & ~0xfffull;
	if (lowest > highest)
		lowest = highest;
	for (f = functions + 1; f < functions + nfunction; f++) {
		if (f->addr != 0)
			kh_put(taken, taken, f->addr, &new);
		if (f->addr == 0 || !new) {
			f->addr = highest;
			highest += 16;
		}
	}
	kh_destroy(taken, taken);
	*from = lowest;
	*to = highest;
}

static char shnames[] =
    "\0.text\0xray_instr_map\0.symtab\0.strtab\0.shstrtab";

static void
add(Elf *e, GElf_Shdr sh, void *data, size_t size, Elf_Type type)
{
	Elf_Scn *s = elf_newscn(e);
	Elf_Data *d = s ? elf_newdata(s) : NULL;

	if (d == NULL)
		die("map: %s", elf_errmsg(-1));
	d->d_buf = data;
	d->d_size = size;
	d->d_align = sh.sh_addralign;
	d->d_type = type;
	sh.sh_size = size;
	if (gelf_update_shdr(s, &sh) == 0)
		die("map: %s", elf_errmsg(-1));
}

/* Where a name is among those of sections. */
static uint32_t
named(const char *name)
{
	const char *at = memmem(shnames, sizeof shnames, name,
	    strlen(name) + 1);

	return (uint32_t)(at - shnames);
}

/* The entries of the map. */
static uint8_t *
sleds(size_t n)
{
	uint8_t *p = xcalloc(n + 1, SLED);
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(p + SLED * i, &functions[i + 1].addr, 8);
		memcpy(p + SLED * i + 8, &functions[i + 1].addr, 8);
		p[SLED * i + 17] = 1;
	}
	return p;
}

/* Symbols of all functions with names; *names: their string table. */
static GElf_Sym *
symbols(size_t *n, char **names, size_t *nnames)
{
	GElf_Sym *sym = xcalloc(nfunction + 1, sizeof *sym);
	size_t cap = 0, len;
	struct map_function *f;

	*n = 1;
	*nnames = 1;
	*names = xgrow(NULL, &cap, 1, 1);
	**names = '\0';
	for (f = functions + 1; f < functions + nfunction; f++) {
		if (f->name == NULL)
			continue;
		len = strlen(f->name) + 1;
		*names = xgrow(*names, &cap, *nnames + len, 1);
		memcpy(*names + *nnames, f->name, len);
		sym[*n].st_name = (uint32_t)*nnames;
		sym[*n].st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC);
		sym[*n].st_shndx = TEXT;
		sym[*n].st_value = f->addr;
		sym[*n].st_size = 1;
		*nnames += len;
		(*n)++;
	}
	return sym;
}

static void
fill(Elf *e)
{
	size_t n = nfunction > 0 ? nfunction - 1 : 0, nsym, nnames;
	GElf_Ehdr eh;
	uint64_t from = 0x1000, to = 0x1000;
	GElf_Sym *sym;
	char *names;

	if (nfunction > 0)
		lay_out(&from, &to);
	sym = symbols(&nsym, &names, &nnames);
	gelf_newehdr(e, ELFCLASS64);
	if (gelf_getehdr(e, &eh) == NULL)
		die("map: %s", elf_errmsg(-1));
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_machine = EM_X86_64;
	eh.e_type = ET_EXEC;
	eh.e_version = EV_CURRENT;
	eh.e_shstrndx = SHSTRTAB;
	gelf_update_ehdr(e, &eh);
	if (gelf_newphdr(e, 1) == NULL)
		die("map: %s", elf_errmsg(-1));
	gelf_update_phdr(e, 0, &(GElf_Phdr){ .p_type = PT_LOAD,
	    .p_flags = PF_R | PF_X, .p_vaddr = from, .p_paddr = from,
	    .p_memsz = to - from, .p_offset = from & 4095, .p_align = 4096 });
	add(e, (GElf_Shdr){ .sh_name = named(".text"), .sh_type = SHT_NOBITS,
	    .sh_addr = from, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
	    .sh_addralign = 1 }, NULL, to - from, ELF_T_BYTE);
	add(e, (GElf_Shdr){ .sh_name = named("xray_instr_map"),
	    .sh_type = SHT_PROGBITS, .sh_addr = to, .sh_flags = SHF_ALLOC,
	    .sh_addralign = 1 }, sleds(n), SLED * n, ELF_T_BYTE);
	add(e, (GElf_Shdr){ .sh_name = named(".symtab"), .sh_type = SHT_SYMTAB,
	    .sh_link = STRTAB, .sh_info = 1, .sh_addralign = 8,
	    .sh_entsize = sizeof(Elf64_Sym) }, sym, nsym * sizeof *sym,
	    ELF_T_SYM);
	add(e, (GElf_Shdr){ .sh_name = named(".strtab"), .sh_type = SHT_STRTAB,
	    .sh_addralign = 1 }, names, nnames, ELF_T_BYTE);
	add(e, (GElf_Shdr){ .sh_name = named(".shstrtab"),
	    .sh_type = SHT_STRTAB, .sh_addralign = 1 }, shnames,
	    sizeof shnames, ELF_T_BYTE);
}

/* Copy the file that libelf wrote into memory. */
static void
copy(int fd, struct out *o)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof buf)) > 0)
		out_write(o, buf, (size_t)n);
	if (n < 0)
		die("map: read:");
}

void
map_write(const char *path)
{
	struct out *o = out_open(path);
	int fd = memfd_create("map", MFD_CLOEXEC);
	Elf *e;

	if (fd < 0)
		die("map: memory:");
	elf_version(EV_CURRENT);
	e = elf_begin(fd, ELF_C_WRITE, NULL);
	if (e == NULL)
		die("map: %s", elf_errmsg(-1));
	fill(e);
	if (elf_update(e, ELF_C_WRITE) < 0)
		die("map: %s", elf_errmsg(-1));
	elf_end(e);
	if (lseek(fd, 0, SEEK_SET) < 0)
		die("map: seek:");
	copy(fd, o);
	close(fd);
	out_close(o);
}
