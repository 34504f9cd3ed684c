/*
 * written - which memory of the engine's the threads of a program write to
 *
 *	written PID STEPS [all]
 *
 * Steps each thread of the process that runs, one after another, STEPS
 * instructions far, and looks at what they write in mappings of the engine, or
 * in all memory:
 *
 *	threads 2		so many were stepped
 *	writes 2345		into that memory
 *	shared 0		lines of 64 bytes that two of them wrote to
 *	locked 0		instructions that lock the bus
 *
 * Threads that wait in the kernel are left alone.
 */
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <Zydis/Zydis.h>
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64			/* threads, and mappings of the engine */
#define LINES 65536u		/* different ones that are remembered */

static struct range {
	uint64_t start, end;
} ours[4096];
static unsigned nours;
static struct line {
	uint64_t number;
	unsigned thread;	/* + 1; 0: free */
	bool shared;
} line[LINES];
static uint64_t nwrites, nshared, nlocked;
static ZydisDecoder decoder;

static pid_t stepped;		/* this thread, now; 0: none */

/* The kernel leaves the trap flag to a thread whose tracer just ends. */
static void
fail(const char *what)
{
	perror(what);
	if (stepped != 0)
		ptrace(PTRACE_DETACH, stepped, NULL, NULL);
	exit(2);
}

static void
read_maps(const char *pid)
{
	char name[64], text[512];
	FILE *f;

	snprintf(name, sizeof name, "/proc/%s/maps", pid);
	f = fopen(name, "r");
	if (f == NULL)
		fail(name);
	while (fgets(text, sizeof text, f) != NULL)
		if (strstr(text, "memfd:quern") != NULL &&
		    nours < sizeof ours / sizeof *ours &&
		    sscanf(text, "%" SCNx64 "-%" SCNx64, &ours[nours].start,
		    &ours[nours].end) == 2)
			nours++;
	fclose(f);
}

static bool all;

static bool
is_ours(uint64_t addr)
{
	if (all)
		return true;
	for (unsigned i = 0; i < nours; i++)
		if (addr - ours[i].start < ours[i].end - ours[i].start)
			return true;
	return false;
}

static void
note_line(uint64_t number, unsigned thread)
{
	uint64_t i = number * 0x9e3779b97f4a7c15u >> 48;
	unsigned tries = 0;

	while (line[i].thread != 0 && line[i].number != number) {
		i = (i + 1) % LINES;
		if (++tries == LINES)
			exit(2);
	}
	if (line[i].thread == 0)
		line[i] = (struct line){ number, thread + 1, false };
	if (line[i].thread == thread + 1 || line[i].shared)
		return;
	line[i].shared = true;
	nshared++;
	printf("# line %" PRIx64 "\n", number << 6);
}

static uint64_t
register_value(ZydisRegister r, const struct user_regs_struct *u)
{
	const uint64_t by_number[] = { u->rax, u->rcx, u->rdx, u->rbx, u->rsp,
	    u->rbp, u->rsi, u->rdi, u->r8, u->r9, u->r10, u->r11, u->r12,
	    u->r13, u->r14, u->r15 };

	r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	if (r < ZYDIS_REGISTER_RAX || r > ZYDIS_REGISTER_R15)
		return 0;
	return by_number[r - ZYDIS_REGISTER_RAX];
}

static uint64_t
address_of(const ZydisDecodedOperand *o, const ZydisDecodedInstruction *d,
    const struct user_regs_struct *u)
{
	const ZydisDecodedOperandMem *m = &o->mem;
	uint64_t a = (uint64_t)m->disp.value;

	if (m->base == ZYDIS_REGISTER_RIP)
		a += u->rip + d->length;
	else if (m->base != ZYDIS_REGISTER_NONE)
		a += register_value(m->base, u);
	if (m->index != ZYDIS_REGISTER_NONE)
		a += register_value(m->index, u) * m->scale;
	if (m->segment == ZYDIS_REGISTER_FS)
		a += u->fs_base;
	if (m->segment == ZYDIS_REGISTER_GS)
		a += u->gs_base;
	/* push and call store below */
	if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	    m->base == ZYDIS_REGISTER_RSP)
		a -= 8;
	return a;
}

/* What pushf stored has the trap flag, which is ours. */
static void
untrap(pid_t tid)
{
	struct user_regs_struct u;
	uint64_t flags;
	struct iovec here = { &flags, sizeof flags }, there;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &u) < 0)
		fail("registers");
	there = (struct iovec){ (void *)(uintptr_t)u.rsp, sizeof flags };
	if (process_vm_readv(tid, &here, 1, &there, 1, 0) < 0)
		fail("flags");
	flags &= ~(uint64_t)0x100;
	if (process_vm_writev(tid, &here, 1, &there, 1, 0) < 0)
		fail("flags");
}

/* The instruction that the thread executes next; true: it is pushf. */
static bool
look(pid_t tid, unsigned thread)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;
	struct user_regs_struct u;
	uint8_t code[15];
	struct iovec to = { code, sizeof code }, from;
	bool locks;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &u) < 0)
		fail("registers");
	from = (struct iovec){ (void *)(uintptr_t)u.rip, sizeof code };
	if (process_vm_readv(tid, &to, 1, &from, 1, 0) < 1 ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, sizeof code,
	    &d, op)))
		return false;
	locks = d.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	    d.mnemonic == ZYDIS_MNEMONIC_XCHG;
	for (unsigned i = 0; i < d.operand_count; i++) {
		uint64_t a;

		if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    !(op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		a = address_of(&op[i], &d, &u);
		nlocked += locks;
		if (!is_ours(a))
			continue;
		nwrites++;
		note_line(a >> 6, thread);
		note_line((a + op[i].size / 8 - 1) >> 6, thread);
	}
	return d.mnemonic == ZYDIS_MNEMONIC_PUSHFQ;
}

/* Stop the thread; false: it is waiting in the kernel, or gets a signal. */
static bool
take(pid_t tid)
{
	struct user_regs_struct u;
	int status, sig;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0 ||
	    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		fail("ptrace");
	if (waitpid(tid, &status, __WALL) != tid ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &u) < 0)
		fail("stop");
	sig = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	if (sig == 0 && (int64_t)u.orig_rax < 0)
		return true;
	ptrace(PTRACE_DETACH, tid, NULL, sig);
	return false;
}

static void
step(pid_t tid, unsigned thread, unsigned long n)
{
	int status, sig = 0;
	bool pushes;

	stepped = tid;
	for (; n > 0; n--) {
		pushes = look(tid, thread);
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, sig) < 0 ||
		    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			fail("step");
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (pushes && sig == 0)
			untrap(tid);
	}
	ptrace(PTRACE_DETACH, tid, NULL, sig);
	stepped = 0;
}

int
main(int argc, char **argv)
{
	unsigned nthread = 0;
	char name[64];
	struct dirent *e;
	DIR *dir;

	if (argc < 3)
		return 2;
	all = argc > 3;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
	    ZYDIS_STACK_WIDTH_64);
	snprintf(name, sizeof name, "/proc/%s/task", argv[1]);
	dir = opendir(name);
	if (dir == NULL)
		fail(name);
	read_maps(argv[1]);
	while ((e = readdir(dir)) != NULL && nthread < MOST) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid > 0 && take(tid))
			step(tid, nthread++, strtoul(argv[2], NULL, 10));
	}
	closedir(dir);
	printf("threads %u\nwrites %" PRIu64 "\nshared %" PRIu64 "\nlocked %"
	    PRIu64 "\n", nthread, nwrites, nshared, nlocked);
	return 0;
}
