/*
 * where - objects, functions and locations, each once
 *
 * A location is an address of a function, with its line and the functions that
 * were inlined there, each with its own line.  By default, locations with the
 * same lines become one, at the first of their addresses.
 */
#include "pprof.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <pprof.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cost.h"
#include "hash.h"
#include "in.h"
#include "khash.h"
#include "mem.h"
#include "place.h"
#include "segments.h"
#include "stacks.h"

struct inline_frame {
	uint32_t function;	/* id */
	uint32_t line;
};

struct location {
	uint32_t object;	/* id */
	uint32_t nframe;
	size_t frame;		/* index of the first one in frames */
	uint64_t addr;
};

/* What where_location was called with. */
struct place_key {
	uint64_t addr;
	uint32_t fn, file, line;
};

static inline khint_t
place_key_hash(struct place_key a)
{
	uint64_t h = a.addr * HASH_MULTIPLIER;

	h = (h ^ h >> 32 ^ a.fn) * HASH_MULTIPLIER;
	h = (h ^ h >> 32 ^ a.line ^ (uint64_t)a.file << 32) * HASH_MULTIPLIER;
	return (khint_t)(h >> 32);
}

static inline bool
place_key_equal(struct place_key a, struct place_key b)
{
	return a.addr == b.addr && a.fn == b.fn && a.file == b.file &&
	    a.line == b.line;
}

KHASH_INIT(known, struct place_key, uint32_t, 1, place_key_hash,
    place_key_equal)
KHASH_MAP_INIT_INT64(id, uint32_t)

static khash_t(known) *known;	/* results of where_location */
static khash_t(id) *hashes;	/* hash of a location -> its id */
static khash_t(id) *functions;	/* name and file -> id */
static khash_t(id) *objects;	/* name -> id */
static struct location *location;
static struct inline_frame *frames;
static uint64_t *function;	/* by id - 1: name << 32 | file */
static uint32_t *object;	/* by id - 1: name */
static size_t nlocation, caplocation, nframes, capframes;
static size_t nfunction, capfunction, nobject, capobject;

void
where_init(void)
{
	known = kh_init(known);
	hashes = kh_init(id);
	functions = kh_init(id);
	objects = kh_init(id);
}

static uint32_t
object_id(uint32_t name)
{
	int new;
	khint_t k = kh_put(id, objects, name, &new);

	if (new != 0) {
		object = xgrow(object, &capobject, nobject + 1, sizeof *object);
		object[nobject++] = name;
		kh_val(objects, k) = (uint32_t)nobject;
	}
	return kh_val(objects, k);
}

uint32_t
where_function(uint64_t loc, uint32_t i)
{
	const struct location *l = &location[loc - 1];

	return i < l->nframe ?
	    frames[l->frame + l->nframe - 1 - i].function : 0;
}

void
where_object(uint32_t ob)
{
	object_id(ob);
}

static uint32_t
function_id(uint32_t name, uint32_t file)
{
	uint64_t key = (uint64_t)name << 32 | file;
	int new;
	khint_t k = kh_put(id, functions, key, &new);

	if (new != 0) {
		function = xgrow(function, &capfunction, nfunction + 1,
		    sizeof *function);
		function[nfunction++] = key;
		kh_val(functions, k) = (uint32_t)nfunction;
	}
	return kh_val(functions, k);
}

/* ---- locations ---- */

/* The function of a node: its name without a level of recursion, its file. */
static uint32_t
own_function(uint32_t node, uint64_t addr)
{
	uint32_t fn = stacks->node[node].fn, file;
	size_t len;
	const char *name = stacks_name(stacks, node, &len);

	if (stacks->head.positions & COST_INSTR)
		fn = place_function(places, fn, addr, 1);
	file = costfn_get(names, fn).fl;
	if (!place_known(places, costfn_get(names, stacks->node[node].fn).fn)) {
		name = costnames_get(names, costfn_get(names, fn).fn);
		len = strlen(name);
	}
	return function_id(costnames_add(names, name, len), file);
}

static void
add_frame(uint32_t id, uint32_t line)
{
	frames = xgrow(frames, &capframes, nframes + 1, sizeof *frames);
	frames[nframes++] = (struct inline_frame){ id, line };
}

/* Are two locations to become one? */
static bool
same(const struct location *a, const struct location *b)
{
	return a->object == b->object && a->nframe == b->nframe &&
	    (!opt_instr || a->addr == b->addr) &&
	    memcmp(frames + a->frame, frames + b->frame,
	    a->nframe * sizeof *frames) == 0;
}

static uint64_t
hash(const struct location *l)
{
	uint64_t h = l->object + (opt_instr ? l->addr << 8 : 0);

	for (uint32_t i = 0; i < l->nframe; i++) {
		h = (h ^ frames[l->frame + i].function) * HASH_MULTIPLIER;
		h = (h ^ h >> 29 ^ frames[l->frame + i].line) * HASH_MULTIPLIER;
	}
	return h ^ h >> 32;
}

