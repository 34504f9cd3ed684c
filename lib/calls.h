/* calls.h - which functions a thread is in, from entries and exits that may be incomplete */
#ifndef CALLS_H
#define CALLS_H

#include <stddef.h>
#include <stdint.h>

struct calls_frame {
	uint64_t	tick;	/* of the entry */
	uint64_t	inner;	/* for the caller's use: ticks in callees, say */
	uint32_t	id;
};

/* One thread.  frame[0] is the outermost. */
struct calls {
	struct calls_frame *frame;
	size_t		 n, cap;
	uint64_t	 no_entry;	/* exits of functions that were not entered */
	uint64_t	 no_exit;	/* frames that a later exit of an outer one left */
	uint32_t	 tid, pid;
	void		*count;		/* frames of each id, once an exit did not match */
};

/* calls.c.  All threads, by process and thread id; zeroed memory is a new one. */
struct calls_set {
	struct calls	**thread;	/* in the order of their first events */
	size_t		 n, cap;
	void		*index;
};

struct calls	*calls_thread(struct calls_set *, uint32_t pid, uint32_t tid);
void		 calls_reset(struct calls_set *);	/* no thread is known */

struct calls_frame *calls_enter(struct calls *, uint32_t id, uint64_t tick);
/*
 * How many frames, from the innermost on, an exit of id leaves: 1; more if
 * exits are missing (an exception passed through, say); 0 if id was not
 * entered.  The caller looks at them, then has them dropped.
 */
size_t		 calls_match(struct calls *, uint32_t id);
void		 calls_drop(struct calls *, size_t n);

#endif
