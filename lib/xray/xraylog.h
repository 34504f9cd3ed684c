/*
 * xraylog.h - the internals of the XRay reader: a log, its bytes, its buffers
 */
#ifndef XRAYLOG_H
#define XRAYLOG_H

#include <stdbool.h>
#include <string.h>

#include "xray.h"

/* The first byte of a metadata record: its kind times two, and bit 0. */
enum {
	META_NEWBUF = 0x01, META_EOB = 0x03, META_CPU = 0x05, META_WRAP = 0x07,
	META_WALL = 0x09, META_CUSTOM = 0x0b, META_ARG = 0x0d,
	META_EXTENTS = 0x0f, META_TYPED = 0x11, META_PID = 0x13
};
enum { METASIZE = 16, FUNCSIZE = 8, BASICSIZE = 32 };

/* A buffer of the log, or a stretch of bytes that belongs to none. */
struct xray_buf {
	uint64_t	off;	/* of its NewBuffer record */
	uint64_t	end;
	uint64_t	miss;	/* bytes that the log should still have had */
	uint64_t	tsc;	/* of its first NewCPUId */
	int64_t		sec;
	int32_t		usec;
	uint32_t	tid;
	uint32_t	pid;
	uint32_t	flags;
};
enum {
	/* what its first records give */
	BUF_TID = 1, BUF_WALL = 2, BUF_PID = 4, BUF_CPU = 8,
	BUF_GAP = 16,		/* no buffer */
	BUF_EXTENTS = 32,	/* its extents are wrong */
	BUF_CUT = 64,		/* the log ends before the buffer does */
	BUF_TWICE = 128		/* another one holds the same, perhaps more */
};

enum { XRAY_WINDOW = 65536, XRAY_QUEUE = 8 };

struct xray {
	struct xray_head head;
	char		*name;
	const char	*bad;		/* why nothing can be read, or NULL */
	bool		 cut;		/* its compressed data ended early */
	int		 fd;
	uint64_t	 size;

	uint8_t		*win;		/* the bytes from winoff on */
	uint64_t	 winoff;
	size_t		 winlen;
	size_t		 ahead;		/* how much to read at a time */

	struct xray_buf	*buf;		/* in the order of their clocks */
	size_t		 nbuf, capbuf;

	size_t		 cur;		/* the current buffer is buf[cur - 1] */
	uint64_t	 off, end;	/* what of it is left */
	uint64_t	 data;		/* of an event, to be returned first */
	uint64_t	 base;		/* the current clock value */
	uint32_t	 tid, pid;	/* basic logs: of the record before */
	uint32_t	 id;		/* basic logs: of the entry before */
	uint16_t	 cpu;
	bool		 has_base;
	bool		 has_thread;
	bool		 was_func;	/* an argument may follow */
	bool		 was_bad;
	void		*clocks;	/* version 1: threads' last values */

	struct xray_rec	 queue[XRAY_QUEUE];	/* to be returned */
	unsigned	 nqueue, iqueue;
};

/* xraywindow.c: n bytes at off, or NULL if the log has less; n is small */
const uint8_t	*xray_at(struct xray *, uint64_t off, size_t n);

/* xrayindex.c: find all buffers of an FDR log, and sort them by their clocks */
void		 xray_index(struct xray *);
/*
 * Read a buffer's first records, NewBuffer, WallClock and Pid, into it; returns
 * the offset in the log where the others begin.
 */
uint64_t	 xray_preamble(struct xray *, struct xray_buf *);

/* Numbers of the log, in the processor's order; p need not be aligned. */
static inline uint16_t
get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* The same of four bytes. */
static inline uint32_t
get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* The same of eight bytes. */
static inline uint64_t
get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

#endif
