/*
 * out.h - buffered, checked output; a named file appears only when whole
 *
 * Every error dies with the output's name: what out_close let through has
 * been written. A reader that went away (EPIPE) is silent death by SIGPIPE.
 * Who must go on sets `failed`: it is told errno once, the rest is dropped.
 */
#ifndef OUT_H
#define OUT_H

#include <stddef.h>
#include <stdint.h>

/* buf[0..len) waits to be written. The members are out.c's and below's. */
struct out {
	char *buf;
	size_t len, cap;
	int fd;			/* -1: parked */
	char *name;		/* for messages */
	struct aside *aside;	/* out.c: to be renamed when whole, or NULL */
	void (*failed)(struct out *, int err);	/* or NULL */
	int gone;		/* it was called */
	int wide;		/* pipe_widen */
};

/*
 * NULL or "-" is standard output. A file is written as <name>.tmp.<pid>
 * beside it, <name>.tmp.<pid>.1 and so on where that exists, and that is
 * removed if the program ends before out_close. The mode is that of a new
 * file; where one of our own is replaced its permissions stay, never set-uid.
 * What exists and is no regular file (/dev/null, a FIFO) is written directly.
 */
struct out *out_open(const char *name);
/* The same for a file descriptor that is already open; name for messages. */
struct out *out_fd(int fd, const char *name);
void out_write(struct out *, const void *data, size_t n);
void out_str(struct out *, const char *s);
void out_printf(struct out *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Decimal; hexadecimal in lower case without "0x". */
void out_u64(struct out *, uint64_t v);
void out_hex(struct out *, uint64_t v);
/* A character of text or of an attribute, as HTML and XML have it. */
void out_xml(struct out *, char c);
/* Hand what waits to the system. */
void out_flush(struct out *);
/*
 * Flush, and take neither descriptor nor buffer until the next output: for
 * who has more files than may be open. Only of files that are aside.
 */
void out_park(struct out *);
/* Flush, close with a check, rename; frees. */
void out_close(struct out *);
/*
 * Of several files, all or none: after out_hold files that are closed wait
 * aside, until out_publish renames them.
 */
void out_hold(void);
void out_publish(void);
/* Give up: what waits is dropped, a file aside is removed; frees. */
void out_abort(struct out *);
/* Room for n bytes, at most OUT_ROOM, at once; tell how many were used. */
#define OUT_ROOM	(64 << 10)
char *out_more(struct out *, size_t n);

static inline char *
out_room(struct out *o, size_t n)
{
	return o->cap - o->len >= n ? o->buf + o->len : out_more(o, n);
}

static inline void
out_advance(struct out *o, size_t n)
{
	o->len += n;
}

static inline void
out_ch(struct out *o, char c)
{
	*out_room(o, 1) = c;
	o->len++;
}

#endif
