/*
 * look.h - what fragments call the runtime for by rt_look: kind cache, --allocs
 *
 * A part of shared.h.
 */
#ifndef LOOK_H
#define LOOK_H

#include <stdint.h>

#include "record.h"
#include "tarea.h"

/*
 * Kind cache: a look-up by the runtime, see rt_look.  `pc` is the reference's
 * address, `entry` tells where in the cache the arguments lie.  They are two
 * words: the head of the record, and enum lookup with its arguments.  LOOK_REP
 * has two more, the heads of records of each reference; LOOK_FETCH its address,
 * of two words, instead of `pc`, and the cell of each line.  The fragment goes
 * on behind the arguments; those of LOOK_FETCH and LOOK_DATA lie before the
 * call, and say where.
 *
 * Nearly all of LOOK_DATA have none, since a miss of the real cache for them
 * would cost as much as the look-up: the low half of `entry` is where the
 * fragment goes on, and the high half look_data_word, which is never 0 or -1.
 *
 * A place is a number of bytes from the start of zone 0; or from that of zone
 * 1, less 2^31.
 */
static inline uint32_t
look_in_zone1(uint64_t off)
{
	return (uint32_t)off | 1u << 31;
}

#define LOOK_DATA_MOST 128u	/* bytes */
/* What rt_data is called with: a reference's id and its size in bytes. */
static inline uint32_t
look_data_word(uint32_t id, uint32_t size)
{
	return id | size << ID_BITS;
}
#define TO_LOOK_SAVE 12802	/* where registers are saved meanwhile */
/*
 * The table of kind cache, see runtime/table.c: all lines, by set and way.
 * Each has the address of its line and, beside it, the time of its last use.
 * They lie side by side because a processor takes a load for that of an earlier
 * store if the low 12 bits of their addresses agree.  A hint is the offset of a
 * line's way from REG_T plus HINT_TAG, in words of 8 bytes.
 */
#define MAX_SETS 128u
#define PLACES 8u
#define TABLE_LINES (MAX_SETS * PLACES)
#define T_DTAG ((int32_t)T_TABLE - (int32_t)T_PTR)
#define LINE_STAMP 8		/* a line's time, from its tag */
#define HINT_TAG 2		/* the tag, from REG_T plus 8 times its hint */
/*
 * The value of a record of a reference alone: its address, and in the lowest
 * PLACE_BITS the way where its line, or the first of two, enters.  PLACE_SECOND
 * added: the way where the second one enters.
 */
#define PLACE_BITS 4
#define PLACE_SECOND 8u
#define NO_LINE 0x8b3f52e6d41c97a5ull	/* no address; no line begins there */
/* Arguments of enum lookup: bytes. */
#define LOOK_SIZE(n) ((unsigned)(n) << 8)

enum lookup {
	LOOK_FETCH,		/* code lines; bits 4..15: one or two */
	LOOK_DATA,		/* a line at most; bits 4..15: size */
	LOOK_WIDE,		/* a larger one; bits 8..20: its size */
	LOOK_REP,		/* repeated ones, done: values lie in vec */
	LOOK_ALL,		/* unknown lines come in: empty the table */
	/* --allocs, in all kinds */
	LOOK_OPEN,		/* a function of allocations is entered; bits
				 * 8..20: see alloc_bits */
	LOOK_CLOSE,		/* what is open has returned */
	LOOK_ROUNDS		/* kind branches: learn those of a repeated one,
				 * see predictor.h; bit 8: 1 for repne */
};
#define LOOK_KIND 15u		/* mask: the kind in arguments */
/* Bits 4..15 of LOOK_FETCH and LOOK_DATA. */
#define LOOK_LINE_SIZE(n) ((unsigned)(n) << 4)
/* And how many bytes behind the arguments it goes on; may be less than 0. */
static inline uint32_t
look_back(int bytes)
{
	return (uint32_t)bytes << 16;
}

/* Bytes of LOOK_FETCH, with its code, from the second word of arguments. */
static inline unsigned
look_fetch_bytes(uint32_t kind)
{
	return 16 + 4 * (kind >> 4 & 0xfff) + 12;
}
/* And of LOOK_DATA without arguments; where the code has its `entry'. */
#define LOOK_DATA_BYTES 29u
#define LOOK_DATA_ENTRY 13u

/*
 * LOOK_REP, from bit 8 on: references; then, 4 bits each, which values are
 * the count, the first address, the second; then bytes of one round.
 */
#define LOOK_REP_BITS(nref, count, a, b, size) ((unsigned)(nref) << 8 | \
    (unsigned)(count) << 12 | (unsigned)(a) << 16 | (unsigned)(b) << 20 | \
    (unsigned)(size) << 24)

#endif
