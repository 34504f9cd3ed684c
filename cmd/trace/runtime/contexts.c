/*
 * contexts - with --contexts: a thread's frames, where fragments cannot
 *
 * Fragments make calls and returns whose arcs the thread's table has.  Others
 * come here: what an exit did is noted, and done when the thread is about to go
 * on at its target.  A signal may come in between; then its handler is told
 * first, with what was interrupted.  What is no plain call or return of an arc
 * that exists is trace's, which changes frames as its rules are.
 */
#include "runtime.h"

#define FIRST_ARCS 4096u	/* accessible at first; each fault doubles it */
#define FIRST_FRAMES 2048u

static void *
at(const struct tarea *t, uint64_t off)
{
	return (void *)((uint64_t)t + T_BIAS + T_CTX + off);
}

static struct ctx_words *
words(const struct tarea *t)
{
	return at(t, CTX_WORDS);
}

struct ctx_frame *
contexts_top(const struct tarea *t)
{
	return (struct ctx_frame *)words(t)->top;
}

/* The address behind the outermost frame. */
static uint64_t
frames_end(const struct tarea *t)
{
	return (uint64_t)at(t, CTX_FRAMES) +
	    FRAMES_MOST * sizeof(struct ctx_frame);
}

const struct ctx_arc *
contexts_arc(const struct tarea *t)
{
	return &rt.arcs[contexts_top(t)->arc / 16];
}

/* The state that a frame's arc leads to. */
static const struct ctx_state *
state_of(const struct ctx_frame *f)
{
	return &rt.states[rt.arcs[f->arc / 16].to];
}

static const struct ctx_state *
state(const struct tarea *t)
{
	return state_of(contexts_top(t));
}

uint32_t
contexts_owner(const struct tarea *t)
{
	if (!(rt.boot.flags & BOOT_CONTEXTS) || t->skips)
		return 0;
	return state(t)->owner;
}

/* ------------------------------------------------------------------- memory */

/* Kind cache: counts and frames have more to them. */
static bool
has_more(void)
{
	return rt.boot.sets != 0;
}

