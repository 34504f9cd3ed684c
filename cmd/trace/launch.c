/*
 * launch - start a program, and put the runtime into it before its first
 * instruction
 *
 * The child execs the program itself, so that the kernel does all the
 * loading.  At the stop after exec it has no thread but one, and no state but
 * what the kernel gave it: remote system calls make a memory file and map the
 * runtime from it; we open the file through /proc.  The runtime gets the
 * program's registers and its own plan of the areas, and maps the rest itself.
 * Then the process is let off; no ptrace from here on.
 *
 * Places.  Zone 0, the runtime and all data lie 1.5 GB below the libraries,
 * within reach of 32-bit displacements from there, out of the way of mmap.
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
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"
#include "util.h"

#define GAP (1536ull << 20)	/* for the guest's own mappings */
#define BIG (2ull << 20)

struct process guest;
volatile int exec_pending;

static pid_t exec_tid;

/* ------------------------------------------------------- remote system calls */

static uint64_t trap_at;	/* where `syscall; int3` was put */
static uint8_t trap_saved[3];

static void
guest_read(uint64_t at, void *buf, size_t n)
{
	if (pread(guest.mem, buf, n, (off_t)at) != (ssize_t)n)
		die("the program's memory at %#llx:", (unsigned long long)at);
}

static void
guest_write(uint64_t at, const void *buf, size_t n)
{
	if (pwrite(guest.mem, buf, n, (off_t)at) != (ssize_t)n)
		die("the program's memory at %#llx:", (unsigned long long)at);
}

static void
remote_begin(uint64_t at)
{
	static const uint8_t code[3] = { 0x0f, 0x05, 0xcc };

	trap_at = at;
	guest_read(at, trap_saved, 3);
	guest_write(at, code, 3);
}

static void
remote_end(void)
{
	guest_write(trap_at, trap_saved, 3);
}

static void
wait_for_stop(int sig)
{
	int st;

	for (;;) {
		if (waitpid(guest.pid, &st, __WALL) < 0)
			die("waiting for the program:");
		if (!WIFSTOPPED(st))
			die("the program ended before its first instruction");
		if (WSTOPSIG(st) == sig)
			return;
		ptrace(PTRACE_CONT, guest.pid, 0L, (long)WSTOPSIG(st));
	}
}

static long
remote(long nr, const uint64_t a[6])
{
	struct user_regs_struct r, old;

	if (ptrace(PTRACE_GETREGS, guest.pid, 0L, &old) < 0)
		die("ptrace:");
	r = old;
	r.rip = trap_at;
	r.rax = (unsigned long long)nr;
	r.orig_rax = ~0ull;
	r.rdi = a[0];
	r.rsi = a[1];
	r.rdx = a[2];
	r.r10 = a[3];
	r.r8 = a[4];
	r.r9 = a[5];
	if (ptrace(PTRACE_SETREGS, guest.pid, 0L, &r) < 0 ||
	    ptrace(PTRACE_CONT, guest.pid, 0L, 0L) < 0)
		die("ptrace:");
	wait_for_stop(SIGTRAP);
	ptrace(PTRACE_GETREGS, guest.pid, 0L, &r);
	old.orig_rax = ~0ull;
	ptrace(PTRACE_SETREGS, guest.pid, 0L, &old);
	return (long)r.rax;
}

static long
remote_mmap(uint64_t at, uint64_t len, int prot, int fd, uint64_t off)
{
	uint64_t a[6] = { at, len, (uint64_t)prot,
	    MAP_PRIVATE | MAP_FIXED_NOREPLACE, (uint64_t)fd, off };

	return remote(SYS_mmap, a);
}

/* The memory file, open in both: our descriptor; the guest's in *theirs. */
static int
remote_memfd(uint64_t sp, int *theirs)
{
	uint64_t at = (sp - 512) & ~15ull;
	uint64_t a[6] = { at, MFD_CLOEXEC, 0, 0, 0, 0 };
	char old[16], path[64];
	long r;
	int fd;

	guest_read(at, old, sizeof old);
	guest_write(at, "quern", 6);
	r = remote(SYS_memfd_create, a);
	guest_write(at, old, sizeof old);
	if (r < 0) {
		errno = (int)-r;
		die("a memory file in the program:");
	}
	*theirs = (int)r;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)guest.pid, (int)r);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("%s:", path);
	return fd;
}

