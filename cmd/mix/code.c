/*
 * code - the bytes of instructions, from object files or the stream
 *
 * The stream names the object file and the address of an instruction; only code
 * that no file has, such as that made at run time, is in the stream itself.
 */
#include "mix.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in.h"
#include "mem.h"
#include "prog.h"
#include "segments.h"

struct segment {
	uint64_t addr, len, off;
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

	if (gelf_getehdr(elf, &eh) == NULL || eh.e_machine != EM_X86_64)
		return;
	for (size_t i = 0; segment_next_code(elf, &i, &ph); ) {
		if (ph.p_filesz == 0)
			continue;
		o->segment = xgrow(o->segment, &o->cap, o->n + 1,
		    sizeof *o->segment);
		o->segment[o->n++] = (struct segment){ ph.p_vaddr,
		    ph.p_filesz, ph.p_offset };
	}
}

static int
open_object(uint32_t number)
{
	const char *path = objmap_obj(map, number - 1)->path;

	return path[0] == '/' ? in_optional(path) : -1;
}

static struct object *
object(uint32_t number)
{
	struct object *o;
	Elf *elf;
	int fd;

	objects = xgrow0(objects, &capobject, number + (size_t)1,
	    sizeof *objects);
	o = &objects[number];
	if (o->open || number == 0)
		return o;
	o->open = true;
	fd = open_object(number);
	if (fd < 0)
		return o;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf != NULL)
		load(o, elf);
	elf_end(elf);
	close(fd);
	return o;
}

/*
 * Some bytes of an object; NULL: it has none there. Instructions come in order,
 * so one piece of one file is kept: mapped, all of their code would stay.
 */
static const uint8_t *
read_code(uint32_t number, uint64_t off, unsigned len)
{
	static uint8_t piece[64 << 10];
	static uint64_t from;
	static size_t have;
	static uint32_t of;
	static int fd = -1;
	ssize_t n;

	if (of != number) {
		if (fd >= 0)
			close(fd);
		fd = open_object(number);
		of = number;
		have = 0;
	}
	if (fd >= 0 && (off < from || off - from + len > have)) {
		from = off;
		do
			n = pread(fd, piece, sizeof piece, (off_t)off);
		while (n < 0 && errno == EINTR);
		have = n < 0 ? 0 : (size_t)n;
	}
	return off < from || off - from + len > have ? NULL :
	    piece + (off - from);
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
			return read_code(at->object, s->off +
			    (at->addr - s->addr), at->i->len);
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
