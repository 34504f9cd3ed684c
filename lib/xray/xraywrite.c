/*
 * xraywrite - write FDR logs, versions 1 to 5
 *
 * A buffer's length stands before its records (or, in version 1, all buffers
 * have the length that is in the header), and threads take turns.  So records
 * wait here until their buffer ends: up to 64 KB a thread in memory, the rest
 * in one temporary file; each buffer has a list of its pieces there.
 *
 * Where the format leaves a choice, this does as LLVM's runtime does and its
 * readers expect: zeros in reserved bytes, a NewCPUId record first in every
 * buffer, a new clock value when the ticks do not fit.
 */
#include "xraylog.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fd.h"
#include "khash.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

enum { HOLD = 65536 };		/* bytes a buffer keeps in memory */
enum { PADDING = 24 };		/* see pad() */

struct xray_piece {
	uint64_t	off;	/* in the temporary file */
	uint64_t	len;
};

/* the open buffer of a thread */
struct open {
	struct xray_rec	 first;		/* the XRAY_BUFFER that began it */
	uint8_t		*mem;
	size_t		 len, cap;
	struct xray_piece	*piece;
	size_t		 npiece, cappiece;
	uint64_t	 total;		/* bytes, those in pieces too */
	uint64_t	 base;		/* the last clock value told */
	size_t		 func;		/* offset in mem of the last entry or
					   exit; SIZE_MAX: it is not there */
	uint16_t	 cpu;
	bool		 is_open;
	bool		 has_cpu;	/* told in this buffer */
	bool		 was_func;
	bool		 renamed;	/* since the buffer began */
};

KHASH_MAP_INIT_INT64(thread, size_t)

struct xray_writer {
	struct out	*out;
	struct xray_head head;
	khash_t(thread)	*threads;	/* pid and tid -> index */
	struct open	*open;
	size_t		 nopen, capopen;
	size_t		 cur;		/* the current thread, from 1 */
	uint64_t	 left_out;
	uint64_t	 data;		/* bytes that the last event lacks */
	bool		 drop;		/* the version has no such event */

	int		 tmp;		/* temporary file, or -1 */
	uint64_t	 tmplen;
	/* version 1, length not known yet: whole buffers */
	struct xray_piece *kept;
	size_t		 nkept, capkept;
};

static void
store(struct xray_writer *w, const uint8_t *p, size_t n)
{
	ssize_t did;

	if (w->tmp < 0)
		w->tmp = temp_file();
	while (n > 0) {
		did = pwrite(w->tmp, p, n, (off_t)w->tmplen);
		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0)
			die("%s: a temporary file in it: write:", temp_dir());
		w->tmplen += did;
		p += did;
		n -= did;
	}
}

static void
fetch(struct xray_writer *w, const struct xray_piece *q,
    void (*use)(struct xray_writer *, const uint8_t *, size_t))
{
	uint8_t part[4096];
	uint64_t i;
	ssize_t n;

	for (i = 0; i < q->len; i += n) {
		n = q->len - i < sizeof part ? q->len - i : sizeof part;
		n = pread(w->tmp, part, n, (off_t)(q->off + i));
		if (n < 0)
			die("%s: a temporary file in it: read:", temp_dir());
		if (n == 0)
			die("%s: a temporary file in it became shorter",
			    temp_dir());
		use(w, part, n);
	}
}

static void
put_out(struct xray_writer *w, const uint8_t *p, size_t n)
{
	out_write(w->out, p, n);
}

static void
put16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, sizeof v);
}

static void
put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof v);
}

static void
put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof v);
}

static void
put_header(struct xray_writer *w)
{
	uint8_t b[XRAY_HEADSIZE];

	put16(b, w->head.version);
	put16(b + 2, XRAY_FDR);
	put32(b + 4, w->head.flags);
	put64(b + 8, w->head.hz);
	put64(b + 16, w->head.size);
	put64(b + 24, w->head.extra);
	out_write(w->out, b, sizeof b);
}

