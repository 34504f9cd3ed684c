/*
 * calls.h - which functions a thread is in
 *
 * From entries and exits of functions, some of which may be missing.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stddef.h>
#include <stdint.h>

struct calls_frame {
	uint64_t	tick;	/* of the entry */
	uint64_t	inner;	/* for the caller: ticks in callees, say */
	uint32_t	id;
};

/* One thread.  frame[0] is the outermost. */
struct calls {
	struct calls_frame *frame;
	size_t		 n, cap;
	uint64_t	 no_entry;	/* exits without an entry */
	uint64_t	 no_exit;	/* frames without an exit */
	uint32_t	 tid, pid;
	void		*count;		/* frames by id, once needed */
};

/* All threads, by process and thread id; zeroed memory is an empty set. */
struct calls_set {
	struct calls	**thread;	/* in the order of their first events */
	size_t		 n, cap;
	void		*index;
};

/* The thread with these ids, which may be new; it does not move. */
struct calls	*calls_thread(struct calls_set *, uint32_t pid, uint32_t tid);
void		 calls_reset(struct calls_set *);	/* no thread is known */

/*
 * Enter a function. Returns its frame, good until the next calls_enter. Of a
 * million frames the outer half is dropped first.
 */
struct calls_frame *calls_enter(struct calls *, uint32_t id, uint64_t tick);
/*
 * How many frames, from the innermost on, an exit of id leaves: 1; more if
 * exits are missing (an exception passed through, say); 0 if id was not
 * entered.  The caller uses the frames, and then calls calls_drop with that.
 */
size_t		 calls_match(struct calls *, uint32_t id);
void		 calls_drop(struct calls *, size_t n);

#endif
