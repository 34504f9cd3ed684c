/*
 * xrayindex - find the buffers of an FDR log
 *
 * A log holds its threads' buffers in no useful order: the runtime writes the
 * slots of a ring from its first slot on, wherever the oldest buffer lies, and
 * if a thread still held its buffer at that moment the same memory may come
 * twice.  So the reader first walks over the log, from buffer to buffer, and
 * sorts the buffers by wall clock.  That takes less than a hundred bytes of
 * memory a buffer (of mostly 16 KB), and none that grows with the records.
 *
 * The length of a buffer: in version 1 each has as many bytes as the header
 * says, with junk behind its end mark; since version 2 a BufferExtents record
 * in front gives the length.  The reader believes a length if the log ends
 * there or the next buffer begins there.  If not, it walks over the records
 * until they meet the next buffer or end; and if they do not lead to a buffer,
 * it searches the bytes for what looks like one.
 */
#include "xraylog.h"

#include <stdlib.h>

#include "mem.h"

static struct xray_buf *
add(struct xray *x, uint64_t off, uint64_t end, unsigned flags)
{
	struct xray_buf *b;

	x->buf = xgrow(x->buf, &x->capbuf, x->nbuf + 1, sizeof *x->buf);
	b = &x->buf[x->nbuf++];
	*b = (struct xray_buf){ .off = off, .end = end, .flags = flags };
	return b;
}

/* The byte at off, or -1. */
static int
byte(struct xray *x, uint64_t off)
{
	const uint8_t *p = xray_at(x, off, 1);

	return p ? *p : -1;
}

/*
 * Does a buffer begin at off?  Its first three records must be right, as far as
 * the log has them; if the offset is a guess, the log must have two of them.
 */
static bool
begins(struct xray *x, uint64_t off, bool guess)
{
	uint64_t first = off + METASIZE;
	int b;

	if (x->head.version == 1)
		first = off;
	else if (byte(x, off) != META_EXTENTS)
		return false;
	b = byte(x, first);
	if (b < 0)
		return !guess;
	if (b == META_EXTENTS && !guess)
		return true;	/* an empty one */
	if (b != META_NEWBUF)
		return false;
	b = byte(x, first + METASIZE);
	return b == META_WALL || (!guess && b < 0);
}

/* Search from off on for what looks like a buffer; or the log's end. */
static uint64_t
search(struct xray *x, uint64_t off)
{
	int first = x->head.version == 1 ? META_NEWBUF : META_EXTENTS;
	const uint8_t *p, *q;
	size_t n;

	while (off < x->size) {
		n = x->size - off < 64 ? x->size - off : 64;
		p = xray_at(x, off, n);
		if (p == NULL)
			break;
		q = memchr(p, first, n);
		if (q == NULL) {
			off += n;
			continue;
		}
		off += q - p;
		if (begins(x, off, true))
			return off;
		off++;
	}
	return x->size;
}

/* The length of the record at off with its data; 0: it is no record. */
static uint64_t
length(struct xray *x, uint64_t off)
{
	const uint8_t *p = xray_at(x, off, 1);
	int32_t size;

	if (p == NULL)
		return 0;
	if ((*p & 1) == 0)
		return (*p >> 1 & 7) > 3 ? 0 : FUNCSIZE;
	if (*p > META_PID)
		return 0;
	if (*p != META_CUSTOM && *p != META_TYPED)
		return METASIZE;
	p = xray_at(x, off, METASIZE);
	if (p == NULL)
		return METASIZE;
	size = (int32_t)get32(p + 1);
	return size < 0 ? 0 : METASIZE + (uint64_t)size;
}

/*
 * Walk from record to record up to a buffer's end mark (version 1), or to the
 * beginning of another buffer, or to a record at stop or behind it.  At bytes
 * that are no record, search instead.
 */
static uint64_t
walk(struct xray *x, uint64_t off, uint64_t stop)
{
	uint64_t n;
	int b;

	x->ahead = XRAY_WINDOW;
	while (off < stop) {
		b = byte(x, off);
		if (x->head.version == 1 && b == META_EOB)
			return off + METASIZE < stop ? off + METASIZE : stop;
		if (x->head.version > 1 && b == META_EXTENTS &&
		    begins(x, off, false))
			return off;
		n = length(x, off);
		if (n == 0)
			return search(x, off);
		if (n > x->size - off)
			return x->size;
		off += n;
	}
	return off;
}

/* Are the bytes from off to end whole records, and not just zeros? */
static bool
all_records(struct xray *x, uint64_t off, uint64_t end)
{
	bool some = false;
	uint64_t n;

	for (; off < end; off += n) {
		n = length(x, off);
		if (n == 0 || n > end - off)
			return false;
		some |= get64(xray_at(x, off, FUNCSIZE)) != 0;
	}
	return some;
}

/* Read a buffer's first records; returns where the others begin. */
uint64_t
xray_preamble(struct xray *x, struct xray_buf *b)
{
	static const uint8_t want[] = { META_NEWBUF, META_WALL, META_PID };
	uint64_t off = b->off;
	const uint8_t *p;
	unsigned i;

	for (i = 0; i < 3; i++) {
		p = b->end - off >= METASIZE ? xray_at(x, off, METASIZE) : NULL;
		if (p == NULL)
			return off;
		if (p[0] != want[i]) {
			/* skip a damaged one, if the next one is right */
			if (i < 2 && (p[0] & 1) && p[0] != META_WALL &&
			    b->end - off > METASIZE &&
			    byte(x, off + METASIZE) == want[i + 1])
				off += METASIZE;
			continue;
		}
		if (i == 0) {
			b->tid = get32(p + 1);
			b->flags |= BUF_TID;
		} else if (i == 1) {
			b->sec = (int64_t)get64(p + 1);
			b->usec = (int32_t)get32(p + 9);
			b->flags |= BUF_WALL;
		} else {
			b->pid = get32(p + 1);
			b->flags |= BUF_PID;
		}
		off += METASIZE;
	}
	p = b->end - off >= METASIZE ? xray_at(x, off, METASIZE) : NULL;
	if (p && p[0] == META_CPU) {
		b->tsc = get64(p + 3);
		b->flags |= BUF_CPU;
	}
	return off;
}