/* ------------------------------------------------------------------- places */

struct places {
	uint64_t program;	/* lowest address of the program */
	uint64_t libs;		/* lowest address of what lies in the mmap area */
	uint64_t taken[256][2];
	unsigned n;
};

static struct places
read_places(void)
{
	struct places p = { 0, 0, { { 0 } }, 0 };
	unsigned long long start, end;
	char name[64], line[512];
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)guest.pid);
	f = fopen(name, "r");
	if (f == NULL)
		die("%s:", name);
	while (fgets(line, sizeof line, f) != NULL) {
		if (sscanf(line, "%llx-%llx", &start, &end) != 2)
			continue;
		if (p.n < 256) {
			p.taken[p.n][0] = start;
			p.taken[p.n++][1] = end;
		}
		if (strstr(line, "[stack]") != NULL ||
		    strstr(line, "[vsyscall]") != NULL)
			continue;
		if (p.program == 0)
			p.program = start;
		if (start > 0x7000000000ull && p.libs == 0 &&
		    start - p.program > (1ull << 31))
			p.libs = start;
	}
	fclose(f);
	if (p.libs == 0)
		p.libs = p.program;
	return p;
}

static int
is_free(const struct places *p, uint64_t at, uint64_t n)
{
	unsigned i;

	if (at < 0x10000)
		return 0;
	for (i = 0; i < p->n; i++)
		if (at < p->taken[i][1] && p->taken[i][0] < at + n)
			return 0;
	return 1;
}

/* Downwards from `below`, the first place where n bytes are free. */
static uint64_t
place_below(const struct places *p, uint64_t below, uint64_t n)
{
	uint64_t at = (below - n) & ~(BIG - 1);

	while (!is_free(p, at, n) && at > BIG)
		at -= BIG;
	return at;
}

static void
choose_places(const struct places *p)
{
	struct seg *s = area.boot.seg;
	uint64_t top = p->libs > GAP + (1ull << 32) ? p->libs - GAP : 1ull << 34;
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
}

/* Under a limit of the address space take no more than a quarter of it. */
static unsigned
shrink_for_limit(void)
{
	struct rlimit r;
	unsigned s;
	uint64_t n;

	if (prlimit(guest.pid, RLIMIT_AS, NULL, &r) < 0 ||
	    r.rlim_cur == RLIM_INFINITY)
		return 0;
	for (s = 0; s < 6; s++) {
		area_sizes(s);
		n = area.boot.seg[NSEG - 1].off + area.boot.seg[NSEG - 1].size;
		if (n <= r.rlim_cur / 4)
			break;
	}
	return s;
}

/* ------------------------------------------------------------------- inject */

/* The blob's own head: offsets of start, data, end, struct rt, and
 * where empty lookup words lead. */
struct head {
	uint64_t start, data, end, rt, miss;
};

static void
load_blob(int theirs)
{
	struct head h;
	uint64_t off = area.boot.seg[NSEG - 1].off +
	    area.boot.seg[NSEG - 1].size;
	size_t n = (size_t)(runtime_blob_end - runtime_blob);

	memcpy(&h, runtime_blob, sizeof h);
	if (pwrite(area.fd, runtime_blob, n, (off_t)off) != (ssize_t)n)
		die("the runtime:");
	if (remote_mmap(area.blob, h.data, PROT_READ | PROT_EXEC, theirs,
	    off) < 0 || remote_mmap(area.blob + h.data, h.end - h.data,
	    PROT_READ | PROT_WRITE, theirs, off + h.data) < 0)
		die("no place for the runtime in the program");
}

static uint64_t
boot_registers(struct user_regs_struct *r)
{
	struct boot *b = &area.boot;
	const unsigned long long v[16] = {
		r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15
	};
	unsigned i;

	for (i = 0; i < 16; i++)
		b->gpr[i] = v[i];
	b->pc = r->rip;
	b->rflags = r->eflags;
	b->fsbase = r->fs_base;
	b->gsbase = r->gs_base;
	if (ptrace(PTRACE_GETSIGMASK, guest.pid, 8L, &b->sigmask) < 0)
		b->sigmask = 0;
	return r->rsp;
}

