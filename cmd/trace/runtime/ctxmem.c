/*
 * ctxmem - with --contexts: the memory of a thread's calls and frames
 *
 * It is address space at first, as large as can be.  The counts of the first
 * arcs and the outermost frames can be accessed, and twice as many once a fault
 * shows that there are more.
 */
#include "contexts.h"
#include "ctx.h"

#define FIRST_ARCS 4096u	/* accessible at first; each fault doubles it */
#define FIRST_FRAMES 2048u
#define SHORT_STACK 16384u	/* frames, up to which nothing is looked at */
#define LONG_RUN 8192u		/* frames of jumps in a row */

/* The address behind the outermost frame. */
static uint64_t
frames_end(const struct tarea *t)
{
	return (uint64_t)ctx_at(t, CTX_FRAMES) +
	    FRAMES_MOST * sizeof(struct ctx_frame);
}

static int
open_memory(uint64_t from, uint64_t n)
{
	from &= -(uint64_t)PAGE;
	n = (n + 2 * PAGE - 1) & -(uint64_t)PAGE;
	if (ctx_has_more() && sys3(__NR_mprotect, from + CTX_MORE, n,
	    PROT_READ | PROT_WRITE) != 0)
		return -1;
	return sys3(__NR_mprotect, from, n, PROT_READ | PROT_WRITE) != 0 ?
	    -1 : 0;
}

/* The counts of the first n arcs can be accessed. */
static int
open_counts(struct tarea *t, uint64_t n)
{
	n = n > ARCS_MOST ? ARCS_MOST : n;
	t->narc = n;
	if (ctx_words(t)->narc < n)
		ctx_words(t)->narc = n;
	return open_memory((uint64_t)ctx_at(t, CTX_COUNTS), 16 * n - PAGE);
}

/* The outermost n frames can be accessed. */
static int
open_frames(struct tarea *t, uint64_t n)
{
	n = n > FRAMES_MOST ? FRAMES_MOST : n;
	t->nframe = n;
	n *= sizeof(struct ctx_frame);
	if (n > FRAMES_MOST * sizeof(struct ctx_frame) - PAGE)
		return open_memory((uint64_t)ctx_at(t, CTX_FRAMES),
		    FRAMES_MOST * sizeof(struct ctx_frame));
	return open_memory(frames_end(t) - n, n);
}

int
contexts_begin(struct tarea *t)
{
	struct ctx_frame *f;

	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return 0;
	/* not for a child, whose address space may soon be limited */
	sys3(__NR_madvise, ctx_at(t, 0), CTX_BYTES +
	    (ctx_has_more() ? CTX_MORE : 0) + rt.boot.seg[SEG_ARCS].size,
	    MADV_DONTFORK);
	if (sys3(__NR_mprotect, ctx_at(t, 0), CTX_COUNTS,
	    PROT_READ | PROT_WRITE) != 0 ||
	    open_counts(t, rt.ctl->polling ? ARCS_MOST : FIRST_ARCS) < 0 ||
	    open_frames(t, rt.ctl->polling ? FRAMES_MOST : FIRST_FRAMES) < 0)
		return -1;
	f = (struct ctx_frame *)(frames_end(t) - sizeof *f);
	f->arc = 0;
	f->p = 0;
	f->place = PLACE_NONE;
	f->landing = (uint64_t)rt_return;
	ctx_words(t)->top = ctx_words(t)->base = (uint64_t)f;
	ctx_words(t)->told = (uint64_t)(f + 1);
	t->rt_called = (uint64_t)rt_called;
	t->more = rt.ctl->more;
	return 0;
}

void
contexts_all(struct tarea *t)
{
	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return;
	open_counts(t, ARCS_MOST);
	open_frames(t, FRAMES_MOST);
}

void
ctx_more_arcs(struct tarea *t, uint64_t arc)
{
	uint64_t n = t->narc;

	while (n <= arc)
		n *= 2;
	if (open_counts(t, n) < 0)
		panic("no memory for calls");
}

static uint64_t
frames_down_to(const struct tarea *t, uint64_t addr)
{
	return (frames_end(t) - addr) / sizeof(struct ctx_frame) + 1;
}

/*
 * Have frames down to this address accessible; false: no thread has so many;
 * no memory: panic.
 */
static bool
grow_frames(struct tarea *t, uint64_t addr)
{
	uint64_t need = frames_down_to(t, addr), n = t->nframe;

	if (need > FRAMES_MOST)
		return false;
	while (n < need)
		n *= 2;
	if (n > t->nframe && open_frames(t, n) < 0)
		panic("no memory for calls");
	return true;
}

/* Are the last frames all of jumps, some of which trace can join? */
static bool
long_run(const struct tarea *t)
{
	const struct ctx_frame *f = ctx_top(t), *end = f + LONG_RUN;
	const struct ctx_arc *a;

	if (ctx_has_more() || (uint64_t)end > ctx_words(t)->base)
		return false;
	for (; f < end && f->place == end->place; f++) {
		a = &rt.arcs[f->arc / 16];
		if (a->ret != 0 || a->target == ARC_NONE)
			break;
	}
	return f == end;
}

void
ctx_room_behind_step(struct tarea *t)
{
	uint64_t top = ctx_words(t)->top, n = frames_down_to(t, top);

	/*
	 * Frames that trace could not join are given again with all others: so
	 * that is tried again when there are twice as many.
	 */
	if (n <= SHORT_STACK / 2 ||
	    !grow_frames(t, top - n * sizeof(struct ctx_frame)))
		grow_frames(t, top);
}

bool
ctx_room_for_frame(struct tarea *t, uint64_t addr)
{
	uint64_t need = frames_down_to(t, addr);

	if (need > t->nframe && need > SHORT_STACK && long_run(t))
		return false;
	return grow_frames(t, addr);
}

enum contexts_fault
contexts_fault(struct tarea *t, uint64_t addr)
{
	uint64_t off = addr - (uint64_t)ctx_at(t, 0);

	if (ctx_has_more() && off >= CTX_BYTES) {
		off -= CTX_MORE;
		addr -= CTX_MORE;
	}
	if (!(rt.boot.flags & BOOT_CONTEXTS) || off < CTX_COUNTS ||
	    off >= CTX_BYTES)
		return CONTEXTS_NOT;
	if (off < CTX_GUARD) {
		if ((off - CTX_COUNTS) / 16 < t->narc)
			return CONTEXTS_NOT;
		ctx_room_for_arc(t, (off - CTX_COUNTS) / 16);
		return CONTEXTS_ROOM;
	}
	addr &= -(uint64_t)sizeof(struct ctx_frame);
	return ctx_room_for_frame(t, addr) ? CONTEXTS_ROOM : CONTEXTS_FULL;
}
