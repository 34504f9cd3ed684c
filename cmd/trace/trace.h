/*
 * trace - what the files of the conductor share
 *
 * main.c	the order of a run, and how it ends
 * cmdline.c	the command line
 * image.c	an image comes under the runtime, and goes at an exec
 * serve.c	answers to the guest's threads
 */
#ifndef TRACE_H
#define TRACE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

/* Read it; the program's own arguments. */
char **cmdline(int argc, char *argv[]);

/* The process's first image under the runtime; then it runs. */
void image_first(void);
/* The guest changed its mappings in [start, end), or code there. */
void image_changed(uint64_t start, uint64_t end);
/* A thread asks to exec: true, the new image will be taken over. */
bool exec_asked(uint64_t path, pid_t tid, uint64_t dirfd);
void exec_failed(pid_t tid);
/* Look whether the exec under way has happened. */
void exec_poll(void);
extern bool exec_pending;

/* Until the program ended; true: it was let go or left, and we are done. */
bool serve(void);
/* From a signal's handler: let the program go. */
void serve_stop(void);

#endif
