/*
 * trace.h - what the files of the conductor share
 *
 * main.c	the order of a run, and how it ends
 * cmdline.c	the command line
 * signals.c	what signals to trace itself do
 * image.c	an image under the runtime, replaced at an exec
 * serve.c	waits for requests of the guest's threads, and for its end
 * requests.c	does what they ask for
 * near.c	on the processor of the thread that asks
 * client.c	what the program asks for by valgrind.h
 * control.c	the same, asked from outside
 * backtrace.c	who called
 */
#ifndef TRACE_H
#define TRACE_H

#include <sys/types.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl.h"

/* Set the options; returns the program and its arguments. */
char **cmdline(int argc, char *argv[]);

/*
 * Take the signals that are sent to us: pass them on to the program, or, if we
 * are attached, let it go at the first one; signals_stopped is its number.
 */
void signals_take(void);
void signals_clock(void);	/* let it go after --for-time, too */
void signals_interrupt(void);	/* attached: let them end a wait */
void signals_ended(void);	/* the program has: pass nothing on */
extern volatile sig_atomic_t signals_stopped;

/* Put the process's first image under the runtime and let it run. */
void image_first(void);
/* The guest changed its mappings in [start, end), or code there. */
void image_changed(uint64_t start, uint64_t end);
/*
 * Do what is left of that, before any other request, but not before its answer:
 * take from the store what it has of the new mappings.
 */
void image_settle(void);
bool image_is_unsettled(void);	/* something is left */
/* Is there code at pc that no call has told of?  Then it is known now. */
bool image_missed(uint64_t pc);
/* A thread is about to exec; true: the new image will be taken over. */
bool exec_asked(uint64_t path, pid_t tid, uint64_t dirfd);
/* It is behind a seccomp filter: if it happens, the stream ends. */
void exec_filtered(pid_t tid);
/* The call has failed: leave the thread, by its number in the program. */
void exec_failed(pid_t tid);
/* If the exec under way has happened, take the new image over. */
void exec_poll(void);
extern bool exec_pending;
extern bool exec_let_go;	/* --exec=no: the process has execed */

/*
 * A thread has asked for code, on this processor; it yielded so often for its
 * last answer.
 */
void near_asked(uint32_t on, uint32_t turns);
/* If we serve on one processor, let others run there: true, there is work. */
bool near_turns(bool (*is_wanted)(void));
/* Yield, and see whether that takes too long; true: there is work. */
bool near_yield(bool (*is_wanted)(void));
/* Whether the last yield took so long that others want the processor. */
bool near_is_slow(void);
/* From here on, any processor will do. */
void near_leave(void);

/* A client request leaves a mark in the stream, with a text of the guest's. */
void client_mark(unsigned slot, uint64_t mark, uint64_t text);
/* The same, not asked for by a thread; text is what it is. */
void client_outside(enum mark, const char *text);
/* Print a text of the guest's; returns how many bytes. */
uint64_t client_print(const uint64_t arg[4]);
/* The program has ended: print a line that it did not end. */
void client_end(void);
/* The calls that are active at pc, a line each, with these registers. */
void backtrace_text(const uint64_t gpr[16], uint64_t pc, char *to, size_t size);

/* Make the FIFO of --control and read it; its commands wait for control_do. */
void control_start(const char *name);
/* Does a command wait? */
bool control_pending(void);
/* Obey it; native: the process has execed a program that is not traced. */
void control_do(bool native);
/* Remove the FIFO. */
void control_end(void);

/* Do what the slot's thread asks for. */
void request_grant(unsigned slot, uint32_t what, const uint64_t arg[4],
    uint64_t ret[2]);
/*
 * An arc that the slot's thread has made by itself leads to the code that is
 * there for it.  false: there is no such arc.
 */
bool request_link_call(unsigned slot);

/* Serve until the program ends; true: it was let go, and lives on. */
bool serve(void);
/* From a signal's handler: let the program go. */
void serve_stop(void);

#endif
