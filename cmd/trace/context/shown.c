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
#include "ctl.h"
#include "evw.h"
#include "mem.h"
#include "num.h"

struct frame {
	uint32_t arc : 31;	/* the guest's */
	uint32_t shown : 1;
};
static struct shown {
	unsigned thread;
	struct frame *v;	/* from the outermost */
	size_t n, cap;
	uint64_t place;		/* the last one told, or 0 */
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

/* A place, as its difference from the last one if there is one. */
static char *
put_place(char *p, uint64_t place, uint64_t last)
{
	if (place == 0 || last == 0)
		return num_hex(p, place);
	*p++ = place == last ? '.' : place > last ? '+' : '-';
	if (place == last)
		return p;
	return num_hex(p, place > last ? place - last : last - place);
}

/* There are as many of these lines as references: evw_line is slow. */
static void
write_entry(struct evw *w, struct shown *s, uint32_t arc, uint64_t place)
{
	char text[40] = { 'N', ' ' }, *p = num_hex(text + 2, arc);

	*p++ = ' ';
	p = put_place(p, place, s->place);
	evw_raw(w, text, (size_t)(p - text));
	if (place != 0)
		s->place = place;
}

static void
write_exits(struct evw *w, uint32_t n)
{
	char text[40] = { 'X', ' ' }, *p = num_hex(text + 2, n);

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
	write_entry(w, s, n, place);
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
		write_exits(w, left);
}

static void
leave(struct evw *w, struct shown *s, uint32_t n, uint32_t next)
{
	const struct walk_ctx *from;

	if (n == 0 || n > s->n || (next != 0 && !arcs_is(next))) {
		trust_lose("its calls");
		return;
	}
	from = next == 0 ? NULL : arcs_root(s->v[s->n - n].arc);
	s->next = 0;
	if (from == NULL) {
		leave_some(w, s, n);
		return;
	}
	leave_some(w, s, n - 1);
	if (become(w, from, next)) {
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
		s->place = 0;
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

	if (n != 0)
		shown[thread] = 0;
	/* the number's next thread begins without a place, too */
	for (i = 0; i < NSLOT; i++)
		if (slots[i].thread == thread)
			slots[i].thread = 0;
	return n;
}
