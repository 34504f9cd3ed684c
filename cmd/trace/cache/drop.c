/*
 * drop - drop a fragment, or all that were made of a page that is written
 *
 * code/watch.c tells which pages are trusted, and that a write into one waits.
 * The fragments made of that page are dropped first.  A thread that writes from
 * within a fragment is then brought out of it, in front of its store: else it
 * would go on behind the store with what it has just changed.
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/parts.h"
#include "context/context.h"
#include "ctl.h"
#include "khash.h"
#include "mem.h"

void
frag_drop(uint32_t i)
{
	struct frag *f = &frags[i];

	f->dead = true;
	link_lost(i);
	context_cut(f->firstarc);
	f->firstarc = 0;
	table_drop(i);
	lookup_drop(f);
}

/* ------------------------------------------------------------------- pages */

KHASH_MAP_INIT_INT64(first, uint32_t)

/* Lists of fragments by page, for all code that may be watched. */
struct on_page {
	uint32_t f;
	uint32_t next;		/* the next one of the page, + 1; or 0 */
};

static struct on_page *nodes;
static size_t nnodes, capnodes;
static khash_t(first) *firsts;	/* by page: its first node, + 1 */

static void
put(uint64_t page, uint32_t f)
{
	khiter_t k;
	int new;

	if (firsts == NULL)
		firsts = kh_init(first);
	k = kh_put(first, firsts, page, &new);
	nodes = xgrow(nodes, &capnodes, nnodes + 1, sizeof *nodes);
	nodes[nnodes].f = f;
	nodes[nnodes].next = new ? 0 : kh_value(firsts, k);
	kh_value(firsts, k) = (uint32_t)++nnodes;
}

void
written_note(uint32_t f, const struct block *b)
{
	uint64_t page, last = (b->next - (b->next > b->pc)) / PAGE;

	if (b->is_compared && watch_sampling(b->pc) == SAMPLE_NONE)
		return;
	for (page = b->pc / PAGE; page <= last; page++)
		put(page, f);
}

void
written_forget(void)
{
	nnodes = 0;
	if (firsts != NULL)
		kh_clear(first, firsts);
}

/* Drop all fragments with code in the page. */
static void
drop_page(uint64_t page)
{
	uint32_t i;
	khiter_t k;

	if (firsts == NULL)
		return;
	k = kh_get(first, firsts, page / PAGE);
	if (k == kh_end(firsts))
		return;
	for (i = kh_value(firsts, k); i != 0; i = nodes[i - 1].next)
		if (!frags[nodes[i - 1].f].dead)
			frag_drop(nodes[i - 1].f);
	kh_del(first, firsts, k);
}

void
frag_sample(app_pc pc)
{
	app_pc page = watch_sample(pc);

	if (page != 0)
		drop_page(page);
}

void
frag_compare(void)
{
	size_t i;

	for (i = 0; i < nnodes; i++)
		if (!frags[nodes[i].f].dead)
			frag_drop(nodes[i].f);
	written_forget();
	watch_end();
}

/* The slot of the thread with this number; NULL: it has none. */
static const struct slot *
slot_of(pid_t tid)
{
	const struct slot *s;

	for (s = area.ctl->slot; s < area.ctl->slot + NSLOT; s++)
		if (ONCE(s->tid) == (uint32_t)tid &&
		    ONCE(s->used) == SLOT_TAKEN)
			return s;
	return NULL;
}

/*
 * Bring the thread out of the cache, if it is there.  It waits in its store, or
 * another signal is about to do the same to it.
 */
static void
bring_out(pid_t tid)
{
	const struct slot *s = slot_of(tid);
	siginfo_t si;
	pid_t pid;

	if (s == NULL || !__atomic_load_n(&s->incache, __ATOMIC_SEQ_CST))
		return;
	pid = (pid_t)slot_pid(ONCE(s->pid), (uint32_t)tid);
	if (!guest_task(&pid, &tid))
		return;
	memset(&si, 0, sizeof si);
	si.si_signo = SIGFPE;
	si.si_code = SI_QUEUE;
	si.si_value.sival_ptr = (void *)area.blob;
	__atomic_fetch_add(&area.ctl->nudges, 1, __ATOMIC_SEQ_CST);
	if (syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGFPE, &si) != 0)
		__atomic_fetch_sub(&area.ctl->nudges, 1, __ATOMIC_SEQ_CST);
}

static bool
take_all(bool drop)
{
	struct watch_write w;
	bool any = false;

	if (!watch_pending())
		return false;
	while (watch_take(&w)) {
		if (drop && w.known)
			drop_page(w.page);
		bring_out(w.tid);
		watch_release(&w);
		any = true;
	}
	return any;
}

bool
written_release(void)
{
	return take_all(false);
}

bool
frag_written(void)
{
	return take_all(true);
}