static int
open_memory(uint64_t from, uint64_t n)
{
	from &= -(uint64_t)PAGE;
	n = (n + 2 * PAGE - 1) & -(uint64_t)PAGE;
	if (has_more() && sys3(__NR_mprotect, from + CTX_MORE, n,
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
	if (words(t)->narc < n)
		words(t)->narc = n;
	return open_memory((uint64_t)at(t, CTX_COUNTS), 16 * n - PAGE);
}

/* The outermost n frames can be accessed. */
static int
open_frames(struct tarea *t, uint64_t n)
{
	n = n > FRAMES_MOST ? FRAMES_MOST : n;
	t->nframe = n;
	n *= sizeof(struct ctx_frame);
	if (n > FRAMES_MOST * sizeof(struct ctx_frame) - PAGE)
		return open_memory((uint64_t)at(t, CTX_FRAMES), FRAMES_MOST *
		    sizeof(struct ctx_frame));
	return open_memory(frames_end(t) - n, n);
}

int
contexts_begin(struct tarea *t)
{
	struct ctx_frame *f;

	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return 0;
	/* not for a child, whose address space may soon be limited */
	sys3(__NR_madvise, at(t, 0), CTX_BYTES + (has_more() ? CTX_MORE : 0) +
	    rt.boot.seg[SEG_ARCS].size, MADV_DONTFORK);
	if (sys3(__NR_mprotect, at(t, 0), CTX_COUNTS,
	    PROT_READ | PROT_WRITE) != 0 ||
	    open_counts(t, rt.ctl->polling ? ARCS_MOST : FIRST_ARCS) < 0 ||
	    open_frames(t, rt.ctl->polling ? FRAMES_MOST : FIRST_FRAMES) < 0)
		return -1;
	f = (struct ctx_frame *)(frames_end(t) - sizeof *f);
	f->arc = 0;
	f->p = 0;
	f->place = PLACE_NONE;
	f->landing = (uint64_t)rt_return;
	words(t)->top = words(t)->base = (uint64_t)f;
	words(t)->told = (uint64_t)(f + 1);
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

/* The count of the arc can be accessed. */
static void
room_for_arc(struct tarea *t, uint64_t arc)
{
	uint64_t n = t->narc;

	while (n <= arc)
		n *= 2;
	if (n > t->narc && open_counts(t, n) < 0)
		panic("no memory for calls");
}

/* Frames down to this address can be accessed; false: no more can. */
static bool
room_for_frame(struct tarea *t, uint64_t addr)
{
	uint64_t need = (frames_end(t) - addr) / sizeof(struct ctx_frame) + 1;
	uint64_t n = t->nframe;

	if (need > FRAMES_MOST)
		return false;
	while (n < need)
		n *= 2;
	if (n > t->nframe && open_frames(t, n) < 0)
		panic("no memory for calls");
	return true;
}

enum contexts_fault
contexts_fault(struct tarea *t, uint64_t addr)
{
	uint64_t off = addr - (uint64_t)at(t, 0);

	if (has_more() && off >= CTX_BYTES) {
		off -= CTX_MORE;
		addr -= CTX_MORE;
	}
	if (!(rt.boot.flags & BOOT_CONTEXTS) || off < CTX_COUNTS ||
	    off >= CTX_BYTES)
		return CONTEXTS_NOT;
	if (off < CTX_GUARD) {
		if ((off - CTX_COUNTS) / 16 < t->narc)
			return CONTEXTS_NOT;
		room_for_arc(t, (off - CTX_COUNTS) / 16);
		return CONTEXTS_ROOM;
	}
	return room_for_frame(t, addr & -(uint64_t)sizeof(struct ctx_frame)) ?
	    CONTEXTS_ROOM : CONTEXTS_FULL;
}

/* ------------------------------------------------------ interrupted halfway */

static struct ctx_count *
count(const struct tarea *t, uint64_t arc)
{
	return at(t, CTX_COUNTS + arc);
}

void
contexts_uncall(struct tarea *t, uint64_t arc)
{
	count(t, arc)->calls--;
}

/* ----------------------------------------------- costs, of frames and arcs */

static struct ctx_frame_more *
frame_more(const struct ctx_frame *f)
{
	return (struct ctx_frame_more *)((uint64_t)f + CTX_MORE);
}

static uint64_t
instructions(const struct tarea *t)
{
	return has_more() ? words(t)->ir : t->p;
}

/* The costs so far go into a new frame. */
static void
note_costs(const struct tarea *t, struct ctx_frame *f)
{
	f->p = instructions(t);
	if (has_more())
		memcpy(frame_more(f)->refs, words(t)->refs, 16);
}

/*
 * Since its call the frame has cost so much: add that to its arc.  Kind cache:
 * of reads and writes only the first n; else take off those, again.
 */
static void
add_costs(const struct tarea *t, const struct ctx_frame *f, bool ir, int n,
    int64_t sign)
{
	struct ctx_count *c = count(t, f->arc);
	uint64_t *refs = (uint64_t *)((uint64_t)c + CTX_MORE);
	int i;

	if (ir)
		c->ir += (f->p - instructions(t)) * (uint64_t)sign;
	for (i = 0; has_more() && i < n; i++)
		refs[i] += (words(t)->refs[i] - frame_more(f)->refs[i]) *
		    (uint64_t)sign;
}

void
contexts_unland(struct tarea *t, const struct mapent *m)
{
	if (m->kind == MAP_LAND_IR)
		add_costs(t, contexts_top(t), true, 2, -1);
	else if (m->kind == MAP_LAND)
		add_costs(t, contexts_top(t), false, m->rep, -1);
}

void
contexts_cost(struct tarea *t, uint64_t n, const uint8_t refs[2],
    unsigned from, int64_t sign)
{
	uint64_t s = (uint64_t)sign;
	unsigned i;

	if (!has_more() || !(rt.boot.flags & BOOT_CONTEXTS) || t->skips)
		return;
	if (from == 0)
		words(t)->ir -= n * s;
	for (i = from == 0 ? 0 : from - 1; i < 2; i++)
		words(t)->refs[i] += refs[i] * s;
}

/* Of the reads and writes of these rounds, the first n. */
static void
take_refs(struct tarea *t, uint64_t rounds, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		words(t)->refs[i] -= rounds * rounds_refs(t->tmp0, i);
}

void
contexts_rounds(struct tarea *t, const struct mapent *m, uint64_t left)
{
	bool part = m->kind == MAP_ROUNDS, none = left != 0 && left == t->tmp2;

	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return;
	if (has_more())
		take_refs(t, left, !part ? 2 : !m->counted ? m->rep :
		    2 - 2u * m->rep);
	if (!rounds_each(t->tmp0) || (part && !m->counted))
		return;
	/* a first round that only reads has not been added */
	left -= none && rounds_refs(t->tmp0, 1) == 0;
	if (has_more())
		words(t)->ir += left;
	else
		t->p += left;
}

/* --------------------------------------------- kind cache: frames, as told */

/* Is the frame that which was there when frames were told last? */
static bool
is_told(const struct ctx_frame *f)
{
	const struct ctx_frame_more *m = frame_more(f);

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
	    (words(t)->told == words(t)->top && is_told(contexts_top(t)));
}

/*
 * Frames are a stack: where one is that which was told, so are all outside of
 * it.  No more are compared than have changed, and one.
 */
void
contexts_tell(struct tarea *t, uint64_t room)
{
	struct ctx_words *w = words(t);
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
		frame_more(f)->told_arc = f->arc;
		frame_more(f)->told_p = f->p;
		tell_frame(t, room, f->arc, f->place);
	}
}

/* ------------------------------------------------- calls are numbered anew */

void
contexts_rest(struct tarea *t)
{
	if (rt.boot.flags & BOOT_CONTEXTS)
		__atomic_store_n(&t->slot->resting, 1, __ATOMIC_SEQ_CST);
}

static bool
is_renewing(void)
{
	return __atomic_load_n(&rt.ctl->renewing, __ATOMIC_SEQ_CST) != 0;
}

/* Rest until trace has what it needs. */
static void
wait_renewed(struct tarea *t)
{
	contexts_rest(t);
	while (is_renewing() && !trace_died())
		if (rt.ctl->polling)
			__builtin_ia32_pause();
		else
			pause_ms();
}

void
contexts_resume(struct tarea *t)
{
	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return;
	__atomic_store_n(&t->slot->resting, 0, __ATOMIC_SEQ_CST);
	while (is_renewing() && !trace_died()) {
		wait_renewed(t);
		__atomic_store_n(&t->slot->resting, 0, __ATOMIC_SEQ_CST);
	}
}

/* -------------------------------------------------------- calls and returns */

const struct exitcall *
contexts_exit(uint32_t number)
{
	static const struct exitcall none;

	return rt.calls == NULL ? &none : &rt.calls[number];
}

void
contexts_left(struct tarea *t, const struct exitmeta *x,
    const struct exitcall *c)
{
	if (c->move == MOVE_NONE || contexts_owner(t) == 0)
		return;
	t->moving.site = c->site;
	t->moving.sitelen = c->sitelen;
	t->moving.move = c->move;
	t->moving.key = c->key;
	t->moving.indirect = x->kind == EXIT_INDIRECT;
	t->moving.landing = c->landing;
	t->moving.sp = t->gpr[4];
	/* an operand of the return does not count */
	if (c->move == MOVE_RETURN && x->kind == EXIT_INDIRECT)
		t->moving.sp += 8 + (uint64_t)(int64_t)(int32_t)x->aux;
}

static uint64_t *
second_place(const struct tarea *t, uint64_t arc)
{
	uint32_t key = (uint32_t)-rt.arcs[arc / 16 % ARCS_MOST].nkey;

	return (uint64_t *)at(t, CTX_TABLE) + (key >> CTX_KEY_SECOND);
}

/* The arc gets its first place; another one there goes to its second. */
static void
put_arc(struct tarea *t, uint64_t arc)
{
	uint64_t i = -rt.arcs[arc / 16].nkey % CTX_KEYS;
	uint64_t *first = (uint64_t *)at(t, CTX_TABLE) + i, was = *first;

	if (was != 0 && was != arc && second_place(t, was) != first)
		*second_place(t, was) = was;
	*first = arc;
}

/*
 * The number of the arc for the call that is being made, which may be new; 0:
 * trace has to make it.  below: the frame inside of which it pushes its own.
 */
static uint32_t
find_arc(const struct tarea *t, const struct ctx_frame *below)
{
	uint32_t from = rt.arcs[below->arc / 16].to, tries = 0;
	uint32_t left = below == contexts_top(t) ? 0 : contexts_arc(t)->to;
	uint32_t i = rt.heads->arc[arc_bucket(state_of(below)->key,
	    t->moving.key, t->pc, left)];
	const struct ctx_arc *a;

	for (; i != 0; i = a->next, tries++) {
		if (i >= ARCS_MOST || tries == 10000)
			return 0;
		a = &rt.arcs[i];
		if (a->site == t->moving.key && a->target == t->pc &&
		    a->from == from && a->left == left)
			return a->slow ? 0 : i;
	}
	return left != 0 ? 0 : arcs_make(words(t), from, &t->moving, t->pc);
}

/* A flush since the thread left the cache takes its landing away. */
static void
check_landing(struct tarea *t, struct ctx_frame *f)
{
	if (__atomic_load_n(&rt.ctl->gen, __ATOMIC_SEQ_CST) != t->gen &&
	    f->landing != t->more)
		f->landing = (uint64_t)rt_return;
}

/* Is the frame on another stack?  Then trace knows which have been left. */
static bool
is_apart(const struct ctx_frame *f, uint64_t sp)
{
	return (f->place > sp ? f->place - sp : sp - f->place) >
	    STACKS_APART && f->place != PLACE_NONE;
}

/*
 * The innermost frame whose place is above; NULL: there is none inside of the
 * innermost handler's root, or frames are on other stacks.
 */
static struct ctx_frame *
frame_above(const struct tarea *t, uint64_t place)
{
	struct ctx_frame *f = contexts_top(t);

	if (is_apart(f, place))
		return NULL;
	for (; f->place <= place; f++)
		if (rt.arcs[f->arc / 16].target == 0 || is_apart(f, place))
			return NULL;
	return f;
}

/* Leave the frames inside of this one. */
static void
leave_frames(struct tarea *t, struct ctx_frame *to)
{
	struct ctx_frame *f = contexts_top(t);

	for (; f < to; f++) {
		room_for_arc(t, f->arc / 16);
		add_costs(t, f, true, 2, 1);
	}
	__atomic_store_n(&words(t)->top, (uint64_t)to, __ATOMIC_SEQ_CST);
}

/* Push the frame of arc i, for the call or jump that is being made. */
static void
push_frame(struct tarea *t, uint32_t i, uint64_t landing)
{
	struct ctx_frame *top = contexts_top(t), *f = top - 1;
	bool call = t->moving.move == MOVE_CALL;

	room_for_arc(t, i);
	f->arc = 16ull * i;
	note_costs(t, f);
	f->place = call ? t->moving.sp : top->place;
	f->landing = !call ? t->more : landing != 0 ? landing :
	    (uint64_t)rt_return;
	count(t, f->arc)->calls++;
	__atomic_store_n(&words(t)->top, (uint64_t)f, __ATOMIC_SEQ_CST);
	check_landing(t, f);
}

/*
 * A call, or a jump or return that is one.  Fragments may make it from now on,
 * unless it is a return, or frames were left first: those whose place the
 * return address is written over, as where code has taken its own from there.
 */
static bool
make_call(struct tarea *t)
{
	struct ctx_frame *top = contexts_top(t), *below = top;
	uint32_t i, owner = state(t)->owner;

	if (t->moving.move == MOVE_CALL)
		below = frame_above(t, t->moving.sp);
	else if (top->place == PLACE_NONE || contexts_arc(t)->target == 0)
		return false;
	if (below == NULL || state_of(below)->slow)
		return false;
	i = find_arc(t, below);
	if (i == 0 || !room_for_frame(t, (uint64_t)(below - 1)))
		return false;
	leave_frames(t, below);
	/* the landing is in the code of the owner that calls */
	push_frame(t, i, state_of(below)->owner == owner ?
	    t->moving.landing : 0);
	if (below == top && t->moving.move != MOVE_RETURN)
		put_arc(t, 16ull * i);
	return true;
}

/*
 * trace has made the call: its next ones, and this one's return, are ours.  The
 * landing is in the code of the owner that the call was made by; where frames
 * were left first, which the stack pointer was beyond, the call returns to
 * another owner.
 */
static void
set_landing(struct tarea *t, uint32_t owner)
{
	struct ctx_frame *f = contexts_top(t);
	const struct ctx_arc *a = contexts_arc(t);

	if (a->slow || a->site != t->moving.key || a->target != t->pc ||
	    f->place != t->moving.sp || t->moving.landing == 0 ||
	    state(t)->slow || state_of(f + 1)->owner != owner)
		return;
	__atomic_store_n(&f->landing, t->moving.landing, __ATOMIC_SEQ_CST);
	check_landing(t, f);
	if (a->left == 0)
		put_arc(t, f->arc);
}

/*
 * Is a return that leaves no frame behind its stack pointer a jump?  It is one
 * from a frame that is exactly there only if it goes to its return address.
 */
static bool
is_jump(const struct tarea *t)
{
	const struct ctx_frame *f = contexts_top(t);
	const struct ctx_arc *a;

	for (; f->place == t->moving.sp; f++) {
		a = &rt.arcs[f->arc / 16];
		if (a->ret == t->pc || a->target == 0)
			return false;	/* of a stub's frame trace knows more */
	}
	return true;
}

/*
 * Leave the frames that the stack pointer is beyond, but no handler's.  Where
 * there are none, the return may be a jump that calls.
 */
static bool
make_return(struct tarea *t)
{
	struct ctx_frame *f;

	if (is_apart(contexts_top(t), t->moving.sp))
		return false;
	if (contexts_top(t)->place >= t->moving.sp)
		return is_jump(t) && make_call(t);
	f = frame_above(t, t->moving.sp - 1);
	if (f == NULL)
		return false;
	leave_frames(t, f);
	return true;
}

/* Have trace make a step; the moves between steps are ours. */
static void
tell(struct tarea *t, enum move step, uint64_t site)
{
	uint64_t arg[4] = { site, t->pc, t->moving.sp, move_arg(step,
	    t->moving.move | (t->moving.indirect ? 8 : 0), t->moving.sitelen,
	    t->p) };

	t->moving.move = MOVE_NONE;
	state_fp_settle(t);	/* code may be made, see dispatch_go */
	if (t->rseq != 0)
		rseq_learn(t);
	if (rt.ctl->publish)
		buffer_publish(t, Q_RECORDS, 0, 0);
	if (ask(t, REQ_MOVE, arg) < 0)
		return;
	t->p += t->slot->ret[1];	/* kind cache: 0 */
	room_for_frame(t, words(t)->top);	/* trace has pushed it */
	/* kind cache: it is in another root now, and the last one was told */
	if (t->slot->ret[0] != 0 && has_more() && t->bufend != 0 &&
	    words(t)->told <= words(t)->top)
		contexts_tell(t, 0);
}

void
contexts_arrive(struct tarea *t)
{
	unsigned move = t->moving.move;
	uint32_t owner;
	bool done = false;

	if (!(rt.boot.flags & BOOT_CONTEXTS) || t->skips)
		return;
	if (is_renewing() || t->slot->resting)
		contexts_resume(t);
	owner = contexts_owner(t);
	if (owner == 0) {
		t->moving.sp = t->gpr[4];
		tell(t, MOVE_START, t->pc);
		t->root.pc = t->pc;
		t->root.owner = state(t)->owner;
		return;
	}
	if (move == MOVE_NONE)
		return;
	if (!state(t)->slow)
		done = move == MOVE_RETURN ? make_return(t) : make_call(t);
	if (!done)
		tell(t, MOVE_ON, t->moving.site);
	if (!done && move == MOVE_CALL)
		set_landing(t, owner);
	t->moving.move = MOVE_NONE;
}

void
contexts_step(struct tarea *t, enum move step, uint64_t pc)
{
	if (contexts_owner(t) == 0)
		return;
	if (t->moving.move == MOVE_NONE)
		t->moving.sitelen = 0;
	tell(t, step, t->moving.move == MOVE_NONE ? pc : t->moving.site);
}

/* -------------------------------------------------------- windows */

/* A call whose function has not begun is taken back: that is outside. */
static void
undo_call(struct tarea *t)
{
	struct ctx_frame *f = contexts_top(t);

	if (contexts_arc(t)->target != t->pc || f->p != instructions(t))
		return;
	count(t, f->arc)->calls--;
	words(t)->top = (uint64_t)(f + 1);
}

/* Kind cache: the stream shows no frames of the thread any more. */
static void
hide_frames(struct tarea *t)
{
	struct ctx_words *w = words(t);
	uint64_t end = w->base + sizeof(struct ctx_frame);

	if (has_more() && t->bufend != 0 && w->told < end)
		tell_frame(t, 0, 0, frames_left((end - w->told) /
		    sizeof(struct ctx_frame), 0));
	w->told = end;
}

/*
 * All calls end.  A root that made no other call, as where the function has
 * returned, is left for the next window, which often begins in it.
 */
void
contexts_end_window(struct tarea *t)
{
	if (!(rt.boot.flags & BOOT_CONTEXTS))
		return;
	hide_frames(t);
	if (state(t)->owner == 0)
		return;
	undo_call(t);
	if (words(t)->top == words(t)->base && !state(t)->slow)
		t->moving.move = MOVE_NONE;
	else
		contexts_step(t, MOVE_END, t->pc);
}

void
contexts_begin_window(struct tarea *t)
{
	uint32_t owner = contexts_owner(t);

	if (owner != 0 && (owner != t->root.owner || t->pc != t->root.pc))
		contexts_step(t, MOVE_END, t->pc);
}

uint64_t
contexts_called(const struct tarea *t)
{
	const struct ctx_arc *a;

	if (contexts_owner(t) == 0)
		return ~0ull;
	a = contexts_arc(t);
	return a->target == t->pc ? CALLED | (uint64_t)(a - rt.arcs) : ~0ull;
}
