/*
 * tarea.h - a thread's area: where the parts of it lie, and what fragments know
 *
 * A part of shared.h.
 */
#ifndef TAREA_H
#define TAREA_H

#include <stddef.h>
#include <stdint.h>

#include "find.h"

/*
 * A thread's area has T_SIZE bytes and is aligned to as many, so that masking
 * any address in it gives its start.  From there: the alternate signal stack,
 * the runtime's stack, the sigreturn copy, at T_OFF `struct tarea`, and at
 * T_TABLE what a kind needs beside it.  REG_T points between the homes and the
 * hot words of struct tarea, so that these have short offsets.  Behind the
 * area: the lookup words (shared), then cells and counters (shared), of which
 * only the part used so far is accessible.  The T_SIZE bytes are a private
 * mapping of the memory file, so that they do not look like the program's own:
 * redis, when it crashes, writes to all writable memory that has no file.
 */
#define T_SIZE (256u << 10)
#define T_ALTSTACK 98304u	/* room for two signal frames with AMX state */
#define T_STACK_TOP 163840u
#define T_FRAME 163840u		/* where a frame for rt_sigreturn is built */
#define T_FRAME_SIZE 32768u
/*
 * REG_T minus the area's start.  Its low 16 bits tell `bextr' where in an
 * address the number of a hint is, and how many bits it has: see filterdata.c.
 */
#define HINT_SHIFT 6u
#define HINT_BITS 12u
#define TABLE_HINTS (1u << HINT_BITS)
#define T_PTR (3u << 16 | HINT_BITS << 8 | HINT_SHIFT)
#define T_BIAS 126		/* REG_T minus the address of struct tarea */
#define T_OFF (T_PTR - T_BIAS)
#define T_TABLE 0x34000u	/* kind cache's table, or a predictor */
#define T_IBL ((int32_t)(T_SIZE - T_PTR))	/* lookup words, from REG_T */
#define T_AGAIN (T_IBL + 2 * (int32_t)IBL_SIZE)
/*
 * Kind cache: a code line's cell holds the time of the line's last use, or 0
 * while the line is not in the table.  Behind the cells are the counters: one
 * for each id where address space allows, else as many as boot.countbytes says.
 */
#define CELLS (1u << 18)
#define FOLLOW_CELLS 4096u	/* kinds without a table: the first of them hold
				 * targets of indirect exits, cache/recent.c */
#define T_CELL (T_IBL + (int32_t)IBL_ALL)	/* cells, from REG_T */
#define T_COUNT (T_CELL + 8 * (int32_t)CELLS)	/* counters, from REG_T */
#define FIRST_COUNTS 4096u	/* accessible at first; each fault doubles it */

/*
 * The head of struct tarea, which fragments and the runtime's assembler use as
 * well.  This is its one definition; TO(member) is the member's offset from
 * REG_T, and runtime/offsets.c makes the assembler's offsets of it.
 */
#define TAREA_HEAD							\
	uint64_t gpr[16];	/* homes */				\
	uint64_t fsbase;	/* REG_T points 2 bytes before it */	\
	uint64_t df;		/* 1: the direction flag is set */	\
	uint64_t tmp0, tmp1;						\
	uint64_t exitno;						\
	uint64_t rt_exit, rt_miss;					\
	uint64_t rt_again;						\
	uint64_t rt_data, rt_fetch; /* kind cache: see rt_look */	\
	uint64_t p;		/* record pointer, or instructions to go */ \
	uint64_t pc;		/* guest pc to go on at */		\
	uint64_t entry;		/* cache address to go on at */		\
	uint64_t rflags;						\
	uint64_t hint_mask;	/* kind cache: bits that select a hint */ \
	int16_t hint[TABLE_HINTS]; /* kind cache: see table.c */	\
	uint64_t clock;		/* kind cache: filtercheck.c ticks */	\
	uint64_t left;		/* --for, --every: instructions */	\
	uint64_t tmp2, gsbase;						\
	uint64_t operand;	/* address that EMU_FPSAVE wrote to */	\
	uint64_t look_ret;	/* rt_look: goes on there, in the cache */ \
	uint64_t look_kind;	/* enum lookup and arguments */		\
	uint64_t rt_called;	/* see entry.S */			\
	uint64_t more;		/* landing of what jumped elsewhere */	\
	uint64_t open;		/* --allocs: minus rsp behind the return of \
				 * what is open, or 0 */		\
	uint64_t flags;		/* at a call: lahf, seto */		\
	uint64_t p_at;		/* where REG_P is while in the runtime:	\
				 * TO(p), or TO(clock) */		\
	uint64_t rt_look;						\
	uint64_t stack;		/* top of the runtime's stack */	\
	uint64_t place[2];	/* rt.place */				\
	uint64_t window;	/* stack pointer where its window began */ \
	uint64_t due;		/* of a new thread, see guest_state */	\
	uint32_t samples[2];	/* entries of compared code until	\
				 * the next sample, see code/watch.c */	\
	uint8_t vec[128];	/* of a gather: index, then mask; kind	\
				 * cache: values of a repeated one */

struct tarea_head {
	TAREA_HEAD
};
#define TO(member) ((int32_t)offsetof(struct tarea_head, member) - T_BIAS)
#define TO_GPR(r) (8 * (r) - T_BIAS)
_Static_assert(offsetof(struct tarea_head, fsbase) == T_BIAS + 2, "REG_T");

/* So many entries of compared code are one sample of its page. */
#define SAMPLE_ENTRIES(slow) ((slow) ? 32768u : 1024u)

#endif
