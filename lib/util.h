/*
 * util.h - diagnostics and exit, memory that succeeds, strict numbers
 *
 * For programs and for lib alike: a library of filters may die, because
 * filters are its only users.
 */
#ifndef UTIL_H
#define UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUERN_VERSION	"0.1"

/* util.c: the program */

extern const char *progname;
/* The exit status of die; 2 unless a program sets it. */
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
 * util.c: diagnostics
 *
 * One line, "prog: ...", in one write, with untrusted text as in shown.h. A
 * format that ends in ':' gets " " and the text of errno.
 */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Called before each message; or NULL. */
extern void (*before_message)(void);
/* Die of SIGPIPE, even if the parent had it ignored or blocked. */
_Noreturn void die_sigpipe(void);

/*
 * util.c: enlarge a busy pipe to the largest size allowed, so that reader and
 * writer wake each other rarely and run side by side. To be called with the
 * size n of each read or write; *done is false at first. Does nothing to a
 * descriptor that is no pipe.
 */
#define PIPE_USUAL	65536
void pipe_widen(int fd, size_t n, bool *done);

/*
 * util.c: is a read or write that has failed to be made again? Whoever shares a
 * descriptor with us may have made it one that does not block: waits for the
 * events of poll(2) then.
 */
bool fd_again(int fd, short events);

/* util.c: open a file without a name, in TMPDIR or /tmp; dies if it cannot */
int temp_file(void);
const char *temp_dir(void);	/* that folder, for messages */

/* util.c: memory; these die if there is none */

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
/* Zeroed memory for small things that are never freed, also in threads. */
void *xkeep(size_t n);
/*
 * Zeroed memory for n elements of so many bytes; what is never touched takes
 * none. `what' begins the message when there is no address space.
 */
void *xreserve(size_t n, size_t elemsize, const char *what);
/*
 * Reserved memory that fills from its beginning: give the first `need' bytes,
 * and some behind them, their pages in one call. By itself a page costs a fault
 * each, and two if it is read before it is written; the second interrupts all
 * processors that run our threads. What a leap of `need' leaves out is left to
 * faults.
 */
struct touched {
	size_t size;		/* bytes reserved */
	size_t have;		/* so many have their pages; 0 at first */
};
/* All pages of any n bytes. */
void xtouch_all(void *p, size_t n);
void xtouch_more(void *p, struct touched *t, size_t need);

static inline void
xtouch(void *p, struct touched *t, size_t need)
{
	if (need > t->have)
		xtouch_more(p, t, need);
}
/*
 * Room for `need` elements in a buffer with room for *cap (which at least
 * doubles when it has to grow): v = xgrow(v, &cap, n + 1, sizeof *v).
 */
void *xgrow(void *p, size_t *cap, size_t need, size_t elemsize);
/* The same; the new elements are 0. */
void *xgrow0(void *p, size_t *cap, size_t need, size_t elemsize);

/* util.c: numbers */

/*
 * Read decimal digits with k, M, G or no suffix, and move *s behind them. k is
 * what "k" multiplies by: COUNTS for counts, BYTES for sizes. -1: no number.
 */
#define COUNTS	1000
#define BYTES	1024
int num_next(const char **s, unsigned k, uint64_t *out);
/* The same for a number that is all of s. */
int num_parse(const char *s, unsigned k, uint64_t *out);
/* The same for an option's argument; dies naming `what` if not min..max. */
uint64_t num_arg(const char *what, const char *s, uint64_t min, uint64_t max);
uint64_t size_arg(const char *what, const char *s, uint64_t min, uint64_t max);
/* The same from 0 to 100, perhaps with a fraction, and with % or without. */
double percent_arg(const char *what, const char *s);
/* An optional argument "yes" (the default if arg is NULL) or "no"; or dies. */
bool yes_arg(const char *option, const char *arg);
/* Is an argument the second of two words? Dies naming both if it is neither. */
bool choice_arg(const char *what, const char *s, const char *first,
    const char *second);
/* The index of an argument among n words; dies naming all if it is none. */
unsigned word_arg(const char *what, const char *s, const char *const *words,
    unsigned n);
/* Write v as 1,234,567; returns where in buf it begins. */
const char *num_commas(char buf[32], int64_t v);

/*
 * A product with this, 2^64 divided by the golden ratio, has its high bits from
 * all bits of a key: Knuth's multiplicative hashing.
 */
#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/*
 * A hash for khash of addresses, whose low bits are mostly alike: by khash's
 * own one for integers they share few buckets.
 */
static inline uint32_t
hash_address(uint64_t a)
{
	return (uint32_t)(a * HASH_MULTIPLIER >> 32);
}

/* wild.c: Does all of s match? In the pattern * is any bytes, ? any byte. */
bool wild_matches(const char *pattern, const char *s);

#endif
