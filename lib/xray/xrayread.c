/*
 * xrayread - read XRay logs, record by record
 *
 * A basic log is a header and records of 32 bytes.  An FDR log is a header and
 * buffers.  Each buffer belongs to one thread for a while, and holds records of
 * 8 bytes (entry and exit of functions, with the ticks since the last clock
 * value) and of 16 bytes (all others).  xrayindex.c finds the buffers.
 *
 * Damage.  The reader skips an invalid record, whose first byte gives its
 * length; the clock advances by the ticks in it.  Two invalid records in a row,
 * or an event with an impossible size, lose the rest of the buffer.  The next
 * buffer has its own thread and clock, so all damage ends there.
 */
#include "xraylog.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "in.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"

enum { PART = 16000 };	/* bytes of an event's data at a time */

KHASH_MAP_INIT_INT(clock, uint64_t)

/* What is wrong with the log's header, or NULL; reads it. */
static const char *
read_head(const uint8_t *b, struct xray_head *h)
{
	if (memcmp(b, "xrayprof", 8) == 0 || memcmp(b, "forpyarx", 8) == 0)
		return "a profile of XRay's profiling mode holds no records";
	h->version = get16(b);
	h->type = get16(b + 2);
	h->flags = get32(b + 4);
	h->hz = get64(b + 8);
	h->size = get64(b + 16);
	h->extra = get64(b + 24);
	if (h->type != XRAY_BASIC && h->type != XRAY_FDR)
		return "no XRay log (its type is neither 0 nor 1)";
	if (h->type == XRAY_BASIC && (h->version < 1 || h->version > 3))
		return "basic log of an unknown version (1 to 3 are known)";
	if (h->type == XRAY_FDR && (h->version < 1 || h->version > XRAY_NEWEST))
		return "FDR log of an unknown version (1 to 5 are known)";
	return NULL;
}

static const char *
check(struct xray *x)
{
	uint8_t b[XRAY_HEADSIZE];

	if (x->size < sizeof b)
		return "the log ends within its header";
	memcpy(b, xray_at(x, 0, sizeof b), sizeof b);
	return read_head(b, &x->head);
}

/* Read n bytes, or up to the end. */
static size_t
read_all(struct in *in, char *buf, size_t n)
{
	size_t have = 0;
	ssize_t r;

	while (have < n && (r = in_read(in, buf + have, n - have)) > 0)
		have += (size_t)r;
	return have;
}

/*
 * Copy a pipe or compressed data to a file, which can be read in any order.  Of
 * what is no log only the beginning: it may have no end.
 */
static int
spool(const char *name, bool *cut)
{
	struct in *in = in_open(name);
	char *buf = xmalloc(XRAY_WINDOW);
	struct xray_head head;
	size_t n, i;
	ssize_t w;
	int fd = temp_file();
	bool good = false;

	in_allow_cut(in);
	do {
		n = read_all(in, buf, XRAY_WINDOW);
		for (i = 0; i < n; i += (size_t)w)
			if ((w = write(fd, buf + i, n - i)) < 0)
				die("%s: a temporary file in it: write:",
				    temp_dir());
		good = good || (n >= XRAY_HEADSIZE &&
		    read_head((uint8_t *)buf, &head) == NULL);
	} while (n == XRAY_WINDOW && good);
	*cut = in_was_cut(in);
	in_close(in);
	free(buf);
	return fd;
}

struct xray *
xray_fdopen(int fd, const char *name)
{
	struct xray *x = xcalloc(1, sizeof *x);
	struct stat st;

	if (fstat(fd, &st) < 0)
		die("%s: stat:", name);
	x->fd = fd;
	x->name = xstrdup(name);
	x->size = (uint64_t)st.st_size;
	x->win = xmalloc(XRAY_WINDOW);
	x->ahead = XRAY_WINDOW;
	x->clocks = kh_init(clock);
	x->bad = check(x);
	x->off = x->end = XRAY_HEADSIZE;
	if (x->bad == NULL && x->head.type == XRAY_FDR)
		xray_index(x);
	else
		x->end = x->size;
	x->ahead = XRAY_WINDOW;
	return x;
}

/*
 * Is it a plain log that can be read in any order? A file in /proc may have the
 * size 0 and yet hold something, or fail when it is read.
 */
static bool
is_log(int fd, const char *name)
{
	uint8_t magic[IN_MAGIC];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size == 0 || lseek(fd, 0, SEEK_CUR) != 0)
		return false;
	n = pread(fd, magic, sizeof magic, 0);
	if (n < 0)
		die("%s: read:", name);
	return !in_is_packed(magic, (size_t)n);
}

