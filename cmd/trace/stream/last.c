/*
 * last - the flight recorder: keep only the newest records, for a dump
 *
 * What threads hand over is not written out but copied as it is into a RING,
 * one for each slot.  There it becomes an ITEM: the number of its thread, its
 * records, and the system call or signal that ended them.  Items are numbered
 * in the order of the queue, so a dump is one merge: it walks the newest SIZE
 * bytes of all rings by these numbers, through a writer that has forgotten what
 * it wrote before.  Nothing is formatted before that.
 *
 * A dump has all mappings.  M and U lines wait in a list, numbered like the
 * items.  Lines that are older than every remaining item are applied to a
 * table, with which a dump begins.  So neither grows with the run.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evw.h"
#include "mem.h"
#include "out.h"
#include "stream/parts.h"
#include "stream/stream.h"
#include "prog.h"

struct last_item {
	uint64_t seq;
	uint64_t arg;
	uint32_t thread;
	uint32_t bytes;		/* of records, which follow */
	uint16_t sig;
	uint8_t letter;		/* what ended them: Y, K, J, or 0 */
	uint8_t pad[5];
};

/* Items lie from head to tail, or from head to wrap and then from 0 to tail. */
struct ring {
	uint8_t *buf;
	size_t head, tail, wrap;
	size_t held;		/* bytes of all items */
	struct last_item *newest;
	uint64_t told;		/* items whose records this dump has written */
};

/* M and U lines that may be newer than some item. */
struct lines {
	struct lines *next;
	uint64_t seq;
	size_t len;
	char text[];
};
#define LINES_MAX (1u << 20)	/* bytes that may wait */

struct last_map {
	uint64_t start, end, off;
	unsigned object;
	char *path;
};

#define ITEM_MAX (sizeof(struct last_item) + BUF_SIZE + 8)

static struct ring rings[NSLOT];
static uint64_t seq;
static uint64_t taken;		/* bytes of records, so far */
static unsigned threads;	/* the largest number of a thread */
static struct lines *lines, **lines_end = &lines;
static size_t waiting;		/* bytes of these lines */
static struct last_map *maps;
static size_t nmaps, capmaps;

/* ---- rings ---- */

/*
 * A ring holds at most SIZE and one item before another comes, and less than an
 * item is wasted at the wrap.
 */
static size_t
ring_bytes(void)
{
	return (size_t)opt->last + 3 * ITEM_MAX;
}

static size_t
item_size(const struct last_item *it)
{
	return sizeof *it + ((it->bytes + 7u) & ~7u);
}

static struct last_item *
oldest(struct ring *r)
{
	return (struct last_item *)(void *)(r->buf + r->head);
}

static void
drop(struct ring *r)
{
	size_t n = item_size(oldest(r));

	r->head += n;
	r->held -= n;
	if (r->head == r->wrap) {
		r->head = 0;
		r->wrap = ring_bytes();
	}
	if (r->held == 0) {
		r->head = r->tail = 0;
		r->newest = NULL;
	}
}

/* Drop all items that need not be kept. */
static void
trim(struct ring *r)
{
	while (r->held != 0 && r->held - item_size(oldest(r)) >= opt->last)
		drop(r);
}

static struct last_item *
add(unsigned slot, unsigned thread, uint32_t bytes)
{
	struct ring *r = &rings[slot];
	struct last_item it = { .thread = thread, .bytes = bytes };
	size_t n = item_size(&it);

	if (r->buf == NULL) {
		r->buf = xreserve(ring_bytes(), 1,
		    "--last: memory for a thread's records");
		r->wrap = ring_bytes();
	}
	trim(r);
	if (r->tail + n > ring_bytes()) {
		r->wrap = r->tail;
		r->tail = 0;
	}
	it.seq = ++seq;
	r->newest = (struct last_item *)(void *)(r->buf + r->tail);
	*r->newest = it;
	r->tail += n;
	r->held += n;
	if (thread > threads)
		threads = thread;
	return r->newest;
}

void
last_records(unsigned slot, unsigned thread, const uint32_t *from,
    const uint32_t *to)
{
	uint32_t n = (uint32_t)((const uint8_t *)to - (const uint8_t *)from);

	memcpy(add(slot, thread, n) + 1, from, n);
	taken += n;
}

void
last_skip(unsigned slot, uint32_t bytes)
{
	while (rings[slot].held != 0)
		drop(&rings[slot]);
	taken += bytes;
}

void
last_ended(unsigned slot, unsigned thread, const struct qent *e)
{
	struct last_item *it = rings[slot].newest;

	if (it == NULL || it->seq != seq || it->letter != 0)
		it = add(slot, thread, 0);
	it->letter = e->type == Q_SYSCALL ? 'Y' : e->type == Q_WINDOW ? 'J' :
	    'K';
	it->sig = e->sig;
	it->arg = e->arg;
}

/* ---- mappings ---- */