/* The id of a location, or of an equal one, whose frames replace its own. */
static uint32_t
intern(struct location l)
{
	uint64_t h = hash(&l);
	khint_t k;
	int new;

	/* another location may have this hash: try the next number */
	for (;; h++) {
		k = kh_put(id, hashes, h, &new);
		if (new != 0)
			break;
		if (same(&location[kh_val(hashes, k) - 1], &l)) {
			nframes = l.frame;
			return kh_val(hashes, k);
		}
	}
	location = xgrow(location, &caplocation, nlocation + 1,
	    sizeof *location);
	location[nlocation++] = l;
	return kh_val(hashes, k) = (uint32_t)nlocation;
}

uint64_t
where_location(uint32_t node, uint64_t addr, uint32_t file, uint32_t line)
{
	struct place_key a = { addr, stacks->node[node].fn, file, line };
	uint32_t ob = costfn_get(names, a.fn).ob;
	struct place_frame f[PLACE_MOST];
	struct location l = { .addr = addr, .frame = nframes };
	size_t n = 1;
	int new;
	khint_t k = kh_put(known, known, a, &new);

	if (new == 0)
		return kh_val(known, k);
	l.object = object_id(ob);
	f[0] = (struct place_frame){ .file = file, .line = line };
	if (stacks->head.positions & COST_INSTR) {
		if (opt_inline && place_known(places, ob))
			n = place_inline(places, ob, addr, f);
		else if (line == 0 && place_known(places, ob))
			f[0].line = place_find(places, ob, addr).line;
	}
	for (size_t i = 0; i + 1 < n; i++)
		add_frame(function_id(f[i].fn, f[i].file), f[i].line);
	add_frame(own_function(node, addr), f[n - 1].line);
	l.nframe = (uint32_t)n;
	return kh_val(known, k) = intern(l);
}

/* ---- messages ---- */

/* Set the code segment and the build-id, if the object can be read. */
static void
read_object(const char *path, PprofMapping *m)
{
	int fd = in_optional(path);
	const void *id;
	ssize_t idlen;
	char hex[2 * 64 + 1];
	GElf_Phdr ph;
	size_t next = 0;
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (segment_next_code(elf, &next, &ph)) {
		m->memory_start = ph.p_vaddr & ~(uint64_t)0xfff;
		m->memory_limit = (ph.p_vaddr + ph.p_memsz + 0xfff) &
		    ~(uint64_t)0xfff;
		m->file_offset = ph.p_offset & ~(uint64_t)0xfff;
	}
	idlen = elf == NULL ? 0 : dwelf_elf_gnu_build_id(elf, &id);
	for (ssize_t i = 0; i < idlen && i < 64; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
	if (idlen > 0)
		m->build_id = pack_string(hex);
	elf_end(elf);
	close(fd);
}

static void
pack_object(size_t i)
{
	PprofProfile p = PPROF_PROFILE__INIT;
	PprofMapping m = PPROF_MAPPING__INIT, *one = &m;
	const char *path = costnames_get(names, object[i]);

	m.id = i + 1;
	m.filename = pack_string(path);
	/* all is known: readers need not search the object */
	m.has_functions = m.has_filenames = m.has_line_numbers = 1;
	m.has_inline_frames = 1;
	if (place_known(places, object[i]))
		read_object(path, &m);
	p.n_mapping = 1;
	p.mapping = &one;
	pack_message(&p);
}

static void
pack_function(size_t i)
{
	PprofProfile p = PPROF_PROFILE__INIT;
	PprofFunction f = PPROF_FUNCTION__INIT, *one = &f;

	f.id = i + 1;
	f.name = f.system_name = pack_string(costnames_get(names,
	    (uint32_t)(function[i] >> 32)));
	f.filename = pack_string(costnames_get(names,
	    (uint32_t)function[i]));
	p.n_function = 1;
	p.function = &one;
	pack_message(&p);
}

static void
pack_location(size_t i)
{
	PprofProfile p = PPROF_PROFILE__INIT;
	PprofLocation l = PPROF_LOCATION__INIT, *one = &l;
	PprofLine line[PLACE_MOST], *lines[PLACE_MOST];
	const struct inline_frame *f = &frames[location[i].frame];

	l.id = i + 1;
	l.mapping_id = location[i].object;
	l.address = location[i].addr;
	l.n_line = location[i].nframe;
	l.line = lines;
	for (size_t k = 0; k < l.n_line; k++) {
		pprof_line__init(&line[k]);
		line[k].function_id = f[k].function;
		line[k].line = f[k].line;
		lines[k] = &line[k];
	}
	p.n_location = 1;
	p.location = &one;
	pack_message(&p);
}

void
where_pack(void)
{
	for (size_t i = 0; i < nobject; i++)
		pack_object(i);
	for (size_t i = 0; i < nfunction; i++)
		pack_function(i);
	for (size_t i = 0; i < nlocation; i++)
		pack_location(i);
}
