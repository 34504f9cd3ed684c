/*
 * keptsave - write an entry of the store: what was kept, and what is new
 *
 * The program's process is gone, so its code may be patched: all links are cut
 * and those within an object are made, and the arrays are written as they are.
 * See enum kept_part.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/kept.h"
#include "evpack.h"
#include "keep/keep.h"
#include "stream/stream.h"
#include "xlate/xlate.h"
#include "hash.h"
#include "mem.h"

static struct save {
	struct kept_object *object;
	uint32_t nobject;
	size_t capobject;
	uint32_t *of_live, *of_stored, *of_gone;	/* + 1, or 0: not yet */
	struct kept_index *index;
	uint32_t *hash, mask;
	uint64_t *lookup;	/* by fragment, as it was in the run */
	struct kept_put *put;
	uint32_t nput;
	struct link *link;
	struct code_piece *piece;
	struct kept_pages pages;
	uint8_t *def;
	size_t ndef, capdef;
	struct shelf_count *count;	/* by counter; NULL: no shelf */
	char *text;
	size_t ntext, captext;
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

/* What was not installed in this run: of what is not mapped, or not asked. */
static uint32_t
object_of_stored(uint32_t i)
{
	uint32_t o = kept.index[i].object, k;
	struct kept_live *l;

	if (o == 0)
		return 0;
	for (k = 0; (l = object_live(k)) != NULL; k++)
		if (l->stored == o)
			return object_of_live(l);
	return object_can_stay(o) ? put_object(&kept.object[o - 1],
	    &s.of_stored[o]) : 0;
}

static uint32_t
object_of(uint32_t i)
{
	if (!kept_is_installed(i))
		return object_of_stored(i);
	return kept_is_wanted(i) ? object_of_live(object_at(frags[i].pc)) : 0;
}

/* A table that is filled at once: n elements of so many bytes, all 0. */
static void *
table(size_t n, size_t size)
{
	void *p = xcalloc(n, size);

	xtouch_all(p, n * size);
	return p;
}

static void
prepare(void)
{
	uint32_t n = 0;

	while (object_live(n) != NULL)
		n++;
	s.of_live = xcalloc(n + 1ul, sizeof *s.of_live);
	s.of_stored = xcalloc(kept.nobject + 1ul, sizeof *s.of_stored);
	for (n = 0; gone_object(n) != NULL; )
		n++;
	s.of_gone = xcalloc(n + 1ul, sizeof *s.of_gone);
}

/* What was unmapped is written if nothing else came to its place. */
static void
choose_gone(void)
{
	const struct kept_gone *g;
	uint32_t i, k, *object;

	for (i = 0; (g = gone_object(i)) != NULL; i++)
		for (k = 0; gone_can_stay(i) && k < g->is.nput; k++) {
			object = &s.index[g->put[k].frag].object;
			if (*object == 0)
				*object = put_object(&g->is, &s.of_gone[i]);
		}
}

static void
choose_fragments(void)
{
	uint32_t i;

	s.index = table(nfrag + 1ul, sizeof *s.index);
	for (i = 0; i < nfrag; i++)
		s.index[i].object = object_of(i);
	choose_gone();
}

/* Which fragments are written; false: it is not worth it. */
static bool
choose(void)
{
	uint32_t i, new = 0, all = 0;
	bool worth;

	choose_fragments();
	for (i = 0; i < nfrag; i++) {
		all += s.index[i].object != 0;
		new += s.index[i].object != 0 && i >= kept.nfrag;
	}
	worth = (new >= KEPT_LEAST && new >= all / KEPT_SHARE) ||
	    (new > 0 && kept_is_time());
	/* mostly of what is gone: better made anew than kept on */
	if (worth ? all < nfrag / 2 : all - new < kept.nfrag / 2) {
		keep_remove(kept.name);
		return false;
	}
	return worth;
}

static uint32_t *
place_of(uint64_t pc)
{
	uint32_t i = hash_address(pc) & s.mask;

	while (s.hash[i] != 0 && frags[s.hash[i] - 1].pc != pc)
		i = (i + 1) & s.mask;
	return &s.hash[i];
}

