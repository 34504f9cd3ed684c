/*
 * calls - which functions a thread is in
 *
 * The rule for an exit: it leaves the innermost frame of its function, and
 * with it all frames inside of that one, whose own exits are missing (nothing
 * tells that an exception or longjmp left them).  An exit of a function that
 * is not on the stack leaves nothing: its entry came before the log began.
 *
 * Entries whose exits are missing for good would let a stack grow with the
 * log, so a stack of MOST frames forgets its outer half.
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "khash.h"
#include "mem.h"

enum { MOST = 1 << 20 };

KHASH_MAP_INIT_INT(count, uint32_t)
KHASH_MAP_INIT_INT64(thread, struct calls *)

struct calls *
calls_thread(struct calls_set *s, uint32_t pid, uint32_t tid)
{
	struct calls *c;
	khint_t k;
	int new;

	if (s->index == NULL)
		s->index = kh_init(thread);
	k = kh_put(thread, s->index, (uint64_t)pid << 32 | tid, &new);
	if (!new)
		return kh_val((khash_t(thread) *)s->index, k);
	c = xcalloc(1, sizeof *c);
	c->pid = pid;
	c->tid = tid;
	kh_val((khash_t(thread) *)s->index, k) = c;
	s->thread = xgrow(s->thread, &s->cap, s->n + 1, sizeof *s->thread);
	s->thread[s->n++] = c;
	return c;
}

void
calls_reset(struct calls_set *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->thread[i]->count)
			kh_destroy(count, s->thread[i]->count);
		free(s->thread[i]->frame);
		free(s->thread[i]);
	}
	if (s->index)
		kh_destroy(thread, s->index);
	free(s->thread);
	memset(s, 0, sizeof *s);
}

static void
count(struct calls *c, uint32_t id, int by)
{
	khash_t(count) *h = c->count;
	khint_t k;
	int new;

	k = kh_put(count, h, id, &new);
	if (new)
		kh_val(h, k) = 0;
	kh_val(h, k) += by;
	if (kh_val(h, k) == 0)
		kh_del(count, h, k);
}

static void
forget_half(struct calls *c)
{
	size_t i;

	if (c->count)
		for (i = 0; i < MOST / 2; i++)
			count(c, c->frame[i].id, -1);
	c->no_exit += MOST / 2;
	c->n -= MOST / 2;
	memmove(c->frame, c->frame + MOST / 2, c->n * sizeof *c->frame);
}

struct calls_frame *
calls_enter(struct calls *c, uint32_t id, uint64_t tick)
{
	if (c->n == MOST)
		forget_half(c);
	if (c->n == c->cap)
		c->frame = xgrow(c->frame, &c->cap, c->n + 1, sizeof *c->frame);
	if (c->count)
		count(c, id, 1);
	c->frame[c->n] = (struct calls_frame){ .id = id, .tick = tick };
	return &c->frame[c->n++];
}

/*
 * Match an exit of a function that is not the innermost.  The counts by id
 * avoid a search of a deep stack that would find nothing.
 */
static size_t
deeper(struct calls *c, uint32_t id)
{
	khash_t(count) *h;
	size_t i;

	if (c->count == NULL) {
		c->count = kh_init(count);
		for (i = 0; i < c->n; i++)
			count(c, c->frame[i].id, 1);
	}
	h = c->count;
	if (kh_get(count, h, id) == kh_end(h)) {
		c->no_entry++;
		return 0;
	}
	for (i = c->n; c->frame[i - 1].id != id; i--)
		continue;
	c->no_exit += c->n - i;
	return c->n - i + 1;
}

size_t
calls_match(struct calls *c, uint32_t id)
{
	if (c->n > 0 && c->frame[c->n - 1].id == id)
		return 1;
	return deeper(c, id);
}

void
calls_drop(struct calls *c, size_t n)
{
	for (; n > 0; n--) {
		c->n--;
		if (c->count)
			count(c, c->frame[c->n].id, -1);
	}
}
