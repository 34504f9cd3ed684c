/*
 * memory - calls that change what the guest's memory holds
 *
 * Code comes, goes and changes by them.  trace is told so where it knows of
 * code, or where there may be some from now on.
 */
#include <linux/ioctl.h>
#include <linux/userfaultfd.h>

#include "queue.h"
#include "runtime.h"

/* Does [start, end) touch memory that holds code which trace knows? */
static bool
touches_code(uint64_t start, uint64_t end)
{
	struct control *c = rt.ctl;
	uint32_t i, n = __atomic_load_n(&c->nrange, __ATOMIC_ACQUIRE);

	for (i = 0; i < n && i < NRANGE; i++)
		if (start < c->range[i].end && c->range[i].start < end)
			return true;
	return n > NRANGE;
}

static void
tell_mapped(struct tarea *t, uint64_t start, uint64_t len, bool down)
{
	uint64_t arg[4] = { start, start + len < -(uint64_t)PAGE ? start +
	    ((len + PAGE - 1) & -(uint64_t)PAGE) : ~0ull, down, 0 };

	buffer_publish(t, Q_RECORDS, 0, 0);
	ask(t, REQ_MAPPED, arg);
}

static void
mapped(struct tarea *t, uint64_t start, uint64_t len)
{
	tell_mapped(t, start, len, false);
}

/* A call that failed may have changed a part of what it was to change. */
static void
half_mapped(struct tarea *t, uint64_t start, uint64_t len)
{
	if (touches_code(start, start + len))
		mapped(t, start, len);
}

static bool
is_protecting(uint64_t nr)
{
	return nr == __NR_mprotect || nr == __NR_pkey_mprotect;
}

/*
 * PROT_GROWSDOWN: the call changes a mapping from its beginning on, which trace
 * knows.  Shared libraries make the stack executable so.
 */
static long
protecting_down(struct tarea *t)
{
	long r = guest_syscall(t, t->gpr);

	if (r != SYS_ABORTED)
		tell_mapped(t, t->gpr[7], t->gpr[6], true);
	return r;
}

/*
 * mremap: since Linux 6.17 one to a fixed place moves several mappings, but
 * fails where userfaultfd knows one of them, and some have moved then.
 */
static void
before_moving(struct tarea *t)
{
	const uint64_t *r = t->gpr;
	uint64_t arg[4] = { r[7], r[7] + r[6], 0, 0 };

	if ((r[10] & MREMAP_FIXED) && r[6] == r[2] && r[6] > PAGE &&
	    arg[0] < arg[1] && touches_code(arg[0], arg[1]))
		ask(t, REQ_UNWATCH, arg);
}

long
memory_map(struct tarea *t, uint64_t nr)
{
	uint64_t at = t->gpr[7], len = t->gpr[6], prot = t->gpr[2];
	uint64_t newlen = prot;
	bool code;
	long r;

	if (is_protecting(nr) && (prot & PROT_GROWSDOWN))
		return protecting_down(t);
	if (nr == __NR_mremap)
		before_moving(t);
	code = touches_code(at, at + len);
	r = guest_syscall(t, t->gpr);
	if (r == SYS_ABORTED)
		return r;
	if (is_error(r)) {
		/* one that takes no place has changed none */
		if (nr != __NR_mmap || (t->gpr[10] & MAP_FIXED))
			half_mapped(t, at, len);
		if (nr == __NR_mremap)
			half_mapped(t, t->gpr[8], newlen);
		return r;
	}
	code |= touches_code(at, at + len);	/* what came meanwhile */
	if (nr == __NR_mmap) {
		at = (uint64_t)r;
		code = (prot & PROT_EXEC) || touches_code(at, at + len);
	} else if (is_protecting(nr)) {
		code |= (prot & PROT_EXEC) != 0;
	}
	if (nr == __NR_mremap) {
		if (code)
			mapped(t, at, len);
		if (code || touches_code((uint64_t)r, (uint64_t)r + newlen))
			mapped(t, (uint64_t)r, newlen);
	} else if (code) {
		mapped(t, at, len);
	}
	return r;
}

static uint64_t heap_end;	/* as the last call told it, or 0 */

/*
 * brk: where the heap ends earlier, code that lay behind is gone. Behind a
 * filter we cannot ask where it ended.
 */
