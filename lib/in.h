/*
 * in.h - read a file or standard input; gzip and zstd are recognized
 *
 * Other compressions are named, with how to decompress.
 *
 * All errors die with the input's name. A caller may mix reads of lines and of
 * blocks. If standard input is a pipe that ends without a byte, the program
 * exits silently with the status of die: the writer has reported why.
 */
#ifndef IN_H
#define IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct in;

/* "-" or NULL is standard input. */
struct in *in_open(const char *name);
/*
 * Open a file that some input names: a descriptor, or -1 and errno. Only a
 * regular file is opened: a FIFO could block, and opening a device has effects.
 */
int in_regular(const char *path);
/*
 * The same for a file that the program can do without. A missing file is
 * normal; but if descriptors or memory run out, in_optional warns once, and
 * in_lacked is true from then on: the output is not complete.
 */
int in_optional(const char *path);
bool in_lacked(void);
/* Note such a failure, if errno is one, of a file that other code opens. */
void in_lack(const char *path);
/*
 * The input has addresses in object files. in_older warns of an object that was
 * changed after such an input, if that is a regular file: what is at an address
 * may be something else than in the run.
 */
void in_dated(const struct in *);
void in_older(const char *object);
/*
 * If compressed data ends early, warn and report the end, instead of the
 * default, to die. This is for formats whose own end mark is then missing.
 */
void in_allow_cut(struct in *);
/* From now on a last line without a newline is dropped, as one that was cut. */
void in_whole_lines(struct in *);
bool in_was_cut(const struct in *);	/* at the end: was the input cut? */
bool in_told_cut(const struct in *);	/* ... and was the user warned of it? */
/* Read up to n bytes, what one read gives; 0 at the end. */
ssize_t in_read(struct in *, void *buf, size_t n);
/*
 * Another thread may read and decompress, where nothing is left over: in_ahead
 * is given room for n bytes, and gives how many it made, 0 at the end, or less
 * than 0. The results go to in_took, or the sum of some, in order: it does all
 * else that in_read does, and dies of errors. One thread at a time calls them.
 */
bool in_may_ahead(const struct in *);
ssize_t in_ahead(struct in *, void *buf, size_t n);
void in_took(struct in *, ssize_t r);
/* Do these first bytes of a file, IN_MAGIC at most, begin a compressed one? */
#define IN_MAGIC	10
bool in_is_packed(const void *, size_t n);
/*
 * The next line, without its newline, NUL-terminated, good until the next
 * call; NULL at the end. *len (if len is not NULL) becomes its length, some
 * 500 MB at most; a line may hold NULs. A last line without a newline counts as
 * a line: see in_eol.
 */
char *in_line(struct in *, size_t *len);
/* Did the last line of in_line end in a newline? */
bool in_eol(const struct in *);
/* "stdin" or the name as given. */
const char *in_name(const struct in *);
/* The number, from 1, of the last line of in_line. */
uint64_t in_lineno(const struct in *);
/* The caller shows progress itself; else a line a second does. */
void in_meter(struct in *);
/* Progress: bytes read from the file, and its size, 0 if that is unknown. */
uint64_t in_offset(const struct in *);
uint64_t in_size(const struct in *);
void in_close(struct in *);

#endif