struct xray *
xray_open(const char *name)
{
	bool std = name == NULL || strcmp(name, "-") == 0, cut;
	int fd = std ? STDIN_FILENO : in_regular(name);
	struct xray *x;

	if (std)
		name = "stdin";
	if (is_log(fd, name))
		return xray_fdopen(fd, name);
	if (fd >= 0 && !std)
		close(fd);
	fd = spool(std ? NULL : name, &cut);
	x = xray_fdopen(fd, name);
	x->cut = cut;
	return x;
}

const struct xray_head *
xray_header(const struct xray *x)
{
	return &x->head;
}

void
xray_close(struct xray *x)
{
	kh_destroy(clock, x->clocks);
	close(x->fd);
	free(x->buf);
	free(x->win);
	free(x->name);
	free(x);
}

static struct xray_rec *
put(struct xray *x, enum xray_kind kind, uint64_t off)
{
	struct xray_rec *r = &x->queue[x->nqueue++];

	*r = (struct xray_rec){ .kind = kind, .off = off };
	return r;
}

static void
put_lost(struct xray *x, uint64_t off, uint64_t len, const char *why)
{
	struct xray_rec *r = put(x, XRAY_LOST, off);

	r->len = len;
	r->text = why;
}

static void
put_end(struct xray *x)
{
	if (x->cut)
		put_lost(x, x->size, 0, "the log's compressed data ends early");
	put(x, XRAY_END, x->size);
}

static void
put_cpu(struct xray *x, uint16_t cpu, uint64_t tsc)
{
	struct xray_rec *r = put(x, XRAY_CPU, x->off);

	r->cpu = x->cpu = cpu;
	r->tsc = tsc;
}

/* Basic logs. */

static void
basic_thread(struct xray *x, const uint8_t *p, uint64_t tsc)
{
	uint32_t tid = get32(p + 16), pid = get32(p + 20);
	struct xray_rec *r;

	if (x->head.version < 3)
		pid = 0;	/* padding, with junk in it */
	if (!x->has_thread || tid != x->tid || pid != x->pid) {
		r = put(x, XRAY_THREAD, x->off);
		r->tid = x->tid = tid;
		r->pid = x->pid = pid;
		r->has_pid = x->head.version >= 3;
		put_cpu(x, p[2], tsc);
		x->has_thread = true;
	} else if (x->cpu != p[2]) {
		put_cpu(x, p[2], tsc);
	}
}

static void
basic_arg(struct xray *x, const uint8_t *p)
{
	bool same = x->was_func && get32(p + 4) == x->id &&
	    get32(p + 8) == x->tid &&
	    (x->head.version < 3 || get32(p + 12) == x->pid);

	if (same)
		put(x, XRAY_ARG, x->off)->arg = get64(p + 16);
	else
		put_lost(x, x->off, BASICSIZE,
		    "an argument that belongs to no entry");
}

static void
basic_next(struct xray *x)
{
	static const enum xray_kind kinds[] = {
		XRAY_ENTER, XRAY_EXIT, XRAY_TAIL, XRAY_ENTER
	};
	const uint8_t *p = xray_at(x, x->off, BASICSIZE);
	struct xray_rec *r;
	uint16_t type;

	if (p == NULL) {
		if (x->off < x->end)
			put_lost(x, x->off, x->end - x->off,
			    "the log ends within a record");
		else
			put_end(x);
		x->off = x->end;
		return;
	}
	type = get16(p);
	if (type == 1) {
		basic_arg(x, p);
	} else if (type != 0 || p[3] > 3) {
		put_lost(x, x->off, BASICSIZE, type != 0 ?
		    "a record of an unknown type" :
		    "an unknown kind of entry or exit");
		x->was_func = false;
	} else {
		basic_thread(x, p, get64(p + 8));
		r = put(x, kinds[p[3]], x->off);
		r->id = x->id = get32(p + 4);
		r->tsc = get64(p + 8);
		x->was_func = true;
	}
	x->off += BASICSIZE;
}

/* FDR logs. */

/*
 * Store the thread's clock value, or load it: the first writer of version 1
 * wrote one only in a thread's first buffer.
 */
