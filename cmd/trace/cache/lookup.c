/*
 * lookup - the words by which indirect jumps find fragments
 *
 * Two for each target, the first by the low 16 bits of its pc, the second by
 * more of them and with a tag: see IBL_WORDS and AGAIN_WORDS in find.h.  The
 * guest's threads fill them, and so does the store; what is dropped is taken
 * out of them here.
 */
#include <string.h>
#include <sys/uio.h>

#include "cache/parts.h"
#include "callctx.h"
#include "look.h"

static struct aside writing;

void
lookup_empty(void)
{
	uint32_t i, n = opt->windows != 0 ? 2 * IBL_WORDS : IBL_WORDS;

	for (i = 0; i < n; i++)
		area.ibl[i] = area.miss;
	memset(area.ibl + 2 * IBL_WORDS, 0, 8 * AGAIN_WORDS);
}

void
lookup_begin(void)
{
	static uint64_t words[PAGE / 8];
	static struct iovec v[2 * IBL_SIZE / PAGE];
	static struct aside_part all;
	uint32_t i, n = opt->windows != 0 ? 2 * IBL_SIZE : IBL_SIZE;

	all = (struct aside_part){ v, n / PAGE, area.boot.seg[SEG_IBL].off };
	for (i = 0; i < PAGE / 8; i++)
		words[i] = area.miss;
	for (i = 0; i < n / PAGE; i++)
		v[i] = (struct iovec){ words, PAGE };
	aside_begin(&writing, area.fd, &all, 1);
}

void
lookup_end(void)
{
	if (!aside_end(&writing))
		lookup_empty();
}

/* The word by which indirect jumps find a fragment, and what it then is. */
static uint64_t *
lookup_word(const struct frag *f)
{
	return &area.ibl[(f->pc + owner_key(f->owner)) % IBL_WORDS +
	    (f->mode & MODE_OUT ? IBL_WORDS : 0)];
}

uint64_t
lookup_of(const struct frag *f)
{
	return entry_address(f->entry) - entry_prologue(f->entry);
}

/* The place of a cache address in a zone, see look_in_zone1. */
static uint32_t
place_of(unsigned zone, uint64_t address)
{
	uint64_t off = address - area.boot.seg[SEG_ZONE0 + zone].addr;

	return zone == 0 ? (uint32_t)off : look_in_zone1(off);
}

/* The second word, and what it then is. */
static uint64_t *
word_again(const struct frag *f)
{
	return &area.ibl[again_at(f->pc)];
}

static uint64_t
again_of(const struct frag *f)
{
	return again_word(f->pc, place_of(f->zone, lookup_of(f)));
}

enum lookup_by
lookup_state(const struct frag *f)
{
	uint64_t word = ONCE(*lookup_word(f));
	uint32_t now = table_find(key_of(f));	/* f, or what took its place */

	if (entry_prologue(f->entry) == 0 || word == area.miss)
		return LOOKUP_NONE;
	return word == lookup_of(now == 0 ? f : &frags[now - 1]) ?
	    LOOKUP_FIRST : LOOKUP_SECOND;
}

void
lookup_fetch(app_pc pc)
{
	__builtin_prefetch(&area.ibl[pc % IBL_WORDS], 1);
}

void
lookup_put(app_pc pc, uint64_t to, bool second)
{
	const struct segment *one = &area.boot.seg[SEG_ZONE1];
	uint64_t *word = &area.ibl[pc % IBL_WORDS];

	if (*word == area.miss && !second)
		*word = to;
	else if (opt->contexts == 0 && opt->windows == 0)
		area.ibl[again_at(pc)] = again_word(pc,
		    place_of(to - one->addr < one->size, to));
}

void
lookup_drop(const struct frag *f)
{
	uint64_t *word = lookup_word(f), *again = word_again(f);

	/* a thread fills the words first, then looks whether that holds */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (*word == lookup_of(f))
		*word = area.miss;
	if (*again == again_of(f))
		*again = 0;
}
