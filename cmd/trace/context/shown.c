/*
 * shown - kind cache: which frames of a thread the stream shows
 *
 * The runtime records what has changed before a reference's record.  Frames of
 * linkage stubs are not shown, for stubs are no functions.  A thread's number
 * is never used again within an image, but by the next image.
 *
 * Where a thread's or a handler's outermost function returns, its root becomes
 * that of its caller, by the call that the return has shown.  The runtime tells
 * each such return at once.
 */
#include "context/context.h"
#include "context/parts.h"
#include "evw.h"
#include "util.h"

struct frame {
	uint32_t arc : 31;	/* the guest's */
	uint32_t shown : 1;
};
static struct shown {
	unsigned thread;
	struct frame *v;	/* from the outermost */
	size_t n, cap;
	uint32_t next;		/* this arc's frame is there already; or 0 */
} slots[NSLOT];

static uint32_t *shown;		/* by thread: how many */
static size_t nshown;

static bool
is_arc(uint64_t arc)
{
	if (arc % 16 == 0 && arcs_is(arc / 16))
		return true;
	trust_lose("its calls");
	return false;
}

/* The number of the arc's call, or of the root that it leads to; 0: a stub. */
static uint32_t
number(struct evw *w, uint32_t arc)
{
	const struct walk_ctx *root = arcs_root(arc);
	struct walk_arc *a = arcs_walk(arc);
	uint32_t *n = arcs_told(arc);

	if (*n == 0 && (a != NULL || root != NULL))
		*n = told_number(w, a, root);
	return *n;
}

static char *
put_hex(char *p, uint64_t n)
{
	int shift = (63 - __builtin_clzll(n | 1)) & ~3;

	*p++ = ' ';
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[n >> shift & 15];
	return p;
}

#define NONE UINT64_MAX

/* There are as many of these lines as references: evw_line is slow. */
static void
write_line(struct evw *w, char letter, uint64_t a, uint64_t b)
{
	char text[40] = { letter }, *p = put_hex(text + 1, a);

	if (b != NONE)
		p = put_hex(p, b);
	evw_raw(w, text, (size_t)(p - text));
}

static void
enter(struct evw *w, struct shown *s, uint32_t arc, uint64_t place)
{
	uint32_t n, next = s->next;

	s->next = 0;
	if (arc == next)
		return;
	n = number(w, arc);
	s->v = xgrow(s->v, &s->cap, s->n + 1, sizeof *s->v);
	s->v[s->n++] = (struct frame){ arc & INT32_MAX, n != 0 };
	if (n == 0)
		return;
	shown[s->thread]++;
	if (place == PLACE_NONE || arcs_root(arc) != NULL)
		place = 0;
	write_line(w, 'N', n, place);
}

/*
 * The outermost frame, of root `from', becomes that of root arc `to', whose
 * call that was.  false: it was not.
 */
static bool
become(struct evw *w, const struct walk_ctx *from, uint32_t to)
{
	const struct walk_arc *a = arcs_unseen(to);
	uint32_t call;

	if (arcs_root(to) == from)
		return true;
	if (a == NULL || a->ctx != from)
		return false;
	call = told_number(w, a, NULL);
	evw_line(w, "N %x 0 %x", told_number(w, NULL, arcs_root(to)), call);
	return true;
}

static void
leave_some(struct evw *w, struct shown *s, size_t n)
{
	uint32_t left = 0;

	for (; n > 0; n--)
		left += s->v[--s->n].shown;
	shown[s->thread] -= left;
	if (left != 0)
		write_line(w, 'X', left, NONE);
}

static void
leave(struct evw *w, struct shown *s, uint32_t n, uint32_t next)
{
	const struct walk_ctx *from;

	if (n == 0 || n > s->n || (next != 0 && !arcs_is(next))) {
		trust_lose("its calls");
		return;
	}
	leave_some(w, s, n - 1);
	from = arcs_root(s->v[s->n - 1].arc);
	s->next = 0;
	if (from != NULL && next != 0 && become(w, from, next)) {
		s->v[s->n - 1].arc = next & INT32_MAX;
		s->next = next;
	} else {
		leave_some(w, s, 1);
	}
}

void
context_frame(struct evw *w, unsigned slot, unsigned thread,
    const uint64_t v[2])
{
	struct shown *s = &slots[slot];

	if (s->thread != thread) {
		s->thread = thread;
		s->n = 0;
	}
	shown = xgrow0(shown, &nshown, thread + 1ul, sizeof *shown);
	context_lock();
	if (v[0] == 0)
		leave(w, s, (uint32_t)v[1], (uint32_t)(v[1] >> 32));
	else if (is_arc(v[0]))
		enter(w, s, (uint32_t)(v[0] / 16), v[1]);
	context_unlock();
}

uint32_t
context_left(unsigned thread)
{
	uint32_t n = thread < nshown ? shown[thread] : 0;
	unsigned i;

	if (n == 0)
		return 0;
	shown[thread] = 0;
	for (i = 0; i < NSLOT; i++)
		if (slots[i].thread == thread)
			slots[i].thread = 0;
	return n;
}
