/*
 * inject - putting the runtime into a stopped process
 */
#ifndef INJECT_H
#define INJECT_H

#include <sys/types.h>
#include <sys/user.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared.h"

/* The blob's own head: offsets of start, data, end, struct rt, and
 * where empty lookup words lead, and where other threads begin. */
struct head {
	uint64_t start, data, end, rt, miss, join;
};

/* Where the program goes on under the runtime. */
struct start {
	struct guest_state at;
	uint64_t minframe;		/* AT_MINSIGSTKSZ */
	uint64_t trap;			/* code that remote calls may overwrite */
	uint64_t scratch;		/* 16 bytes that can be written */
	uint32_t flags;			/* BOOT_* besides */
	uint64_t old;			/* another runtime that shall go, or 0 */
	uint32_t others;		/* threads that begin besides */
	int fd, theirs;			/* the memory file: here, and there */
};

/* attach.c: the threads of a process that runs already, stopped. */
struct thread {
	pid_t tid;
	struct user_regs_struct r;
	struct guest_state s;
};
extern struct thread *attach_threads;
extern size_t attach_nthreads;
/* Stop those that are not yet; how many there were. */
unsigned attach_stop(void);
/*
 * The call that the stop cut short is made again: r is changed so that it is.
 * 1: by SYS_restart_syscall, as what is left of it; r->rip is behind the call.
 */
int attach_restart(struct user_regs_struct *r);
/* Stacks on which threads began: where, or 0. */
extern uint64_t attach_stacks;

/* SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV stay deliverable: remote calls. */
#define ALL_ASYNC (~(1ull << 3 | 1ull << 4 | 1ull << 6 | 1ull << 7 | 1ull << 10))

/* Open the memory of guest.pid. */
void guest_open(void);
void guest_read(uint64_t at, void *, size_t);
void guest_write(uint64_t at, const void *, size_t);
/* Until guest.tid stops with this signal; others are passed on. */
void guest_wait_stop(int sig);

/* System calls in the stopped guest.tid, by code put at `at`. */
void remote_begin(uint64_t at);
long remote(long nr, const uint64_t a[6]);
void remote_end(void);

/* Its thread executes 64-bit code: we can follow no other. */
bool inject_is_64bit(const struct user_regs_struct *);
/* All of a state but the signals that are blocked. */
void inject_state(struct guest_state *, const struct user_regs_struct *);
/* Make the memory file: nothing is changed should this fail. */
void inject_file(struct start *);
/* Then it runs on, by itself. */
void inject(const struct start *);

#endif
