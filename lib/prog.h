/*
 * prog.h - the program: its name, its help, its messages, its end
 *
 * For programs and for lib alike: a library of filters may die, because
 * filters are its only users.
 */
#ifndef PROG_H
#define PROG_H

#define QUERN_VERSION	"0.1"

/* What messages begin with, as prog_init found it. */
extern const char *progname;
/* The exit status of die and prog_usage; 2 unless a program sets it. */
extern int die_status;

/*
 * Call this first in main. The program's name is the last part of argv0.
 * SIGPIPE gets its default action back. Closed standard descriptors are opened
 * so that any use fails: no file that the program opens can take their number.
 */
void prog_init(const char *argv0);
/* --help and --version: text to standard output, checked; status 0. */
_Noreturn void prog_help(const char *text);
_Noreturn void prog_version(void);
/* A wrong command line: "usage: <progname> <synopsis>" and die_status. */
_Noreturn void prog_usage(const char *synopsis);

/*
 * A message is one line on standard error, "prog: ...", in one write, with
 * untrusted text as in shown.h. A format that ends in ':' gets " " and the text
 * of errno. die ends the program with die_status.
 */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Called before each message; or NULL. */
extern void (*before_message)(void);
/* Die of SIGPIPE, even if the parent had it ignored or blocked. */
_Noreturn void die_sigpipe(void);

#endif