/* argc, argv, envp lie at sp; behind them the auxiliary vector. */
static void
edit_auxv(uint64_t sp)
{
	uint64_t v[64][2], word, at = sp + 8;
	unsigned i, n;

	guest_read(sp, &word, 8);
	at += 8 * (word + 1);
	do {
		guest_read(at, &word, 8);
		at += 8;
	} while (word != 0);
	for (n = 0; n < 64; n++) {
		guest_read(at + 16ul * n, v[n], 16);
		if (v[n][0] == AT_NULL)
			break;
	}
	for (i = 0; i < n; i++)
		if (v[i][0] == 51)
			area.boot.minframe = v[i][1];
	cpu_auxv(v, n);
	guest_write(at, v, 16ul * n);
}

static void
open_guest(void)
{
	char name[64];

	if (guest.mem >= 0)
		close(guest.mem);
	snprintf(name, sizeof name, "/proc/%d/mem", (int)guest.pid);
	guest.mem = open(name, O_RDWR | O_CLOEXEC);
	if (guest.mem < 0)
		die("%s:", name);
}

void
inject(void)
{
	struct user_regs_struct r;
	struct places p;
	struct head h;
	uint64_t sp;
	int fd, theirs;

	memcpy(&h, runtime_blob, sizeof h);
	open_guest();
	p = read_places();
	area_sizes(shrink_for_limit());
	choose_places(&p);
	if (ptrace(PTRACE_GETREGS, guest.pid, 0L, &r) < 0)
		die("ptrace:");
	sp = boot_registers(&r);
	edit_auxv(sp);
	remote_begin(r.rip);
	fd = remote_memfd(sp, &theirs);
	area_open(fd);
	load_blob(theirs);
	remote_end();
	area.boot.fd = theirs;
	guest_write(area.blob + h.rt, &area.boot, sizeof area.boot);
	cpu_model(opt.cpu);
	area.miss = area.blob + h.miss;
	frag_reset();
	maps_start();
	r.rip = area.blob + h.start;
	r.orig_rax = ~0ull;
	if (ptrace(PTRACE_SETREGS, guest.pid, 0L, &r) < 0 ||
	    ptrace(PTRACE_DETACH, guest.pid, 0L, 0L) < 0)
		die("ptrace:");
}

/* -------------------------------------------------------------------- start */

/*
 * The folder with our programs under their bare names, of which `diff` and
 * `merge` are others' too, is not for the program's PATH.
 */
static void
clean_path(void)
{
	char self[4096], *path = getenv("PATH"), *dir, *new, *save = NULL;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *copy, *slash;

	if (path == NULL || n <= 0)
		return;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash == NULL || strcmp(slash, "/trace") != 0)
		return;
	*slash = '\0';
	new = xcalloc(1, strlen(path) + 1);
	copy = xstrdup(path);
	for (dir = strtok_r(copy, ":", &save); dir != NULL;
	    dir = strtok_r(NULL, ":", &save)) {
		if (strcmp(dir, self) == 0)
			continue;
		if (new[0] != '\0')
			strcat(new, ":");
		strcat(new, dir);
	}
	if (strlen(new) != strlen(path))
		setenv("PATH", new, 1);
}

