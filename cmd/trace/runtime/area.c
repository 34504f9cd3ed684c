/*
 * area - make and free the areas of threads, with their slots
 *
 * An area is one mapping: T_SIZE private bytes, then the lookup words and,
 * in kinds counts and cache, the thread's cells and counters, both shared with
 * trace.  Counters can be accessed up to t->ncount, which doubles where a
 * fault shows that there are more by now.
 */
#include "contexts.h"
#include "kinds.h"
#include "limits.h"
#include "queue.h"
#include "runtime.h"
#include "threads.h"

uint64_t
area_bytes(void)
{
	return T_SIZE + IBL_ALL + rt.boot.countbytes +
	    rt.boot.seg[SEG_ARCS].size;
}

/* Areas that are there though their threads have ended, or have not begun. */
#define BETWEEN 8u

/* Where there are several threads, some may begin or end at any time. */
uint64_t
area_bytes_all(void)
{
	uint64_t threads = rt.nthread, n;
	unsigned i;

	n = (threads > 1 ? threads + BETWEEN : threads) * area_bytes();
	for (i = 0; i < NSEG; i++)
		n += rt.boot.seg[i].size;
	return n + (1u << 20) + rt.boot.filled;
}

uint64_t
area_data_all(void)
{
	return (rt.nthread + BETWEEN) * (uint64_t)T_SIZE;
}

/* A slot's thread has no number yet: one that nobody has. */
static uint32_t
no_number(void)
{
	static uint32_t n;

	return 1u << 31 | __atomic_fetch_add(&n, 1, __ATOMIC_SEQ_CST);
}

void
slot_free(struct slot *s)
{
	__atomic_store_n(&s->tid, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->used, SLOT_FREE, __ATOMIC_SEQ_CST);
}