struct xray_writer *
xray_create(struct out *o, const struct xray_head *h)
{
	struct xray_writer *w = xcalloc(1, sizeof *w);

	w->out = o;
	w->head = *h;
	w->tmp = -1;
	w->threads = kh_init(thread);
	if (h->version > 1 || h->size > 0)
		put_header(w);
	return w;
}

/* room for n bytes in the open buffer */
static uint8_t *
room(struct xray_writer *w, size_t n)
{
	struct open *b = &w->open[w->cur - 1];

	if (b->len >= HOLD) {
		b->piece = xgrow(b->piece, &b->cappiece, b->npiece + 1,
		    sizeof *b->piece);
		b->piece[b->npiece++] =
		    (struct xray_piece){ w->tmplen, b->len };
		store(w, b->mem, b->len);
		b->len = 0;
		b->func = SIZE_MAX;
	}
	b->mem = xgrow(b->mem, &b->cap, b->len + n, 1);
	b->len += n;
	b->total += n;
	return b->mem + b->len - n;
}

static uint8_t *
meta(struct xray_writer *w, uint8_t kind)
{
	uint8_t *p = room(w, METASIZE);

	memset(p, 0, METASIZE);
	p[0] = kind;
	w->open[w->cur - 1].was_func = false;
	return p;
}

static void
begin(struct xray_writer *w, const struct xray_rec *r)
{
	struct open *b = &w->open[w->cur - 1];
	uint8_t *p;

	b->first = *r;
	b->is_open = true;
	b->total = b->len = b->npiece = 0;
	b->base = 0;
	b->has_cpu = false;
	put32(meta(w, META_NEWBUF) + 1, r->tid);
	p = meta(w, META_WALL);
	put64(p + 1, (uint64_t)r->sec);
	put32(p + 9, (uint32_t)r->usec);
	if (r->has_pid && w->head.version >= 3)
		put32(meta(w, META_PID) + 1, r->pid);
}

static void
put_cpu(struct xray_writer *w, uint16_t cpu, uint64_t tsc)
{
	struct open *b = &w->open[w->cur - 1];
	uint8_t *p = meta(w, META_CPU);

	put16(p + 1, cpu);
	put64(p + 3, tsc);
	b->cpu = cpu;
	b->base = tsc;
	b->has_cpu = true;
}

/*
 * Fill the rest of a version 1 buffer.  LLVM's newer readers should skip it,
 * but parse it as records, which they ignore.  So write zeros, which are
 * records of 8 bytes, or an event's data, if the rest is no multiple of 8.
 */
static void
pad(struct xray_writer *w, uint64_t n)
{
	static const uint8_t zero[4096];
	uint8_t x[METASIZE] = { META_CUSTOM };
	size_t len;

	if (n % FUNCSIZE != 0 && n > METASIZE) {
		n -= METASIZE;
		put32(x + 1, (uint32_t)n);
		out_write(w->out, x, sizeof x);
	}
	for (; n > 0; n -= len) {
		len = n < sizeof zero ? n : sizeof zero;
		out_write(w->out, zero, len);
	}
}

/* Correct the thread in the current buffer, if it was renamed meanwhile. */
static void
put_name(struct xray_writer *w)
{
	struct open *b = &w->open[w->cur - 1];
	uint8_t tid[4];

	put32(tid, b->first.tid);
	b->renamed = false;
	if (b->npiece == 0)
		memcpy(b->mem + 1, tid, sizeof tid);
	else if (pwrite(w->tmp, tid, sizeof tid,
	    (off_t)b->piece[0].off + 1) != sizeof tid)
		die("%s: a temporary file in it: write:", temp_dir());
}

