/*
 * util.h - diagnostics and exit, memory that succeeds, strict numbers
 *
 * For programs and for lib alike: a library of filters may die, because
 * filters are its only users.
 */
#ifndef UTIL_H
#define UTIL_H

#include <stddef.h>
#include <stdint.h>

#define QUERN_VERSION	"0.1"

/* util.c: the program */

extern const char *progname;
/* What die exits with; 2 unless a program sets it. */
extern int die_status;

/*
 * First thing in main. The name is the last part of argv0. SIGPIPE gets its
 * default action back; closed standard files are filled with ones that give
 * an error when used, so that no file that we open is taken for them.
 */
void prog_init(const char *argv0);
/* --help and --version: text to standard output, checked; status 0. */
_Noreturn void prog_help(const char *text);
_Noreturn void prog_version(void);
/* A wrong command line: "usage: <progname> <synopsis>" and die_status. */
_Noreturn void prog_usage(const char *synopsis);

/*
 * util.c: diagnostics
 *
 * One line, "prog: ...", in one write, as shown.h has it. A
 * format that ends in ':' gets " " and the text of errno.
 */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* End as if by SIGPIPE, also where a parent had it ignored or blocked. */
_Noreturn void die_sigpipe(void);

/*
 * util.c: a pipe that much goes through should hold all that one may ask for:
 * writer and reader then wake each other rarely, and run side by side. For
 * after a read or write of n bytes; *done is 0 at first. Not a pipe: nothing.
 */
#define PIPE_USUAL	65536
void pipe_widen(int fd, size_t n, int *done);

/* util.c: a file without a name, in TMPDIR or /tmp; dies */
int temp_file(void);
const char *temp_dir(void);	/* where, for messages */

/* util.c: memory; these die when there is none */

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
/* For what is small and is never freed: all 0. Not for several threads. */
void *xkeep(size_t n);
/*
 * Room for `need` elements in a buffer with room for *cap (which at least
 * doubles when it has to grow): v = xgrow(v, &cap, n + 1, sizeof *v).
 */
void *xgrow(void *p, size_t *cap, size_t need, size_t elemsize);
/* The same; what is new is 0. */
void *xgrow0(void *p, size_t *cap, size_t need, size_t elemsize);

/* util.c: numbers */

/*
 * Decimal digits, then k, M or G or nothing: of a count powers of 1000, of a
 * size in bytes powers of 1024. -1: not that. *s is moved behind it.
 */
#define COUNTS	1000
#define BYTES	1024
int num_next(const char **s, unsigned k, uint64_t *out);
/* The same of all of s. */
int num_parse(const char *s, unsigned k, uint64_t *out);
/* The same for an option's argument; dies naming `what` if not min..max. */
uint64_t num_arg(const char *what, const char *s, uint64_t min, uint64_t max);
uint64_t size_arg(const char *what, const char *s, uint64_t min, uint64_t max);
/* 1 for yes and for an optional argument that is not there, 0 for no; dies. */
int yes_arg(const char *option, const char *arg);
/* 1,234,567: returns where in buf it begins. */
const char *num_commas(char buf[32], int64_t v);

#endif