/* Add the buffer at off, version 1; returns where the next begins. */
static uint64_t
fixed_buffer(struct xray *x, uint64_t off)
{
	uint64_t size = x->head.size, left = x->size - off, end;
	struct xray_buf *b;

	if (size >= METASIZE && (size == left ||
	    (size < left && begins(x, off + size, true)))) {
		xray_preamble(x, add(x, off, off + size, 0));
		return off + size;
	}
	end = search(x, walk(x, off, x->size));
	b = add(x, off, end, 0);
	if (end == x->size && size > left) {
		b->flags |= BUF_CUT;
		b->miss = size - left;
	} else if (size != end - off) {
		b->flags |= BUF_EXTENTS;
	}
	xray_preamble(x, b);
	return end;
}

/*
 * The real end of a buffer that begins at first and should be n bytes long, but
 * is not followed by another buffer.
 */
static uint64_t
real_end(struct xray *x, uint64_t first, uint64_t n)
{
	uint64_t end, w, s;

	if (n > x->size - first)
		return walk(x, first, x->size);
	end = first + n;
	w = walk(x, first, end);
	if (w < end)
		return w;
	if (w > end)
		return end;	/* a record crosses it: cut, junk behind it */
	s = search(x, end);
	return all_records(x, end, s) ? s : end;
}

/* Add the buffer behind the extents at off; returns where the next begins. */
static uint64_t
extents_buffer(struct xray *x, uint64_t off)
{
	uint64_t first = off + METASIZE, n, left, end;
	struct xray_buf *b;

	n = get64(xray_at(x, off, METASIZE) + 1);
	left = x->size - first;
	if (n == 0)
		return first;
	if (n == left || (n < left && begins(x, first + n, false)))
		end = first + n;
	else
		end = real_end(x, first, n);
	b = add(x, first, end, 0);
	if (n > left && end == x->size) {
		b->flags |= BUF_CUT;
		b->miss = n - left;
	} else if (n != end - first) {
		b->flags |= BUF_EXTENTS;
	}
	xray_preamble(x, b);
	return end;
}

static void
find(struct xray *x)
{
	uint64_t off = XRAY_HEADSIZE, next;
	int first = x->head.version == 1 ? META_NEWBUF : META_EXTENTS;

	while (off < x->size) {
		x->ahead = 512;
		if (x->size - off >= METASIZE && byte(x, off) == first) {
			off = first == META_NEWBUF ? fixed_buffer(x, off) :
			    extents_buffer(x, off);
			continue;
		}
		next = search(x, off + 1);
		add(x, off, next, BUF_GAP);
		off = next;
	}
}

/* By wall clock, then thread and clock; buffers without a wall clock last. */
static int
by_clock(const void *va, const void *vb)
{
	const struct xray_buf *a = va, *b = vb;
	int wa = (a->flags & BUF_WALL) != 0, wb = (b->flags & BUF_WALL) != 0;

	if (wa != wb)
		return wb - wa;
	if (a->sec != b->sec)
		return a->sec < b->sec ? -1 : 1;
	if (a->usec != b->usec)
		return a->usec < b->usec ? -1 : 1;
	if (wa && a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (wa && a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (wa && a->tsc != b->tsc)
		return a->tsc < b->tsc ? -1 : 1;
	return a->off < b->off ? -1 : a->off > b->off;
}

static bool
same_start(const struct xray_buf *a, const struct xray_buf *b)
{
	const unsigned told = BUF_TID | BUF_WALL | BUF_CPU;

	return (a->flags & told) == told && (b->flags & told) == told &&
	    a->tid == b->tid && a->pid == b->pid && a->sec == b->sec &&
	    a->usec == b->usec && a->tsc == b->tsc;
}

/* Does one of them begin with all bytes of the other? */
static bool
same_bytes(struct xray *x, const struct xray_buf *a, const struct xray_buf *b)
{
	uint64_t n = a->end - a->off, i;
	const uint8_t *p;
	uint8_t part[256];
	size_t len;

	if (n > b->end - b->off)
		n = b->end - b->off;
	for (i = 0; i < n; i += len) {
		len = n - i < sizeof part ? n - i : sizeof part;
		p = xray_at(x, a->off + i, len);
		if (p == NULL)
			return false;
		memcpy(part, p, len);
		p = xray_at(x, b->off + i, len);
		if (p == NULL || memcmp(p, part, len) != 0)
			return false;
	}
	return true;
}

static void
mark_twice(struct xray *x)
{
	struct xray_buf *a = x->buf, *b;

	x->ahead = 256;
	for (b = x->buf + 1; b < x->buf + x->nbuf; b++) {
		if (!same_start(a, b) || !same_bytes(x, a, b)) {
			a = b;
			continue;
		}
		if (b->end - b->off <= a->end - a->off) {
			b->flags |= BUF_TWICE;
		} else {
			a->flags |= BUF_TWICE;
			a = b;
		}
	}
}

void
xray_index(struct xray *x)
{
	find(x);
	if (x->nbuf < 2)
		return;
	qsort(x->buf, x->nbuf, sizeof *x->buf, by_clock);
	mark_twice(x);
}
