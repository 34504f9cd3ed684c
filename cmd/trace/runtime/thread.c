/*
 * thread - areas, and the ways in which threads and processes begin and end
 *
 * An area is one mapping: T_SIZE private bytes, then the lookup words and,
 * in kinds counts and cache, the thread's cells and counters, both shared with
 * trace.  Counters can be accessed up to t->ncount, which doubles where a
 * fault shows that there are more by now.  A child of fork is let go from its
 * own copy of everything.  A child of vfork gets an area of its own for that;
 * any other one that shares memory has its area as a thread has, and is told.
 */
#include "runtime.h"

uint64_t
thread_area_bytes(void)
{
	return T_SIZE + IBL_ALL + rt.boot.countbytes +
	    rt.boot.seg[SEG_ARCS].size;
}

uint64_t
thread_bytes(void)
{
	uint64_t n = rt.nthread * thread_area_bytes();
	unsigned i;

	for (i = 0; i < NSEG; i++)
		n += rt.boot.seg[i].size;
	return n + (1u << 20) + rt.boot.filled;
}

/* A slot's thread has no number yet: one that nobody has. */
static uint32_t
no_number(void)
{
	static uint32_t n;

	return 1u << 31 | __atomic_fetch_add(&n, 1, __ATOMIC_SEQ_CST);
}

static void
slot_free(struct slot *s)
{
	__atomic_store_n(&s->tid, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->used, SLOT_FREE, __ATOMIC_SEQ_CST);
}

