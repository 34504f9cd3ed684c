/*
 * window - where a thread's windows begin and end
 *
 * Each thread has its own window; a thread that is created within a window is
 * in one until the thread ends.  Outside, threads run fragments that record
 * nothing.
 *
 * Exits at the first instructions of --from's and --to's functions begin and
 * end windows.
 * Without --to, a window ends where a return or an indirect jump leaves the
 * stack pointer above its value at the beginning: fragments compare it, and so
 * does the runtime where an indirect transfer comes out.  With --contexts all
 * calls end with the window.
 *
 * With --every, numbers of instructions begin and end windows instead.  Each
 * thread counts down those that are left, in REG_P or, where a window of the
 * kind has a use for that, in t->left.  A window begins, or ends, behind the
 * block in which that number is reached; a block that reaches both numbers has
 * no window.  What a block goes too far is taken off the next number, so on
 * average as much is told as is asked for.  A new thread is as far as the one
 * that made it, so that short ones are in windows as often as long ones.
 *
 * Client requests switch all threads, at once or when they next come by here:
 * trace makes them leave the cache.
 */
#include "contexts.h"
#include "kinds.h"
#include "queue.h"
#include "runtime.h"

static void
begin(struct tarea *t)
{
	buffer_back(t);
	if (t->bufend == 0)
		buffer_awake(t);
	t->window = rt.ctl->windows & (WINDOWS_TO | WINDOWS_EVERY) ?
	    WINDOW_OPEN : t->gpr[4];
	contexts_begin_window(t);
}

/*
 * Publish the records first: they precede what other threads do next.  type:
 * Q_WINDOW if the window was this thread's alone.
 */
static void
end(struct tarea *t, enum qtype type)
{
	contexts_end_window(t);
	table_empty(t);
	if (t->bufend != 0)
		buffer_publish(t, type, 0, 0);
	buffer_aside(t);
	t->window = 0;
	t->open = 0;	/* its return, and what it calls, may be outside */
}

int64_t
window_left(const struct tarea *t)
{
	return (int64_t)(window_in_p(t) ? t->p : t->left);
}

static void
set_left(struct tarea *t, int64_t left)
{
	*(window_in_p(t) ? &t->p : &t->left) = (uint64_t)left;
}

void
window_first(struct tarea *t)
{
	if (rt.ctl->windows & WINDOWS_EVERY)
		set_left(t, (int64_t)t->due);
}

bool
window_counted(struct tarea *t)
{
	int64_t left = window_left(t);
	bool in = !t->skips;

	if (left > 0 || !(rt.ctl->windows & WINDOWS_EVERY))
		return false;
	left += (int64_t)((uint64_t)-left / rt.boot.every * rt.boot.every);
	do {
		in = !in;
		left += (int64_t)(in ? rt.boot.span :
		    rt.boot.every - rt.boot.span);
	} while (left <= 0);
	if (in)
		__atomic_fetch_add(&rt.ctl->nwindow, 1, __ATOMIC_RELAXED);
	if (in && t->skips)
		begin(t);
	else if (!in && !t->skips)
		end(t, Q_WINDOW);
	set_left(t, left);
	return true;
}

void
window_exit(struct tarea *t)
{
	if (t->skips == SKIP_OUT)
		begin(t);
	else
		end(t, Q_WINDOW);
	if (rt.ctl->windows == (WINDOWS_FROM | WINDOWS_TO))
		t->past = t->pc;	/* one pc may be both */
}

/* Behind a return or an indirect jump. */
void
window_returned(struct tarea *t)
{
	if (t->skips || rt.ctl->windows != WINDOWS_FROM)
		return;
	if (t->gpr[4] > t->window && t->gpr[4] - t->window < WINDOW_FAR)
		end(t, Q_WINDOW);
}

bool
window_is_right(const struct tarea *t)
{
	return !(rt.ctl->windows & WINDOWS_REQUESTS) ||
	    t->skips == SKIP_AFTER || (__atomic_load_n(&rt.ctl->off,
	    __ATOMIC_SEQ_CST) != 0) == (t->skips != 0);
}

void
window_switch(struct tarea *t)
{
	if (window_is_right(t))
		return;
	if (t->skips == SKIP_NONE) {	/* off may have changed again */
		contexts_step(t, MOVE_END, t->pc);
		end(t, Q_RECORDS);
	} else {
		begin(t);
	}
}
