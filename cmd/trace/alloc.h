/*
 * alloc.h - --allocs: what allocates, and what is told of it
 *
 * A part of shared.h.
 */
#ifndef ALLOC_H
#define ALLOC_H

#include <stdint.h>

/*
 * With --allocs: what a function does with memory, and where its arguments are:
 * in the argument register of that number, from 0.
 */
enum alloc_op {
	ALLOC_NEW,		/* returns size bytes, or 0 */
	ALLOC_STORE,		/* the same, stored where ptr says; returns 0 */
	ALLOC_MAP,		/* returns size bytes, or -1 */
	ALLOC_BREAK,		/* the same; less than 0: frees the last ones */
	ALLOC_AGAIN,		/* the bytes at ptr become size bytes */
	ALLOC_REMAP,		/* the same; returns -1 if it fails */
	ALLOC_FREE		/* the bytes at ptr are free; size of them, or
				 * all if that is ALLOC_NONE */
};
#define ALLOC_NONE 7u
struct alloc_args {
	uint32_t op : 4;
	uint32_t size : 3;	/* the argument with the size, or ALLOC_NONE */
	uint32_t times : 3;	/* with a factor of it, or ALLOC_NONE; of
				 * ALLOC_REMAP: with the old size */
	uint32_t ptr : 3;
};
/* Pack them into the low 13 bits of a word. */
static inline uint32_t
alloc_bits(struct alloc_args a)
{
	return a.op | (uint32_t)a.size << 4 | (uint32_t)a.times << 7 |
	    (uint32_t)a.ptr << 10;
}
/* Unpack the low 13 bits of a word. */
static inline struct alloc_args
alloc_of_bits(uint32_t v)
{
	return (struct alloc_args){ v & 15, v >> 4 & 7, v >> 7 & 7,
	    v >> 10 & 7 };
}
#define LOOK_ARGS(v) ((v) << 8)

/*
 * What is told of them: a record of ALLOC_VALUES values, or, in kind counts,
 * as many words of the queue.  The first value has the number of the event and,
 * in its low byte, the letter of the D line.
 */
#define ALLOC_VALUES 6u
/* Make that first value. */
static inline uint64_t
alloc_word(uint64_t n, char letter)
{
	return n << 8 | (uint8_t)letter;
}

#endif
