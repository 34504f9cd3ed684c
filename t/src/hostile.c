/*
 * hostile - a program that knows trace from inside, and lies to it
 *
 *	hostile what [argument]
 *
 * It finds the memory that it shares with trace and writes there what no
 * runtime would.  Built with trace's own shared.h.
 */
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/futex.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shared.h"

#define SLOT 100u		/* no thread has it */

static struct map {
	unsigned long start, end;
	char prot[8];
} maps[256];
static int nmaps;
static struct control *c;
static unsigned long arg;

static void
find(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long off;
	char line[500];
	struct map *m;

	while (nmaps < 256 && fgets(line, sizeof line, f) != NULL) {
		m = &maps[nmaps];
		if (strstr(line, "memfd:quern") == NULL ||
		    sscanf(line, "%lx-%lx %7s %lx", &m->start, &m->end, m->prot,
		    &off) != 4)
			continue;
		if (off == 0 && m->prot[1] == 'w')
			c = (struct control *)m->start;
		nmaps++;
	}
	fclose(f);
}

/* Should nobody end us, we do: the runtime may be what we have spoilt. */
static void
limit(void)
{
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL,
	    .sigev_signo = SIGKILL };
	struct itimerspec at = { .it_value.tv_sec = 100 };
	timer_t t;

	if (timer_create(CLOCK_MONOTONIC, &e, &t) == 0)
		timer_settime(t, 0, &at, NULL);
}

static void
fill_queue(struct qent with)
{
	uint32_t type = with.type;
	unsigned i;

	with.type = Q_NONE;
	for (i = 0; i < NQUEUE; i++) {
		c->queue[i] = with;
		__atomic_store_n(&c->queue[i].type, type, __ATOMIC_SEQ_CST);
	}
	__atomic_fetch_add(&c->qbell, 1, __ATOMIC_SEQ_CST);
}

