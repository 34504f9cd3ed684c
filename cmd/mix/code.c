/*
 * code - the bytes of instructions, from object files or the stream
 *
 * The stream names the object file and the address of an instruction; only code
 * that no file has, such as that made at run time, is in the stream itself.
 */
#include "mix.h"

#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in.h"
#include "util.h"

struct segment {
	uint64_t addr, len;
	const uint8_t *data;
};

struct object {
	bool open;
	struct segment *segment;
	size_t n, cap;
	uint64_t unknown;	/* executions of instructions without bytes */
};

static struct objmap *map;
static const struct insns *insns;
static struct object *objects;	/* by number; 0: none */
static size_t capobject;
static const uint8_t **told;	/* by instruction: from the stream; or NULL */
static size_t captold;

void
code_init(struct objmap *m, const struct insns *i)
{
	map = m;
	insns = i;
	elf_version(EV_CURRENT);
}

void
code_define(const struct evr *r, uint32_t block, uint32_t ninsn)
{
	uint64_t n = insns_first(insns, block);

	for (uint32_t k = 0; k < ninsn; k++) {
		const uint8_t *code = ev_code(r, k);

		if (code == NULL)
			continue;
		told = xgrow0(told, &captold, n + k + 1, sizeof *told);
		told[n + k] = memcpy(xkeep(CODE_MOST), code, CODE_MOST);
	}
}

/* ---- object files ---- */

static void
load(struct object *o, Elf *elf)
{
	GElf_Ehdr eh;
	GElf_Phdr ph;
	Elf_Data *data;
	size_t n;

	if (gelf_getehdr(elf, &eh) == NULL || eh.e_machine != EM_X86_64 ||
	    elf_getphdrnum(elf, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) == NULL ||
		    ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
		    ph.p_filesz == 0)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset,
		    ph.p_filesz, ELF_T_BYTE);
		if (data == NULL)
			continue;
		o->segment = xgrow(o->segment, &o->cap, o->n + 1,
		    sizeof *o->segment);
		o->segment[o->n++] = (struct segment){ ph.p_vaddr,
		    data->d_size, data->d_buf };
	}
}

/* The file stays open: its segments are mapped. */
static struct object *
object(uint32_t number)
{
	const char *path;
	struct object *o;
	Elf *elf;
	int fd;

	objects = xgrow0(objects, &capobject, number + (size_t)1,
	    sizeof *objects);
	o = &objects[number];
	if (o->open || number == 0)
		return o;
	o->open = true;
	path = objmap_obj(map, number - 1)->path;
	fd = path[0] == '/' ? in_optional(path) : -1;
	if (fd < 0)
		return o;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf != NULL)
		load(o, elf);
	close(fd);
	return o;
}

/* ---- */

const uint8_t *
code_bytes(const struct insns_at *at)
{
	uint64_t n = insns_first(insns, at->block) + at->insn;
	const struct object *o;

	if (n < captold && told[n] != NULL)
		return told[n];
	o = object(at->object);
	for (size_t i = 0; i < o->n; i++) {
		const struct segment *s = &o->segment[i];

		if (at->addr - s->addr < s->len &&
		    s->len - (at->addr - s->addr) >= at->i->len)
			return s->data + (at->addr - s->addr);
	}
	return NULL;
}

void
code_unknown(const struct insns_at *at)
{
	object(at->object)->unknown += at->times;
}

void
code_warn(void)
{
	for (uint32_t i = 0; i < capobject; i++)
		if (objects[i].unknown != 0)
			warn("%s: the bytes of instructions executed %" PRIu64
			    " times are not known", i == 0 ?
			    "code of no file" : objmap_obj(map, i - 1)->path,
			    objects[i].unknown);
}
