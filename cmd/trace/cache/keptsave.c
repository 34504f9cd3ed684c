/*
 * keptsave - write an entry of the store: what was kept, and what is new
 *
 * The program's process is gone, so its code may be patched back: all links are
 * cut, and the arrays are written as they are.  The file is: head; chunks; the
 * bytes of pages, by object; the parts.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/kept.h"
#include "evpack.h"
#include "keep/keep.h"
#include "stream/stream.h"
#include "util.h"
#include "xlate/xlate.h"

/* It is worth it if of so many one is new, and so many are. */
#define NEW_SHARE 64u
#define NEW_LEAST 16u

static struct save {
	struct kept_object *object;
	uint32_t nobject;
	size_t capobject;
	uint32_t *of_live, *of_stored;	/* + 1, or 0: not among objects yet */
	struct kept_index *index;
	uint32_t *hash, mask;
	struct kept_mark *mark;
	uint32_t nchunk;
	uint64_t *number;
	size_t npage, capnumber;
	uint8_t *def;		/* definitions of one chunk */
	size_t ndef, capdef;
	uint64_t at;		/* written so far */
	int fd;
} s;

/* The number, from 1, of an object that is written. */
static uint32_t
put_object(const struct kept_object *o, uint32_t *number)
{
	if (*number == 0) {
		s.object = xgrow(s.object, &s.capobject, s.nobject + 1ul,
		    sizeof *s.object);
		s.object[s.nobject] = *o;
		*number = ++s.nobject;
	}
	return *number;
}

static uint32_t
object_of_live(const struct kept_live *l)
{
	return l == NULL ? 0 : put_object(&l->is, &s.of_live[l -
	    object_live(0)]);
}

/* Is all that the fragment was made from in the object? */
static bool
is_inside(const struct frag *f, const struct kept_live *l)
{
	const struct code_piece *p = store_piece(f->piece);
	uint32_t i;

	for (i = 0; i < f->npiece; i++)
		if (p[i].start < l->is.start || p[i].end > l->is.end ||
		    p[i].end <= p[i].start)
			return false;
	return i > 0;
}

/* What was not installed in this run: of what is not mapped, or not asked. */
static uint32_t
object_of_stored(uint32_t i)
{
	uint32_t o = (uint32_t)kept.index[i].object, k;
	struct kept_live *l;

	if (o == 0 || kept.broken[i / CHUNK])
		return 0;
	for (k = 0; (l = object_live(k)) != NULL; k++)
		if (l->stored == o)
			return object_of_live(l);
	return object_can_stay(o) ? put_object(&kept.object[o - 1],
	    &s.of_stored[o]) : 0;
}

static uint32_t
block_of(const struct frag *f)
{
	return area.frags[f->zone][f->meta].block;
}

/*
 * Was it dropped for one along a path?  Such are not kept: the next run begins
 * with this one again.
 */
static bool
gave_way(const struct frag *f)
{
	return opt->kind->records && path_known(f->pc);
}

static uint32_t
object_of(uint32_t i)
{
	const struct frag *f = &frags[i];
	struct kept_live *l;

	if (i < kept.nfrag && !kept.installed[i])
		return object_of_stored(i);
	if ((f->dead && !gave_way(f)) || f->mode != 0 || f->owner != 0 ||
	    (opt->kind->tells && !def_can_pack(block_of(f), f->pc)))
		return 0;
	l = object_at(f->pc);
	return l != NULL && is_inside(f, l) ? object_of_live(l) : 0;
}

/* Read all that is kept, and cut all links. */
static void
complete(void)
{
	uint32_t i, n = 0;

	for (i = 0; i < kept.nchunk; i++)
		kept_load(i);
	for (i = 0; i < area.nexit; i++)
		link_cut(i);
	while (object_live(n) != NULL)
		n++;
	s.of_live = xcalloc(n + 1ul, sizeof *s.of_live);
	s.of_stored = xcalloc(kept.nobject + 1ul, sizeof *s.of_stored);
}

/* Which fragments are written; false: it is not worth it. */
static bool
choose(void)
{
	uint32_t i, new = 0, all = 0;

	s.index = xcalloc(nfrag + 1ul, sizeof *s.index);
	for (i = 0; i < nfrag; i++) {
		s.index[i].pc = i < kept.nfrag ? kept.index[i].pc :
		    frags[i].pc;
		s.index[i].object = object_of(i);
		all += s.index[i].object != 0;
		new += s.index[i].object != 0 && i >= kept.nfrag;
	}
	if (all < nfrag / 2) {		/* better made anew than kept on */
		keep_remove(kept.name);
		return false;
	}
	return kept.damaged || (new >= NEW_LEAST && new >= all / NEW_SHARE);
}

