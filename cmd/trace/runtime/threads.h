/*
 * threads.h - threads and processes: their areas, slots and locks
 *
 *	area.c		areas of threads, and slots
 *	thread.c	they begin and end
 *	lock.c		locks among them
 */
#ifndef THREADS_H
#define THREADS_H

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* ---- area.c ---- */

/* Bytes of address space that the engine takes in the program, ... */
uint64_t area_bytes_all(void);
/* Of them, what is private and can be written. */
uint64_t area_data_all(void);
/* ... and those that one more area would take. */
uint64_t area_bytes(void);
/* An area for a thread, with a slot; NULL: no memory or no slot is left. */
struct tarea *area_new(uint32_t tid);
/* A child that could not be made: its parent frees its area and its slot. */
void area_free(struct tarea *parent, struct tarea *child);
/* The slot's area is about to go: t does not look at it any more. */
void area_forget(struct tarea *t, uint32_t slot);
/*
 * Bytes of the thread's memory that may be unmapped; 0: others still use its
 * actions.
 */
uint64_t area_to_free(struct tarea *);
/* Another thread may have the slot. */
void slot_free(struct slot *);
/* Its thread has ended, and said so: free it once its counts are told. */
void slot_ended(struct slot *);
/* Free all that processes had that trace has buried since the last time. */
void area_free_dead(struct tarea *);
/* Make the first n counters of the area accessible; no memory: panic. */
void counters_room(struct tarea *, uint64_t n);
/* Make all counters of all areas accessible, as far as there is memory. */
void counters_all(struct tarea *);
/* True: it was the fault of a counter beyond these, which now can be. */
bool counters_fault(struct tarea *, uint64_t addr);

/* The thread's counter n, accessible or not. */
static inline uint64_t *
counter_at(const struct tarea *t, uint64_t n)
{
	return (uint64_t *)((uint64_t)t + T_BIAS + T_COUNT) + n;
}

/* Is it the number of our process, or of one of its threads? */
bool area_is_ours(uint64_t number);
/* Signals that wait in the runtime are ignored now: no thread has them. */
void area_drop_waiting(struct tarea *, uint64_t sigs);

/* ---- thread.c ---- */

/* A new thread's first step, on its own area's stack. */
void thread_start(struct tarea *) __attribute__((noreturn));
/* That of a process which shares its parent's memory: it goes on natively. */
void thread_child(struct tarea *) __attribute__((noreturn));
/* The guest's fork, vfork, clone or clone3: the result for the parent. */
long thread_clone(struct tarea *);
/* exit(2) of one thread; or exit_group(2), of a process that shares memory. */
void thread_exit(struct tarea *, long nr, long status)
    __attribute__((noreturn));
/*
 * A process that shares memory is about to die: all that it has becomes free
 * but its area, of which so many bytes may be unmapped.
 */
uint64_t thread_leave(struct tarea *);

/*
 * ---- lock.c ----
 *
 * Take one; true: it was a dead thread's, which may have done things by half.
 */
bool lock_take(struct tarea *, uint32_t *lock);
void lock_give(uint32_t *lock);

#pragma GCC visibility pop
#endif
