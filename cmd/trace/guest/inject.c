/*
 * inject - put the runtime into a stopped process
 *
 * Remote system calls (remote.c) make a memory file and map the runtime from
 * it; we open the file through /proc.  The runtime gets the program's registers
 * and the layout of all segments, and maps the rest itself.  Then the process
 * is let off, and there is no ptrace from here on.  Nothing here knows why the
 * process has stopped: see launch.c, adopt.c and attach.c.
 *
 * Addresses.  Zone 0, the runtime and all data lie 1.5 GB below the libraries,
 * within reach of 32-bit displacements from there, out of the way of mmap: that
 * is below the highest mapping but the stack with room for all below it.
 * Zone 1 lies below a position-independent program, or above a fixed one.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "mem.h"
#include "prog.h"

#define GAP (1536ull << 20)	/* for the guest's own mappings */
#define BIG (2ull << 20)
#define MOST_SHRUNK 6u		/* as area_sizes has it */

/* ------------------------------------------------------------------- places */

struct layout {
	uint64_t program;	/* lowest address of the program */
	uint64_t libs;		/* lowest address used in the mmap area */
	struct taken {
		uint64_t start, end;
		enum { OTHERS, STACK, OURS } what;
	} *taken;		/* from the lowest on */
	size_t n, cap;
};

/* OURS is what will be unmapped once the new runtime is there. */
static bool
is_ours(const struct start *s, const struct mapped *m)
{
	size_t i;

	if (s == NULL || s->old == 0)
		return false;
	for (i = 0; i < s->ngone; i++)
		if (m->start >= s->gone[i].start && m->end <= s->gone[i].end)
			return true;
	return m->start - s->old < AREA_BLOB;
}

static int
what_is(const struct start *s, const struct mapped *m)
{
	if (is_ours(s, m))
		return OURS;
	return strncmp(m->name, "[stack]", 7) == 0 ? STACK : OTHERS;
}

static void
read_places(struct layout *p, const struct start *s)
{
	struct mapped m;
	int what;

	memset(p, 0, sizeof *p);
	if (!mapped_open(&m, guest.pid))
		die("/proc/%d/maps:", (int)guest.pid);
	while (mapped_next(&m)) {
		if (strncmp(m.name, "[vsyscall]", 10) == 0)
			continue;
		what = what_is(s, &m);
		p->taken = xgrow(p->taken, &p->cap, p->n + 1,
		    sizeof *p->taken);
		p->taken[p->n++] = (struct taken){ m.start, m.end, what };
		if (what == OTHERS && p->program == 0)
			p->program = m.start;
	}
}

/* What all segments but zone 1 take, with room for threads' areas. */
static uint64_t
room_needed(void)
{
	const struct segment *s = area.boot.seg;
	uint64_t n = GAP + (16ull << 30);
	unsigned i;

	for (i = 0; i < NSEG; i++)
		if (i != SEG_ZONE1)
			n += s[i].size + BIG;
	return n;
}

/* The highest mapping that has room below it; 0: none has. */
static uint64_t
highest_with_room(const struct layout *p, bool stacks)
{
	uint64_t need = room_needed(), below = 0, found = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		const struct taken *t = &p->taken[i];

		if ((t->what == OTHERS || (stacks && t->what == STACK)) &&
		    t->start > need && t->start - need > below)
			found = t->start;
		if (t->what != OURS)
			below = t->end;
	}
	return found;
}

/* A static program has only its stack there, or nothing that has room. */
static void
find_libs(struct layout *p)
{
	p->libs = highest_with_room(p, false);
	if (p->libs == 0)
		p->libs = highest_with_room(p, true);
	if (p->libs == 0)
		p->libs = p->program;
}

static bool
is_free(const struct layout *p, uint64_t at, uint64_t n)
{
	size_t i;

	if (at < 0x10000)
		return false;
	for (i = 0; i < p->n; i++)
		if (at < p->taken[i].end && p->taken[i].start < at + n)
			return false;
	return true;
}

/* Downwards from `below', the first address where n bytes are free; 0: none. */
static uint64_t
place_below(const struct layout *p, uint64_t below, uint64_t n)
{
	uint64_t at = below > n ? (below - n) & ~(BIG - 1) : 0;

	while (at > BIG && !is_free(p, at, n))
		at -= BIG;
	return at > BIG ? at : 0;
}

/* The bytes of address space that a thread's area asks for. */
static uint64_t
thread_bytes(void)
{
	return 2 * T_SIZE + IBL_ALL + area.boot.countbytes +
	    area.boot.seg[SEG_ARCS].size;
}

/* The bytes of all segments, with an area for a thread. */
static uint64_t
area_bytes(void)
{
	const struct segment *last = &area.boot.seg[NSEG - 1];

	return last->off + last->size + thread_bytes();
}

