/*
 * guest.h - the program's process: how it comes under the runtime, and out
 *
 * launch.c	start a program
 * rights.c	those that a traced program does not get
 * adopt.c	take over a child that its parent's trace left to us
 * attach.c	take over a running process; detach.c leaves it
 * fresh.c	read a new image, as the kernel has made it
 * relocate.c	move one whose addresses are random
 * inject.c	put the runtime into a stopped process
 * places.c	at which addresses
 * remote.c	its memory, and system calls made in it
 * mapped.c	what it has mapped
 * sequences.c	the restartable sequences of one that runs already
 * follow.c	a trace for each child
 * command.c	a program that reads the stream
 * cpu.c	what cpuid tells the program
 * blob.S	the runtime's bytes
 */
#ifndef GUEST_H
#define GUEST_H

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct extents {
	struct extent {
		uint64_t start, end;
	} *v;
	size_t n, cap;
};

/* Where the program goes on under the runtime. */
struct start {
	struct guest_state at;
	uint64_t minframe;		/* AT_MINSIGSTKSZ, or as in boot.h */
	uint64_t filled;		/* bytes that relocate.c has mapped */
	struct set_limit limit[NLIMIT];	/* by the program */
	uint64_t trap;			/* code that remote calls overwrite */
	uint64_t scratch;		/* 64 bytes that can be written */
	uint32_t flags;			/* BOOT_* besides */
	uint64_t rseqsig;		/* with BOOT_RSEQ: sequences' signature,
					 * or 0: no thread has registered */
	uint64_t old;			/* a runtime to be replaced, or 0; */
	struct extents gone;		/* what else is to be unmapped then */
	uint32_t others;		/* threads that begin besides */
	int fd, theirs;			/* the memory file: here, and there */
};

/* Before prog_init: keep what actions of signals the program is to inherit. */
void launch_init(void);
/*
 * Whether a program can be started without randomisation of its addresses.  A
 * container's filter of system calls often forbids that.
 */
bool launch_can_fix(void);
/* Start argv; returns when it is stopped before its first instruction. */
void launch(char *const argv[]);
/* At that stop: true: it is a 32-bit program, and has been let go natively. */
bool launch_is_foreign(void);
/* Where such a process, at the stop behind exec, goes on. */
void launch_at(struct start *);
/* Wait until guest.tid stops with this signal of the kernel; pass others on. */
void guest_wait_stop(int sig);

/* Of a seized thread: has a signal stopped its process? */
static inline bool
is_group_stop(int st)
{
	return st >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(st) != SIGTRAP;
}
/* Whether somebody traces the process, as far as we can tell. */
bool guest_is_traced(void);
/* Tell the user if the program of this name, which was started, lacks some. */
void rights_tell(const char *name);
/*
 * What a file would give the program rights by that it has not, and does not as
 * long as we trace it: "a set-id program", for a message; NULL: nothing.  path:
 * where its name is, in the program.  dirfd: 0, or 1 + the descriptor that a
 * name without `/' at its begin is relative to, or that is the file if the name
 * is empty; as for execveat(2).
 */
const char *rights_of(uint64_t path, uint64_t dirfd);

/*
 * By the argument of --adopt: seize a process that is not our child.  Returns
 * its command line, or NULL: there is nothing to follow.
 */
char **adopt(const char *spec);
/* Where it goes on, under a runtime of its own. */
void adopt_at(struct start *);
/* It is under our runtime: its parent's trace may go on. */
void adopt_done(void);
/* As wait(2) has it, once it has ended. */
int adopt_status(void);
/* The arguments of guest.pid. */
char **process_command(void);

/* Stop a process that runs already, all its threads. */
void attach(pid_t);
/* Where its first thread goes on; room for the others is in `start'. */
void attach_at(struct start *);
/* The first thread is under the runtime: start the others. */
void attach_others(void);
/*
 * It has been let go: leave nothing of ours in it.  False: a thread does not
 * come out of the runtime, as a message says, so all is left as it is.
 */
bool detach(void);

/* Open our file fd in the program, too: its descriptor, or -1. */
int inject_open(const struct start *, int fd);
/* The runtime into the process: all but its last step ... */
void inject(const struct start *, uint64_t skip);
/* ... which lets it run. */
void inject_run(void);

/* Keep the options that the traces of children get. */
void follow_options(int argc, char *const argv[]);
/* And one more. */
void follow_option(char *);
/* Start a trace for the child; false: it could not take the child over. */
bool follow_child(pid_t, bool shares);
/*
 * A name that an option gives, expanded for this process; NULL: NULL. Its
 * number is "711"; "711-2" for the second process of this number in the run.
 */
const char *follow_name(const char *name);
/* Take what follow_child has added to the argument of --adopt. */
void follow_adopted(const char *spec);
/* Was the process that ended such a trace? */
bool follow_ended(pid_t, int st);
/* Send a signal to all of these traces. */
void follow_signal(int);
/*
 * The process is at the stop behind an exec: begin anew, with the new image.
 * What is needed to go on is in an argument, for follow_next_image.
 */
_Noreturn void follow_image(void);
/* Read that argument; the image's command line.  Dies if it is malformed. */
char **follow_next_image(const char *spec);
/* Wait until they all have ended; pass on a signal that interrupts that. */
void follow_wait(const volatile sig_atomic_t *stopped);

/* Run a command by the shell; returns a descriptor that leads to its input. */
int command_start(const char *, char *const argv[]);
/* Whether that was the process that ended; a failure is reported. */
bool command_ended(pid_t, int st);
/* Wait until it has ended; its input has been closed. */
void command_wait(void);
/* The trace of a child ended so. */
void command_child(int st);
/* Whether the command has failed, or a child's trace. */
bool command_failed(void);
/* There is no trace for a child, where there should be one. */
void command_child_lost(void);

/* native, v2, v3, v4; -1: no such model. */
int cpu_parse(const char *name, enum cpu *);
/* Hide these bits of cpuid's leaf 7, subleaf 1, if there is no model. */
void cpu_hide(uint32_t eax, uint32_t edx);

/*
 * Where the mapping begins that lies at an address, or is the next one behind;
 * 0: there is none.
 */
uint64_t guest_mapped_from(uint64_t at);

#endif
