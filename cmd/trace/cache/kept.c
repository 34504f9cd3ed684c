/*
 * kept - fragments from the store: begin with an entry, read, install
 *
 * See kept.h for all of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/kept.h"
#include "keep/keep.h"
#include "stream/stream.h"
#include "util.h"
#include "xlate/xlate.h"

#define MANY 32768u		/* fragments: most of the table has some */
#define AHEAD 2048u		/* installed after a request, at most */
enum { PART_EXITS = 3, PART_ZONE = 5, PART_DEF = 7 };	/* of kept_vector */
#define AT_ONCE 16u		/* before we look for requests again */

static bool usable;
/* Where ids are in the code, an image whose ids begin later does without. */
static uint32_t firstid;
static struct kept_mark *marks;	/* of this run */
static size_t nmarks, capmarks;
static uint32_t cursor, budget;	/* of kept_ahead */

/*
 * The bytes of a chunk, as they were read: a buffer that stays in the
 * processor's cache.
 */
static struct {
	uint8_t *bytes;
	size_t cap;
	struct iovec part[CHUNK_PARTS];
	uint32_t number;	/* which chunk it is */
	bool undefined;		/* some of its definitions will be made later */
} chunk;

uint32_t
kept_hash(uint64_t pc)
{
	return (uint32_t)(pc * 0x9e3779b97f4a7c15ull >> 32);
}

/* What the store cannot do yet, or can never do; NULL: all is well. */
static const char *
hindrance(void)
{
	if (opt->each)
		return "not with --rep=each";
	if (opt->contexts != 0 || opt->allocs)
		return "not with --contexts or --allocs";
	if (opt->aslr)
		return "with --aslr all addresses are others each time";
	if (opt->pid != 0)
		return "not for a process that runs already";
	if (opt->debug != 0)
		return "not with --debug";
	if (opt->windows != 0 || opt->after != 0 || opt->during != 0)
		return "not for a part of a run";
	return NULL;
}

void
kept_start(void)
{
	const char *why = hindrance();

	firstid = def_ids_used();
	if (opt->store == NULL)
		return;
	if (why != NULL)
		warn("--store: %s: it is not used", why);
	else
		usable = keep_open(opt->store, opt->store_max);
}

void
kept_close(void)
{
	unsigned i;

	for (i = 0; i < NPART; i++)
		free(kept.part[i]);
	for (i = 0; kept.def != NULL && i < kept.nchunk; i++)
		free(kept.def[i]);
	free(kept.def);
	free(kept.key);
	free(kept.loaded);
	free(kept.broken);
	free(kept.installed);
	free(kept.defined);
	free(kept.link);
	free(kept.waiting);
	if (kept.fd >= 0)
		close(kept.fd);
	memset(&kept, 0, sizeof kept);
	kept.fd = -1;
}

struct kept_mark
kept_now(void)
{
	return (struct kept_mark){ { area.zone_used[0], area.zone_used[1] },
	    { area.nfrag[0], area.nfrag[1] }, area.nmap, area.nexit,
	    store_npieces(), 0, 0, 0 };
}

const struct kept_mark *
kept_mark_of(uint32_t k)
{
	return k < nmarks ? &marks[k] : NULL;
}

void
kept_note(void)
{
	if (!kept.on || nfrag % CHUNK != 0 || nfrag / CHUNK < nmarks)
		return;
	marks = xgrow(marks, &capmarks, nmarks + 1, sizeof *marks);
	marks[nmarks++] = kept_now();
}

/* -------------------------------------------------------------------- begin */

size_t
kept_part_size(unsigned part)
{
	static const size_t size[NPART] = {
		[PART_KEY] = 1, [PART_MARKS] = sizeof(struct kept_mark),
		[PART_INDEX] = sizeof(struct kept_index),
		[PART_HASH] = sizeof(uint32_t),
		[PART_META0] = sizeof(struct fragmeta),
		[PART_META1] = sizeof(struct fragmeta),
		[PART_OBJECTS] = sizeof(struct kept_object),
		[PART_NUMBERS] = sizeof(uint64_t),
		[PART_CELLS] = sizeof(uint64_t)
	};

	return size[part];
}