/* end the buffer of the current thread */
static void
end(struct xray_writer *w)
{
	struct open *b = &w->open[w->cur - 1];
	uint8_t x[METASIZE] = { META_EXTENTS };
	size_t i;

	if (b->renamed)
		put_name(w);
	if (!b->has_cpu)
		put_cpu(w, b->cpu, 0);
	b->is_open = false;
	if (w->head.version == 1)
		meta(w, META_EOB);
	if (w->head.version == 1 && w->head.size > 0 && b->total > w->head.size)
		die("a buffer of %llu bytes does not fit in %llu",
		    (unsigned long long)b->total,
		    (unsigned long long)w->head.size);
	if (w->head.version == 1 && w->head.size == 0) {
		/* how long is the longest?  keep them until that is known */
		for (i = 0; i <= b->npiece; i++) {
			w->kept = xgrow(w->kept, &w->capkept, w->nkept + 1,
			    sizeof *w->kept);
			w->kept[w->nkept++] = i < b->npiece ? b->piece[i] :
			    (struct xray_piece){ w->tmplen, b->len };
		}
		store(w, b->mem, b->len);
		w->kept = xgrow(w->kept, &w->capkept, w->nkept + 1,
		    sizeof *w->kept);
		w->kept[w->nkept++] = (struct xray_piece){ 0, 0 };
		return;
	}
	if (w->head.version > 1) {
		put64(x + 1, b->total);
		out_write(w->out, x, sizeof x);
	}
	for (i = 0; i < b->npiece; i++)
		fetch(w, &b->piece[i], put_out);
	out_write(w->out, b->mem, b->len);
	if (w->head.version == 1)
		pad(w, w->head.size - b->total);
}

/* Advance the time by 1 us: the next buffer must be later than this one. */
static void
later(struct xray_rec *r)
{
	if (++r->usec == 1000000) {
		r->usec = 0;
		r->sec++;
	}
}

/* make sure that n bytes fit; a full buffer's thread gets another */
static void
fit(struct xray_writer *w, uint64_t n)
{
	struct open *b = &w->open[w->cur - 1];
	const uint64_t least = 3 * METASIZE;	/* what begins a buffer */
	struct xray_rec r = b->first;
	uint64_t base = b->base, asked = n;

	if (w->head.version > 1 || w->head.size == 0)
		return;
	n += METASIZE;		/* the end mark */
	if ((b->total + n) % FUNCSIZE != 0)
		n += PADDING;
	if (b->total + (b->has_cpu ? 0 : METASIZE) + n <= w->head.size)
		return;
	if (least + n > w->head.size)
		die("a record of %llu bytes does not fit in buffers of %llu "
		    "bytes",
		    (unsigned long long)asked,
		    (unsigned long long)w->head.size);
	end(w);
	later(&r);
	begin(w, &r);
	put_cpu(w, b->cpu, base);
}

/* the current thread's buffer is open, and its clock told */
static struct open *
ready(struct xray_writer *w, uint64_t tsc)
{
	struct open *b;
	struct xray_rec r;

	if (w->cur == 0)
		die("a record before its thread");
	b = &w->open[w->cur - 1];
	if (!b->is_open) {
		r = b->first;
		if (r.kind == XRAY_BUFFER)
			later(&r);
		else if (w->head.hz > 0 && r.sec == 0 && r.usec == 0) {
			r.sec = (int64_t)(tsc / w->head.hz);
			r.usec = (int32_t)((unsigned __int128)(tsc %
			    w->head.hz) * 1000000 / w->head.hz);
		}
		begin(w, &r);
	}
	return b;
}

static uint64_t
thread_key(const struct xray_rec *r)
{
	return (uint64_t)(r->has_pid ? r->pid : 0) << 32 | r->tid;
}

void
xray_rename(struct xray_writer *w, uint32_t tid)
{
	struct open *b = &w->open[w->cur - 1];
	khint_t k;
	int new;

	k = kh_get(thread, w->threads, thread_key(&b->first));
	kh_del(thread, w->threads, k);
	b->first.tid = tid;
	b->renamed = true;
	k = kh_put(thread, w->threads, thread_key(&b->first), &new);
	kh_val(w->threads, k) = w->cur;
}

