/*
 * stepcount - counts the instructions that a program executes, one by one
 *
 *	stepcount [-p] [-r] [-o file] [-w from[,to]] program [argument ...]
 *
 * The judge of the engine's exactness: slow, simple and independent of it.
 * Every thread of the program is single-stepped by ptrace from its first
 * instruction to its end, through execs; children that it forks run free.
 * The addresses are those that the engine shows: no randomization, and
 * rseq(2) is refused (-r: left alone), so that a C library takes the same
 * paths.  -p adds a line "address count" for each instruction that ran.
 * -w: only what a thread executes from the instruction at `from` on until it
 * comes to the one at `to`, or without that until a return or an indirect
 * jump has left its stack pointer above; a thread made meanwhile counts whole.
 * Outside, the program runs to a breakpoint of the processor, and rseq(2) is
 * not refused.  Status 77: the processor, a virtual one, does not stop there.
 *
 * What counts is what the event text tells:
 *  - an instruction counts when the thread's pc has passed it: one that
 *    faults does not, int3 does;
 *  - a repeated string instruction counts once, though the trap flag stops
 *    it after each round; cut by a fault after some rounds it counts, and
 *    counts again when it goes on;
 *  - a system call counts when it is made, also one that does not return.
 *
 * The stops that a step ends with, and what they say:
 *  SIGTRAP, TRAP_TRACE	an instruction is done
 *  SIGTRAP, TRAP_BRKPT	likewise, a system call (the kernel's own report)
 *  SIGTRAP, SIGTRAP	a handler's frame was made: nothing was executed
 *  SIGTRAP, SI_KERNEL	int3: done, and the signal is the program's
 *  any other signal	nothing was executed
 * The instruction behind a load of ss is not reported: its trap is held up.
 * Nor, under some hypervisors that execute cpuid themselves, the one behind it.
 */
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	INSN_MAX = 15,
	PAGE = 4096,
	FLAG_TRAP = 0x100,
};

enum insn_kind {
	INSN_PLAIN,
	INSN_REP,		/* a string instruction with rep or repne */
	INSN_SYSCALL,
	INSN_PUSHF,
	INSN_INT3,
	INSN_LOAD_SS,
	INSN_CPUID,
	INSN_LEAVE,		/* a return or an indirect jump */
};

struct thread {
	pid_t tid;
	uint64_t pc;		/* of the instruction being stepped */
	uint64_t rcx;		/* at its start */
	enum insn_kind kind;
	bool is_stepping;	/* false: stopped inside a system call */
	bool has_breakpoint;
	bool is_held;		/* new, and its maker has not said so yet */
	bool is_in;		/* a window: it counts */
	uint64_t sp;		/* at the window's start */
};

struct pc_count {
	uint64_t pc;
	uint64_t n;
};

static struct thread *threads;
static size_t nthread, thread_cap;
static struct pc_count *table;	/* open addressing, never full */
static size_t table_size, table_used;
static uint64_t total;
static bool keep_rseq;
static bool want_pcs;
static uint64_t from, to;	/* -w, or 0 */

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "stepcount: %s: %s\n", what, strerror(errno));
	exit(2);
}

static struct pc_count *
table_slot(uint64_t pc)
{
	size_t i = (size_t)(pc * 0x9e3779b97f4a7c15u >> 20) % table_size;

	while (table[i].n != 0 && table[i].pc != pc)
		i = (i + 1) % table_size;
	return &table[i];
}

static void
table_grow(void)
{
	struct pc_count *old = table;
	size_t n = table_size;

	table_size = n == 0 ? 1 << 16 : 2 * n;
	table = calloc(table_size, sizeof *table);
	if (table == NULL)
		die("memory");
	for (size_t i = 0; i < n; i++)
		if (old[i].n != 0)
			*table_slot(old[i].pc) = old[i];
	free(old);
}

/* An instruction of t has been executed. */
static void
count(const struct thread *t, uint64_t pc)
{
	struct pc_count *c;

	if (!t->is_in)
		return;
	total++;
	if (!want_pcs)
		return;
	if (2 * table_used >= table_size)
		table_grow();
	c = table_slot(pc);
	if (c->n++ == 0)
		table_used++;
	c->pc = pc;
}

static struct thread *
thread_find(pid_t tid)
{
	for (size_t i = 0; i < nthread; i++)
		if (threads[i].tid == tid)
			return &threads[i];
	return NULL;
}