long
memory_break(struct tarea *t)
{
	uint64_t was = rt.ctl->polling ? __atomic_load_n(&heap_end,
	    __ATOMIC_RELAXED) : (uint64_t)sys1(__NR_brk, 0), at;
	long r = guest_call(t);

	if (r == SYS_ABORTED || is_error(r))
		return r;
	__atomic_store_n(&heap_end, (uint64_t)r, __ATOMIC_RELAXED);
	if ((uint64_t)r >= was)
		return r;
	at = ((uint64_t)r + PAGE - 1) & -(uint64_t)PAGE;
	if (at < was && touches_code(at, was))
		mapped(t, at, was - at);
	return r;
}

/* What empties pages, at once or later. */
static bool
is_emptying(uint32_t advice)
{
	return advice == MADV_DONTNEED || advice == MADV_FREE ||
	    advice == MADV_REMOVE || advice == MADV_DONTNEED_LOCKED ||
	    advice == MADV_GUARD_INSTALL;	/* nor can that be read */
}

long
memory_advise(struct tarea *t, uint64_t nr)
{
	uint64_t at = t->gpr[7], len = t->gpr[6];
	uint32_t advice = (uint32_t)t->gpr[nr == __NR_madvise ? 2 : 10];
	bool code = nr != __NR_madvise || touches_code(at, at + len);
	long r = guest_call(t);

	if (r == SYS_ABORTED || !is_emptying(advice) ||
	    (!code && !touches_code(at, at + len)))
		return r;
	if (nr == __NR_madvise)
		mapped(t, at, len);
	else
		mapped(t, 0, ~0ull);
	return r;
}

/* shmat: SHM_REMAP takes the place of what is mapped there. */
#define SHM_REMAP 040000	/* its header wants a C library */
long
memory_attach(struct tarea *t)
{
	uint64_t flags = t->gpr[2];
	long r = guest_call(t);

	if ((flags & SHM_REMAP) && !is_error(r) && r != SYS_ABORTED)
		mapped(t, 0, ~0ull);
	return r;
}

#define O_WRONLY 1

/* The flags of a call that opens a file; false: they cannot be read. */
static bool
open_flags(const struct tarea *t, uint64_t nr, uint64_t *flags)
{
	switch (nr) {
	case __NR_open:
		*flags = t->gpr[6];
		return true;
	case __NR_creat:
		*flags = O_WRONLY;
		return true;
	case __NR_openat:
		*flags = t->gpr[2];
		return true;
	default:		/* openat2 */
		return rt_copy(flags, (void *)t->gpr[2], sizeof *flags) == 0;
	}
}

long
memory_open(struct tarea *t, uint64_t nr)
{
	uint64_t flags;
	long r = guest_call(t);

	if (!is_error(r) && r != SYS_ABORTED && open_flags(t, nr, &flags))
		procmem_opened(r, flags);
	return r;
}

/*
 * From here on code that can be written may change without a write that trace
 * notices, or such a write would fail.  False: trace knows that already.
 */
static bool
compare_code(struct tarea *t)
{
	static uint32_t asked;
	uint64_t arg[4] = { 0, 0, 0, 0 };

	if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
		return false;
	ask(t, REQ_COMPARE, arg);
	__atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
	return true;
}

long
memory_write(struct tarea *t, uint64_t nr)
{
	uint64_t range[2];
	long r;

	if (procmem_writes(t, nr))
		compare_code(t);
	r = guest_call(t);
	if (r == -EIO && rt.ctl->polling && compare_code(t))
		r = guest_call(t);	/* a filter forbade to look before */
	if (is_error(r) || r == SYS_ABORTED ||
	    !procmem_written(t, nr, (uint64_t)r, range))
		return r;
	if (touches_code(range[0], range[1])) {
		range[0] &= -(uint64_t)PAGE;
		mapped(t, range[0], range[1] - range[0]);
	}
	return r;
}

/*
 * io_uring_register: of buffers; the kernel writes into them without the
 * program's page tables.
 */
static bool
pins_memory(uint64_t op)
{
	op &= 0xffff;
	return op == 0 || op == 15 || op == 16 || op == 30;
}

/* Does memory change behind the call without a write that trace notices? */
static bool
exposes_memory(const struct tarea *t, uint64_t nr)
{
	return nr == __NR_userfaultfd ||
	    (nr == __NR_ioctl && (int)t->gpr[6] == USERFAULTFD_IOC_NEW) ||
	    (nr == __NR_io_uring_register && pins_memory(t->gpr[6]));
}

long
memory_expose(struct tarea *t, uint64_t nr)
{
	if (exposes_memory(t, nr))
		compare_code(t);
	return guest_call(t);
}