/* false: there is no room. */
static bool
choose_places(const struct layout *p)
{
	struct segment *s = area.boot.seg;
	uint64_t top = p->libs > GAP + (1ull << 32) ? p->libs - GAP :
	    1ull << 34;
	unsigned i;

	s[SEG_ZONE0].addr = place_below(p, top, s[SEG_ZONE0].size);
	top = s[SEG_ZONE0].addr;
	area.blob = top = place_below(p, top, AREA_BLOB);
	for (i = 0; i < NSEG; i++) {
		if (i == SEG_ZONE0 || i == SEG_ZONE1 || s[i].size == 0)
			continue;
		/* control is last and lowest: threads' areas lie below it */
		if (i != SEG_CONTROL)
			s[i].addr = top = place_below(p, top, s[i].size);
	}
	s[SEG_CONTROL].addr = place_below(p, top, s[SEG_CONTROL].size);
	if (s[SEG_CONTROL].addr == 0 ||		/* the last one */
	    place_below(p, s[SEG_CONTROL].addr, thread_bytes()) == 0)
		return false;
	if (p->libs - p->program < (1ull << 31)) {
		s[SEG_ZONE1].size = 0;
	} else if (p->program > (1ull << 32)) {
		s[SEG_ZONE1].addr = place_below(p, p->program - BIG,
		    s[SEG_ZONE1].size);
	} else {
		s[SEG_ZONE1].addr = 0x70000000;
		if (!is_free(p, s[SEG_ZONE1].addr, s[SEG_ZONE1].size))
			s[SEG_ZONE1].size = 0;
	}
	if (s[SEG_ZONE1].addr == 0)
		s[SEG_ZONE1].size = 0;
	return true;
}

/* The bytes of address space that the process has, but for what is OURS. */
static uint64_t
space_used(const struct layout *p)
{
	uint64_t used;
	char text[128];
	size_t i;

	guest_file("statm", text, sizeof text);
	used = strtoull(text, NULL, 10) * PAGE;
	for (i = 0; i < p->n; i++)
		if (p->taken[i].what == OURS)
			used -= p->taken[i].end - p->taken[i].start;
	return used;
}

/*
 * Under a limit of the address space take no more than a quarter of it, and
 * than is left.  MOST_SHRUNK + 1: there is too little.
 */
static unsigned
shrink_for_limit(const struct layout *p)
{
	struct rlimit r;
	unsigned s;
	uint64_t used = space_used(p);

	if (prlimit(guest.pid, RLIMIT_AS, NULL, &r) < 0 ||
	    r.rlim_cur == RLIM_INFINITY)
		return 0;
	for (s = 0; s <= MOST_SHRUNK; s++) {
		area_sizes(s);
		if (area_bytes() + used <= r.rlim_cur &&
		    (area_bytes() <= r.rlim_cur / 4 || s == MOST_SHRUNK))
			break;
	}
	return s;
}

/* Smaller ones where the program has left no room for them. */
void
inject_places(const struct start *s)
{
	struct layout p;
	bool fits = false;
	unsigned shrink;

	read_places(&p, s);
	shrink = shrink_for_limit(&p);
	for (; !fits && shrink <= MOST_SHRUNK; shrink++) {
		area_sizes(shrink);
		find_libs(&p);
		fits = choose_places(&p);
	}
	free(p.taken);
	if (!fits)
		die("process %d: its address space has no room for the code "
		    "cache", (int)guest.pid);
}

/* ------------------------------------------------------------------- inject */

static void
load_blob(int theirs)
{
	struct head h;
	uint64_t off = area.boot.seg[NSEG - 1].off +
	    area.boot.seg[NSEG - 1].size;
	size_t n = (size_t)(runtime_blob_end - runtime_blob);

	memcpy(&h, runtime_blob, sizeof h);
	area.boot.blank = area.blob + AREA_BLANK;
	if (memfile_write(area.fd, runtime_blob, n, off) != (ssize_t)n)
		die("the runtime:");
	if (remote_mmap(area.blob, h.data, PROT_READ | PROT_EXEC, theirs,
	    off) < 0 || remote_mmap(area.blob + h.data, h.end - h.data,
	    PROT_READ | PROT_WRITE, theirs, off + h.data) < 0 ||
	    remote_mmap(area.boot.blank, T_SIZE, PROT_NONE, theirs,
	    off + AREA_BLANK) < 0)
		die("no place for the runtime in the program");
}

void
inject_state(struct guest_state *s, const struct user_regs_struct *r)
{
	const unsigned long long v[16] = {
		r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15
	};
	unsigned i;

	for (i = 0; i < 16; i++)
		s->gpr[i] = v[i];
	s->pc = r->rip;
	s->rflags = r->eflags;
	s->fsbase = r->fs_base;
	s->gsbase = r->gs_base;
	s->window = opt->windows == WINDOWS_TO ? WINDOW_OPEN : 0;
}

void
inject_rseq(struct guest_state *s, pid_t tid)
{
	struct __ptrace_rseq_configuration c = { 0 };

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof c, &c) < 0)
		return;
	s->rseq = c.rseq_abi_pointer;
	s->rseqsig = c.signature;
}

bool
inject_is_64bit(const struct user_regs_struct *r)
{
	return r->cs == 0x33;
}