static uint32_t *
place_of(uint64_t pc)
{
	uint32_t i = kept_hash(pc) & s.mask;

	while (s.hash[i] != 0 && s.index[s.hash[i] - 1].pc != pc)
		i = (i + 1) & s.mask;
	return &s.hash[i];
}

static void
fill_hash(void)
{
	uint32_t i;

	for (s.mask = 63; s.mask < 2 * nfrag; )
		s.mask = 2 * s.mask + 1;
	s.hash = xcalloc(s.mask + 1ul, sizeof *s.hash);
	for (i = 0; i < nfrag; i++)
		if (s.index[i].object != 0)
			*place_of(s.index[i].pc) = i + 1;
}

/* Exits of fragment i: where their jumps are, and where they lead. */
static void
fill_links(uint32_t i)
{
	const struct frag *f = &frags[i];
	struct kept_link *l;
	uint32_t e, to;

	for (e = f->exit; e < f->exit + f->nexit; e++) {
		l = &kept.link[e];
		memset(l, 0, sizeof *l);
		link_place(e, &l->jmp, &l->stub);
		to = l->jmp == 0 ? 0 : *place_of((uint64_t)link_key(e));
		if (to != 0 && s.index[to - 1].object == s.index[i].object)
			l->to = to;
	}
}

static bool
put(const void *data, size_t n)
{
	s.at += n;
	return keep_write(s.fd, data, n);
}

/* Its definition, as it was kept or as it is now. */
static void
add_def(uint32_t i)
{
	const struct frag *f = &frags[i];
	const uint8_t *p;
	size_t n = 0;

	s.def = xgrow(s.def, &s.capdef, s.ndef + DEF_PACKED_MOST, 1);
	s.index[i].def = (uint32_t)s.ndef;
	if (i < kept.nfrag && !kept.defined[i]) {
		p = kept_def(i, &n);
		n = p == NULL ? 0 : def_packed_size(p, n);
		memcpy(s.def + s.ndef, p, n);
	} else {
		n = def_pack(block_of(f), f->pc, s.def + s.ndef);
	}
	if (n == 0)
		s.index[i].object = 0;
	s.ndef += n;
}

static bool
write_chunk(uint32_t k)
{
	struct kept_mark *m = &s.mark[k];
	uint32_t first = k * CHUNK, end = first + CHUNK, i;
	struct iovec v[CHUNK_PARTS];

	end = end < nfrag ? end : nfrag;
	s.ndef = 0;
	for (i = first; i < end; i++) {
		frags[i].firstin = 0;
		if (s.index[i].object != 0)
			fill_links(i);
		if (s.index[i].object != 0 && opt->kind->tells)
			add_def(i);
	}
	m[1].def = m->def + s.ndef;
	kept_vector(v, first, end, m, m + 1, s.def);
	m->off = s.at;
	m->sum = 0;
	for (i = 0; i < CHUNK_PARTS; i++) {
		m->sum = keep_sum(m->sum, v[i].iov_base, v[i].iov_len);
		if (!put(v[i].iov_base, v[i].iov_len))
			return false;
	}
	return true;
}

/* The bytes of a page that were looked at in this run or before; or NULL. */
static const uint8_t *
page(uint64_t at, uint32_t stored)
{
	static uint8_t bytes[PAGE];
	const uint8_t *p = pages_find(at);
	const struct kept_object *o = &kept.object[stored - 1];
	uint32_t k;

	for (k = 0; p == NULL && stored != 0 && k < o->npage; k++) {
		struct iovec v = { bytes, PAGE };

		if (kept.number[o->number + k] == at && keep_read(kept.fd,
		    o->pages + (uint64_t)k * PAGE, &v, 1))
			return bytes;
	}
	return p;
}

/* Write the object's pages; `stored': the object of the entry, or 0. */
static bool
write_pages(struct kept_object *o, uint32_t stored)
{
	const uint8_t *p;
	uint64_t at;

	o->pages = s.at;
	o->number = (uint32_t)s.npage;
	o->npage = 0;
	o->sum = 0;
	for (at = o->start & ~(uint64_t)(PAGE - 1); at < o->end; at += PAGE) {
		p = page(at, stored);
		if (p == NULL)
			continue;
		s.number = xgrow(s.number, &s.capnumber, s.npage + 1,
		    sizeof *s.number);
		s.number[s.npage++] = at;
		o->npage++;
		o->sum = keep_sum(o->sum, p, PAGE);
		if (!put(p, PAGE))
			return false;
	}
	return true;
}

