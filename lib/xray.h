/* xray.h - XRay logs: flight data recorder (FDR) versions 1 to 5, basic logs 1 to 3 */
#ifndef XRAY_H
#define XRAY_H

#include <stddef.h>
#include <stdint.h>

enum { XRAY_BASIC = 0, XRAY_FDR = 1 };		/* the type of a log */
enum { XRAY_NEWEST = 5, XRAY_HEADSIZE = 32 };

struct xray_head {
	uint16_t	version;
	uint16_t	type;
	uint32_t	flags;	/* bit 0 constant tsc, bit 1 nonstop tsc; the rest as found */
	uint64_t	hz;	/* ticks per second; 0: not known */
	uint64_t	size;	/* FDR: bytes of each thread's buffer; basic: as found */
	uint64_t	extra;	/* reserved: as found */
};

enum xray_kind {
	XRAY_END,	/* the log is over, for good */
	XRAY_BUFFER,	/* what follows is a buffer of thread tid, begun at sec and usec */
	XRAY_THREAD,	/* what follows is thread tid's (basic logs); to write: also with
			   the time of its buffer, unless 0 */
	XRAY_CPU,	/* on processor cpu from tsc on */
	XRAY_WRAP,	/* the clock was read anew: tsc */
	XRAY_ENTER,	/* function id, at tsc */
	XRAY_EXIT,
	XRAY_TAIL,	/* left by a tail call */
	XRAY_ARG,	/* the function record before had the argument arg */
	XRAY_CUSTOM,	/* an event of the program's own, at tsc; size bytes of XRAY_DATA follow */
	XRAY_TYPED,	/* the same, with a type */
	XRAY_DATA,	/* len bytes of an event's data */
	XRAY_TWICE,	/* a buffer that the log holds twice is passed over: off, len */
	XRAY_LOST	/* bytes that cannot be read: off, len, text says why */
};

/* One record.  Only the members that its kind names are set, and off. */
struct xray_rec {
	enum xray_kind	kind;
	uint32_t	id;
	uint64_t	tsc;
	uint64_t	arg;
	uint64_t	off;	/* of the record, from the start of the log */
	uint64_t	len;
	uint64_t	size;
	const uint8_t	*data;	/* until the next call */
	const char	*text;
	int64_t		sec;
	int32_t		usec;
	uint32_t	tid;
	uint32_t	pid;
	int		has_pid;
	uint16_t	cpu;
	uint16_t	type;
};

/*
 * xrayread.c.  Buffers come in the order of their wall clocks, whatever their
 * order in the log.  A malformed log is no error of these functions: what can
 * be read is, the rest comes as XRAY_LOST.
 */
struct xray;
struct xray	*xray_open(const char *name);	/* "-", NULL: standard input; gzip is noticed */
struct xray	*xray_fdopen(int fd, const char *name);	/* a plain file */
const struct xray_head *xray_header(const struct xray *);
void		 xray_next(struct xray *, struct xray_rec *);
void		 xray_close(struct xray *);

/*
 * xraywrite.c.  Threads may take turns; each has one open buffer, which ends
 * where its next begins, in version 1 also when it is full.  One that began by
 * XRAY_BUFFER is of one piece: it ends where any other begins by that.
 * A header's size 0 lets version 1 buffers be as long as the longest must be.
 */
struct out;
struct xray_writer;
struct xray_writer *xray_create(struct out *, const struct xray_head *);
void		 xray_put(struct xray_writer *, const struct xray_rec *);
/* The thread of the last record is this one, also in its open buffer. */
void		 xray_rename(struct xray_writer *, uint32_t tid);
uint64_t	 xray_finish(struct xray_writer *);	/* records that the version has no place for */

#endif
