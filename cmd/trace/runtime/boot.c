/*
 * boot - bring a process, or a thread that is there already, under the runtime
 *
 * The first thread maps what trace shares with the runtime, as the plan in
 * rt.boot says, and takes the state that the program had when it was stopped.
 * In a process that trace attaches to the other threads come behind it.
 */
#include "kinds.h"
#include "queue.h"
#include "runtime.h"
#include "signals.h"
#include "threads.h"

struct rt rt __attribute__((section(".boot"), aligned(4096)));

_Static_assert(sizeof(struct tarea) <= T_BIAS + TO_LOOK_SAVE, "T");
_Static_assert(offsetof(struct kucontext, sigmask) == 296, "ucontext");
_Static_assert(T_PTR + TO_LOOK_SAVE + 8 * 16 <= T_TABLE, "T");
_Static_assert(T_OFF >= T_FRAME + T_FRAME_SIZE && T_OFF % 8 == 0, "T");

enum { R = PROT_READ, W = PROT_WRITE, X = PROT_EXEC };

static uint64_t
map(enum segment_number which, int prot)
{
	struct segment *s = &rt.boot.seg[which];
	long at;

	if (s->size == 0)
		return 0;
	at = sys6(__NR_mmap, (long)s->addr, (long)s->size, prot,
	    MAP_SHARED | (s->addr != 0 ? MAP_FIXED_NOREPLACE : 0),
	    rt.boot.fd, (long)s->off);
	if (is_error(at))
		panic("no address space for the code cache");
	return (uint64_t)at;
}

/*
 * Threads' counters, which areas map parts of: not for children (DONTFORK),
 * whose address space may soon be limited, nor for core files (DONTDUMP), which
 * would give all of it pages, as mlockall would if it could be accessed here.
 */
static void
map_counters(void)
{
	uint64_t at = map(SEG_COUNTERS, 0), n = rt.boot.seg[SEG_COUNTERS].size;

	if (at == 0)
		return;
	rt.boot.seg[SEG_COUNTERS].addr = at;
	sys3(__NR_madvise, at, n, MADV_DONTFORK);
	sys3(__NR_madvise, at, n, MADV_DONTDUMP);
}

/* What the store has of the META segment lies over that. */
static void
map_stored(uint64_t meta)
{
	const struct stored *s = rt.boot.stored;
	uint32_t i;
	long at;

	for (i = 0; i < rt.boot.nstored; i++, s++) {
		at = sys6(__NR_mmap, (long)(meta + s->at), (long)s->size, R,
		    MAP_PRIVATE | MAP_FIXED, rt.boot.storedfd, (long)s->off);
		if (is_error(at))
			panic("no tables from the store");
	}
	if (rt.boot.storedfd >= 0)
		sys1(__NR_close, rt.boot.storedfd);
}

static void
map_segments(void)
{
	struct metaparts *mp = &rt.boot.meta;
	uint64_t meta;
	unsigned i;

	rt.ctl = (struct control *)map(SEG_CONTROL, R | W);
	rt.tab = (const uint32_t *)map(SEG_TABLE, R);
	if (rt.boot.flags & BOOT_CONTEXTS)
		rt.tabowner = rt.tab + rt.boot.seg[SEG_TABLE].size / 2 /
		    sizeof *rt.tab;
	rt.ibl = (uint64_t *)map(SEG_IBL, R | W);
	if (rt.boot.nstored == 0)	/* new code writes to most of them */
		sys3(__NR_madvise, rt.ibl, IBL_SIZE, MADV_POPULATE_WRITE);
	meta = map(SEG_META, R);
	map_stored(meta);
	rt.bufs = map(SEG_BUFFERS, R | W);
	map_counters();
	rt.arcs = (struct ctx_arc *)map(SEG_ARCS, R | W);
	rt.states = (struct ctx_state *)(rt.arcs + ARCS_MOST);
	rt.heads = (struct ctx_heads *)(rt.states + STATES_MOST);
	if (rt.arcs != NULL)	/* nor are these for children */
		sys3(__NR_madvise, rt.arcs, rt.boot.seg[SEG_ARCS].size,
		    MADV_DONTFORK);
	for (i = 0; i < 2; i++) {
		rt.zone[i] = map(i == 0 ? SEG_ZONE0 : SEG_ZONE1, R | X);
		rt.zonesize[i] = rt.boot.seg[SEG_ZONE0 + i].size;
		rt.place[i] = rt.zone[i] + ((uint64_t)i << 31);
		/* a child is let go from the runtime, and counts what it has */
		sys3(__NR_madvise, rt.zone[i], rt.zonesize[i], MADV_DONTFORK);
		rt.frags[i] = (struct fragmeta *)(meta + mp->frags[i]);
	}
	rt.maps = (const uint8_t *)(meta + mp->maps);
	rt.exits = (const struct exitkept *)(meta + mp->exits);
	if (rt.boot.flags & BOOT_CONTEXTS)
		rt.calls = (const struct exitcall *)(meta + mp->calls);
	rt.cpuids = (struct cpuidrow *)(meta + mp->cpuids);
	if (rt.bufs != 0)	/* not for children */
		sys3(__NR_madvise, rt.bufs, rt.boot.seg[SEG_BUFFERS].size,
		    MADV_DONTFORK);
}