static void
fill_hash(void)
{
	uint32_t i;

	for (s.mask = 63; s.mask < 2 * nfrag; )
		s.mask = 2 * s.mask + 1;
	s.hash = table(s.mask + 1ul, sizeof *s.hash);
	for (i = 0; i < nfrag; i++)
		if (s.index[i].object != 0)
			*place_of(frags[i].pc) = i + 1;
}

/* Link the exits of fragment i that lead to others of its object. */
static void
make_links(uint32_t i)
{
	const struct frag *f = &frags[i];
	uint32_t e, to;

	for (e = f->exit; e < f->exit + f->nexit; e++) {
		to = s.link[e].jmp == 0 ? 0 :
		    *place_of((uint64_t)link_key(e));
		if (to != 0 && frags[to - 1].zone == f->zone &&
		    s.index[to - 1].object == s.index[i].object)
			link_exit(e, to - 1);
	}
}

/*
 * Its definition, as it was kept or as it is now.  It will have the fragment's
 * number.
 */
static void
add_def(uint32_t i)
{
	const struct frag *f = &frags[i];
	const uint8_t *p;
	size_t n = 0;

	s.def = xgrow(s.def, &s.capdef, s.ndef + DEF_PACKED_MOST, 1);
	s.index[i].def = (uint32_t)s.ndef;
	if (kept_is_packed(i)) {
		p = kept_def(i, &n);
		n = p == NULL ? 0 : def_packed_size(p, n);
		if (n != 0)
			memcpy(s.def + s.ndef, p, n);
	} else {
		n = def_pack(kept_block_of(f), f->pc, s.def + s.ndef);
	}
	if (n == 0)
		s.index[i].object = 0;
	s.ndef += n;
}

/* The text of its definition, and what its counters count. */
static void
shelve(uint32_t i)
{
	const uint8_t *def = s.def + s.index[i].def;
	int n;

	s.text = xgrow(s.text, &s.captext, s.ntext + TEXT_ROOM, 1);
	n = def_packed_text(def, s.text + s.ntext);
	if (n < 0 || s.ntext > UINT32_MAX - 2 * TEXT_ROOM) {
		s.index[i].object = 0;
		return;
	}
	s.text[s.ntext + (size_t)n] = '\0';
	def_packed_counts(def, s.ndef - s.index[i].def, (uint32_t)s.ntext,
	    s.count);
	s.ntext += (size_t)n + 1;
}

static void
fill_shelf(void)
{
	uint32_t i;

	if (!def_on_shelf())
		return;
	s.count = table(counters_used() + 1ul, sizeof *s.count);
	for (i = 0; i < nfrag; i++)
		if (s.index[i].object != 0)
			shelve(i);
}

static void
set_block(uint32_t i)
{
	const struct frag *f = &frags[i];
	uint32_t e;

	area.frags[f->zone][f->meta].block = i;
	for (e = f->exit; e < f->exit + f->nexit; e++)
		area.exits[e].block = i & 0xfffffff;
}

static int
by_object(const void *a, const void *b)
{
	const struct kept_put *p = a, *q = b;
	uint32_t o = s.index[p->frag].object, r = s.index[q->frag].object;

	if (o != r)
		return o < r ? -1 : 1;
	return (p->pc > q->pc) - (p->pc < q->pc);
}

/* What was not installed keeps what it had. */
static void
keep_lookups(void)
{
	const struct kept_object *o = kept.object;
	uint32_t i, k;

	for (i = 1; i <= kept.nobject; i++, o++)
		for (k = o->put; !kept.installed[i] && k < o->put + o->nput;
		    k++)
			s.lookup[kept.put[k].frag] = kept.put[k].lookup;
}

