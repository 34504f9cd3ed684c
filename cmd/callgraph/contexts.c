/*
 * contexts - streams of kinds counts and cache with contexts
 *
 * Such a stream tells calls and their costs, and how often each block ran, but
 * nothing in order. All is summed up as it comes, and becomes the contexts of
 * callwalk.h at the end: thread by thread with --separate-threads.
 */
#include "callgraph.h"
#include "objmap.h"

void
contexts_begin(void)
{
	thread_get(0);
	states_begin();
	lines_begin();
	frames_begin();
}

void	/* table */
contexts_line(int letter, const struct ev *e)
{
	switch (letter) {
	case EV_EXECS:
		lines_batch(e);
		break;
	case 'B':
	case 'P':
	case 'Q':
	case 'Z':
		lines_define(e->id);
		break;
	case 'F':
		lines_owner(e);
		break;
	case 'U':
		func_replaced(e->num[0], e->num[1]);
		/* fallthrough */
	case 'M':
		if (objmap_line(walk.map, e->line, e->len) < 0)
			ev_bad(walk.events, "%c: malformed", letter);
		break;
	case 'N':
	case 'X':
		frames_line(letter, e);
		break;
	case 'O':
		if (!states_idle())
			frames_outcome(e);
		break;
	case 'S':
	case 'A':
		states_line(letter, e);
		break;
	case 'V':
		if (!states_idle())
			states_line(letter, e);
		break;
	case 'T':
		thread_get(ev_thread(walk.events));
		break;
	case 'R':
		lines_rounds(e);
		break;
	case 'W':
		lines_times(e->id, e->num[1]);
		break;
	}
}

/* All sums so far become contexts. */
static void
make(void)
{
	uint32_t n = walk.threads ? thread_count() : 1;

	for (uint32_t i = 0; i < n; i++) {
		states_make(i);
		lines_make(i);
	}
	frames_make();		/* no thread is apart where there are frames */
}

void
contexts_part(void)
{
	frames_settle();
	make();
	states_clear();
	lines_clear();
	frames_clear();
}

void
contexts_end(void)
{
	frames_end();
	make();
	if (walk.contexts)
		dump_remark(opt.share ? "Own costs of functions in several "
		    "contexts: each line's shared in proportion" :
		    "Own costs of functions in several contexts: at their "
		    "first address");
}
