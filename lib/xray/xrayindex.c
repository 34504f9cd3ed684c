/*
 * xrayindex.c - find the buffers of an FDR log
 *
 * A log holds its threads' buffers in no useful order: the runtime writes the
 * slots of a ring from its first slot on, wherever the oldest buffer lies, and
 * if a thread still held its buffer at that moment the same memory may come
 * twice.  So the reader first walks over the log, from buffer to buffer, and
 * sorts what it found by wall clock.  That takes less than a hundred bytes of
 * memory a buffer (of mostly 16 KB), and nothing that grows with the records.
 *
 * The length of a buffer: version 1 gives each as many bytes as the header
 * says, with junk behind its end mark; since version 2 a BufferExtents record
 * in front tells the length.  Such a length is believed if the log ends there
 * or the next buffer begins there.  If not, its records are walked, until they
 * meet the next buffer or end; and where even they do not lead to one, the
 * bytes are searched for what looks like one.
 */
#include "xraylog.h"

#include <stdlib.h>

#include "util.h"

static struct xray_buf *
add(struct xray *x, uint64_t off, uint64_t end, unsigned flags)
{
	struct xray_buf *b;

	x->buf = xgrow(x->buf, &x->capbuf, x->nbuf + 1, sizeof *x->buf);
	b = &x->buf[x->nbuf++];
	*b = (struct xray_buf){ .off = off, .end = end, .flags = flags };
	return b;
}

/* the byte at off, or -1 */
static int
byte(struct xray *x, uint64_t off)
{
	const uint8_t *p = xray_at(x, off, 1);

	return p ? *p : -1;
}

/*
 * Does a buffer begin at off?  All that the log still has of its first three
 * records must fit; of them, two at least if the place is but a guess.
 */
static int
begins(struct xray *x, uint64_t off, int guess)
{
	uint64_t first = off + METASIZE;
	int b;

	if (x->head.version == 1)
		first = off;
	else if (byte(x, off) != META_EXTENTS)
		return 0;
	b = byte(x, first);
	if (b < 0)
		return !guess;
	if (b == META_EXTENTS && !guess)
		return 1;	/* an empty one */
	if (b != META_NEWBUF)
		return 0;
	b = byte(x, first + METASIZE);
	return b == META_WALL || (!guess && b < 0);
}

/* where from off on a buffer seems to begin, or the log's end */
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
		if (begins(x, off, 1))
			return off;
		off++;
	}
	return x->size;
}

/* bytes of the record at off with its data, or 0 if it cannot be one */
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
 * Go from record to record until one is a buffer's end mark (version 1) or
 * the beginning of another buffer, or begins at stop or behind it.  From what
 * cannot be a record on, the bytes are searched.
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
		if (x->head.version > 1 && b == META_EXTENTS && begins(x, off, 0))
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

/* are the bytes from off to end whole records, and not just zeros? */
static int
all_records(struct xray *x, uint64_t off, uint64_t end)
{
	int some = 0;
	uint64_t n;

	for (; off < end; off += n) {
		n = length(x, off);
		if (n == 0 || n > end - off)
			return 0;
		some |= get64(xray_at(x, off, FUNCSIZE)) != 0;
	}
	return some;
}

/* read what a buffer's first records tell; returns where the others begin */
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
			/* a damaged one, if the next is as it should be */
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

/* the buffer at off, version 1; returns where the next begins */
static uint64_t
fixed_buffer(struct xray *x, uint64_t off)
{
	uint64_t size = x->head.size, left = x->size - off, end;
	struct xray_buf *b;

	if (size >= METASIZE && (size == left ||
	    (size < left && begins(x, off + size, 1)))) {
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
 * Where does the buffer end that begins at first, should be n bytes long, and
 * is not followed by another?
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
		return end;	/* a record crosses it: cut, with junk behind it */
	s = search(x, end);
	return all_records(x, end, s) ? s : end;
}

/* the buffer behind the extents at off; returns where the next begins */
static uint64_t
extents_buffer(struct xray *x, uint64_t off)
{
	uint64_t first = off + METASIZE, n, left, end;
	struct xray_buf *b;

	n = get64(xray_at(x, off, METASIZE) + 1);
	left = x->size - first;
	if (n == 0)
		return first;
	if (n == left || (n < left && begins(x, first + n, 0)))
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

/* by wall clock, then thread and clock; what has no wall clock goes last */
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

static int
same_start(const struct xray_buf *a, const struct xray_buf *b)
{
	const unsigned told = BUF_TID | BUF_WALL | BUF_CPU;

	return (a->flags & told) == told && (b->flags & told) == told &&
	    a->tid == b->tid && a->pid == b->pid && a->sec == b->sec &&
	    a->usec == b->usec && a->tsc == b->tsc;
}

/* does one of them begin with all of the other's bytes? */
static int
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
			return 0;
		memcpy(part, p, len);
		p = xray_at(x, b->off + i, len);
		if (p == NULL || memcmp(p, part, len) != 0)
			return 0;
	}
	return 1;
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
