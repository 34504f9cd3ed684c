/*
 * inject - put the runtime into a stopped process
 *
 * Remote system calls (remote.c) make a memory file and map the runtime from
 * it; we open the file through /proc.  The runtime gets the program's registers
 * and the layout of all segments, and maps the rest itself.  Then the process
 * is let off, and there is no ptrace from here on.  Nothing here knows why the
 * process has stopped: see launch.c, adopt.c and attach.c.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "ctl.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "mem.h"
#include "prog.h"

static void
load_blob(int theirs)
{
	struct head h;
	uint64_t off = area.boot.seg[NSEG - 1].off +
	    area.boot.seg[NSEG - 1].size;
	size_t n = (size_t)(runtime_blob_end - runtime_blob);

	memcpy(&h, runtime_blob, sizeof h);
	area.boot.blank = area.blob + AREA_BLANK;
	area.boot.blankoff = off + AREA_BLANK;
	if (memfile_write(area.fd, runtime_blob, n, off) != (ssize_t)n)
		die("the runtime:");
	if (remote_mmap(area.blob, h.data, PROT_READ | PROT_EXEC, theirs,
	    off) < 0 || remote_mmap(area.blob + h.data, h.end - h.data,
	    PROT_READ | PROT_WRITE, theirs, off + h.data) < 0)
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
	s->window = opt->windows == WINDOWS_TO || (opt->every != 0 &&
	    opt->first == 0) ? WINDOW_OPEN : 0;
	s->due = opt->first != 0 ? opt->first : opt->span;
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
	if (f == NULL && errno == ENOENT && lstat("/proc/self", &st) < 0)
		die("/proc is not mounted here: it is needed");
	if (f == NULL && errno != ENOENT)
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
	char text[64];

	return task_field(guest.pid, "SigIgn", text, sizeof text) ?
	    strtoull(text, NULL, 16) : 0;
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
	for (i = 0; i < s->gone.n; i++)
		unmap(s->gone.v[i].start, s->gone.v[i].end);
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
	places_choose(s);
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
	guest.uffd = remote_userfaultfd(&area.boot.uffd);
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
		guest_lost("ptrace");
	r.rip = area.blob + h.start;
	r.eflags = 0x202;
	r.orig_rax = ~0ull;
	if (ptrace(PTRACE_SETREGS, guest.tid, 0L, &r) < 0 ||
	    ptrace(PTRACE_DETACH, guest.tid, 0L, 0L) < 0)
		guest_lost("ptrace");
}
