/*
 * allocs - with --allocs: tell allocations and frees as the thread makes them
 *
 * Where a function of allocations begins, and behind the return to the stack
 * pointer that it had there, fragments have us look (xlate/allocs.c).  In
 * between the allocation is OPEN, and t->open says where it returns to.  One
 * that is entered meanwhile is a part of it and is not told.  One that is left
 * by longjmp or an exception stays open until another one begins above it.
 *
 * A thread's pointer to its own data is told before the thread goes on with it,
 * since it need not call any of these functions.
 *
 * Events are numbered for the whole process: a free before it is made, an
 * allocation after that.  So when memory goes from one thread to another, the
 * free has the lower number.  What sbrk() frees is told behind its return,
 * which shows its place.
 */
#include "contexts.h"
#include "kinds.h"
#include "queue.h"
#include "runtime.h"

/* An argument of the function, by its number. */
static uint64_t
argument(const struct tarea *t, unsigned n)
{
	switch (n) {
	case 0:
		return look_saved(t)[7];
	case 1:
		return look_saved(t)[6];
	case 2:
		return look_saved(t)[2];
	case 3:
		return look_saved(t)[1];
	case 4:
		return t->gpr[REG_P];
	case 5:
		return look_saved(t)[9];
	default:
		return 0;
	}
}

static void
tell(struct tarea *t, char letter, const uint64_t rest[ALLOC_VALUES - 1])
{
	uint64_t v[ALLOC_VALUES];

	v[0] = alloc_word(__atomic_add_fetch(&rt.ctl->nalloc, 1,
	    __ATOMIC_SEQ_CST), letter);
	memcpy(v + 1, rest, sizeof v - sizeof v[0]);
	if (rt.boot.alloc == 0) {
		queue_values(t, v);
	} else if (t->bufend != 0) {
		buffer_room(t, record_size(ALLOC_VALUES));
		memcpy((void *)(t->p + 4), v, sizeof v);
		*(volatile uint32_t *)t->p = rt.boot.alloc;
		t->p += record_size(ALLOC_VALUES);
	}
}

/* The size that the call asks for; 0: none, or one too large to be had. */
static uint64_t
size_of(const struct tarea *t, struct alloc_args a)
{
	uint64_t n = argument(t, a.size);

	if (a.times == ALLOC_NONE || a.op == ALLOC_REMAP)
		return n;
	return __builtin_mul_overflow(n, argument(t, a.times), &n) ? 0 : n;
}

/*
 * How many bytes of the old memory does mremap() take, if it can?  0: none, so
 * it is one more mapping of the same memory.
 */
static uint64_t
taken(const struct tarea *t, struct alloc_args a)
{
	return argument(t, 3) & MREMAP_DONTUNMAP ? 0 : argument(t, a.times);
}

/* Is it open to free memory at the end of the program's break? */
static bool
shrinks(const struct tarea *t, struct alloc_args a)
{
	return a.op == ALLOC_BREAK && (int64_t)t->opened.ptr < 0;
}

static void
tell_open(struct tarea *t, struct alloc_args a)
{
	uint64_t size = size_of(t, a);
	uint64_t v[ALLOC_VALUES - 1] = { t->opened.fn, size, t->opened.ret, 0,
		0 };

	if (shrinks(t, a))
		return;
	if (a.op == ALLOC_FREE) {
		v[0] = t->opened.ptr;
		v[1] = a.size == ALLOC_NONE ? 0 : size;
		if (v[0] != 0)
			tell(t, '-', v);
		return;
	}
	if (rt.boot.flags & BOOT_CONTEXTS)
		v[4] = contexts_top(t)->arc / 16;
	if (a.op == ALLOC_AGAIN || t->opened.taken != 0)
		v[3] = t->opened.ptr;
	tell(t, v[3] != 0 ? '*' : '+', v);
}

/*
 * Is what is entered at sp a part of what is open?  At the same sp it is if one
 * jumps to the other, or if a signal came before the first instruction and the
 * function begins again.
 */
static bool
is_inside(const struct tarea *t, uint64_t sp, uint64_t ret, uint64_t ptr)
{
	uint64_t open = -t->open - 8;

	if (t->open == 0)
		return false;
	if (sp != open)		/* far above: on another stack */
		return sp < open || sp - open >= WINDOW_FAR;
	return ret == t->opened.ret &&
	    (t->pc != t->opened.fn || ptr == t->opened.ptr);
}

void
allocs_thread(struct tarea *t)
{
	uint64_t v[ALLOC_VALUES - 1] = { t->fsbase, 0, 0, 0, 0 };

	if (!(rt.boot.flags & BOOT_ALLOCS) || t->skips ||
	    t->fsbase == t->opened.tp)
		return;
	t->opened.tp = t->fsbase;
	tell(t, '@', v);
}

void
allocs_open(struct tarea *t, uint32_t args)
{
	struct alloc_args a = alloc_of_bits(args);
	uint64_t sp = look_saved(t)[4], ret = 0, ptr = argument(t, a.ptr);

	if (t->skips || rt_copy(&ret, (void *)sp, 8) < 0 ||
	    is_inside(t, sp, ret, ptr))
		return;
	if (a.op == ALLOC_BREAK && ptr == 0)	/* asks where the break is */
		return;
	t->open = -(sp + 8);
	t->opened.fn = t->pc;
	t->opened.ret = ret;
	t->opened.args = args;
	t->opened.ptr = ptr;
	t->opened.taken = a.op == ALLOC_REMAP ? taken(t, a) : 0;
	tell_open(t, a);
}

/* It has returned t->gpr[0]: where is the memory?  0: there is none. */
static uint64_t
result(const struct tarea *t, struct alloc_args a)
{
	uint64_t at = t->gpr[0];

	switch (a.op) {
	case ALLOC_STORE:
		return (uint32_t)at == 0 && rt_copy(&at,
		    (void *)t->opened.ptr, 8) == 0 ? at : 0;
	case ALLOC_MAP:
	case ALLOC_BREAK:
	case ALLOC_REMAP:
		return is_error((long)at) ? 0 : at;
	default:
		return at;
	}
}

/* A return to pc: if that is elsewhere, another call has taken its place. */
void
allocs_close(struct tarea *t, uint64_t pc)
{
	struct alloc_args a = alloc_of_bits(t->opened.args);
	uint64_t v[ALLOC_VALUES - 1] = { 0, 0, 0, 0, 0 };

	t->open = 0;
	if (t->skips || a.op == ALLOC_FREE || pc != t->opened.ret)
		return;
	v[0] = result(t, a);
	v[1] = v[0] != 0 ? t->opened.taken : 0;
	if (!shrinks(t, a)) {
		tell(t, '=', v);
	} else if (v[0] != 0) {
		v[0] += t->opened.ptr;
		v[1] = -t->opened.ptr;
		tell(t, '-', v);
	}
}

void
allocs_settle(struct tarea *t)
{
	if (t->open != 0 && t->gpr[4] == -t->open && t->pc == t->opened.ret)
		allocs_close(t, t->pc);
}