/* Trace tells the counts before or after this: who is second frees the slot. */
void
slot_ended(struct slot *s)
{
	uint32_t ended = SLOT_ENDED;

	__atomic_store_n(&s->tid, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->used, SLOT_ENDED, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->told, __ATOMIC_SEQ_CST))
		__atomic_compare_exchange_n(&s->used, &ended, SLOT_FREE, 0,
		    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Slot i has been taken. */
static void
note_slot(uint32_t i)
{
	uint32_t n = __atomic_load_n(&rt.ctl->nslot, __ATOMIC_SEQ_CST);

	while (n <= i && !__atomic_compare_exchange_n(&rt.ctl->nslot, &n,
	    i + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* The first free slot, taken; -1: there is none. */
static int
take_free(uint32_t tid)
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
			note_slot(i);
			s[i].pid = tid != 0 ? rt.pid : 0;
			s[i].buf = 0;
			s[i].state = 0;
			s[i].incache = 0;
			s[i].resting = 0;
			s[i].told = 0;
			__atomic_store_n(&s[i].tid, tid != 0 ? tid :
			    no_number(), __ATOMIC_SEQ_CST);
			return (int)i;
		}
	}
	return -1;
}

/* Are there slots that trace will free, once it has taken their counts? */
static bool
are_ended(void)
{
	unsigned i;

	for (i = 0; i < NSLOT && !trace_died(); i++)
		if (__atomic_load_n(&rt.ctl->slot[i].used, __ATOMIC_RELAXED) ==
		    SLOT_ENDED)
			return true;
	return false;
}

static int
slot_take(uint32_t tid)
{
	int slot = take_free(tid);

	while (slot < 0 && are_ended()) {
		if (rt.ctl->polling)
			__builtin_ia32_pause();
		else
			pause_ms();
		slot = take_free(tid);
	}
	return slot;
}

/* All areas; who holds the lock keeps them from going. */
static struct tarea *areas[NSLOT];
static uint32_t arealock;

void
area_forget(struct tarea *t, uint32_t slot)
{
	lock_take(t, &arealock);
	areas[slot] = NULL;
	lock_give(&arealock);
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

bool
counters_fault(struct tarea *t, uint64_t addr)
{
	uint64_t i = (addr - (uint64_t)counter_at(t, 0)) / 8;

	if (rt.boot.countbytes == 0 || i < t->ncount || i >= counters_most())
		return false;
	counters_room(t, i + 1);
	return true;
}

void
counters_all(struct tarea *t)
{
	uint32_t i;

	if (rt.boot.countbytes == 0)
		return;
	lock_take(t, &arealock);
	for (i = 0; i < NSLOT; i++)
		if (areas[i] != NULL) {
			counters_open(areas[i], counters_most());
			contexts_all(areas[i]);
		}
	lock_give(&arealock);
}

void
area_drop_waiting(struct tarea *t, uint64_t sigs)
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

bool
area_is_ours(uint64_t number)
{
	unsigned i;

	for (i = 0; i < NSLOT; i++)
		if (rt.ctl->slot[i].used && rt.ctl->slot[i].tid == number)
			return true;
	return number == rt.pid;
}

/*
 * The T_SIZE bytes at base, so far without access, become private memory of the
 * memory file, whose descriptor is closed: the empty mapping that there is of
 * it goes there, and stays as well.  Kernels before 5.13 cannot do that for a
 * file: there they have none.
 */
static int
private_open(uint64_t base)
{
	long r = sys6(__NR_mremap, (long)rt.boot.blank, T_SIZE, T_SIZE,
	    MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, (long)base, 0);

	if (is_error(r))	/* what was at base may be gone */
		r = sys6(__NR_mmap, (long)base, T_SIZE, 0, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	return is_error(r) || sys3(__NR_mprotect, base, T_SIZE,
	    PROT_READ | PROT_WRITE) != 0 ? -1 : 0;
}

/* Memory for one area, or NULL.  Below all else that is ours. */
static uint64_t
area_map(uint32_t slot)
{
	uint64_t size = area_bytes(), hint, at, base;
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
	if (private_open(base) < 0) {
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

uint64_t
area_to_free(struct tarea *t)
{
	uint32_t left = __atomic_sub_fetch(&t->act->users, 1, __ATOMIC_SEQ_CST);

	return t->act == &t->ownact && left > 0 ? 0 : area_bytes();
}

/* Free what a killed process had, but for the slot. */
static void
free_dead(struct tarea *by, uint32_t slot)
{
	struct tarea *t = areas[slot];
	uint64_t bytes;

	if (t == NULL)
		return;
	area_forget(by, slot);
	__atomic_fetch_sub(&rt.nthread, 1, __ATOMIC_SEQ_CST);
	bytes = area_to_free(t);
	if (bytes != 0 && !rt.ctl->polling)
		sys2(__NR_munmap, (uint64_t)t - T_OFF, bytes);
}

void
area_free_dead(struct tarea *t)
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

/* Map a slot's area; 0: no memory. */
static uint64_t
map_all(uint32_t slot)
{
	uint64_t base = area_map(slot);

	if (base == 0 || area_share(base, slot) == 0)
		return base;
	sys2(__NR_munmap, base, area_bytes());
	return 0;
}

#define MOST_MORE 64u

/*
 * The same where the guest has set limits.  The kernel may count an area twice
 * while parts of it are mapped over, and another thread may move the limits
 * back.
 */
static uint64_t
map_within_limits(uint32_t slot)
{
	uint64_t base = 0;
	unsigned more;

	for (more = 2; base == 0 && more <= MOST_MORE; more *= 2) {
		limits_move(more);
		base = map_all(slot);
	}
	return base;
}

struct tarea *
area_new(uint32_t tid)
{
	struct tarea *t;
	uint64_t base;
	int slot = slot_take(tid);

	if (slot < 0)
		return NULL;
	base = map_within_limits((uint32_t)slot);
	if (base == 0) {
		limits_move(0);
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
	limits_move(0);
	return t;
}

void
area_free(struct tarea *parent, struct tarea *t)
{
	area_forget(parent, t->slotno);
	__atomic_fetch_sub(&t->act->users, 1, __ATOMIC_SEQ_CST);
	slot_free(t->slot);
	__atomic_fetch_sub(&rt.nthread, 1, __ATOMIC_SEQ_CST);
	sys2(__NR_munmap, (uint64_t)t - T_OFF, area_bytes());
	limits_move(0);
}