static void
keep_clock(struct xray *x, bool store)
{
	khash_t(clock) *h = x->clocks;
	khint_t k;
	int new;

	if (x->head.version != 1 || x->cur == 0)
		return;
	if (store) {
		k = kh_put(clock, h, x->buf[x->cur - 1].tid, &new);
		kh_val(h, k) = x->base;
		return;
	}
	k = kh_get(clock, h, x->buf[x->cur - 1].tid);
	if (k != kh_end(h)) {
		x->base = kh_val(h, k);
		x->has_base = true;
	}
}

static void
next_buffer(struct xray *x)
{
	struct xray_buf *b;
	struct xray_rec *r;
	uint64_t len;

	if (x->has_base)
		keep_clock(x, true);
	if (x->cur == x->nbuf) {
		put_end(x);
		return;
	}
	b = &x->buf[x->cur++];
	len = b->end - b->off;
	if (b->flags & BUF_GAP) {
		put_lost(x, b->off, len, len < METASIZE && b->end == x->size ?
		    "the log ends within a record" :
		    "bytes that belong to no buffer");
		return;
	}
	if (b->flags & BUF_TWICE) {
		put(x, XRAY_TWICE, b->off)->len = len;
		return;
	}
	x->off = xray_preamble(x, b);
	x->end = b->end;
	if ((b->flags & BUF_CUT) && x->end - x->off < METASIZE) {
		put_lost(x, b->off, len,
		    "the log ends within a buffer's first records");
		x->off = x->end;
		b->miss = 0;
		return;
	}
	x->base = 0;
	x->has_base = x->was_func = x->was_bad = false;
	keep_clock(x, false);
	r = put(x, XRAY_BUFFER, b->off);
	r->tid = b->tid;
	r->pid = b->pid;
	r->has_pid = (b->flags & BUF_PID) != 0;
	r->sec = b->sec;
	r->usec = b->usec;
	if (b->flags & BUF_EXTENTS)
		put_lost(x, b->off, 0, "the buffer's length is wrong");
	if ((b->flags & (BUF_TID | BUF_WALL)) != (BUF_TID | BUF_WALL))
		put_lost(x, b->off, 0,
		    "the buffer does not begin with its thread and time");
}

/* The n bytes at the current offset are no valid record. */
static void
bad(struct xray *x, uint64_t n, const char *why)
{
	if (x->was_bad || n > x->end - x->off)
		n = x->end - x->off;
	put_lost(x, x->off, n, why);
	x->off += n;
	x->was_bad = true;
	x->was_func = false;
}

/* An event: the version decides where its time and size are. */
static void
event(struct xray *x, const uint8_t *p)
{
	bool typed = p[0] == META_TYPED;
	int v = x->head.version;
	int32_t size = (int32_t)get32(p + 1);
	struct xray_rec *r;
	uint64_t tsc;

	if (size < 0 || (uint64_t)size > x->end - x->off - METASIZE) {
		bad(x, x->end - x->off, "an event that its buffer cannot hold");
		return;
	}
	if (v == 5) {
		x->base += (uint64_t)(int32_t)get32(p + 5);
		tsc = x->base;
	} else {
		tsc = get64(p + 5);
	}
	if (v == 4 && !typed && get16(p + 13) != x->cpu)
		put_cpu(x, get16(p + 13), tsc);
	r = put(x, typed ? XRAY_TYPED : XRAY_CUSTOM, x->off);
	r->tsc = tsc;
	r->size = size;
	r->type = typed ? get16(p + (v == 5 ? 9 : 13)) : 0;
	x->data = size;
	x->off += METASIZE;
	x->was_func = x->was_bad = false;
}

static void
metadata(struct xray *x, const uint8_t *p)	/* table */
{
	switch (p[0]) {
	case META_CPU:
		x->base = get64(p + 3);
		x->has_base = true;
		put_cpu(x, get16(p + 1), x->base);
		break;
	case META_WRAP:
		x->base = get64(p + 1);
		x->has_base = true;
		put(x, XRAY_WRAP, x->off)->tsc = x->base;
		break;
	case META_ARG:
		if (!x->was_func) {
			bad(x, METASIZE,
			    "an argument that belongs to no entry");
			return;
		}
		put(x, XRAY_ARG, x->off)->arg = get64(p + 1);
		x->off += METASIZE;
		x->was_bad = false;
		return;
	case META_TYPED:
		if (x->head.version < 3) {
			bad(x, METASIZE, "a typed event before version 3");
			return;
		}
		/* FALLTHROUGH */
	case META_CUSTOM:
		event(x, p);
		return;
	case META_EOB:
		if (x->head.version > 1) {
			bad(x, METASIZE,
			    "an end of buffer mark after version 1");
			return;
		}
		x->end = x->off + METASIZE;
		break;
	case META_NEWBUF:
	case META_WALL:
	case META_PID:
	case META_EXTENTS:
		bad(x, METASIZE, "a buffer's first records amid its others");
		return;
	default:
		bad(x, METASIZE, "a record of an unknown kind");
		return;
	}
	x->off += METASIZE;
	x->was_func = x->was_bad = false;
}

