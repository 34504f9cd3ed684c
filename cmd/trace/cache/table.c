/*
 * table - the table by which the guest finds fragments
 *
 * The guest could write to what it reads, so nothing of that is ever read here:
 * beside it is one of our own, with the number of each entry's fragment.  Both
 * have at least twice as many entries as fragments, dead ones included.
 * Larger ones are filled aside, from our own, before the guest hears of them.
 */
#include <string.h>
#include <sys/mman.h>

#include "cache/parts.h"
#include "ctl.h"
#include "mem.h"

#define GROWTH 4u
#define TAB_TINY 64u		/* for tests: it has to grow */

static uint32_t *numbers;	/* of all sizes, like area.tab */
static size_t nnumber;
/* By entry: its fragment + 1, or 0; the guest's word; the owner, or NULL. */
static uint32_t *number, *word, *owner;

static uint32_t
most(void)
{
	return 2 * area.maxfrag;
}

/* Use the table with n entries: it has its pages then, each by one call. */
static void
use(uint32_t n)
{
	area.tabmask = n - 1;
	number = numbers + n;
	word = area.tab + n;
	owner = area.tabowner == NULL ? NULL : area.tabowner + n;
	xtouch_all(number, n * sizeof *number);
	xtouch_all(word, n * sizeof *word);
	if (owner != NULL)
		xtouch_all(owner, n * sizeof *owner);
}

static void
publish(void)
{
	__atomic_store_n(&area.ctl->tabmask, area.tabmask, __ATOMIC_SEQ_CST);
}

void
table_new(void)
{
	if (numbers != NULL)
		munmap(numbers, nnumber * sizeof *numbers);
	nnumber = TAB_ROOM(area.maxfrag);
	numbers = xreserve(nnumber, sizeof *numbers, "table of fragments");
	if (opt->debug & DEBUG_TINY)
		use(TAB_TINY);
	else
		use(TAB_FIRST < most() ? TAB_FIRST : most());
	publish();
}

/* The index of a key's entry, or of the free entry that it would get. */
static uint32_t
entry_at(frag_key key)
{
	uint32_t i = tab_first((uint64_t)key, area.tabmask), n = 0;

	while (number[i] != 0 && key_of(&frags[number[i] - 1]) != key)
		i = tab_next((uint64_t)key, (uint32_t)(key >> 64), i, ++n,
		    area.tabmask);
	return i;
}

static uint32_t
word_of(const struct frag *f, bool gone)
{
	return (f->meta + 1) | (f->zone == 0 ? 0 : TAB_ZONE) |
	    (gone ? TAB_GONE : 0) | tab_tag(tab_key(f->pc, f->mode), f->owner);
}

static void
set_owner(uint32_t i, const struct frag *f)
{
	if (owner != NULL)
		__atomic_store_n(&owner[i], f->owner | (f->plain ? PLAIN_JUMP :
		    0), __ATOMIC_RELEASE);
}

static void
put(uint32_t f)
{
	uint32_t i = entry_at(key_of(&frags[f]));

	number[i] = f + 1;
	set_owner(i, &frags[f]);
	__atomic_store_n(&word[i], word_of(&frags[f], false), __ATOMIC_RELEASE);
}

void
table_again(uint32_t f)
{
	put(f);
}

void
table_fit(uint32_t n)
{
	uint32_t was = area.tabmask + 1, size = was, *old = number, i;

	while (n > size / 2 && size < most())
		size = GROWTH * size < most() ? GROWTH * size : most();
	if (size == was)
		return;
	use(size);
	for (i = 0; i < was; i++)
		if (old[i] != 0 && !frags[old[i] - 1].dead)
			put(old[i] - 1);
	publish();
	madvise(old, was * sizeof *old, MADV_DONTNEED);
}

void
table_put(uint32_t f)
{
	struct fragmeta *m = &area.frags[frags[f].zone][frags[f].meta];

	m->entry = (uint16_t)(entry_address(frags[f].entry) -
	    area.boot.seg[SEG_ZONE0 + frags[f].zone].addr - m->code);
	m->prologue = (uint8_t)entry_prologue(frags[f].entry);
	m->mode = frags[f].mode;
	table_fit(f + 1);
	put(f);
}

void
table_drop(uint32_t f)
{
	uint32_t i = entry_at(key_of(&frags[f]));

	__atomic_store_n(&word[i], word_of(&frags[f], true), __ATOMIC_SEQ_CST);
}

uint32_t
table_word_of(uint32_t f)
{
	return word_of(&frags[f], false);
}

void
table_add(uint32_t f, app_pc pc, uint32_t w)
{
	uint64_t key = tab_key(pc, MODE_IN);
	uint32_t i = tab_first(key, area.tabmask), n = 0;

	while (number[i] != 0)
		i = tab_next(key, 0, i, ++n, area.tabmask);
	number[i] = f + 1;
	__atomic_store_n(&word[i], w, __ATOMIC_RELEASE);
}

void
table_plain(uint32_t f)
{
	frags[f].plain = true;
	set_owner(entry_at(key_of(&frags[f])), &frags[f]);
}

uint32_t
table_find(frag_key key)
{
	uint32_t f = number[entry_at(key)];

	return f == 0 || frags[f - 1].dead ? 0 : f;
}

void
table_clear(void)
{
	size_t n = area.tabmask + 1ul;

	memset(word, 0, n * sizeof *word);
	if (owner != NULL)
		memset(owner, 0, n * sizeof *owner);
	memset(number, 0, n * sizeof *number);
}
