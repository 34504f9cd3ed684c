/*
 * in.h - read a file or standard input; gzip noticed by itself
 *
 * All errors die with the input's name. Lines and blocks may be mixed. A pipe
 * on standard input that ends without a byte ends the program, silently, with
 * the status of die.
 */
#ifndef IN_H
#define IN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct in;

/* "-" or NULL is standard input. */
struct in *in_open(const char *name);
/*
 * For a file that some input names: a descriptor to read it, or -1 and errno.
 * Only a regular one is opened: a FIFO would be waited for, a device touched.
 */
int in_regular(const char *path);
/*
 * The same where the input is told without the file, too. It may not exist;
 * but if it cannot be opened for want of descriptors or memory, that is said
 * once, and in_lacked is 1 from then on: what is written is not whole.
 */
int in_optional(const char *path);
int in_lacked(void);
/* That, if errno is one of these; of files that somebody else opens. */
void in_lack(const char *path);
/*
 * Gzip data that ends early: die (the default), or warn and be at the end.
 * The latter is for formats whose own end mark is then missed.
 */
void in_allow_cut(struct in *);
/* From now on what is behind the last newline is no line, but was cut. */
void in_whole_lines(struct in *);
int in_was_cut(const struct in *);	/* at the end: was it so? */
/* Up to n bytes, as many as are there without waiting twice; 0 at the end. */
ssize_t in_read(struct in *, void *buf, size_t n);
/*
 * The next line, without its newline, NUL-terminated, good until the next
 * call; NULL at the end. *len (where not NULL) is its length; a line may hold
 * NULs. Without limit. A last line without newline is a line: see in_eol.
 */
char *in_line(struct in *, size_t *len);
/* Did the line had from in_line end in a newline? */
int in_eol(const struct in *);
/* "stdin" or the name as given. */
const char *in_name(const struct in *);
/* The number, from 1, of the line had from in_line. */
uint64_t in_lineno(const struct in *);
/* How far: bytes taken from the file, and its size, 0 if that is unknown. */
uint64_t in_offset(const struct in *);
uint64_t in_size(const struct in *);
void in_close(struct in *);

#endif