/* Less is left of the buffer than the record needs. */
static void
cut(struct xray *x)
{
	struct xray_buf *b = &x->buf[x->cur - 1];

	put_lost(x, x->off, x->end - x->off, b->flags & BUF_CUT ?
	    "the log ends within a record" :
	    "a record is cut by the end of its buffer");
	x->off = x->end;
	b->miss = 0;
}

static void
function(struct xray *x, const uint8_t *p)
{
	static const enum xray_kind kinds[] = {
		XRAY_ENTER, XRAY_EXIT, XRAY_TAIL, XRAY_ENTER
	};
	struct xray_rec *r;
	uint32_t w = get32(p);

	if (!x->has_base) {
		put_lost(x, x->off, 0,
		    "no clock value comes before this, it counts from 0");
		x->has_base = true;
	}
	x->base += get32(p + 4);
	if ((w >> 1 & 7) > 3) {
		bad(x, FUNCSIZE, "an unknown kind of entry or exit");
		return;
	}
	r = put(x, kinds[w >> 1 & 7], x->off);
	r->id = w >> 4;
	r->tsc = x->base;
	x->off += FUNCSIZE;
	x->was_func = true;
	x->was_bad = false;
}

static void
fdr_next(struct xray *x)
{
	struct xray_buf *b;
	const uint8_t *p;
	size_t n;

	if (x->off == x->end) {
		b = x->cur > 0 ? &x->buf[x->cur - 1] : NULL;
		if (b && (b->flags & BUF_CUT) && b->miss > 0) {
			put_lost(x, x->off, 0, "the log ends within a buffer");
			b->miss = 0;
		}
		next_buffer(x);
		return;
	}
	p = xray_at(x, x->off, 1);
	n = *p & 1 ? METASIZE : FUNCSIZE;
	if (n > x->end - x->off) {
		cut(x);
		return;
	}
	p = xray_at(x, x->off, n);
	if (n == METASIZE)
		metadata(x, p);
	else
		function(x, p);
}

/* Return the next part of an event's data. */
static void
data(struct xray *x, struct xray_rec *r)
{
	uint64_t n = x->data < PART ? x->data : PART;

	r->kind = XRAY_DATA;
	r->off = x->off;
	r->data = xray_at(x, x->off, n);
	r->len = n;
	x->off += n;
	x->data -= n;
}

/* Read an entry or exit that the window holds whole, without the queue. */
static bool
quick(struct xray *x, struct xray_rec *r)
{
	static const enum xray_kind kinds[] = {
		XRAY_ENTER, XRAY_EXIT, XRAY_TAIL, XRAY_ENTER
	};
	const uint8_t *p;
	uint32_t w;

	if (!x->has_base || x->end - x->off < FUNCSIZE || x->off < x->winoff ||
	    x->off - x->winoff + FUNCSIZE > x->winlen)
		return false;
	p = x->win + (x->off - x->winoff);
	w = get32(p);
	if ((w & 1) || (w >> 1 & 7) > 3)
		return false;
	x->base += get32(p + 4);
	r->kind = kinds[w >> 1 & 7];
	r->id = w >> 4;
	r->tsc = x->base;
	r->off = x->off;
	x->off += FUNCSIZE;
	x->was_func = true;
	x->was_bad = false;
	return true;
}

void
xray_next(struct xray *x, struct xray_rec *r)
{
	if (x->iqueue == x->nqueue) {
		if (x->data > 0) {
			data(x, r);
			return;
		}
		if (quick(x, r))
			return;
	}
	while (x->iqueue == x->nqueue) {
		x->iqueue = x->nqueue = 0;
		if (x->bad) {
			put_lost(x, 0, x->size, x->bad);
			put_end(x);
		} else if (x->head.type == XRAY_BASIC) {
			basic_next(x);
		} else {
			fdr_next(x);
		}
	}
	*r = x->queue[x->iqueue];
	if (r->kind != XRAY_END)
		x->iqueue++;
}