/*
 * In the /proc of another pid namespace, the process's number may belong to a
 * different process, and we may have none: then /proc/self is there, but leads
 * nowhere.
 */
void
guest_is_in_proc(void)
{
	char name[64], line[128];
	struct stat st;
	int pid = 0;
	FILE *f;

	snprintf(name, sizeof name, "/proc/self/fdinfo/%d", guest.pidfd);
	f = fopen(name, "re");
	if (f == NULL && (errno != ENOENT || lstat("/proc/self", &st) < 0))
		die("%s:", name);
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "Pid: %d", &pid) == 1)
			break;
	if (f != NULL)
		fclose(f);
	if (pid != guest.pid)
		die("/proc is not that of our process numbers: it does not "
		    "show process %d (with unshare: --mount-proc)",
		    (int)guest.pid);
}

void
guest_find(pid_t pid)
{
	guest.pid = guest.tid = pid;
	guest.mem = -1;
	guest.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (guest.pidfd < 0)
		die("process %d:", (int)pid);
	guest_is_in_proc();
}

/*
 * The least alternate stack that sigaltstack(2) takes, where signal frames have
 * up to so many bytes. Few kernels insist on room for these.
 */
static uint64_t
least_altstack(uint64_t frame)
{
	static char room[2048];
	stack_t new = { .ss_sp = room, .ss_size = sizeof room }, was;

	if (sigaltstack(&new, &was) < 0)
		return frame;
	sigaltstack(&was, NULL);
	return sizeof room;
}

/* How many bits addresses have: the kernel may use five levels of tables. */
static uint64_t
address_bits(void)
{
	void *high = (void *)(1ul << 50);
	void *at = mmap(high, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	    0);

	if (at == MAP_FAILED)
		return 48;
	munmap(at, PAGE);
	return at == high ? 57 : 48;
}

/* SigIgn of the process's status. */
static uint64_t
ignored_signals(void)
{
	static const char name[] = "\nSigIgn:";
	char text[4096];
	const char *at;

	guest_file("status", text, sizeof text);
	at = strstr(text, name);
	return at == NULL ? 0 : strtoull(at + sizeof name - 1, NULL, 16);
}

uint32_t
inject_flags(void)
{
	return ignored_signals() >> (SIGTRAP - 1) & 1 ? BOOT_NOTRAP : 0;
}

void
inject_file(struct start *s)
{
	remote_begin(s->trap);
	s->fd = remote_memfd(s->scratch, &s->theirs);
	remote_end();
}

static void
unmap(uint64_t start, uint64_t end)
{
	uint64_t a[6] = { start, end - start, 0, 0, 0, 0 };

	remote(SYS_munmap, a);
}

/* The new runtime is there; until then the process could go on natively. */
static void
unmap_old(const struct start *s, uint64_t trap)
{
	size_t i;

	remote_begin(s->trap);
	for (i = 0; i < s->ngone; i++)
		unmap(s->gone[i].start, s->gone[i].end);
	remote_end();
	remote_begin(trap);
	unmap(s->old, s->old + AREA_BLOB);
	remote_end();
}

void
inject(const struct start *s, uint64_t skip)
{
	struct head h;

	memcpy(&h, runtime_blob, sizeof h);
	inject_places(s);
	area.boot.at = s->at;
	area.boot.minframe = least_altstack(s->minframe);
	area.boot.filled = s->filled;
	memcpy(area.boot.limit, s->limit, sizeof area.boot.limit);
	area.boot.flags = (area.boot.flags & ~(uint32_t)BOOT_NOTRAP) | s->flags;
	area.boot.addrbits = address_bits();
	area.boot.rseqsig = s->rseqsig;
	sequences_find(s->rseqsig, area.boot.sequence);
	remote_begin(s->trap);
	area_open(s->fd, skip);
	area.ctl->joining = s->others;
	area.ctl->settling = 1;
	load_blob(s->theirs);
	guest.uffd = remote_userfaultfd();
	remote_end();
	if (s->old != 0)
		unmap_old(s, area.blob + h.start);
	area.boot.fd = s->theirs;
	cpu_model(opt->cpu);
	area.miss = area.blob + h.miss;
	area.called = area.blob + h.called;
	area.returned = area.blob + h.returned;
}

int
inject_open(const struct start *s, int fd)
{
	int theirs;

	remote_begin(s->trap);
	theirs = remote_open(s->scratch, fd);
	remote_end();
	return theirs;
}

void
inject_run(void)
{
	struct user_regs_struct r;
	struct head h;

	memcpy(&h, runtime_blob, sizeof h);
	guest_write(area.blob + h.rt, &area.boot, sizeof area.boot);
	if (ptrace(PTRACE_GETREGS, guest.tid, 0L, &r) < 0)
		die("ptrace:");
	r.rip = area.blob + h.start;
	r.eflags = 0x202;
	r.orig_rax = ~0ull;
	if (ptrace(PTRACE_SETREGS, guest.tid, 0L, &r) < 0 ||
	    ptrace(PTRACE_DETACH, guest.tid, 0L, 0L) < 0)
		die("ptrace:");
}