static void
keep_gone_lookups(void)
{
	const struct kept_gone *g;
	uint32_t i, k;

	for (i = 0; (g = gone_object(i)) != NULL; i++)
		for (k = 0; s.of_gone[i] != 0 && k < g->is.nput; k++)
			if (s.index[g->put[k].frag].object == s.of_gone[i])
				s.lookup[g->put[k].frag] = g->put[k].lookup;
}

static void
fill_lookups(void)
{
	uint32_t i;

	s.lookup = table(nfrag + 1ul, sizeof *s.lookup);
	for (i = 0; i < nfrag; i++)
		s.lookup[i] = kept_lookup(&frags[i]);
	keep_lookups();
	keep_gone_lookups();
}

/* What installs the fragments of each object. */
static void
fill_puts(void)
{
	struct kept_object *o;
	uint32_t i;

	s.put = table(nfrag + 1ul, sizeof *s.put);
	for (i = 0; i < nfrag; i++)
		if (s.index[i].object != 0)
			s.put[s.nput++] = (struct kept_put){ frags[i].pc,
			    s.lookup[i], i, table_word_of(i) };
	qsort(s.put, s.nput, sizeof *s.put, by_object);
	for (i = 0; i < s.nobject; i++)
		s.object[i].put = s.object[i].nput = 0;
	for (i = 0; i < s.nput; i++) {
		o = &s.object[s.index[s.put[i].frag].object - 1];
		if (o->nput++ == 0)
			o->put = i;
	}
}

/* All of fragments that is not what it is in memory. */
static void
fill_fragments(void)
{
	uint32_t i;

	for (i = 0; i < nfrag && opt->kind->tells; i++)
		if (s.index[i].object != 0)
			add_def(i);
	fill_shelf();
	fill_lookups();
	fill_hash();
	s.link = link_cut_all();
	for (i = 0; i < nfrag; i++) {
		frags[i].dead = s.index[i].object == 0;
		if (frags[i].dead)
			continue;
		make_links(i);
		if (opt->kind->tells)
			set_block(i);
	}
	s.piece = table(store_npieces() + 1ul, sizeof *s.piece);
	store_copy_pieces(s.piece);
	fill_puts();
}

/* Those of an object that is gone. */
static void
put_pages(struct kept_object *o, const struct kept_pages *p)
{
	size_t i;

	o->number = (uint32_t)s.pages.n;
	o->npage = (uint32_t)p->n;
	for (i = 0; i < p->n; i++)
		bytes_add(&s.pages, p->number[i], p->sum[i]);
}

static void
fill_pages(void)
{
	const struct kept_gone *g;
	uint32_t i;

	for (i = 0; object_live(i) != NULL; i++)
		if (s.of_live[i] != 0)
			bytes_list(&s.pages, &s.object[s.of_live[i] - 1], 0);
	for (i = 1; i <= kept.nobject; i++)
		if (s.of_stored[i] != 0)
			bytes_list(&s.pages, &s.object[s.of_stored[i] - 1], i);
	for (i = 0; (g = gone_object(i)) != NULL; i++)
		if (s.of_gone[i] != 0)
			put_pages(&s.object[s.of_gone[i] - 1], &g->pages);
}

static bool
put(const void *data, size_t n)
{
	s.at += n;
	return n == 0 || keep_write(s.fd, data, n);
}

static bool
write_parts(const struct kept_head *h, const void *const part[NPART])
{
	static const uint8_t zeros[PAGE];
	unsigned i;

	if (!put(h, sizeof *h) || !put(zeros, kept_align(s.at) - s.at))
		return false;
	for (i = 0; i < NPART; i++)
		if (!put(part[i], kept_part_size(i, h->n[i])) ||
		    !put(zeros, kept_align(s.at) - s.at))
			return false;
	return true;
}