static void
select_thread(struct xray_writer *w, const struct xray_rec *r)
{
	uint64_t key = thread_key(r);
	struct open *b;
	khint_t k;
	int new;

	k = kh_put(thread, w->threads, key, &new);
	if (new) {
		w->open = xgrow(w->open, &w->capopen, w->nopen + 1,
		    sizeof *w->open);
		b = &w->open[w->nopen++];
		memset(b, 0, sizeof *b);
		b->first = *r;
		kh_val(w->threads, k) = w->nopen;
	}
	if (r->kind == XRAY_BUFFER && w->cur > 0) {
		b = &w->open[w->cur - 1];
		if (b->is_open && b->first.kind == XRAY_BUFFER)
			end(w);
	}
	w->cur = kh_val(w->threads, k);
	if (r->kind != XRAY_BUFFER)
		return;
	if (w->open[w->cur - 1].is_open)
		end(w);
	begin(w, r);
}

/* Is tsc no number of ticks, at most max, from the clock value told? */
static bool
is_far(const struct open *b, uint64_t tsc, uint64_t max)
{
	return tsc < b->base || tsc - b->base > max;
}

/* ticks from the clock value told to tsc, at most max; else tell tsc */
static uint32_t
ticks(struct xray_writer *w, uint64_t tsc, uint64_t max)
{
	struct open *b = &w->open[w->cur - 1];
	uint64_t d;

	if (!b->has_cpu)
		put_cpu(w, b->cpu, tsc);
	d = tsc - b->base;
	if (is_far(b, tsc, max)) {
		put64(meta(w, META_WRAP) + 1, tsc);
		d = 0;
	}
	b->base = tsc;
	return (uint32_t)d;
}

static void
put_func(struct xray_writer *w, const struct xray_rec *r)
{
	struct open *b = ready(w, r->tsc);
	uint32_t action = r->kind == XRAY_ENTER ? 0 :
	    r->kind == XRAY_EXIT ? 1 : 2;
	uint64_t max = w->head.version == 5 ? INT32_MAX : UINT32_MAX;
	uint32_t d;
	uint8_t *p;

	if (r->id >> 28)
		die("function id %u: an FDR log takes ids up to 268435455",
		    r->id);
	fit(w, FUNCSIZE +
	    (b->has_cpu && is_far(b, r->tsc, max) ? METASIZE : 0));
	d = ticks(w, r->tsc, max);
	p = room(w, FUNCSIZE);
	put32(p, r->id << 4 | action << 1);
	put32(p + 4, d);
	b->func = b->len - FUNCSIZE;
	b->was_func = true;
}

/* The last entry, which is the last record, goes on into a new buffer. */
static void
move_entry(struct xray_writer *w)
{
	struct open *b = &w->open[w->cur - 1];
	struct xray_rec r = b->first;
	uint64_t base = b->base;
	uint8_t entry[FUNCSIZE];

	memcpy(entry, b->mem + b->func, sizeof entry);
	put32(entry + 4, 0);
	b->len -= FUNCSIZE;
	b->total -= FUNCSIZE;
	end(w);
	later(&r);
	begin(w, &r);
	put_cpu(w, b->cpu, base);
	memcpy(room(w, FUNCSIZE), entry, sizeof entry);
	b->func = b->len - FUNCSIZE;
	b->was_func = true;
}

/* an argument stays in the buffer of its entry */
static void
put_arg(struct xray_writer *w, const struct xray_rec *r)
{
	struct open *b;
	uint8_t *p;
	bool full;

	if (w->cur == 0 || !w->open[w->cur - 1].was_func)
		die("an argument that belongs to no entry");
	b = &w->open[w->cur - 1];
	full = w->head.version == 1 && w->head.size > 0 &&
	    b->total + 2 * METASIZE > w->head.size;
	if (full && b->func + FUNCSIZE == b->len)
		move_entry(w);
	else if (full)
		die("an entry's arguments do not fit in buffers of %llu bytes",
		    (unsigned long long)w->head.size);
	if (w->head.version >= 4 && b->func != SIZE_MAX) {
		p = b->mem + b->func;
		if ((p[0] >> 1 & 7) == 0)
			p[0] |= 3 << 1;
	}
	put64(meta(w, META_ARG) + 1, r->arg);
	b->was_func = true;
}

