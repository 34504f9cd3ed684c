/*
 * parts.h - what the files of this folder share; not for others
 */
#ifndef GUEST_PARTS_H
#define GUEST_PARTS_H

#include <sys/types.h>
#include <sys/user.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "guest/guest.h"

/*
 * The blob's own head: offsets of start, data, end, struct rt, of where empty
 * lookup words lead, and of where other threads begin.
 */
struct head {
	uint64_t start, data, end, rt, miss, called, returned, join;
};

/* blob.S */
extern const uint8_t runtime_blob[], runtime_blob_end[];

/* attach.c: the threads of a process that runs already, stopped. */
struct attached {
	pid_t tid;
	struct user_regs_struct r;
	struct guest_state s;
};
extern struct attached *attach_threads;
extern size_t attach_nthreads;
/* Stop threads that are not stopped yet; returns how many there were. */
unsigned attach_stop(void);
/*
 * Change r so that the system call that the stop cut short is made again.
 * true: by SYS_restart_syscall, which does the rest of it; r->rip is behind it.
 */
bool attach_restart(struct user_regs_struct *r);
/*
 * Behind attach_restart, whose result is `restart': have the program's own
 * instruction make the call, and not the kernel.
 */
void attach_again(struct user_regs_struct *r, bool restart);
/* A restartable sequence that the thread was stopped in is aborted. */
void attach_abort(struct attached *);
/* The address of the stacks on which threads began, or 0. */
extern uint64_t attach_stacks;

/* SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV stay deliverable: remote calls. */
#define ALL_ASYNC \
	(~(1ull << 3 | 1ull << 4 | 1ull << 6 | 1ull << 7 | 1ull << 10))
/*
 * These, and what of the others is pending and blocked in a thread, but not
 * SIGTRAP, which ends a remote call.
 */
uint64_t attach_mask(pid_t tid);
/* Before an exec of our own: ignore again what we were started to ignore. */
void launch_ignore(void);

/* Die unless /proc has guest.pid: by guest.pidfd, before anything is read. */
void guest_is_in_proc(void);
/* This process, not our child, is the program: guest.pid and tid, pidfd. */
void guest_find(pid_t);
/* Open the memory of guest.pid. */
void guest_open(void);
/* The program's memory at this address cannot be accessed: see guest_lost. */
_Noreturn void guest_lost_at(uint64_t at);
/* Copy n bytes at an address of it from there, to there; lost if not all. */
void guest_read(uint64_t at, void *, size_t n);
void guest_write(uint64_t at, const void *, size_t n);

/*
 * System calls in the stopped guest.tid: put code for them at `at`, make one,
 * whose result is the kernel's, and put back what was there.
 */
void remote_begin(uint64_t at);
long remote(long nr, const uint64_t a[6]);
void remote_end(void);
/* The same as we exit, whatever has become of the process. */
void remote_abandon(void);

/* Map a file of its descriptor there, private, at this address and no other. */
long remote_mmap(uint64_t at, uint64_t len, int prot, int fd, uint64_t off);
/*
 * A new memory file, open in both: our descriptor; the guest's in *theirs.  16
 * bytes at `at` are used and put back.
 */
int remote_memfd(uint64_t at, int *theirs);
/* Open our file fd there, too: its descriptor; -1: it cannot be. */
int remote_open(uint64_t at, int fd);

/*
 * relocate.c: at the stop behind exec, move the image to where it lies without
 * randomisation.  Returns NULL, or why it has to stay where it is; *filled gets
 * the bytes of address space that this takes.
 */
const char *relocate(uint64_t *filled);

/*
 * A userfaultfd of the process; -1: it cannot have one. *theirs: its own, which
 * is to be closed, or -1.
 */
int remote_userfaultfd(int *theirs);

/* Its thread executes 64-bit code: we can follow no other. */
bool inject_is_64bit(const struct user_regs_struct *);
/* The stopped thread's restartable sequences. */
void inject_rseq(struct guest_state *, pid_t tid);
/* All of a state but the signals that are blocked. */
void inject_state(struct guest_state *, const struct user_regs_struct *);
/*
 * BOOT_NOTRAP, if the program ignores SIGTRAP. Ask before any remote call: its
 * trap changes that.
 */
uint32_t inject_flags(void);
/* Make the memory file: nothing is changed should this fail. */
void inject_file(struct start *);
/*
 * places.c: choose the addresses of all that is ours, beside an old engine that
 * s has (or s is NULL), in area's segments; die if there is no room.  Changes
 * nothing in the process.
 */
void places_choose(const struct start *s);

/*
 * mapped.c: a process's mappings, by address.  `name` is the rest of the line,
 * with its newline.
 */
struct mapped {
	uint64_t start, end, off, inode;
	char mode[5];		/* as in "rw-p" */
	const char *name;
	/* the reader's own */
	FILE *f;
	char *line;
	size_t cap;
};
/* Begin with the first one; false: errno says why there are none. */
bool mapped_open(struct mapped *, pid_t);
/* The next one but [vsyscall]; false: there is none left, all is closed. */
bool mapped_next(struct mapped *);

void extents_add(struct extents *, uint64_t start, uint64_t end);
/*
 * Add a mapping of the memory file, and the thread's area that lies before each
 * mapping of the lookup words but the segment's own, `ibl'.
 */
void extents_add_ours(struct extents *, const struct mapped *,
    const struct segment *ibl);

/*
 * sequences.c: the addresses of the process's structs rseq_cs with this
 * signature, 0 behind the last; none for signature 0.
 */
void sequences_find(uint64_t sig, uint64_t found[NSEQUENCE]);

/* cpu.c: cpuid's answers, in shared memory */
void cpu_model(enum cpu);
/* The auxiliary vector of a program that sees the model. */
void cpu_auxv(uint64_t (*auxv)[2], unsigned n);

#endif