static void
map_add(const struct last_map *m, uint64_t start, uint64_t end)
{
	maps = xgrow(maps, &capmaps, nmaps + 1, sizeof *maps);
	maps[nmaps] = *m;
	maps[nmaps].start = start;
	maps[nmaps].end = end;
	maps[nmaps].off = m->off + (start - m->start);
	maps[nmaps].path = xstrdup(m->path);
	nmaps++;
}

static void
map_cut(uint64_t start, uint64_t end)
{
	struct last_map m;
	size_t i;

	for (i = 0; i < nmaps; ) {
		m = maps[i];
		if (m.start >= end || m.end <= start) {
			i++;
			continue;
		}
		maps[i] = maps[--nmaps];
		if (m.start < start)
			map_add(&m, m.start, start);
		if (m.end > end)
			map_add(&m, end, m.end);
		free(m.path);
	}
}

/* Apply an M or U line, as code/maps.c makes them. */
static void
map_line(const char *s)
{
	struct last_map m;
	int at;

	if (sscanf(s, "U %" SCNx64 " %" SCNx64, &m.start, &m.end) == 2) {
		map_cut(m.start, m.end);
	} else if (sscanf(s, "M %x %" SCNx64 " %" SCNx64 " %" SCNx64 " %n",
	    &m.object, &m.start, &m.end, &m.off, &at) == 4) {
		m.path = xstrndup(s + at, strcspn(s + at, "\n"));
		map_cut(m.start, m.end);
		map_add(&m, m.start, m.end);
		free(m.path);
	}
}

/* Apply the oldest lines to the table of mappings. */
static void
fold(void)
{
	struct lines *l = lines;
	char *s = l->text, *nl;

	for (; (nl = strchr(s, '\n')) != NULL; s = nl + 1)
		map_line(s);
	lines = l->next;
	if (lines == NULL)
		lines_end = &lines;
	waiting -= l->len;
	free(l);
}

/*
 * Too many lines wait: apply those that are older than every item.  Where a
 * silent thread's old items still hold up too many, drop these items.
 */
static void
shorten(void)
{
	uint64_t first = UINT64_MAX;
	unsigned i;

	for (i = 0; i < NSLOT; i++)
		if (rings[i].held != 0 && oldest(&rings[i])->seq < first)
			first = oldest(&rings[i])->seq;
	while (lines != NULL && lines->seq < first)
		fold();
	while (waiting > LINES_MAX) {
		for (i = 0; i < NSLOT; i++)
			while (rings[i].held != 0 &&
			    oldest(&rings[i])->seq < lines->seq)
				drop(&rings[i]);
		fold();
	}
}

void
last_lines(const char *text)
{
	size_t len = strlen(text);
	struct lines *l = xmalloc(sizeof *l + len + 1);

	l->next = NULL;
	l->seq = ++seq;
	l->len = len;
	memcpy(l->text, text, len + 1);
	*lines_end = l;
	lines_end = &l->next;
	waiting += len;
	if (waiting > LINES_MAX)
		shorten();
}

/* ---- a dump ---- */

struct dump_part {
	uint64_t seq;
	struct ring *ring;	/* or NULL: lines */
	const uint32_t *from;	/* the first record to write */
	union {
		const struct last_item *it;
		const struct lines *lines;
	};
};

static struct dump_part *parts;
static size_t nparts, capparts;

static struct dump_part *
part(uint64_t number)
{
	parts = xgrow(parts, &capparts, nparts + 1, sizeof *parts);
	parts[nparts].seq = number;
	return &parts[nparts++];
}

/* Bytes of the oldest item's records that are too old to be written. */
static uint32_t
too_old(struct ring *r)
{
	const struct last_item *it = oldest(r);
	const uint8_t *p = (const uint8_t *)(it + 1);
	uint32_t at = 0, head;

	while (at < it->bytes && r->held - at > opt->last) {
		memcpy(&head, p + at, 4);
		at += record_size(record_nvalues(head));
	}
	return at < it->bytes ? at : it->bytes;
}

/* Add the ring's items to the parts; returns their bytes of records. */
static uint64_t
ring_parts(struct ring *r)
{
	struct last_item *it;
	struct dump_part *p;
	size_t at, left;
	uint32_t skip;
	uint64_t bytes = 0;

	r->told = 0;
	trim(r);
	if (r->held == 0)
		return 0;
	skip = too_old(r);
	for (at = r->head, left = r->held; left > 0; skip = 0) {
		it = (struct last_item *)(void *)(r->buf + at);
		p = part(it->seq);
		p->ring = r;
		p->it = it;
		p->from = (const uint32_t *)(const void *)
		    ((const uint8_t *)(it + 1) + skip);
		bytes += it->bytes - skip;
		left -= item_size(it);
		at += item_size(it);
		if (at == r->wrap)
			at = 0;
	}
	return bytes;
}