/* Read the parts; false: they are not what was written. */
static bool
read_parts(void)
{
	const struct kept_head *h = &kept.head;
	uint64_t at = h->parts, n, sum;
	const size_t from = offsetof(struct kept_head, size);
	struct iovec v;
	unsigned i;

	sum = keep_sum(0, (const char *)h + from, sizeof *h - from);
	for (i = 0; i < NPART; i++, at += n) {
		n = h->n[i] * kept_part_size(i);
		if (n > h->size || at > h->size - n)
			return false;
		kept.part[i] = xmalloc(n + 1);
		area_touch(kept.part[i], n);
		v = (struct iovec){ kept.part[i], n };
		if (!keep_read(kept.fd, at, &v, 1))
			return false;
		sum = keep_sum(sum, v.iov_base, n);
	}
	return sum == h->sum && at == h->size;
}

/* Do the marks rise, to what there is room for? */
static bool
check_marks(void)
{
	const struct kept_mark *m = kept.mark, *e = m + kept.nchunk;
	const struct kept_mark least = { .off = 0 }, *last = &least;

	for (; m <= e; last = m++)
		if (m->zone[0] < last->zone[0] || m->zone[1] < last->zone[1] ||
		    m->meta[0] < last->meta[0] || m->meta[1] < last->meta[1] ||
		    m->map < last->map || m->exit < last->exit ||
		    m->piece < last->piece ||
		    m->def < last->def || m->def > kept.head.size)
			return false;
	return e->zone[0] <= area.boot.seg[SEG_ZONE0].size / 2 &&
	    e->zone[1] <= area.boot.seg[SEG_ZONE1].size / 2 &&
	    e->meta[0] == kept.head.n[PART_META0] &&
	    e->meta[1] == kept.head.n[PART_META1] &&
	    e->meta[0] <= area.maxfrag / 2 && e->meta[1] <= area.maxfrag / 2 &&
	    e->map <= area.maxmap / 2 && e->exit <= area.maxexit / 2 &&
	    e->piece <= area.maxmap;
}

static bool
check_parts(void)
{
	const struct kept_head *h = &kept.head;
	uint32_t i;

	if (strlen(kept.key) != h->n[PART_KEY] ||
	    memcmp(kept.key, kept.part[PART_KEY], h->n[PART_KEY]) != 0 ||
	    h->nfrag > area.maxfrag / 2 || h->ncounter > area.maxcount / 2 ||
	    h->nid > NIDS / 2 || h->n[PART_CELLS] >= CELLS ||
	    h->n[PART_INDEX] != h->nfrag ||
	    h->n[PART_MARKS] != kept.nchunk + 1 ||
	    h->n[PART_HASH] != h->mask + 1ull ||
	    (h->mask & (h->mask + 1)) != 0 || h->mask < h->nfrag ||
	    !check_marks())
		return false;
	for (i = 0; i < h->nfrag; i++)
		if (kept.index[i].object > kept.nobject)
			return false;
	for (i = 0; i <= h->mask; i++)
		if (kept.hash[i] > h->nfrag)
			return false;
	for (i = 0; i < kept.nobject; i++)
		if (memchr(kept.object[i].path, '\0',
		    sizeof kept.object[i].path) == NULL ||
		    kept.object[i].number > h->n[PART_NUMBERS] ||
		    kept.object[i].npage > h->n[PART_NUMBERS] -
		    kept.object[i].number)
			return false;
	return true;
}

/* The head; false: there is none, or not of this file. */
static bool
read_head(void)
{
	struct kept_head *h = &kept.head;
	struct iovec v = { h, sizeof *h };
	struct stat s;

	return kept.fd >= 0 && keep_read(kept.fd, 0, &v, 1) &&
	    memcmp(h->magic, KEPT_MAGIC, sizeof h->magic) == 0 &&
	    fstat(kept.fd, &s) == 0 && h->size == (uint64_t)s.st_size;
}

/* Read what is read at once; false: there is no entry, or it is no good. */
static bool
open_entry(void)
{
	const struct kept_head *h = &kept.head;

	kept.fd = keep_entry(kept.name);
	if (!read_head() || !read_parts())
		return false;
	kept.mark = kept.part[PART_MARKS];
	kept.index = kept.part[PART_INDEX];
	kept.hash = kept.part[PART_HASH];
	kept.object = kept.part[PART_OBJECTS];
	kept.number = kept.part[PART_NUMBERS];
	kept.nfrag = h->nfrag;
	kept.nobject = h->n[PART_OBJECTS];
	kept.nchunk = (kept.nfrag + CHUNK - 1) / CHUNK;
	if (h->n[PART_MARKS] != kept.nchunk + 1)
		return false;
	kept.nexit = kept.mark[kept.nchunk].exit;
	return check_parts();
}