static struct thread *
thread_add(pid_t tid)
{
	if (nthread == thread_cap) {
		thread_cap = thread_cap == 0 ? 16 : 2 * thread_cap;
		threads = realloc(threads, thread_cap * sizeof *threads);
		if (threads == NULL)
			die("memory");
	}
	threads[nthread] = (struct thread){ .tid = tid, .is_in = from == 0 &&
	    nthread == 0 };
	return &threads[nthread++];
}

static void
thread_drop(struct thread *t)
{
	*t = threads[--nthread];
}

/* Bytes at pc; fewer than INSN_MAX where the next page cannot be read. */
static size_t
code_read(pid_t tid, uint64_t pc, uint8_t *buf)
{
	size_t first = PAGE - pc % PAGE;
	struct iovec local = { buf, INSN_MAX };
	struct iovec remote[2];
	ssize_t n;

	if (first > INSN_MAX)
		first = INSN_MAX;
	remote[0].iov_base = (void *)(uintptr_t)pc;
	remote[0].iov_len = first;
	remote[1].iov_base = (void *)(uintptr_t)(pc + first);
	remote[1].iov_len = INSN_MAX - first;
	n = process_vm_readv(tid, &local, 1, remote, first < INSN_MAX ? 2 : 1,
	    0);
	return n < 0 ? 0 : (size_t)n;
}