static void
post_entry(struct qent with)
{
	unsigned t = __atomic_fetch_add(&c->qtail, 1, __ATOMIC_SEQ_CST);
	uint32_t type = with.type;

	with.type = Q_NONE;
	c->queue[t % NQUEUE] = with;
	__atomic_store_n(&c->queue[t % NQUEUE].type, type, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&c->qbell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &c->qbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void
put_entry(struct qent with)
{
	post_entry(with);
	usleep(200000);
}

static void
request(unsigned what, uint64_t a, uint64_t b, uint64_t d, uint64_t e)
{
	struct slot *s = &c->slot[SLOT];
	int i;

	s->what = what;
	s->arg[0] = a;
	s->arg[1] = b;
	s->arg[2] = d;
	s->arg[3] = e;
	s->state = 1;
	__atomic_fetch_or(&c->want[SLOT / 64], 1ul << SLOT % 64,
	    __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&c->wanted, 1ul << SLOT / 64, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&c->bell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &c->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (i = 0; i < 100 && __atomic_load_n(&s->state,
	    __ATOMIC_SEQ_CST) == 1; i++)
		usleep(10000);
}

/* ---- what is done to the queue ---- */

static void
do_text(void)
{
	fill_queue((struct qent){ .type = Q_TEXT, .arg = 0x4141414141414141 });
	c->qtail = c->qhead + NQUEUE;
}

static void
do_slot(void)
{
	fill_queue((struct qent){ .type = Q_THREAD, .slot = 65535 });
}

static void
do_counts(void)
{
	fill_queue((struct qent){ .type = Q_COUNTS, .slot = 65535 });
}

static void
do_far(void)
{
	fill_queue((struct qent){ .type = Q_RECORDS, .from = 0xf0000000u,
	    .to = 0xf0100000u });
}

static void
do_backwards(void)
{
	put_entry((struct qent){ .type = Q_RECORDS, .from = 4096, .to = 0 });
}

static void
do_two(void)		/* buffers */
{
	put_entry((struct qent){ .type = Q_RECORDS, .from = BUF_SIZE - 4096,
	    .to = BUF_STRIDE + 4096 });
}

static void
do_odd(void)
{
	put_entry((struct qent){ .type = Q_RECORDS, .from = 1, .to = 6 });
}

static void
do_type(void)
{
	put_entry((struct qent){ .type = 77 });
}

static void
do_nobody(void)		/* its thread was never there */
{
	put_entry((struct qent){ .type = Q_SYSCALL, .slot = SLOT, .arg = 1 });
}

static unsigned
step_one(unsigned n)
{
	return n + 1;
}

static unsigned
step_two(unsigned n)
{
	return n + 2;
}

/* Long enough for paths: blocks that run often, and leave by indirect calls. */
static void
run_hot(void)
{
	unsigned (*volatile step[2])(unsigned) = { step_one, step_two };
	volatile unsigned n = 0;
	unsigned i;

	for (i = 0; i < 60000000; i++)
		n = step[i % 64 == 0](n);
}

static void
do_thread(void)		/* in a slot that has no counters */
{
	post_entry((struct qent){ .type = Q_THREAD, .slot = NSLOT - 1 });
	run_hot();
}

static void
do_ended(void)		/* has it not */
{
	__atomic_store_n(&c->ended, ENDED_ALONE, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&c->bell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &c->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
	usleep(100000);
	run_hot();
}

static void
do_full(void)
{
	fill_queue((struct qent){ .type = Q_FULL, .from = 0xf0000000u,
	    .to = 0xf0000000u });
}

static void
do_head(void)
{
	c->qhead = 0x80000000u;
	c->qtail = 0;
}

static void
do_tail(void)
{
	c->qtail += 0x10000000;
}

static void
do_gap(void)
{
	c->qtail += 100;
}

/* A place that is never filled, and many behind it. */
static void
do_stall(void)
{
	int i;

	c->qtail++;
	for (i = 0; i < (int)NQUEUE + 1000; i++)
		getppid();
}

static void
do_buf(void)
{
	unsigned i;

	for (i = 0; i < NSLOT; i++) {
		c->slot[i].used = 1;
		c->slot[i].buf = 0xffffff;
	}
}

static void
spoil_records(const struct map *m)
{
	unsigned *p;

	for (p = (unsigned *)m->start; (unsigned long)p < m->end; p++)
		*p = 0xff000001;
}

/*
 * Where records are: 255 values of id 1.  The loop that writes them makes a
 * record in each round, so one pass may stay ahead of the records that it
 * causes, which then cover what it wrote.  Hence the passes.
 */
static void
do_records(void)
{
	int i, k;

	for (i = 0; i < 16; i++)
		for (k = 0; k < nmaps; k++)
			if (strcmp(maps[k].prot, "rw-s") == 0 &&
			    maps[k].end - maps[k].start == BUF_SIZE)
				spoil_records(&maps[k]);
}

static void
do_pointer(void)
{
	unsigned i;

	for (i = 0; i < NQUEUE; i++)
		if (c->queue[i].arg >> 40 != 0)
			dprintf(2, "a pointer in entry %u: %lx\n", i,
			    (unsigned long)c->queue[i].arg);
}

/* ---- requests ---- */

static void
do_requests(void)
{
	uint64_t wild = arg != 0 ? arg : 0x4141414141ul;
	unsigned k;

	for (k = 1; k < 14; k++)
		if (k != REQ_EXEC && k != REQ_SAY)
			request(k, wild, 0x7fffffff, ~0ul, ~0ul);
}

int main(int, char *[]);

/* Code as if it ran in a calling context that nobody knows. */
static void
do_owner(void)
{
	request(REQ_TRANSLATE, (uint64_t)main, ~0ul, 0, 7ul << 32 | MODE_IN);
	request(REQ_STALE, (uint64_t)main, 7ul << 32 | MODE_IN, 0, 0);
}

static void
do_all_want(void)
{
	unsigned i;

	memset(c->want, 255, sizeof c->want);
	for (i = 0; i < NSLOT; i++) {
		c->slot[i].what = REQ_PARTIAL;
		c->slot[i].arg[0] = i;
		c->slot[i].arg[1] = ~0ul;
		c->slot[i].arg[2] = 1;
	}
	c->wanted = ~0ul;
	c->bell++;
	usleep(100000);
}

static void
do_child(void)
{
	request(REQ_CHILD, arg, 1, 0, 0);
	request(REQ_CHILD, (uint64_t)getpid(), 0, 0, 0);
	request(REQ_CHILD, (uint64_t)getpid(), 1, 0, 0);
}

static void
do_exec(void)
{
	request(REQ_EXEC, 0x4141, arg, 0, 0);
	request(REQ_EXEC_FAILED, arg, 0, 0, 0);
}

/* Ranges that end before they begin. */
static void
do_mapped(void)
{
	unsigned long at = (unsigned long)find;
	int i;

	for (i = 0; i < 20; i++)
		request(REQ_MAPPED, at + 64, at - 64, 0, 0);
	request(REQ_MAPPED, ~0ul, 0, 0, 0);
}

/* A thread that is not there never leaves the cache. */
static void
do_incache(void)
{
	c->slot[SLOT].used = 1;
	c->slot[SLOT].incache = 1;
	request(REQ_WINDOW, 0, 0, 0, 0);
}

/* ---- words that are trace's to write ---- */

static void
do_letgo(void)
{
	c->letgo = 2;
	c->gen += 7;
	c->ended = 1;
	c->status = 0;
}

static void
do_wait(void)
{
	c->letgo = 1;
}

static void
do_alive(void)
{
	c->alive = 0x40000000;
}

static void
do_numbers(void)
{
	c->nfrag[0] = c->nfrag[1] = c->nexit = 0xfffffff0;
}

/* ---- the memory itself ---- */

static void
do_unmap(void)
{
	int k;

	for (k = 0; k < nmaps; k++)
		munmap((void *)maps[k].start, maps[k].end - maps[k].start);
}

static void
do_protect(void)
{
	int k;

	for (k = 0; k < nmaps; k++)
		mprotect((void *)maps[k].start, maps[k].end - maps[k].start,
		    PROT_NONE);
}

static void
do_move(void)
{
	unsigned long n;
	int k;

	for (k = 0; k < nmaps; k++) {
		n = maps[k].end - maps[k].start;
		mremap((void *)maps[k].start, n, n,
		    MREMAP_MAYMOVE | MREMAP_FIXED,
		    (void *)(0x100000000ul + (unsigned)k * 0x40000000ul));
	}
}

/* The table and what is known of fragments: full of what was never there. */
static void
do_table(void)
{
	unsigned long *p;
	int k;

	for (k = 0; k < nmaps; k++) {
		if (strcmp(maps[k].prot, "r--s") != 0 ||
		    mprotect((void *)maps[k].start, maps[k].end -
		    maps[k].start, PROT_READ | PROT_WRITE) < 0)
			continue;
		for (p = (unsigned long *)maps[k].start; (unsigned long)p <
		    maps[k].end; p++)
			*p = 0x4141414141414141;
	}
}

static void
do_truncate(void)
{
	char name[100];
	int k;

	for (k = 0; k < nmaps; k++) {
		snprintf(name, sizeof name, "/proc/self/map_files/%lx-%lx",
		    maps[k].start, maps[k].end);
		if (truncate(name, 0) == 0)
			dprintf(2, "truncated\n");
	}
}

static void
do_punch(void)
{
	int k;

	for (k = 0; k < nmaps; k++)
		madvise((void *)maps[k].start, maps[k].end - maps[k].start,
		    MADV_REMOVE);
}

/* ---- trace itself ---- */

static void
do_ptrace(void)
{
	pid_t t = arg != 0 ? (pid_t)arg : getppid();
	int st;

	if (ptrace(PTRACE_ATTACH, t, 0L, 0L) < 0) {
		dprintf(2, "attach: %s\n", strerror(errno));
	} else {
		waitpid(t, &st, __WALL);
		ptrace(PTRACE_DETACH, t, 0L, 0L);
	}
	if (ptrace(PTRACE_SEIZE, t, 0L, 0L) < 0)
		dprintf(2, "seize: %s\n", strerror(errno));
	else
		ptrace(PTRACE_INTERRUPT, t, 0L, 0L);
}

static const struct {
	const char *name;
	void (*fn)(void);
} deeds[] = {
	{ "text", do_text }, { "slot", do_slot }, { "counts", do_counts },
	{ "far", do_far }, { "backwards", do_backwards }, { "two", do_two },
	{ "odd", do_odd }, { "type", do_type }, { "nobody", do_nobody },
	{ "full", do_full }, { "head", do_head }, { "tail", do_tail },
	{ "gap", do_gap }, { "stall", do_stall }, { "buf", do_buf }, { "records", do_records },
	{ "pointer", do_pointer }, { "requests", do_requests },
	{ "owner", do_owner },
	{ "all-want", do_all_want }, { "child", do_child },
	{ "exec", do_exec }, { "mapped", do_mapped },
	{ "incache", do_incache }, { "letgo", do_letgo }, { "wait", do_wait },
	{ "alive", do_alive }, { "numbers", do_numbers },
	{ "unmap", do_unmap }, { "protect", do_protect }, { "move", do_move },
	{ "table", do_table }, { "truncate", do_truncate },
	{ "thread", do_thread }, { "ended", do_ended },
	{ "punch", do_punch }, { "ptrace", do_ptrace },
};

int
main(int argc, char *argv[])
{
	unsigned i;

	for (i = 0; c == NULL && i < 1000; i++) {	/* perhaps attached to */
		find();
		if (c == NULL)
			usleep(10000);
	}
	if (argc < 2 || c == NULL) {
		dprintf(2, "hostile: not under trace\n");
		return 9;
	}
	arg = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	limit();
	for (i = 0; i < sizeof deeds / sizeof deeds[0]; i++)
		if (strcmp(deeds[i].name, argv[1]) == 0)
			deeds[i].fn();
	/* a call, and code that has not run yet */
	dprintf(1, "after %d\n", (int)strtol("12", NULL, 10));
	return 3;
}