/* Put zone z's table of fragments to its place. */
static void
put_meta(unsigned z, uint32_t n)
{
	struct fragmeta *to = area.frags[z];
	const struct segment *s = &area.boot.seg[SEG_META];
	size_t bytes = n * sizeof *to;

	/* where nothing is told we never look at it, and need no pages */
	if (!opt->kind->tells && memfile_write(area.fd,
	    kept.part[PART_META0 + z], bytes, s->off + (uint64_t)((uint8_t *)to
	    - area.seg[SEG_META])) == (ssize_t)bytes)
		return;
	area_touch(to, bytes);
	memcpy(to, kept.part[PART_META0 + z], bytes);
}

/* Set aside the space that the entry needs. */
static void
reserve(void)
{
	const struct kept_mark *end = &kept.mark[kept.nchunk];
	unsigned z;

	store_reserve(kept.nfrag, end->piece);
	link_reserve(kept.nexit);
	for (z = 0; z < 2; z++) {
		area.zone_used[z] = end->zone[z];
		put_meta(z, end->meta[z]);
		store_publish(z, end->meta[z]);
	}
	area.nmap = end->map;
	store_publish_exits(end->exit);
	kept.def = xcalloc(kept.nchunk + 1ul, sizeof *kept.def);
	kept.loaded = xcalloc(kept.nchunk + 1ul, sizeof *kept.loaded);
	kept.broken = xcalloc(kept.nchunk + 1ul, sizeof *kept.broken);
	kept.installed = xcalloc(kept.nfrag + 1ul, sizeof *kept.installed);
	kept.defined = xcalloc(kept.nfrag + 1ul, sizeof *kept.defined);
	kept.link = xcalloc(kept.nexit + 1ul, sizeof *kept.link);
	kept.waiting = xcalloc(kept.nfrag + 1ul, sizeof *kept.waiting);
	area_touch(kept.link, kept.nexit * sizeof *kept.link);
	if (kept.nfrag >= MANY) {
		area_touch(area.tab, area.boot.seg[SEG_TABLE].size);
		area_touch(area.tabfrag, (area.tabmask + 1ul) *
		    sizeof *area.tabfrag);
	}
	marks = xgrow(marks, &capmarks, kept.nchunk + 1ul, sizeof *marks);
	memcpy(marks, kept.mark, kept.nchunk * sizeof *marks);
	nmarks = kept.nchunk;
}

static void
name_entry(void)
{
	kept.key = kept_key();
	snprintf(kept.name, sizeof kept.name, "%016llx",
	    (unsigned long long)keep_sum(0, kept.key, strlen(kept.key)));
}

void
kept_begin(void)
{
	kept_close();
	chunk.number = ~0u;
	nmarks = 0;
	cursor = budget = 0;
	if (!usable || (def_ids_are_fixed() && def_ids_used() != firstid))
		return;
	name_entry();
	counters_reserve(0);
	if (open_entry()) {
		reserve();
		counters_reserve(kept.head.ncounter);
		if (opt->kind->tells)
			def_reserve(kept.nfrag, kept.head.nid);
		filter_put_cells(kept.part[PART_CELLS],
		    kept.head.n[PART_CELLS]);
	} else {
		kept_close();
		name_entry();
	}
	kept.on = true;
	pages_start();
	objects_begin();
}

void
kept_mapped(uint64_t start, uint64_t end)
{
	if (kept.on)
		objects_changed(start, end);
}

/* --------------------------------------------------------------------- read */

void
kept_vector(struct iovec v[CHUNK_PARTS], uint32_t first, uint32_t end,
    const struct kept_mark *m, const struct kept_mark *e, uint8_t *def)
{
	unsigned z;

	v[0] = (struct iovec){ frags + first, (end - first) * sizeof *frags };
	v[1] = (struct iovec){ store_piece(m->piece),
	    (e->piece - m->piece) * sizeof(struct code_piece) };
	v[2] = (struct iovec){ kept.link + m->exit,
	    (e->exit - m->exit) * sizeof *kept.link };
	v[3] = (struct iovec){ area.exits + m->exit,
	    (e->exit - m->exit) * sizeof *area.exits };
	v[4] = (struct iovec){ area.maps + m->map, e->map - m->map };
	for (z = 0; z < 2; z++)
		v[5 + z] = (struct iovec){ area.seg[SEG_ZONE0 + z] +
		    m->zone[z], e->zone[z] - m->zone[z] };
	v[7] = (struct iovec){ def, e->def - m->def };
}