static bool
is_string_opcode(uint8_t op)
{
	return (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
	    (op >= 0x6c && op <= 0x6f);
}

static enum insn_kind
insn_classify(const uint8_t *b, size_t n)
{
	bool rep = false;
	size_t i = 0;

	for (; i < n; i++) {
		if (b[i] == 0xf2 || b[i] == 0xf3)
			rep = true;
		else if (b[i] != 0x66 && b[i] != 0x67 && b[i] != 0xf0 &&
		    b[i] != 0x2e && b[i] != 0x36 && b[i] != 0x3e &&
		    b[i] != 0x26 && b[i] != 0x64 && b[i] != 0x65)
			break;
	}
	if (i < n && (b[i] & 0xf0) == 0x40)
		i++;
	if (i >= n)
		return INSN_PLAIN;
	if (rep && is_string_opcode(b[i]))
		return INSN_REP;
	if (b[i] == 0x9c)
		return INSN_PUSHF;
	if (b[i] == 0xc3 || b[i] == 0xc2)
		return INSN_LEAVE;
	if (b[i] == 0xcc)
		return INSN_INT3;
	if (i + 1 >= n)
		return INSN_PLAIN;
	if (b[i] == 0x0f && b[i + 1] == 0x05)
		return INSN_SYSCALL;
	if (b[i] == 0x0f && b[i + 1] == 0xa2)
		return INSN_CPUID;
	if (b[i] == 0xff && (b[i + 1] >> 3 & 7) == 4)
		return INSN_LEAVE;
	if (b[i] == 0x8e && (b[i + 1] >> 3 & 7) == 2)
		return INSN_LOAD_SS;
	return INSN_PLAIN;
}

static void
regs_get(pid_t tid, struct user_regs_struct *regs)
{
	if (ptrace(PTRACE_GETREGS, tid, NULL, regs) < 0)
		die("PTRACE_GETREGS");
}

static void
reg_set(pid_t tid, size_t off, uint64_t value)
{
	if (ptrace(PTRACE_POKEUSER, tid, off, value) < 0)
		die("PTRACE_POKEUSER");
}

/* Its address is where breakpoints_work() sets one, so it stays a function. */
__attribute__((noinline))
static void
at_breakpoint(void)
{
	raise(SIGSTOP);
}

/* Does the processor stop a child before its breakpoint? */
static bool
breakpoints_work(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		at_breakpoint();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die("waitpid");
	reg_set(pid, offsetof(struct user, u_debugreg[0]),
	    (uint64_t)(uintptr_t)at_breakpoint);
	reg_set(pid, offsetof(struct user, u_debugreg[7]), 1);
	if (ptrace(PTRACE_CONT, pid, NULL, NULL) < 0 ||
	    waitpid(pid, &status, 0) != pid)
		die("waitpid");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

/* The processor stops t before the instruction at `from`, or not. */
static void
breakpoint(struct thread *t, bool on)
{
	if (t->has_breakpoint == on)
		return;
	if (on)
		reg_set(t->tid, offsetof(struct user, u_debugreg[0]), from);
	reg_set(t->tid, offsetof(struct user, u_debugreg[7]), on);
	t->has_breakpoint = on;
}

/* Resumes t by one instruction, handing over a signal. */
static void
step(struct thread *t, int sig)
{
	bool run;
	struct user_regs_struct regs;
	uint8_t code[INSN_MAX];

	regs_get(t->tid, &regs);
	if (!t->is_stepping && from != 0 && !t->is_in && regs.rip == from) {
		t->is_in = true;
		t->sp = regs.rsp;
	} else if (!t->is_stepping && to != 0 && regs.rip == to) {
		t->is_in = false;
	}
	run = from != 0 && !t->is_in && regs.rip != from;
	breakpoint(t, run);
	if (run) {
		if (ptrace(PTRACE_CONT, t->tid, NULL, (void *)(long)sig) < 0 &&
		    errno != ESRCH)
			die("PTRACE_CONT");
		return;
	}
	/* A repeated instruction in the middle keeps its first rcx. */
	if (!(t->is_stepping && t->kind == INSN_REP && t->pc == regs.rip)) {
		t->kind = insn_classify(code, code_read(t->tid, regs.rip,
		    code));
		t->pc = regs.rip;
		t->rcx = regs.rcx;
	}
	t->is_stepping = true;
	if (t->kind == INSN_SYSCALL && regs.rax == SYS_rseq && !keep_rseq)
		reg_set(t->tid, offsetof(struct user_regs_struct, rax),
		    UINT64_MAX);
	if (ptrace(PTRACE_SINGLESTEP, t->tid, NULL, (void *)(long)sig) < 0 &&
	    errno != ESRCH)
		die("PTRACE_SINGLESTEP");
}

/* The trap flag is ours: the program must not see it. */
static void
hide_trap_flag(struct thread *t, const struct user_regs_struct *regs)
{
	long word;

	if (t->kind == INSN_SYSCALL && (regs->r11 & FLAG_TRAP) != 0)
		reg_set(t->tid, offsetof(struct user_regs_struct, r11),
		    regs->r11 & ~(uint64_t)FLAG_TRAP);
	if (t->kind != INSN_PUSHF)
		return;
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, t->tid, regs->rsp, NULL);
	if (errno == 0 && (word & FLAG_TRAP) != 0)
		ptrace(PTRACE_POKEDATA, t->tid, regs->rsp, word & ~FLAG_TRAP);
}

/*
 * A trap while SIGTRAP is blocked would be forced: the kernel then takes the
 * program's handler away.  So it never really is.  (PTRACE_SETSIGMASK wants
 * the kernel's set of 8 bytes.)
 */
static void
unblock_trap(pid_t tid)
{
	uint64_t mask = 0, trap = (uint64_t)1 << (SIGTRAP - 1);
	void *size = (void *)sizeof mask;

	if (ptrace(PTRACE_GETSIGMASK, tid, size, &mask) < 0 ||
	    (mask & trap) == 0)
		return;
	mask &= ~trap;
	if (ptrace(PTRACE_SETSIGMASK, tid, size, &mask) < 0)
		die("PTRACE_SETSIGMASK");
}

/* A step ended with the instruction done, or with a round of it. */
static void
step_done(struct thread *t)
{
	struct user_regs_struct regs;

	regs_get(t->tid, &regs);
	if (t->kind == INSN_REP && regs.rip == t->pc)
		return;
	count(t, t->pc);
	if (t->kind == INSN_SYSCALL)
		unblock_trap(t->tid);
	if (t->kind == INSN_LOAD_SS ||
	    (t->kind == INSN_CPUID && regs.rip != t->pc + 2))
		count(t, t->pc + 2);
	if (t->kind == INSN_LEAVE && from != 0 && to == 0 && regs.rsp > t->sp)
		t->is_in = false;
	hide_trap_flag(t, &regs);
	t->is_stepping = false;
}

/* Something other than the end of the step; the rounds done so far count. */
static void
step_cut(struct thread *t)
{
	struct user_regs_struct regs;

	regs_get(t->tid, &regs);
	if (t->is_stepping && t->kind == INSN_REP && regs.rip == t->pc &&
	    regs.rcx != t->rcx)
		count(t, t->pc);
	t->is_stepping = false;
}

/* A signal has stopped t; returns the one to hand over, or 0. */
static int
signal_stop(struct thread *t, int sig)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) < 0)
		return 0;
	if (sig != SIGTRAP) {
		step_cut(t);
		return sig;
	}
	if (si.si_code == TRAP_TRACE || si.si_code == TRAP_BRKPT) {
		step_done(t);
		return 0;
	}
	if (si.si_code == TRAP_HWBKPT)
		return 0;
	if (si.si_code == SIGTRAP) {
		step_cut(t);
		unblock_trap(t->tid);
		return 0;
	}
	if (si.si_code == SI_KERNEL && t->is_stepping &&
	    t->kind == INSN_INT3) {
		step_done(t);
		return SIGTRAP;
	}
	step_cut(t);
	return SIGTRAP;
}

