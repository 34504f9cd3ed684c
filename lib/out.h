/*
 * out.h - buffered, checked output; a named file appears only when whole
 *
 * Every error dies with the output's name, so once out_close returns all was
 * written. If the reader went away (EPIPE), the program dies of SIGPIPE without
 * a word. A caller that must go on sets `failed`: that is called once, with
 * errno, and later output is dropped.
 */
#ifndef OUT_H
#define OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* buf[0..len) waits to be written. Only out.c and this header use members. */
struct out {
	char *buf;
	size_t len, cap;
	int fd;			/* -1: parked */
	char *name;		/* for messages */
	struct aside *aside;	/* out.c: to be renamed when whole, or NULL */
	void (*failed)(struct out *, int err);	/* or NULL */
	bool gone;		/* failed was called */
	bool wide;		/* pipe_widen's */
};

/*
 * NULL or "-" is standard output. Any other file is first written beside its
 * place, as <name>.tmp.<pid>, or <name>.tmp.<pid>.1 and so on if that exists;
 * this temporary file is removed if the program ends before out_close. A file
 * that replaces one of our own keeps that one's permissions but for set-uid
 * and such bits; any other gets the mode of a new file. A name that exists and
 * is no regular file (/dev/null, a FIFO) is written directly.
 */
struct out *out_open(const char *name);
/* The same for a file descriptor that is already open; name for messages. */
struct out *out_fd(int fd, const char *name);
/* Append n bytes; a string; formatted text, of any length. */
void out_write(struct out *, const void *data, size_t n);
void out_str(struct out *, const char *s);
void out_printf(struct out *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Decimal; hexadecimal in lower case without "0x". */
void out_u64(struct out *, uint64_t v);
void out_hex(struct out *, uint64_t v);
/* A character of text or of an attribute, escaped for HTML and XML. */
void out_xml(struct out *, char c);
/* Write the buffer. */
void out_flush(struct out *);
/*
 * Flush, and give descriptor and buffer back until the next output: for a
 * program with more files than may be open. Only for files that are aside,
 * that is, written under a temporary name.
 */
void out_park(struct out *);
/* Flush, close with a check, rename; frees. If it is gone, out_abort. */
void out_close(struct out *);
/*
 * Publish all of several files, or none: after out_hold closed files keep
 * their temporary names until out_publish renames them.
 */
void out_hold(void);
void out_publish(void);
/* Give up: drop the buffer, remove a file that is aside; frees. */
void out_abort(struct out *);

/* For out_room: the buffer has less than n bytes left. */
#define OUT_ROOM	(64 << 10)
char *out_more(struct out *, size_t n);

/* Room for n bytes, at most OUT_ROOM; out_advance says how many were used. */
static inline char *
out_room(struct out *o, size_t n)
{
	return o->cap - o->len >= n ? o->buf + o->len : out_more(o, n);
}

/* So many bytes of the room that out_room gave have been written. */
static inline void
out_advance(struct out *o, size_t n)
{
	o->len += n;
}

/* Append a byte. */
static inline void
out_ch(struct out *o, char c)
{
	*out_room(o, 1) = c;
	o->len++;
}

#endif