const uint8_t *
kept_def(uint32_t i, size_t *n)
{
	uint32_t k = i / CHUNK;
	uint64_t all = kept.mark[k + 1].def - kept.mark[k].def;
	const uint8_t *def = kept.def[k] != NULL ? kept.def[k] :
	    chunk.number == k ? chunk.part[PART_DEF].iov_base : NULL;

	if (def == NULL || kept.index[i].def >= all)
		return NULL;
	*n = all - kept.index[i].def;
	return def + kept.index[i].def;
}

/* Are fragment i's numbers in bounds?  Its chunk lies between these marks. */
static bool
check_fragment(uint32_t i, const struct kept_mark *m,
    const struct kept_mark *e)
{
	const struct frag *f = &frags[i];
	const struct segment *s = &area.boot.seg[SEG_ZONE0 + (f->zone & 1)];
	const struct kept_link *l;
	uint32_t k;

	if (f->pc != kept.index[i].pc || f->zone > 1 || f->mode != 0 ||
	    f->owner != 0 || f->meta >= e->meta[f->zone] ||
	    f->exit < m->exit || f->exit > e->exit ||
	    f->nexit > e->exit - f->exit || f->piece < m->piece ||
	    f->piece > e->piece || f->npiece > e->piece - f->piece ||
	    f->firstin != 0 || f->firstarc != 0 ||
	    entry_address(f->entry) - s->addr >= e->zone[f->zone])
		return false;
	for (k = f->exit; k < f->exit + f->nexit; k++) {
		l = &kept.link[k];
		if (l->jmp + 4ull > e->zone[f->zone] ||
		    l->stub >= e->zone[f->zone] || l->to > kept.nfrag ||
		    l->next != 0 || !link_fits(f, l->jmp, l->stub))
			return false;
	}
	return true;
}

static bool
read_chunk(const struct kept_mark *m, const struct iovec v[CHUNK_PARTS])
{
	uint64_t sum = 0;
	size_t n = 0;
	unsigned i;

	for (i = 0; i < CHUNK_PARTS; i++)
		n += v[i].iov_len;
	chunk.bytes = xgrow(chunk.bytes, &chunk.cap, n + 1, 1);
	if (!keep_read(kept.fd, m->off, &(struct iovec){ chunk.bytes, n }, 1))
		return false;
	for (i = 0, n = 0; i < CHUNK_PARTS; n += v[i++].iov_len) {
		chunk.part[i] = (struct iovec){ chunk.bytes + n, v[i].iov_len };
		sum = keep_sum(sum, chunk.bytes + n, v[i].iov_len);
	}
	return sum == m->sum;
}

/*
 * Put the chunk's parts to their places.  Those in the memory file are written
 * there by its descriptor, which costs less than a fault for each page.
 */
static bool
place_chunk(const struct iovec v[CHUNK_PARTS], bool shared)
{
	const uint8_t *to;
	unsigned i, z;
	ssize_t n;
	uint64_t at;

	for (i = 0; i < CHUNK_PARTS; i++) {
		to = v[i].iov_base;
		for (z = 0; z < NSEG; z++)
			if ((uint64_t)(to - area.seg[z]) <
			    area.boot.seg[z].size)
				break;
		if ((z < NSEG) != shared || i == PART_DEF)
			continue;
		if (z == NSEG) {
			memcpy(v[i].iov_base, chunk.part[i].iov_base,
			    v[i].iov_len);
			continue;
		}
		at = area.boot.seg[z].off + (uint64_t)(to - area.seg[z]);
		n = memfile_write(area.fd, chunk.part[i].iov_base,
		    v[i].iov_len, at);
		if (n != (ssize_t)v[i].iov_len)
			return false;
		if (i == PART_ZONE || i == PART_ZONE + 1)
			area_touch(v[i].iov_base, v[i].iov_len);
	}
	return true;
}

/* Give the stream the fragment's definition; false: it has none. */
static bool
define(uint32_t i, struct exitmeta *exits)
{
	const struct frag *f = &frags[i];
	uint32_t number = NODEF, e;
	const uint8_t *p;
	size_t n;

	if (!opt->kind->tells || kept.defined[i])
		return true;
	p = kept_def(i, &n);
	if (p == NULL || !def_unpack(p, n, f->pc, kept.head.ncounter, &number))
		return false;
	area.frags[f->zone][f->meta].block = number;
	for (e = 0; e < f->nexit; e++)
		exits[e].block = number;
	kept.defined[i] = true;
	return true;
}

/*
 * Prepare fragment i, of a chunk that is whole, for what it is to be: its
 * definition is made before its exits are placed.
 */