static bool
write_objects(void)
{
	struct kept_live *l;
	uint32_t i;

	for (i = 0; (l = object_live(i)) != NULL; i++)
		if (s.of_live[i] != 0 &&
		    !write_pages(&s.object[s.of_live[i] - 1], l->stored))
			return false;
	for (i = 1; i <= kept.nobject; i++)
		if (s.of_stored[i] != 0 &&
		    !write_pages(&s.object[s.of_stored[i] - 1], i))
			return false;
	return true;
}

static bool
write_parts(void)
{
	struct kept_head h = { KEPT_MAGIC, .nfrag = nfrag, .mask = s.mask,
		.ncounter = counters_used(),
		.nid = def_ids_are_fixed() ? def_ids_used() : 0 };
	uint32_t ncell;
	const uint64_t *cells = filter_cells(&ncell);
	const void *part[NPART] = { kept.key, s.mark, s.index, s.hash,
		area.frags[0], area.frags[1], s.object, s.number, cells };
	const size_t from = offsetof(struct kept_head, size);
	const uint32_t n[NPART] = { (uint32_t)strlen(kept.key), s.nchunk + 1,
		nfrag, s.mask + 1, area.nfrag[0], area.nfrag[1], s.nobject,
		(uint32_t)s.npage, ncell };
	unsigned i;

	memcpy(h.n, n, sizeof n);
	h.parts = h.size = s.at;
	for (i = 0; i < NPART; i++)
		h.size += n[i] * kept_part_size(i);
	h.sum = keep_sum(0, (const char *)&h + from, sizeof h - from);
	for (i = 0; i < NPART; i++) {
		h.sum = keep_sum(h.sum, part[i], n[i] * kept_part_size(i));
		if (!put(part[i], n[i] * kept_part_size(i)))
			return false;
	}
	return lseek(s.fd, 0, SEEK_SET) == 0 &&
	    keep_write(s.fd, &h, sizeof h);
}

static bool
write_all(void)
{
	static const struct kept_head none;
	uint32_t k;

	if (!put(&none, sizeof none))
		return false;
	for (k = 0; k < s.nchunk; k++)
		if (!write_chunk(k))
			return false;
	return write_objects() && write_parts();
}

/* Marks of this run's chunks, and the end. */
static void
fill_marks(void)
{
	uint32_t k;

	s.nchunk = (nfrag + CHUNK - 1) / CHUNK;
	s.mark = xcalloc(s.nchunk + 1ul, sizeof *s.mark);
	for (k = 0; k < s.nchunk; k++)
		s.mark[k] = *kept_mark_of(k);
	s.mark[s.nchunk] = kept_now();
	s.mark[0].def = 0;
}

static uint64_t
bytes_needed(void)
{
	const struct kept_mark *e = &s.mark[s.nchunk];

	return e->zone[0] + e->zone[1] + nfrag * sizeof *frags +
	    e->exit * (sizeof *kept.link + sizeof *area.exits) +
	    e->map;
}

static void
forget(void)
{
	free(s.object);
	free(s.of_live);
	free(s.of_stored);
	free(s.index);
	free(s.hash);
	free(s.mark);
	free(s.number);
	free(s.def);
	memset(&s, 0, sizeof s);
}

void
kept_save(void)
{
	bool whole;

	if (!kept.on || trust_lost ||
	    (nfrag < kept.nfrag + NEW_LEAST && !kept.damaged)) {
		kept_close();
		return;
	}
	complete();
	kept.link = xrealloc(kept.link, (area.nexit + 1ul) *
	    sizeof *kept.link);
	memset(kept.link + kept.nexit, 0, (area.nexit - kept.nexit + 1ul) *
	    sizeof *kept.link);
	if (choose() && nfrag < area.maxfrag / 2 &&
	    counters_used() <= area.maxcount / 2 &&
	    (!def_ids_are_fixed() || def_ids_used() <= NIDS / 2)) {
		fill_hash();
		fill_marks();
		s.fd = keep_begin(bytes_needed());
		if (s.fd >= 0) {
			whole = write_all();
			keep_end(s.fd, kept.name, whole);
		}
	}
	forget();
	kept_close();
}