/* The head of an entry with these parts. */
static struct kept_head
make_head(const void *const part[NPART], const uint32_t n[NPART])
{
	struct kept_head h = { KEPT_MAGIC, .size = PAGE,
		.ncounter = counters_used(),
		.nid = def_ids_are_fixed() ? def_ids_used() : 0 };
	const size_t from = offsetof(struct kept_head, size);
	unsigned i;

	memcpy(h.n, n, sizeof h.n);
	for (i = 0; i < NPART; i++)
		h.size = kept_align(h.size + kept_part_size(i, n[i]));
	h.sum = keep_sum(0, (const char *)&h + from, sizeof h - from);
	for (i = 0; i < NPART; i++)
		h.sum = keep_sum(h.sum, part[i], kept_part_size(i, n[i]));
	return h;
}

/* The sizes of all parts; of definitions and pages only once they are there. */
static void
find_sizes(uint32_t n[NPART])
{
	uint32_t ncell;

	filter_cells(&ncell);
	memcpy(n, (const uint32_t[NPART]){
	    [PART_KEY] = (uint32_t)strlen(kept.key),
	    [PART_OBJECTS] = s.nobject,
	    [PART_NUMBERS] = (uint32_t)s.pages.n,
	    [PART_CELLS] = ncell, [PART_INDEX] = nfrag, [PART_PUTS] = s.nput,
	    [PART_FRAGS] = nfrag, [PART_PIECES] = store_npieces(),
	    [PART_LINKS] = area.nexit, [PART_EXITS] = area.nexit,
	    [PART_MAPS] = area.nmap, [PART_META0] = area.nfrag[0],
	    [PART_META1] = area.nfrag[1], [PART_ZONE0] = area.zone_used[0],
	    [PART_ZONE1] = area.zone_used[1], [PART_DEFS] = (uint32_t)s.ndef,
	    [PART_COUNTS] = s.count == NULL ? 0 : counters_used(),
	    [PART_TEXTS] = (uint32_t)s.ntext, [PART_SUMS] = (uint32_t)s.pages.n
	    }, NPART * sizeof *n);
}

/* Can the next run begin with all that there is? */
static bool
is_readable(void)
{
	uint32_t n[NPART];
	bool fits;

	find_sizes(n);
	fits = kept_fits(n, counters_used(), def_ids_are_fixed() ?
	    def_ids_used() : 0);
	if (!fits)
		kept_warn_full();
	return fits;
}

static void
write_entry(void)
{
	uint32_t n[NPART], ncell;
	const void *const part[NPART] = {
		[PART_KEY] = kept.key, [PART_OBJECTS] = s.object,
		[PART_NUMBERS] = s.pages.number,
		[PART_CELLS] = filter_cells(&ncell),
		[PART_INDEX] = s.index, [PART_PUTS] = s.put,
		[PART_FRAGS] = frags, [PART_PIECES] = s.piece,
		[PART_LINKS] = s.link, [PART_EXITS] = area.exits,
		[PART_MAPS] = area.maps,
		[PART_META0] = area.frags[0], [PART_META1] = area.frags[1],
		[PART_ZONE0] = area.seg[SEG_ZONE0],
		[PART_ZONE1] = area.seg[SEG_ZONE1], [PART_DEFS] = s.def,
		[PART_COUNTS] = s.count, [PART_TEXTS] = s.text,
		[PART_SUMS] = s.pages.sum
	};
	struct kept_head h;

	find_sizes(n);
	h = make_head(part, n);
	s.fd = keep_begin(h.size);
	if (s.fd >= 0)
		keep_end(s.fd, kept.name, write_parts(&h, part));
}

static void
forget(void)
{
	free(s.object);
	free(s.of_live);
	free(s.of_stored);
	free(s.of_gone);
	free(s.index);
	free(s.hash);
	free(s.lookup);
	free(s.put);
	free(s.piece);
	free(s.pages.number);
	free(s.pages.sum);
	free(s.def);
	free(s.count);
	free(s.text);
	memset(&s, 0, sizeof s);
}

void
kept_save(void)
{
	if (!kept.on || trust_lost || !kept_may_pay()) {
		kept_close();
		return;
	}
	kept_follow();
	prepare();
	if (choose() && is_readable()) {
		fill_fragments();
		fill_pages();
		write_entry();
	}
	forget();
	kept_close();
}