/* t has left the process: a system call that did not return counts. */
static void
thread_ended(struct thread *t)
{
	if (t->is_stepping && t->kind == INSN_SYSCALL)
		count(t, t->pc);
	thread_drop(t);
}

/* exec: what is left is one thread, under the leader's id, whoever called. */
static void
exec_stop(pid_t pid)
{
	unsigned long former = 0;
	struct thread caller = { .tid = pid };
	struct thread *t;

	ptrace(PTRACE_GETEVENTMSG, pid, NULL, &former);
	t = thread_find((pid_t)former);
	if (t != NULL)
		caller = *t;
	caller.tid = pid;
	nthread = 0;
	*thread_add(pid) = caller;
}

/* The caller of clone is inside the call; a new thread is as it is. */
static void
clone_stop(pid_t pid)
{
	struct thread *t;
	unsigned long new = 0;
	bool is_in = thread_find(pid)->is_in;

	ptrace(PTRACE_GETEVENTMSG, pid, NULL, &new);
	t = thread_find((pid_t)new);
	if (t == NULL)
		t = thread_add((pid_t)new);
	t->is_in = is_in;
	t->sp = UINT64_MAX;
	if (t->is_held)
		step(t, 0);
	t->is_held = false;
}

static void
stopped(pid_t pid, int status)
{
	struct thread *t = thread_find(pid);
	int event = status >> 16;
	int sig = 0;

	if (t == NULL) {
		thread_add(pid)->is_held = true;
		return;
	}
	if (event == PTRACE_EVENT_EXEC) {
		exec_stop(pid);
		t = thread_find(pid);
		/* Inside the call still: one more step, to its end. */
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0)
			die("PTRACE_SINGLESTEP");
		return;
	}
	if (event == PTRACE_EVENT_CLONE) {
		clone_stop(pid);
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0)
			die("PTRACE_SINGLESTEP");
		return;
	}
	if (event == PTRACE_EVENT_STOP || (WSTOPSIG(status) == SIGSTOP &&
	    !t->is_stepping && t->pc == 0))
		sig = 0;
	else
		sig = signal_stop(t, WSTOPSIG(status));
	step(t, sig);
}

/* Steps everything to its end; the process's wait status. */
static int
run(pid_t leader)
{
	struct thread *t;
	int status, result = 0;
	pid_t pid;

	while (nthread > 0) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break;
		if (WIFSTOPPED(status)) {
			stopped(pid, status);
			continue;
		}
		if (pid == leader)
			result = status;
		t = thread_find(pid);
		if (t != NULL)
			thread_ended(t);
	}
	return result;
}

static pid_t
launch(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		fprintf(stderr, "stepcount: %s: %s\n", argv[0],
		    strerror(errno));
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		exit(2);
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_EXITKILL |
	    PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)) < 0)
		die("PTRACE_SETOPTIONS");
	return pid;
}

static int
by_pc(const void *a, const void *b)
{
	const struct pc_count *x = a, *y = b;

	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void
report(FILE *f)
{
	size_t n = 0;

	fprintf(f, "%" PRIu64 "\n", total);
	for (size_t i = 0; i < table_size; i++)
		if (table[i].n != 0)
			table[n++] = table[i];
	if (n > 0)
		qsort(table, n, sizeof *table, by_pc);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%" PRIx64 " %" PRIu64 "\n", table[i].pc,
		    table[i].n);
	if (fflush(f) != 0 || ferror(f))
		die("write");
}

int
main(int argc, char **argv)
{
	FILE *f = stdout;
	char *end;
	int c, status;
	pid_t pid;

	while ((c = getopt(argc, argv, "+o:prw:")) != -1) {
		switch (c) {
		case 'o':
			f = fopen(optarg, "we");
			if (f == NULL)
				die(optarg);
			break;
		case 'p':
			want_pcs = true;
			break;
		case 'r':
			keep_rseq = true;
			break;
		case 'w':
			from = strtoull(optarg, &end, 16);
			to = *end == ',' ? strtoull(end + 1, NULL, 16) : 0;
			break;
		default:
			return 2;
		}
	}
	if (optind == argc) {
		fprintf(stderr, "usage: stepcount [-p] [-r] [-o file] "
		    "[-w from[,to]] program [argument ...]\n");
		return 2;
	}
	if (from != 0 && !breakpoints_work())
		return 77;
	pid = launch(argv + optind);
	step(thread_add(pid), 0);
	status = run(pid);
	report(f);
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}