static int
slot_take(uint32_t tid)
{
	struct slot *s = rt.ctl->slot;
	uint32_t i, free;
	uint32_t n = rt.boot.countbytes != 0 ?
	    (uint32_t)(rt.boot.seg[SEG_COUNTERS].size / rt.boot.countbytes) :
	    NSLOT;

	for (i = 0; i < n; i++) {
		free = SLOT_FREE;
		if (__atomic_load_n(&s[i].used, __ATOMIC_RELAXED) ==
		    SLOT_FREE && __atomic_compare_exchange_n(&s[i].used, &free,
		    SLOT_TAKEN, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
			s[i].pid = tid != 0 ? rt.pid : 0;
			s[i].buf = 0;
			s[i].state = 0;
			s[i].incache = 0;
			s[i].resting = 0;
			__atomic_store_n(&s[i].tid, tid != 0 ? tid :
			    no_number(), __ATOMIC_SEQ_CST);
			return (int)i;
		}
	}
	return -1;
}

/* All areas; who holds the lock keeps them from going. */
static struct tarea *areas[NSLOT];
static uint32_t arealock;

/* The slot's area is about to go. */
static void
forget_area(struct tarea *t, uint32_t slot)
{
	lock_take(t, &arealock);
	areas[slot] = NULL;
	lock_give(&arealock);
}

static uint64_t
counters_of(const struct tarea *t)
{
	return (uint64_t)t + T_BIAS + T_COUNT;
}

/* All counters of the area, as far as there are any. */
static uint64_t
counters_most(void)
{
	return rt.boot.ncount;
}

/* The first n of them can be accessed, and the cells. */
static int
counters_open(struct tarea *t, uint64_t n)
{
	uint64_t from = (uint64_t)t - T_OFF + T_SIZE + IBL_ALL;
	uint64_t most = counters_most();

	n = n > most ? most : n;
	if (sys3(__NR_mprotect, from, 8 * (CELLS + n),
	    PROT_READ | PROT_WRITE) != 0)
		return -1;
	t->ncount = n;
	return 0;
}

void
counters_room(struct tarea *t, uint64_t n)
{
	uint64_t now = t->ncount;

	while (now < n)
		now *= 2;
	if (now > t->ncount && counters_open(t, now) < 0)
		panic("no memory for counters");
}

int
counters_fault(struct tarea *t, uint64_t addr)
{
	uint64_t i = (addr - counters_of(t)) / 8;

	if (rt.boot.countbytes == 0 || i < t->ncount || i >= counters_most())
		return 0;
	counters_room(t, i + 1);
	return 1;
}

void
counters_all(struct tarea *t)
{
	uint32_t i;

	if (rt.boot.countbytes == 0)
		return;
	lock_take(t, &arealock);
	for (i = 0; i < NSLOT; i++)
		if (areas[i] != NULL)
		{
			counters_open(areas[i], counters_most());
			contexts_all(areas[i]);
		}
	lock_give(&arealock);
}

void
thread_drop_waiting(struct tarea *t, uint64_t sigs)
{
	struct tarea *o;
	uint32_t i;

	if (sigs == 0)
		return;
	lock_take(t, &arealock);
	for (i = 0; i < NSLOT; i++) {
		o = areas[i];
		if (o == NULL || o->pid != t->pid)
			continue;
		__atomic_fetch_and(&o->syncpending, ~sigs, __ATOMIC_SEQ_CST);
		__atomic_fetch_or(&o->syncignored, sigs, __ATOMIC_SEQ_CST);
	}
	lock_give(&arealock);
}

/* Memory for one area, or NULL.  Below all else that is ours. */
static uint64_t
area_map(uint32_t slot)
{
	uint64_t size = thread_area_bytes(), hint, at, base;
	long r;	/* where counters are to be, nothing is committed */

	hint = (rt.boot.seg[SEG_CONTROL].addr - (slot + 1) *
	    ((size + 2 * T_SIZE) & ~(uint64_t)(T_SIZE - 1))) &
	    ~(uint64_t)(T_SIZE - 1);
	r = sys6(__NR_mmap, (long)hint, (long)(size + T_SIZE), 0,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (is_error(r))
		return 0;
	at = (uint64_t)r;
	base = (at + T_SIZE - 1) & ~(uint64_t)(T_SIZE - 1);
	if (base > at)
		sys2(__NR_munmap, at, base - at);
	if (at + T_SIZE > base)
		sys2(__NR_munmap, base + size, at + T_SIZE - base);
	if (sys3(__NR_mprotect, base, T_SIZE, PROT_READ | PROT_WRITE) != 0) {
		sys2(__NR_munmap, base, size);
		return 0;
	}
	return base;
}

/* Map n bytes that are mapped already, and shared, at another place as well. */
static int
map_again(uint64_t from, uint64_t n, uint64_t to)
{
	return is_error(sys6(__NR_mremap, (long)from, 0, (long)n,
	    MREMAP_MAYMOVE | MREMAP_FIXED, (long)to, 0)) ? -1 : 0;
}

static int
area_share(uint64_t base, uint32_t slot)
{
	struct tarea *t = (struct tarea *)(base + T_OFF);
	uint64_t at = base + T_SIZE, n = rt.boot.countbytes;

	if (map_again((uint64_t)rt.ibl, IBL_ALL, at) < 0)
		return -1;
	if (n == 0)
		return 0;
	if (map_again(rt.boot.seg[SEG_COUNTERS].addr + slot * n, n,
	    at + IBL_ALL) < 0)
		return -1;
	if (counters_open(t, rt.ctl->polling ? counters_most() :
	    FIRST_COUNTS) < 0)
		return -1;
	if (rt.boot.seg[SEG_ARCS].size == 0)
		return 0;
	return map_again((uint64_t)rt.arcs, rt.boot.seg[SEG_ARCS].size,
	    at + IBL_ALL + n) < 0 ? -1 : contexts_begin(t);
}

/* The thread's memory; 0 bytes if others still use its actions: it stays. */
static uint64_t
area_to_free(struct tarea *t)
{
	uint32_t left = __atomic_sub_fetch(&t->act->users, 1, __ATOMIC_SEQ_CST);

	return t->act == &t->ownact && left > 0 ? 0 : thread_area_bytes();
}

/* Free what a killed process had, but for its slot. */
static void
free_dead(struct tarea *by, uint32_t slot)
{
	struct tarea *t = areas[slot];
	uint64_t bytes;

	if (t == NULL)
		return;
	forget_area(by, slot);
	__atomic_fetch_sub(&rt.nthread, 1, __ATOMIC_SEQ_CST);
	bytes = area_to_free(t);
	if (bytes != 0 && !rt.ctl->polling)
		sys2(__NR_munmap, (uint64_t)t - T_OFF, bytes);
}

/* The same of all that trace has buried since the last time. */
static void
free_all_dead(struct tarea *t)
{
	static uint32_t seen;
	uint32_t now = __atomic_load_n(&rt.ctl->nburied, __ATOMIC_SEQ_CST), i;
	uint32_t dead;

	if (__atomic_exchange_n(&seen, now, __ATOMIC_SEQ_CST) == now)
		return;
	for (i = 0; i < NSLOT; i++) {
		dead = SLOT_DEAD;
		if (rt.ctl->slot[i].used == SLOT_DEAD &&
		    __atomic_compare_exchange_n(&rt.ctl->slot[i].used, &dead,
		    SLOT_TAKEN, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
			free_dead(t, i);
			slot_free(&rt.ctl->slot[i]);
		}
	}
}

/* An area of this thread, with a slot; NULL: no memory or no slot. */
struct tarea *
thread_new(uint32_t tid)
{
	struct tarea *t;
	uint64_t base;
	int slot = slot_take(tid);

	if (slot < 0)
		return NULL;
	limit_for(thread_bytes() + thread_area_bytes());
	base = area_map((uint32_t)slot);
	if (base == 0 || area_share(base, (uint32_t)slot) < 0) {
		if (base != 0)
			sys2(__NR_munmap, base, thread_area_bytes());
		limit_for(thread_bytes());
		slot_free(&rt.ctl->slot[slot]);
		return NULL;
	}
	t = (struct tarea *)(base + T_OFF);
	t->slotno = (uint32_t)slot;
	t->slot = &rt.ctl->slot[slot];
	t->tid = tid;
	t->pid = rt.pid;
	t->act = &rt.act;
	t->stack = base + T_STACK_TOP;
	t->rt_exit = (uint64_t)rt_exit;
	t->rt_miss = (uint64_t)rt_miss;
	t->rt_again = (uint64_t)rt_again;
	t->place[0] = rt.place[0];
	t->place[1] = rt.place[1];
	t->rt_look = (uint64_t)rt_look;
	if (rt.boot.sets != 0) {
		table_look_by(t);
		t->hint_mask = (TABLE_HINTS - 1ull) << rt.boot.lineshift;
		table_clear(t);
	}
	contexts_rest(t);
	__atomic_store_n(&areas[slot], t, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&rt.nthread, 1, __ATOMIC_SEQ_CST);
	return t;
}

/* A child's area, by its parent. */
static void
area_free(struct tarea *parent, struct tarea *t)
{
	forget_area(parent, t->slotno);
	__atomic_fetch_sub(&t->act->users, 1, __ATOMIC_SEQ_CST);
	slot_free(t->slot);
	__atomic_fetch_sub(&rt.nthread, 1, __ATOMIC_SEQ_CST);
	sys2(__NR_munmap, (uint64_t)t - T_OFF, thread_area_bytes());
	limit_for(thread_bytes());
}

/* The child's state is its parent's, but for what clone says. */
static void
inherit(struct tarea *c, struct tarea *t, uint64_t stack, uint64_t tls,
    uint64_t flags)
{
	unsigned r;

	for (r = 0; r < 16; r++)
		c->gpr[r] = t->gpr[r];
	c->gpr[0] = 0;
	if (stack != 0)
		c->gpr[4] = stack;
	c->pc = t->pc;
	c->rflags = t->rflags;
	c->df = t->df;
	c->fsbase = flags & CLONE_SETTLS ? tls : t->fsbase;
	c->gsbase = t->gsbase;
	/* made within a window, it is in one until its end */
	c->window = t->window != 0 ? WINDOW_OPEN : 0;
	c->syncblocked = t->syncblocked;
	c->pid = flags & CLONE_THREAD ? t->pid : 0;
	c->slot->pid = c->pid;
	if (flags & CLONE_SIGHAND)
		signal_share_actions(c, t);
	else
		signal_copy_actions(c, t);
	if (flags & CLONE_CLEAR_SIGHAND)
		signal_clear_actions(c);
}

/* Behind a filter, which may forbid to ask for it, its parent tells it. */
static uint32_t
own_tid(const struct tarea *t)
{
	uint32_t tid;

	if (!rt.ctl->polling)
		return (uint32_t)sys0(__NR_gettid);
	while ((int32_t)(tid = __atomic_load_n(&t->slot->tid,
	    __ATOMIC_SEQ_CST)) < 0)
		__builtin_ia32_pause();
	return tid;
}

/*
 * A new thread's first step, on its own area's stack.  Behind a filter the
 * return from a trap sets its stack for handlers, and the guest's mask.
 */
void
thread_start(struct tarea *t)
{
	t->tid = own_tid(t);
	t->slot->tid = t->tid;
	if (t->pid == 0)
		t->pid = t->tid;
	signal_install_all(t);
	queue_put(t, Q_THREAD, t->tid, 0);
	buffer_first(t);
	if (rt.ctl->polling) {
		t->trap = TRAP_BEGIN;
		rt_trap(t);
	}
	signal_thread(t, t->start_mask - 1);
	t->start_mask = 0;
	dispatch_go(t, ~0ull);
	rt_enter(t);
}

/* Before a call that makes a process: 1 if it will be followed. */
static int
will_follow(struct tarea *t)
{
	t->slot->child = CHILD_HELD;
	return (rt.boot.flags & BOOT_FOLLOW) && !rt.ctl->polling;
}

/*
 * Have the child followed.  One that was copied waits in hold() until it is;
 * where it cannot be, it is told to go on natively, and has heard that before
 * the next one is made.
 */
static void
tell_child(struct tarea *t, long pid)
{
	uint64_t arg[4] = { (uint64_t)pid, 0, 0, 0 };
	unsigned tries;

	if (ask(t, REQ_CHILD, arg) == 0 && t->slot->ret[0] == 0)
		return;
	__atomic_store_n(&t->slot->child, CHILD_NATIVE, __ATOMIC_SEQ_CST);
	futex_wake(&t->slot->child, 1);
	for (tries = 0; tries < 10 && __atomic_load_n(&t->slot->child,
	    __ATOMIC_SEQ_CST) == CHILD_NATIVE; tries++)
		futex_wait(&t->slot->child, CHILD_NATIVE);
}

/*
 * A child that was copied, until it is taken over: everything is the guest's
 * but the general registers, which are in rt.boot.  Returns where it is not.
 */
static void
hold(struct tarea *t)
{
	struct boot *b = &rt.boot;
	uint32_t *child = &t->slot->child;
	unsigned r;

	signal_guest_stack(t);
	sys2(__NR_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	signal_restore_actions(t, 1);
	for (r = 0; r < 16; r++)
		b->at.gpr[r] = t->gpr[r];
	b->at.pc = t->pc;
	b->at.rflags = (t->rflags & ~X86_EFLAGS_DF) | t->df << 10;
	b->at.fsbase = t->fsbase;
	b->at.gsbase = t->gsbase;
	b->at.sigmask = (t->start_mask - 1) | t->syncblocked;
	b->at.window = t->window;
	__atomic_fetch_or(&b->flags, BOOT_HELD, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(child, __ATOMIC_SEQ_CST) == CHILD_HELD &&
	    !rt.ctl->letgo && !trace_died())
		futex_wait(child, CHILD_HELD);
	__atomic_store_n(child, CHILD_GONE, __ATOMIC_SEQ_CST);
	futex_wake(child, 1);
	signal_ready_to_go(t);
}

/*
 * A child process goes on natively.  One that shares its parent's memory is
 * followed from its exec on, which is seen by ptrace.
 */
static void __attribute__((noreturn))
go_natively(struct tarea *t)
{
	uint64_t arg[4] = { 0, 1, 0, 0 };

	t->bufend = 0;
	t->child = 1;
	if (t->shares) {
		arg[0] = (uint64_t)sys0(__NR_getpid);
		sys2(__NR_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		ask(t, REQ_CHILD, arg);
		contexts_rest(t);	/* from here on natively */
	}
	signal_install_all(t);	/* the trap needs ours */
	signal_restore_actions(t, 0);
	t->trap = TRAP_LETGO;
	rt_trap(t);
}

/* One that shares memory has its parent's stack for handlers until now. */
void
thread_child(struct tarea *t)
{
	struct kstack st = { (uint64_t)t - T_OFF, 0, 0, T_ALTSTACK };

	sys2(__NR_sigaltstack, &st, NULL);
	go_natively(t);
}

struct clone_call {
	uint64_t flags, stack, tls, size;
	struct clone_args args;
	uint64_t more[21];	/* what newer kernels may take */
	int is3;
};

/* What the call asks for; negative: an error to give back. */
static long
read_call(struct tarea *t, struct clone_call *h)
{
	memset(h, 0, sizeof *h);
	if (t->gpr[0] == __NR_vfork)
		h->flags = CLONE_VM | CLONE_VFORK | SIG_CHLD;
	else if (t->gpr[0] == __NR_fork)
		h->flags = SIG_CHLD;
	else if (t->gpr[0] == __NR_clone) {
		h->flags = t->gpr[7];
		h->stack = t->gpr[6];
		h->tls = t->gpr[8];
	} else {
		h->is3 = 1;
		h->size = t->gpr[6];
		if (h->size < 64 || h->size > sizeof h->args + sizeof h->more)
			return 1;	/* the kernel has the answer */
		if (rt_copy(&h->args, (void *)t->gpr[7], h->size) < 0)
			return -EFAULT;
		if ((h->args.stack == 0) != (h->args.stack_size == 0) ||
		    h->args.stack + h->args.stack_size >= 1ull << 47)
			return 1;
		h->flags = h->args.flags;
		h->stack = h->args.stack + h->args.stack_size;
		h->tls = h->args.tls;
	}
	return 0;
}

/* Have all buried that were killed. */
static void
bury(struct tarea *t)
{
	uint64_t arg[4] = { 0, 0, 0, 0 };

	if (rt.ctl->sharing != 0)
		ask(t, REQ_BURY, arg);
}

#define BURY_EACH 64u	/* processes that share the memory */

/* An area for a child; or for a process that shares the memory. */
static struct tarea *
child_new(struct tarea *t, bool is_process)
{
	static uint32_t n;
	uint32_t most = rt.ctl->sharing;
	struct tarea *c;

	if (is_process && __atomic_fetch_add(&n, 1, __ATOMIC_SEQ_CST) %
	    BURY_EACH == BURY_EACH - 1)
		bury(t);
	free_all_dead(t);
	c = thread_new(0);
	if (c == NULL) {
		bury(t);
		free_all_dead(t);
		c = thread_new(0);
	}
	if (c != NULL && is_process)
		while (most <= c->slotno && !__atomic_compare_exchange_n(
		    &rt.ctl->sharing, &most, c->slotno + 1, 0,
		    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			;
	return c;
}

static long
clone_thread(struct tarea *t, struct clone_call *h, uint64_t mask)
{
	bool is_process = !(h->flags & CLONE_THREAD) || t->pid != rt.pid;
	struct tarea *c = child_new(t, is_process);
	uint64_t arg = t->gpr[7];
	uint32_t none;
	struct slot *s;
	long r;

	if (c == NULL)
		return -EAGAIN;
	s = c->slot;
	none = s->tid;
	inherit(c, t, h->stack, h->tls, h->flags);
	c->start_mask = mask + 1;
	if (h->is3) {
		h->args.stack = (uint64_t)c - T_OFF + T_STACK_TOP - 16384;
		h->args.stack_size = 16384;
		arg = (uint64_t)&h->args;
	}
	table_empty(t);
	buffer_publish(t, Q_RECORDS, 0, 0);
	if (rt.nthread == 2)
		dispatch_share(t);
	r = rt_clone_thread(t, c, arg);
	if (r < 0)
		area_free(t, c);
	else	/* it may be killed before it knows, or have ended */
		__atomic_compare_exchange_n(&s->tid, &none, (uint32_t)r, 0,
		    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return r;
}

/* A child with this memory but a process of its own. */
static long
clone_sharing(struct tarea *t, struct clone_call *h, uint64_t mask)
{
	struct tarea *c = child_new(t, false);
	uint64_t saved[2] = { t->gpr[6], t->gpr[7] };
	long r;

	if (c == NULL)
		return -EAGAIN;
	inherit(c, t, h->stack, h->tls, h->flags);
	c->start_mask = mask + 1;
	c->shares = (uint64_t)will_follow(t);
	if (h->is3) {
		h->args.stack = (uint64_t)c - T_OFF + T_STACK_TOP - 16384;
		h->args.stack_size = 16384;
		t->gpr[7] = (uint64_t)&h->args;
	} else if (t->gpr[0] == __NR_clone) {
		t->gpr[6] = c->stack;
	}
	contexts_rest(t);
	r = rt_clone_vfork(t, c);
	contexts_resume(t);
	t->gpr[6] = saved[0];
	t->gpr[7] = saved[1];
	if (r < 0 || (h->flags & CLONE_VFORK))
		area_free(t, c);
	return r;
}

static long
clone_copying(struct tarea *t, struct clone_call *h, uint64_t mask)
{
	long r;
	int follow = will_follow(t);
	uint64_t arg = t->gpr[7], stack = t->gpr[6];

	/* the child stays on this stack's copy until it is let go */
	if (h->is3) {
		h->args.stack = h->args.stack_size = 0;
		arg = (uint64_t)&h->args;
	} else {
		stack = 0;
	}
	r = sys6((long)t->gpr[0], (long)arg, (long)stack,
	    (long)t->gpr[2], (long)t->gpr[10], (long)t->gpr[8],
	    (long)t->gpr[9]);
	if (r > 0 && follow)
		tell_child(t, r);
	if (r != 0)
		return r;
	t->held = 0;
	t->gpr[0] = 0;
	t->gpr[1] = t->pc;
	if (h->stack != 0)
		t->gpr[4] = h->stack;
	if (h->flags & CLONE_SETTLS)
		t->fsbase = h->tls;
	if (h->flags & CLONE_CLEAR_SIGHAND)
		signal_clear_actions(t);
	t->start_mask = mask + 1;
	if (follow)
		hold(t);
	go_natively(t);
}

/* fork, vfork, clone, clone3; the result for the parent's rax. */
long
thread_clone(struct tarea *t)
{
	struct clone_call h;
	uint64_t all = ~SYNC_SIGS, mask = 0;
	long r = read_call(t, &h);

	if (r == 1)
		return guest_syscall(t, t->gpr);
	if (r < 0)
		return r;
	/* where we block it, the kernel wakes another thread with it: EINTR */
	if (t->act->of[SIG_CHLD].handler <= 1)
		all &= ~SIGBIT(SIG_CHLD);
	sys4(__NR_rt_sigprocmask, SIG_SETMASK, &all, &mask, 8);
	if (t->held)
		mask = t->keptmask & ~SYNC_SIGS;
	if (t->pending)
		r = SYS_ABORTED;
	else if ((h.flags & CLONE_THREAD) ||
	    ((h.flags & CLONE_VM) && !(h.flags & CLONE_VFORK)))
		r = clone_thread(t, &h, mask);
	else if (h.flags & CLONE_VM)
		r = clone_sharing(t, &h, mask);
	else
		r = clone_copying(t, &h, mask);
	if (!t->pending && !t->held)
		sys4(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
	return r;
}

/* It hands over what it has; true: no other thread is left. */
static bool
hand_over(struct tarea *t)
{
	uint64_t all = ~0ull;

	if (!rt.ctl->polling)
		sys4(__NR_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
	signal_unhold(t);
	signal_put_back(t);
	if (t->skips == SKIP_OUT)
		buffer_back(t);
	contexts_step(t, MOVE_END, t->pc);
	table_empty(t);
	if (t->bufend != 0)
		queue_buffer(t);
	t->bufend = 0;
	contexts_rest(t);
	forget_area(t, t->slotno);
	return __atomic_sub_fetch(&rt.nthread, 1, __ATOMIC_SEQ_CST) == 0;
}

/* Behind a filter no call of ours is sure to pass, so the memory stays. */
static uint64_t
give_slot_back(struct tarea *t)
{
	slot_free(t->slot);
	if (rt.ctl->polling)
		return 0;
	limit_for(thread_bytes());
	return area_to_free(t);
}

uint64_t
thread_leave(struct tarea *t)
{
	hand_over(t);
	return give_slot_back(t);
}

void
thread_exit(struct tarea *t, long nr, long status)
{
	uint64_t bytes;

	if (hand_over(t)) {
		rt.ctl->status = (uint32_t)(status & 0xff) << 8;
		serve_ended();
		sys1(nr, status);
	}
	bytes = give_slot_back(t);
	while (rt.ctl->polling)
		sys1(nr, status);
	rt_thread_exit((uint64_t)t - T_OFF, bytes, status, nr);
}
