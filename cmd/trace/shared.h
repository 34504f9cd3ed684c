/*
 * shared.h - what trace and the runtime inside the guest agree on
 *
 * This is all that both sides include.  The runtime includes the whole, each
 * file of trace those parts that it needs:
 *
 *	alloc.h		--allocs: what allocates, and what is told of it
 *	boot.h		how the runtime begins, and the memory file's segments
 *	callctx.h	--contexts: states, arcs, frames
 *	ctl.h		the segment `control': slots, requests, the queue
 *	find.h		the table, lookup words
 *	look.h		what fragments call the runtime for; kind cache's table
 *	meta.h		fragments, exits, maps
 *	predictor.h	kind branches: a thread's predictor
 *	record.h	records and buffers
 *	tarea.h		a thread's area
 *
 * Two processes work on a run: `trace` translates, and the guest executes the
 * translation out of a code cache, which `trace` writes and the guest can only
 * read and execute.  Between them lies one memory file, mapped by both, cut
 * into SEGMENTS:
 *
 *	control   struct control: queue, slots, request bits, code ranges
 *	table     pc -> fragment entry, open addressing; read by the guest
 *	lookup    IBL_WORDS cache addresses by the low 16 bits of a guest pc,
 *	          and as many for outside of windows; then those for rt_again;
 *	          written by both
 *	meta      fragments, exits and maps (meta.h), for handlers
 *	buffers   NBUF record buffers, each with a guard page behind it in use;
 *	          the lowest free one is taken, so few are used and stay warm
 *	zones     code, two of them: one near the libraries, one near a
 *	          position-independent program (or low, for a fixed one)
 *	counters  kinds counts and cache: one range per thread
 *
 * Invariants:
 * (1) Once the runtime's entry has been left, no guest instruction runs outside
 *     the code cache until the guest is let go, which is final.
 * (2) A guest pc is never a cache address; a cache address never reaches
 *     guest memory or a register that the guest could see.
 * (3) Each guest instruction takes effect in ONE instruction of its fragment,
 *     so each cache address has an exact guest state: its map entry says which.
 * (4) A register that the fragment uses for itself has its guest value in its
 *     home, t->gpr[r]; the map entry's `homed` bits say so.
 * (5) A record is whole as soon as its head is not 0: buffers are zero at
 *     first, and a record's head is written last.
 * (6) Code is reused only after every thread was seen outside of it.
 * (7) The guest can write all of this, if it wants to.  `trace` believes none
 *     of it: it keeps no pointer here, has its own copy of what only it writes
 *     (struct area), and reads all else once and checks it.  Where a check
 *     fails the run is over, see base/trust.c.
 *
 * Life of a fragment: translated [frag_new] -> entered by the guest through
 * the table -> linked from exits [link_exit] -> cut [link_cut] when its code
 * changes -> memory reused when the whole cache is flushed.
 */
#ifndef SHARED_H
#define SHARED_H

#include "alloc.h"
#include "boot.h"
#include "callctx.h"
#include "ctl.h"
#include "find.h"
#include "look.h"
#include "meta.h"
#include "predictor.h"
#include "record.h"
#include "tarea.h"

_Static_assert(CTX_COUNTS % PAGE == 0, "CTX_MORE");
_Static_assert((uint64_t)T_ARCS + CTX_MORE + ARCS_MOST *
    sizeof(struct ctx_arc) < INT32_MAX, "arcs' displacements");

#endif