static int
by_seq(const void *a, const void *b)
{
	const struct dump_part *x = a, *y = b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void
tell_lines(const char *s)
{
	const char *nl;

	for (; (nl = strchr(s, '\n')) != NULL; s = nl + 1)
		evw_raw(stream_writer, s, (size_t)(nl - s));
}

static void
tell_item(const struct dump_part *p)
{
	static unsigned current;
	const struct last_item *it = p->it;
	const uint32_t *end = (const uint32_t *)(const void *)
	    ((const uint8_t *)(it + 1) + it->bytes);

	if (p == parts)
		current = 0;
	if (p->from == end && p->ring->told == 0)
		return;		/* no record is left of what ended here */
	if (threads > 1 && it->thread != current)
		evw_line(stream_writer, "T %u", it->thread);
	current = it->thread;
	if (evw_records(stream_writer, p->from, end) < end &&
	    evw_error(stream_writer) != NULL)
		trust_lose(evw_error(stream_writer));
	p->ring->told += p->from < end;
	if (it->letter == 'Y')
		evw_line(stream_writer, "Y %" PRIu64, it->arg);
	else if (it->letter == 'K')
		evw_line(stream_writer, "K %u %" PRIx64, it->sig, it->arg);
	else if (it->letter == 'J')
		evw_line(stream_writer, "J window");
}

void
last_dump(void)
{
	struct lines *l;
	uint64_t bytes = 0;
	size_t i;

	nparts = 0;
	for (i = 0; i < NSLOT; i++)
		bytes += ring_parts(&rings[i]);
	for (l = lines; l != NULL; l = l->next) {
		part(l->seq)->ring = NULL;
		parts[nparts - 1].lines = l;
	}
	if (nparts > 0)
		qsort(parts, nparts, sizeof *parts, by_seq);
	evw_line(stream_writer, "H last %" PRIu64, opt->last);
	evw_line(stream_writer, "H dropped %" PRIu64, taken - bytes);
	for (i = 0; i < nmaps; i++)
		evw_line(stream_writer, "M %x %" PRIx64 " %" PRIx64 " %" PRIx64
		    " %s", maps[i].object, maps[i].start, maps[i].end,
		    maps[i].off, maps[i].path);
	for (i = 0; i < nparts; i++)
		if (parts[i].ring == NULL)
			tell_lines(parts[i].lines->text);
		else
			tell_item(&parts[i]);
}

/* ---- when, and where to ---- */

static int asked, pass_on;
static const char *file;	/* of -o */

static void
ask(int sig)
{
	(void)sig;
	__atomic_store_n(&asked, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&pass_on, 1, __ATOMIC_SEQ_CST);
}

/* Was it set?  No longer then; a signal that comes meanwhile sets it again. */
static bool
take(int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST) != 0 &&
	    __atomic_exchange_n(flag, 0, __ATOMIC_SEQ_CST) != 0;
}

bool
last_pass_on(void)
{
	return take(&pass_on);
}

bool
last_asked(void)
{
	return take(&asked);
}

/* The next file's name; its number replaces %n, or follows the name. */
static char *
file_name(void)
{
	static unsigned number;
	const char *at = strstr(file, "%n");
	size_t n = strlen(file) + 16;
	char *s = xmalloc(n);

	if (at != NULL)
		snprintf(s, n, "%.*s%u%s", (int)(at - file), file,
		    ++number, at + 2);
	else
		snprintf(s, n, "%s.%u", file, ++number);
	return s;
}

/* -1 with errno: no new file can be created beside -o's. */
static int
may_create(void)
{
	const char *slash = strrchr(file, '/');
	char *dir = slash == NULL ? xstrdup(".") : xstrndup(file,
	    (size_t)(slash - file) + 1);
	int r = access(dir, W_OK | X_OK);

	free(dir);
	return r;
}

struct out *
last_open(const char *name)
{
	struct sigaction a;

	file = name;
	memset(&a, 0, sizeof a);
	a.sa_handler = ask;
	a.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &a, NULL);
	if (opt->out_fd >= 0)
		return out_fd(opt->out_fd, "standard output");
	if (strstr(file, "%n") == NULL)
		return out_open(file);
	if (may_create() < 0)
		die("%s:", file);
	return NULL;
}

struct out *
last_final(struct out *o)
{
	return o != NULL ? o : out_open(file_name());
}

/* A dump could not be written: say so; the next one may succeed. */
static void
lost(struct out *o, int err)
{
	errno = err;
	warn("%s: write:", o->name);
}

struct out *
last_begin(void)
{
	struct out *o;

	if (opt->out_fd >= 0) {
		warn("SIGUSR1: standard output is for the end; see -o");
		return NULL;
	}
	if (may_create() < 0) {
		warn("SIGUSR1: %s:", file);
		return NULL;
	}
	o = out_open(file_name());
	o->failed = lost;
	return o;
}
