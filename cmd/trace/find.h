/*
 * find.h - how a thread finds the code of a pc: the table, and lookup words
 *
 * A part of shared.h.  trace writes both, the runtime reads the table, and
 * fragments and the runtime read and write lookup words.
 */
#ifndef FIND_H
#define FIND_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Windows begun by --from: code is translated once for inside and once, on
 * demand, for outside, each with lookup words of its own.  A thread changes
 * sides at an EXIT_WINDOW, which stands for the first instruction of a
 * function.  MODE_PAST translates that instruction itself, where a function
 * both begins and ends windows.
 */
enum mode { MODE_IN = 0, MODE_OUT = 1, MODE_PAST = 2 };

/*
 * Added to a mode: the fragment leads to no other but returns to the runtime,
 * which can hold a signal until the guest has got on, see runtime/hold.c.
 */
#define MODE_ONCE 4u
#define MODE_ALL 7u		/* tab_key has room for no more bits */
/*
 * Added to a mode where a fragment is asked for, and no part of its key: with
 * an entry for lookup words, before that for others.  Most fragments are only
 * reached by direct exits, and have none.
 */
#define MODE_LOOKUP 8u

/*
 * An entry of the table: 0 if it is free; else the number of a fragment in its
 * zone, and the zone; whether the fragment is gone; and some bits of its key,
 * so that few others are looked at.  With --contexts its owner is in a second
 * table.  PLAIN_JUMP added to an owner: indirect jumps of its own code to the
 * pc need no look.
 *
 * The table grows, and never has more fragments than half its entries, whose
 * number is a power of two.  One with n entries begins at entry n of the
 * segment, the owners' at entry n of its second half; `tabmask' says which
 * table is in use.  A thread that still looks in the last one finds in it what
 * was right when it began.
 */
#define TAB_FIRST (1u << 14)	/* entries to begin with */
#define TAB_ROOM(nfrag) (4u * (nfrag))	/* entries of all, for as many */
#define PLAIN_JUMP (1u << 31)

#define TAB_NUMBER (1u << 20)	/* numbers, plus 1, are below it */
#define TAB_ZONE (1u << 20)
#define TAB_GONE (1u << 21)
#define TAB_TAG_BITS 10

/* The tag of a key and owner, in the high bits of a word. */
static inline uint32_t
tab_tag(uint64_t key, uint32_t owner)
{
	return (uint32_t)((key + owner) * 0x9e3779b97f4a7c15ull >>
	    (64 - TAB_TAG_BITS)) << (32 - TAB_TAG_BITS);
}

/* Does an entry have this tag? */
static inline bool
tab_has_tag(uint32_t entry, uint32_t tag)
{
	return (entry ^ tag) >> (32 - TAB_TAG_BITS) == 0;
}

/* No user address has these bits, so both can be read off the key. */
static inline uint64_t
tab_key(uint64_t pc, unsigned mode)
{
	return pc ^ (uint64_t)mode << 61;
}

/*
 * A key is looked for in eight entries first, in one line of the cache's: they
 * are near for near addresses, which are asked for together.  Where code is
 * dense they are full; then it is in the first free one of eight from another
 * place on, which is another one for each owner.  Where code begins at every
 * byte, as in tables of short jumps, these are full as well, and so are those
 * behind them; then it is in the first free one of a sequence all over the
 * table.
 */
#define TAB_NEAR 8u

/* The entry at which a search for a key begins; mask: entries, less 1. */
static inline uint32_t
tab_first(uint64_t key, uint32_t mask)
{
	return (uint32_t)(key >> 5) & mask;
}

/* The entry behind entry i; n: how many have been looked at. */
static inline uint32_t
tab_next(uint64_t key, uint32_t owner, uint32_t i, uint32_t n, uint32_t mask)
{
	if (n < TAB_NEAR)
		return (i & ~(TAB_NEAR - 1)) | ((i + 1) & (TAB_NEAR - 1));
	if (n == TAB_NEAR)
		i = (uint32_t)(key >> 3) + owner * 0x9e3779b1u;
	else if (n == 2 * TAB_NEAR)
		i = (uint32_t)((key + owner) * 0x9e3779b97f4a7c15ull >> 32);
	else
		i += n < 2 * TAB_NEAR ? 1 : 0x9e3779b1u;
	return i & mask;
}

#define IBL_WORDS 65536u
#define IBL_SIZE (IBL_WORDS * 8u)
/*
 * A word serves all targets with the same low 16 bits, one at a time.  Where it
 * leads elsewhere rt_again looks at another word, whose upper half says for
 * which target it is, pc >> AGAIN_BITS plus 1, and whose lower half is the
 * place (see look_in_zone1) of the entry for lookup words.
 */
#define AGAIN_BITS 15
#define AGAIN_WORDS (1u << AGAIN_BITS)
#define IBL_ALL (2 * IBL_SIZE + AGAIN_WORDS * 8u)

/* The number of pc's word, from the first of all lookup words on. */
static inline uint32_t
again_at(uint64_t pc)
{
	return 2 * IBL_WORDS + (uint32_t)((pc ^ pc >> AGAIN_BITS) %
	    AGAIN_WORDS);
}

/* The word that leads from pc to a place; 0: there is none. */
static inline uint64_t
again_word(uint64_t pc, uint32_t place)
{
	uint64_t tag = (pc >> AGAIN_BITS) + 1;

	return tag >> 32 != 0 ? 0 : tag << 32 | place;
}

#endif
