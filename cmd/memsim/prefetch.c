/*
 * prefetch - next line, stride by instruction, streamer
 *
 * What an access asks for waits until the access is done.
 */
#include "memsim.h"

#include "mem.h"

#define REGION	4096		/* that no prefetch leaves */
#define SURE	2		/* confidence that is enough */
#define MOST	3

struct stride {
	uint64_t pc;			/* plus 1; 0: none */
	uint64_t last, by;
	unsigned sure;
};

struct stream {
	uint64_t region;		/* plus 1; 0: none */
	uint64_t last, used;
	int by;				/* 1, -1; 0: none yet */
	unsigned sure;
};

struct prefetch {
	struct stride *stride;
	struct stream *stream;
	uint64_t time;			/* look-ups of the streamer */
};

struct wanted *prefetch_wanted;
unsigned prefetch_waiting;
static size_t capwanted;

struct prefetch *
prefetch_new(const struct part *p)
{
	struct prefetch *f = xkeep(sizeof *f);

	if (p->degree[STRIDE] != 0)
		f->stride = xcalloc(p->entries[STRIDE], sizeof *f->stride);
	if (p->degree[STREAMER] != 0)
		f->stream = xcalloc(p->entries[STREAMER], sizeof *f->stream);
	return f;
}

/* Want a line, if it is in the same region as from. */
static inline void
want(struct node *n, uint64_t from, uint64_t line)
{
	if ((line << n->shift) / REGION != from / REGION)
		return;
	prefetch_wanted = xgrow(prefetch_wanted, &capwanted,
	    prefetch_waiting + 1, sizeof *prefetch_wanted);
	prefetch_wanted[prefetch_waiting++] = (struct wanted){ n, line };
}

static void
next_lines(struct node *n, uint64_t line)
{
	for (unsigned i = 1; i <= n->part->degree[NEXT]; i++)
		want(n, line << n->shift, line + i);
}

/* The entry of now.pc. */
static inline struct stride *
stride_of(const struct node *n)
{
	uint64_t entries = n->part->entries[STRIDE];

	return &n->prefetch->stride[(entries & (entries - 1)) == 0 ?
	    now.pc & (entries - 1) : now.pc % entries];
}

/* there: plus 1, a line that is there; 0: that is not known. */
static inline void
train_stride(struct node *n, uint64_t there)
{
	struct stride *s = stride_of(n);
	uint64_t by = now.addr - s->last, line;

	if (s->pc != now.pc + 1) {
		*s = (struct stride){ now.pc + 1, now.addr, 0, 0 };
		return;
	}
	s->last = now.addr;
	if (by == s->by) {
		s->sure += s->sure < MOST;
	} else {
		s->sure -= s->sure > 0;
		if (s->sure == 0)
			s->by = by;
	}
	if (s->sure < SURE || s->by == 0)
		return;
	for (unsigned i = 1; i <= n->part->degree[STRIDE]; i++) {
		line = (now.addr + i * s->by) >> n->shift;
		if (line + 1 != there)
			want(n, now.addr, line);
	}
}

void
prefetch_used(struct node *n, uint64_t line)
{
	train_stride(n, line + 1);
}

/* The entry of a region; *is_new if it had none. */
static struct stream *
stream_of(struct node *n, uint64_t region, bool *is_new)
{
	struct stream *s = n->prefetch->stream, *end, *old = s;

	*is_new = false;
	for (end = s + n->part->entries[STREAMER]; s < end; s++) {
		if (s->region == region + 1)
			return s;
		if (s->used < old->used)
			old = s;
	}
	*is_new = true;
	return old;
}

static void
train_streamer(struct node *n, uint64_t line)
{
	uint64_t at = line << n->shift;
	bool is_new;
	struct stream *s = stream_of(n, at / REGION, &is_new);
	int by = line > s->last ? 1 : -1;

	s->used = ++n->prefetch->time;
	if (is_new) {
		s->region = at / REGION + 1;
		s->last = line;
		s->by = 0;
		s->sure = 0;
		return;
	}
	if (line == s->last)
		return;
	s->last = line;
	if (by == s->by)
		s->sure += s->sure < MOST;
	else
		s->sure = 1;
	s->by = by;
	if (s->sure < SURE)
		return;
	for (unsigned i = 1; i <= n->part->degree[STREAMER]; i++)
		want(n, at, line + (uint64_t)(int64_t)by * i);
}

void
prefetch_train(struct node *n, uint64_t line, bool missed, bool used,
    bool again)
{
	const unsigned *degree = n->part->degree;

	if (degree[NEXT] != 0 && (missed || used))
		next_lines(n, line);
	if (degree[STRIDE] != 0 && !again && now.kind != 'i')
		train_stride(n, 0);
	if (degree[STREAMER] != 0)
		train_streamer(n, line);
}