static void
put_event(struct xray_writer *w, const struct xray_rec *r)
{
	bool typed = r->kind == XRAY_TYPED;
	int v = w->head.version;
	struct open *b = ready(w, r->tsc);
	int64_t d = 0;
	uint8_t *p;

	w->data = r->size;
	w->drop = typed && v < 3;
	if (w->drop) {
		w->left_out++;
		return;
	}
	if (r->size > INT32_MAX)
		die("an event of %llu bytes", (unsigned long long)r->size);
	fit(w, METASIZE + r->size);
	if (!b->has_cpu)
		put_cpu(w, b->cpu, r->tsc);
	if (v == 5) {
		d = (int64_t)(r->tsc - b->base);
		if (d != (int32_t)d)
			d = ticks(w, r->tsc, 0);
		b->base = r->tsc;
	}
	p = meta(w, typed ? META_TYPED : META_CUSTOM);
	put32(p + 1, (uint32_t)r->size);
	if (v == 5)
		put32(p + 5, (uint32_t)d);
	else
		put64(p + 5, r->tsc);
	if (typed)
		put16(p + (v == 5 ? 9 : 13), r->type);
	else if (v == 4)
		put16(p + 13, b->cpu);
}

static void
put_wrap(struct xray_writer *w, const struct xray_rec *r)
{
	struct open *b = ready(w, r->tsc);

	fit(w, METASIZE);
	if (!b->has_cpu)
		put_cpu(w, b->cpu, r->tsc);
	put64(meta(w, META_WRAP) + 1, r->tsc);
	b->base = r->tsc;
}

static void
put_data(struct xray_writer *w, const struct xray_rec *r)
{
	if (r->len > w->data)
		die("an event has more data than it told");
	w->data -= r->len;
	if (!w->drop)
		memcpy(room(w, r->len), r->data, r->len);
}

void
xray_put(struct xray_writer *w, const struct xray_rec *r)	/* table */
{
	if (w->data > 0 && r->kind != XRAY_DATA)
		die("an event has less data than it told");
	switch (r->kind) {
	case XRAY_BUFFER:
	case XRAY_THREAD:
		select_thread(w, r);
		break;
	case XRAY_CPU:
		ready(w, r->tsc);
		fit(w, METASIZE);
		put_cpu(w, r->cpu, r->tsc);
		break;
	case XRAY_WRAP:
		put_wrap(w, r);
		break;
	case XRAY_ENTER:
	case XRAY_EXIT:
	case XRAY_TAIL:
		put_func(w, r);
		break;
	case XRAY_ARG:
		put_arg(w, r);
		break;
	case XRAY_CUSTOM:
	case XRAY_TYPED:
		put_event(w, r);
		break;
	case XRAY_DATA:
		put_data(w, r);
		break;
	case XRAY_TWICE:
	case XRAY_LOST:
	case XRAY_END:
		break;
	}
}

/* version 1, all buffers in the temporary file: now their length is known */
static void
put_kept(struct xray_writer *w)
{
	uint64_t len = 0, longest = 0;
	size_t i;

	for (i = 0; i < w->nkept; i++) {
		len += w->kept[i].len;
		if (w->kept[i].len == 0) {
			if (len % FUNCSIZE != 0)
				len += PADDING - len % FUNCSIZE;
			longest = len > longest ? len : longest;
			len = 0;
		}
	}
	w->head.size = longest;
	put_header(w);
	for (i = 0; i < w->nkept; i++) {
		len += w->kept[i].len;
		fetch(w, &w->kept[i], put_out);
		if (w->kept[i].len == 0) {
			pad(w, longest - len);
			len = 0;
		}
	}
}

uint64_t
xray_finish(struct xray_writer *w)
{
	uint64_t left_out = w->left_out;
	size_t i;

	for (i = 1; i <= w->nopen; i++) {
		w->cur = i;
		if (w->open[i - 1].is_open)
			end(w);
	}
	if (w->head.version == 1 && w->head.size == 0)
		put_kept(w);
	for (i = 0; i < w->nopen; i++) {
		free(w->open[i].mem);
		free(w->open[i].piece);
	}
	if (w->tmp >= 0)
		close(w->tmp);
	kh_destroy(thread, w->threads);
	free(w->open);
	free(w->kept);
	free(w);
	return left_out;
}