static void
prepare(uint32_t i, uint32_t firstexit)
{
	const struct frag *f = &frags[i];
	struct exitmeta *exits = (struct exitmeta *)
	    chunk.part[PART_EXITS].iov_base + (f->exit - firstexit);
	const struct kept_link *l = &kept.link[f->exit];
	uint32_t e;

	if (!object_is_there(kept.index[i].object) || !define(i, exits))
		chunk.undefined = true;
	for (e = 0; e < f->nexit; e++)
		link_put(f->exit + e, f, l[e].jmp, l[e].stub);
}

static void
keep_definitions(void)
{
	const struct iovec *p = &chunk.part[PART_DEF];

	kept.def[chunk.number] = xmalloc(p->iov_len + 1);
	memcpy(kept.def[chunk.number], p->iov_base, p->iov_len);
}

/* Read a chunk and check it; false: it is not what was written. */
static bool
take_chunk(uint32_t first, uint32_t end, const struct kept_mark *m)
{
	struct iovec v[CHUNK_PARTS];
	uint32_t i;

	kept_vector(v, first, end, m, m + 1, NULL);
	if (!read_chunk(m, v) || !place_chunk(v, false))
		return false;
	chunk.number = first / CHUNK;
	chunk.undefined = false;
	for (i = first; i < end; i++)
		if (kept.index[i].object != 0 && !check_fragment(i, m, m + 1))
			return false;
	for (i = first; i < end; i++)
		if (kept.index[i].object != 0)
			prepare(i, m->exit);
	if (chunk.undefined)
		keep_definitions();
	return place_chunk(v, true);
}

bool
kept_load(uint32_t k)
{
	const struct kept_mark *m = &kept.mark[k];
	uint32_t first = k * CHUNK, end = first + CHUNK, i;
	bool good;

	if (kept.loaded[k])
		return !kept.broken[k];
	kept.loaded[k] = true;
	end = end < kept.nfrag ? end : kept.nfrag;
	good = take_chunk(first, end, m);
	kept.broken[k] = !good;
	kept.damaged |= !good;
	for (i = first; i < end; i++) {
		if (!good || kept.index[i].object == 0)
			memset(&frags[i], 0, sizeof *frags);
		frags[i].dead = true;
	}
	return good;
}

/* ------------------------------------------------------------------ install */

/* Fragment + 1 for pc, or 0. */
static uint32_t
find(app_pc pc)
{
	uint32_t i = kept_hash(pc) & kept.head.mask, n;

	for (n = 0; n <= kept.head.mask; n++) {
		if (kept.hash[i] == 0 ||
		    kept.index[kept.hash[i] - 1].pc == pc)
			return kept.hash[i];
		i = (i + 1) & kept.head.mask;
	}
	return 0;
}

/* Can fragment i be installed?  Its chunk is read, then. */
static bool
is_ready(uint32_t i)
{
	return !kept.installed[i] && kept.index[i].object != 0 &&
	    object_is_there(kept.index[i].object) && kept_load(i / CHUNK);
}

static bool
is_live(uint32_t i)
{
	return i < kept.nfrag && kept.installed[i] && !frags[i].dead;
}

/* Link exit e to the fragment it led to, now or when that is installed. */
static void
link_out(uint32_t e)
{
	struct kept_link *l = &kept.link[e];

	if (l->to == 0)
		return;
	if (is_live(l->to - 1)) {
		link_exit(e, l->to - 1);
	} else if (!kept.installed[l->to - 1]) {
		l->next = kept.waiting[l->to - 1];
		kept.waiting[l->to - 1] = e + 1;
	}
}

/* False: it cannot be. */
static bool
install(uint32_t i)
{
	struct frag *f = &frags[i];
	uint32_t e;

	kept.installed[i] = true;
	if (!define(i, &area.exits[f->exit]))
		return false;
	f->dead = false;
	table_put(i);
	for (e = f->exit; e < f->exit + f->nexit; e++)
		link_out(e);
	for (e = kept.waiting[i]; e != 0; e = kept.link[e - 1].next)
		link_exit(e - 1, i);
	link_waiting(i);
	stats.kept++;
	return true;
}

int64_t
kept_install(app_pc pc)
{
	uint32_t i;

	if (!kept.on || kept.nfrag == 0)
		return -1;
	i = find(pc);
	if (i == 0 || !is_ready(i - 1) || !install(i - 1))
		return -1;
	cursor = i;
	budget = AHEAD;
	return i - 1;
}

bool
kept_ahead(void)
{
	uint32_t n = 0;

	while (n < AT_ONCE && budget > 0 && cursor < kept.nfrag) {
		budget--;
		n += is_ready(cursor) && install(cursor);
		cursor++;
	}
	return n > 0;
}