/* Pages that each thread's area begins with. */
static void
map_blank(void)
{
	long at = sys6(__NR_mmap, (long)rt.boot.blank, T_SIZE, PROT_NONE,
	    MAP_PRIVATE | MAP_FIXED_NOREPLACE, rt.boot.fd,
	    (long)rt.boot.blankoff);

	if (at != (long)rt.boot.blank)
		panic("no memory for threads");
}

/* The program is to see no descriptor of ours. */
static void
close_all(void)
{
	sys1(__NR_close, rt.boot.fd);
	if (rt.boot.uffd >= 0)
		sys1(__NR_close, rt.boot.uffd);
}

static void
begin(struct tarea *t, const struct guest_state *s)
{
	unsigned r;

	for (r = 0; r < 16; r++)
		t->gpr[r] = s->gpr[r];
	t->pc = s->pc;
	t->rflags = s->rflags;
	t->df = t->rflags >> 10 & 1;
	t->fsbase = s->fsbase;
	t->gsbase = s->gsbase;
	t->window = s->window;
	t->due = s->due;
	t->rseq = s->rseq;
	t->rseqsig = s->rseqsig;
	sys2(__NR_sigaltstack, NULL, &t->altstack);
	if (t->altstack.flags & SS_DISABLE)
		t->altstack.size = 0;
	t->altstack.flags &= SS_AUTODISARM;
}

static void go_on(struct tarea *, const struct guest_state *)
    __attribute__((noreturn));

static void
go_on(struct tarea *t, const struct guest_state *s)
{
	long r;

	signal_thread(t, s->sigmask);
	if (t->rseq != 0)
		rseq_boot();
	queue_put(t, Q_THREAD, t->tid, 0);
	buffer_first(t);
	if (s->restart) {	/* before a signal frame makes it EINTR */
		r = guest_syscall(t, t->gpr);
		t->gpr[0] = (uint64_t)(r == SYS_ABORTED ? -EINTR : r);
	}
	dispatch_go(t, ~0ull);
	rt_enter(t);
}

/* The process's or thread's number; a filter may forbid the call. */
static uint32_t
number_by(long nr)
{
	long r = sys0(nr);

	if (is_error(r))
		panic(nr == __NR_getpid ? "getpid is forbidden" :
		    "gettid is forbidden");
	return (uint32_t)r;
}

void
boot_process(void)
{
	struct tarea *t;

	rt.pid = number_by(__NR_getpid);
	map_segments();
	map_blank();
	close_all();
	t = area_new(number_by(__NR_gettid));
	if (t == NULL)
		panic("no memory for the first thread");
	branches_begin(t);
	begin(t, &rt.boot.at);
	rt.boot.sysinsn = (uint64_t)rt_sys_insn + 2;
	rt.boot.act = (uint64_t)rt.act.of;
	rt.boot.pc = offsetof(struct tarea, pc);
	rt.boot.rflags = offsetof(struct tarea, rflags);
	rt.boot.df = offsetof(struct tarea, df);
	rt.boot.altstack = offsetof(struct tarea, altstack);
	rt.boot.syncblocked = offsetof(struct tarea, syncblocked);
	signal_boot();
	__atomic_store_n(&rt.ready, 1, __ATOMIC_SEQ_CST);
	go_on(t, &rt.boot.at);
}

void
boot_thread(const struct guest_state *s)
{
	struct tarea *t;

	while (!__atomic_load_n(&rt.ready, __ATOMIC_ACQUIRE))
		sys0(__NR_sched_yield);
	t = area_new(number_by(__NR_gettid));
	if (t == NULL)
		panic("no memory for a thread");
	__atomic_fetch_sub(&rt.ctl->joining, 1, __ATOMIC_SEQ_CST);
	begin(t, s);
	go_on(t, s);
}
