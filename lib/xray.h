/*
 * xray.h - XRay logs, read and written
 *
 * Flight data recorder (FDR) logs of versions 1 to 5; basic logs of versions 1
 * to 3 are only read.
 */
#ifndef XRAY_H
#define XRAY_H

#include <stdint.h>

enum { XRAY_BASIC = 0, XRAY_FDR = 1 };		/* the type of a log */
enum { XRAY_NEWEST = 5, XRAY_HEADSIZE = 32 };

struct xray_head {
	uint16_t	version;
	uint16_t	type;
	uint32_t	flags;	/* bit 0 constant tsc, bit 1 nonstop tsc */
	uint64_t	hz;	/* ticks per second; 0: not known */
	uint64_t	size;	/* FDR: bytes of a buffer; basic: as found */
	uint64_t	extra;	/* reserved: as found */
};

enum xray_kind {
	XRAY_END,	/* the log is over, for good */
	XRAY_BUFFER,	/* a buffer of thread tid follows, begun at sec, usec */
	XRAY_THREAD,	/* records of thread tid follow (basic logs); to write:
			   also with the time of its buffer, unless 0 */
	XRAY_CPU,	/* on processor cpu from tsc on */
	XRAY_WRAP,	/* the clock was read anew: tsc */
	XRAY_ENTER,	/* function id, at tsc */
	XRAY_EXIT,
	XRAY_TAIL,	/* left by a tail call */
	XRAY_ARG,	/* the function record before had the argument arg */
	XRAY_CUSTOM,	/* an event of the program's own, at tsc; size bytes of
			   XRAY_DATA follow */
	XRAY_TYPED,	/* the same, with a type */
	XRAY_DATA,	/* len bytes of an event's data */
	XRAY_TWICE,	/* skipped a buffer that the log has twice: off, len */
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
/* "-" or NULL is standard input; gzip and zstd are recognized. */
struct xray	*xray_open(const char *name);
struct xray	*xray_fdopen(int fd, const char *name);	/* a plain file */
/* What the log's header says, good until xray_close. */
const struct xray_head *xray_header(const struct xray *);
/* Read the next record; behind the last one all are XRAY_END. */
void		 xray_next(struct xray *, struct xray_rec *);
void		 xray_close(struct xray *);

/*
 * xraywrite.c.  Threads may take turns.  Each has one open buffer, which ends
 * where the thread's next one begins, in version 1 also when it is full.  A
 * buffer begun by XRAY_BUFFER is in one piece: the next XRAY_BUFFER ends it.
 * If the header's size is 0, version 1 buffers get the length of the longest.
 */
struct out;
struct xray_writer;
struct xray_writer *xray_create(struct out *, const struct xray_head *);
/* Write a record; one that the header's version does not have is left out. */
void		 xray_put(struct xray_writer *, const struct xray_rec *);
/* The thread of the last record is this one, also in its open buffer. */
void		 xray_rename(struct xray_writer *, uint32_t tid);
/* Returns how many records were left out, as the version has no such ones. */
uint64_t	 xray_finish(struct xray_writer *);

#endif
