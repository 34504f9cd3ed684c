/*
 * flush - drop all fragments
 */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/parts.h"
#include "context/context.h"
#include "ctl.h"

/*
 * No thread is in the cache any more, or the image is new.  The table is
 * already empty: clearing it again would only touch its pages.
 */
void
flush_new(void)
{
	kept_close();
	store_reset();
	written_forget();
	lookup_begin();
	link_reset();
	recent_reset();
	targets_reset();
	if (opt->contexts != 0)
		area.ctl->more = link_more();
}

/* Wait until the slot's thread is outside of the cache. */
static void
quiesce(struct slot *s)
{
	struct patience p = { 0, 0 };
	unsigned polls = 0;

	while (__atomic_load_n(&s->used, __ATOMIC_SEQ_CST) == SLOT_TAKEN &&
	    __atomic_load_n(&s->incache, __ATOMIC_SEQ_CST) &&
	    trust_wait(&p, "a thread that never leaves the cache"))
		rest_step(s, &polls);
}

/*
 * The cache is full.  Undo every link and lookup, so that each thread leaves
 * the cache at its next exit.  A thread outside stays there while `gen` differs
 * from what it looked up.  Once all are outside, the cache can be used again.
 */
void
flush(void)
{
	uint32_t e, i, s;

	stats.flushes++;
	for (e = 0; e < area.nexit; e++)
		link_cut(e);
	if (opt->contexts != 0)
		context_cut_all();
	table_clear();
	area.gen++;
	__atomic_store_n(&area.ctl->gen, area.gen, __ATOMIC_SEQ_CST);
	for (i = 0; i < 2; i++) {
		lookup_empty();
		for (s = 0; s < NSLOT; s++)
			quiesce(&area.ctl->slot[s]);
	}
	if (opt->contexts != 0)
		context_forget_landings();
	flush_new();
	lookup_end();
}

void
frag_all_out(void)
{
	flush();
}

void
frag_letgo(void)
{
	area_letgo(LETGO_SOON);
	flush();
	watch_end();
	area_letgo(LETGO_NOW);
	syscall(SYS_futex, &area.ctl->letgo, FUTEX_WAKE, NSLOT, NULL, NULL, 0);
}