static void
redirect(void)
{
	int fd;

	if (opt.guest_out != NULL) {
		fd = open(opt.guest_out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		if (fd < 0)
			die("%s:", opt.guest_out);
		dup2(fd, 1);
		close(fd);
	} else if (opt.out_fd >= 0) {
		dup2(2, 1);
	}
}

static _Noreturn void
child(char *const argv[], int report)
{
	int err;

	redirect();
	clean_path();
	if (opt.out_fd > 2)
		close(opt.out_fd);
	if (!opt.aslr)
		personality((unsigned long)personality(0xffffffff) |
		    ADDR_NO_RANDOMIZE);
	if (ptrace(PTRACE_TRACEME, 0, 0L, 0L) < 0)
		die("ptrace:");
	execvp(argv[0], argv);
	err = errno;
	if (write(report, &err, sizeof err) < 0)
		_exit(127);
	_exit(err == ENOENT ? 127 : 126);
}

void
launch(char *const argv[])
{
	int report[2], st, err = 0;

	if (pipe2(report, O_CLOEXEC) < 0)
		die("pipe:");
	guest.mem = -1;
	guest.pid = fork();
	if (guest.pid < 0)
		die("fork:");
	if (guest.pid == 0)
		child(argv, report[1]);
	close(report[1]);
	guest.pidfd = (int)syscall(SYS_pidfd_open, guest.pid, 0);
	if (guest.pidfd < 0)
		die("pidfd_open:");
	if (waitpid(guest.pid, &st, 0) < 0)
		die("waiting for the program:");
	if (read(report[0], &err, sizeof err) == (ssize_t)sizeof err) {
		errno = err;
		warn("%s:", argv[0]);
		exit(err == ENOENT ? 127 : 126);
	}
	close(report[0]);
	if (!WIFSTOPPED(st))
		exit(STATUS_TROUBLE);
	inject();
}

/* --------------------------------------------------------------------- exec */

static int
read_string(uint64_t at, char *buf, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (pread(guest.mem, buf + i, 1, (off_t)(at + i)) != 1)
			return -1;
		if (buf[i] == '\0')
			return 0;
	}
	return -1;
}

/* 1: the file would give the program other rights. */
static int
is_setid(uint64_t path, uint64_t dirfd)
{
	char name[4096], full[4200];
	struct stat st;

	if (read_string(path, name, sizeof name) < 0)
		return 0;
	if (name[0] == '/')
		snprintf(full, sizeof full, "/proc/%d/root%s", (int)guest.pid,
		    name);
	else if (dirfd != 0 && (int)(dirfd - 1) >= 0)
		snprintf(full, sizeof full, "/proc/%d/fd/%d/%s",
		    (int)guest.pid, (int)(dirfd - 1), name);
	else
		snprintf(full, sizeof full, "/proc/%d/cwd/%s", (int)guest.pid,
		    name);
	if (stat(full, &st) < 0)
		return 0;
	return ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	    ((st.st_mode & S_ISGID) && st.st_gid != getegid());
}

int
launch_exec(uint64_t path, pid_t tid, uint64_t dirfd, uint64_t flags)
{
	(void)flags;
	if (is_setid(path, dirfd)) {
		warn("exec of a set-id program: it runs natively, "
		    "the stream ends here");
		stats.refused = 1;
		return 1;
	}
	if (ptrace(PTRACE_SEIZE, tid, 0L, PTRACE_O_TRACEEXEC) < 0) {
		warn("exec: the new program runs natively, the stream ends "
		    "here:");
		stats.refused = 1;
		return 1;
	}
	exec_tid = tid;
	exec_pending = 1;
	return 0;
}

void
launch_exec_failed(pid_t tid)
{
	int st, n;

	if (!exec_pending)
		return;
	exec_pending = 0;
	ptrace(PTRACE_INTERRUPT, tid, 0L, 0L);
	for (n = 0; n < 1000; n++) {
		if (waitpid(tid, &st, __WALL) < 0 || !WIFSTOPPED(st))
			return;
		if (st >> 16 == PTRACE_EVENT_STOP)
			break;
		ptrace(PTRACE_CONT, tid, 0L, (long)WSTOPSIG(st));
	}
	ptrace(PTRACE_DETACH, tid, 0L, 0L);
}

/* At the event the process is still inside execve: go to its end. */
static void
taken_over(void)
{
	char *text = xstrdup("U 0 ffffffffffffffff\n");

	exec_pending = 0;
	ptrace(PTRACE_SYSCALL, guest.pid, 0L, 0L);
	wait_for_stop(SIGTRAP);
	format_drain();
	maps_forget();
	area_close();
	format_replace(text);
	inject();
	format_begin();
}

void
launch_exec_poll(void)
{
	int st;
	pid_t pid = waitpid(-1, &st, __WALL | WNOHANG);

	if (pid <= 0)
		return;
	if (!WIFSTOPPED(st)) {
		guest_status(pid, st);
		return;
	}
	if (st >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		taken_over();
	else
		ptrace(PTRACE_CONT, pid, 0L, st >> 16 != 0 ? 0L :
		    (long)WSTOPSIG(st));
}
