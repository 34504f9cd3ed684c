/*
 * window - into the functions of --from, and out of them
 *
 * Each thread has its own window; one that is made within a window is in it
 * until its end.  Outside it runs fragments that record nothing.  What begins
 * and ends windows are exits at the functions' first instructions; a window
 * that has no --to ends where a return or an indirect jump leaves the stack
 * pointer above the one at its beginning: fragments compare it, and so does
 * whoever comes by the runtime.
 */
#include "runtime.h"

static void
begin(struct tarea *t)
{
	buffer_back(t);
	if (t->bufend == 0)
		buffer_awake(t);
	t->window = rt.ctl->windows & WINDOWS_TO ? WINDOW_OPEN : t->gpr[4];
}

/* What was recorded comes before what others do after this. */
static void
end(struct tarea *t)
{
	table_empty(t);
	if (t->bufend != 0)
		buffer_publish(t, Q_RECORDS, 0, 0);
	buffer_aside(t);
	t->window = 0;
}

/* At the first instruction of such a function. */
void
window_exit(struct tarea *t)
{
	if (t->skips == SKIP_OUT)
		begin(t);
	else
		end(t);
	if (rt.ctl->windows == (WINDOWS_FROM | WINDOWS_TO))
		t->past = t->pc;	/* it may be both */
}

/* Behind a return or an indirect jump. */
void
window_returned(struct tarea *t)
{
	if (t->skips || rt.ctl->windows != WINDOWS_FROM)
		return;
	if (t->gpr[4] > t->window && t->gpr[4] - t->window < WINDOW_FAR)
		end(t);
}
