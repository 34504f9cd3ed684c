/*
 * ctxtold - with --contexts, kind cache: tell the stream which frames there are
 *
 * A reference belongs to the innermost frame.  Frames change much more often
 * than references are told, so those that have changed are told before one is.
 */
#include "contexts.h"
#include "ctx.h"
#include "queue.h"

/* Is the frame that which was there when frames were told last? */
static bool
is_told(const struct ctx_frame *f)
{
	const struct ctx_frame_more *m = ctx_frame_more(f);

	return m->told_arc == f->arc && m->told_p == f->p;
}

/* A record about frames; `room' bytes are left behind it. */
static void
tell_frame(struct tarea *t, uint64_t room, uint64_t arc, uint64_t v)
{
	volatile struct {
		uint64_t arc, v;
	} __attribute__((packed, aligned(4))) *value;

	buffer_room(t, 4 + sizeof *value + room);
	value = (void *)(t->p + 4);
	value->arc = arc;	/* memcpy is no inline function here */
	value->v = v;
	*(volatile uint32_t *)t->p = rt.boot.frame;
	t->p += 4 + sizeof *value;
}

bool
contexts_are_told(const struct tarea *t)
{
	return !(rt.boot.flags & BOOT_CONTEXTS) ||
	    (ctx_words(t)->told == ctx_words(t)->top && is_told(ctx_top(t)));
}

/*
 * Frames are a stack: where one is that which was told, so are all outside of
 * it.  No more are compared than have changed, and one.
 */
void
contexts_tell(struct tarea *t, uint64_t room)
{
	struct ctx_words *w = ctx_words(t);
	uint64_t end = w->base + sizeof(struct ctx_frame), next;
	struct ctx_frame *f;

	if (contexts_are_told(t))
		return;
	f = (struct ctx_frame *)(w->told > w->top ? w->told : w->top);
	while ((uint64_t)f < end && !is_told(f))
		f++;
	next = (uint64_t)f > w->top ? f[-1].arc / 16 : 0;
	if (w->told < (uint64_t)f)
		tell_frame(t, room, 0, frames_left(((uint64_t)f - w->told) /
		    sizeof *f, next));
	w->told = w->top;
	while ((uint64_t)f-- > w->top) {
		ctx_frame_more(f)->told_arc = f->arc;
		ctx_frame_more(f)->told_p = f->p;
		tell_frame(t, room, f->arc, f->place);
	}
}

void
ctx_hide_frames(struct tarea *t)
{
	struct ctx_words *w = ctx_words(t);
	uint64_t end = w->base + sizeof(struct ctx_frame);

	if (ctx_has_more() && t->bufend != 0 && w->told < end)
		tell_frame(t, 0, 0, frames_left((end - w->told) /
		    sizeof(struct ctx_frame), 0));
	w->told = end;
}
