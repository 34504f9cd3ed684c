/*
 * client - requests that the program makes by valgrind.h
 *
 * A request is six words at rax; the first says which one it is.  rdx holds the
 * result that the program gets where no tool answers.  A request that is meant
 * for another tool leaves it there.
 */
#include "contexts.h"
#include "queue.h"
#include "runtime.h"

#define TOOL(a, b) ((uint64_t)(a) << 24 | (uint64_t)(b) << 16)

enum {
	RUNNING = 0x1001, DISCARD = 0x1002,
	CALL0 = 0x1101, CALL3 = 0x1104,
	COUNT_ERRORS = 0x1201,
	PRINTF = 0x1403, PRINTF_BACKTRACE = 0x1404,
	STACK_REGISTER = 0x1501
};

/* Publish the records that come before a mark, and have it written. */
static void
mark(struct tarea *t, enum mark m, uint64_t text)
{
	uint64_t arg[4] = { m, text, 0, 0 };

	if (t->bufend != 0)
		buffer_publish(t, Q_RECORDS, 0, 0);
	ask(t, REQ_MARK, arg);
}

/* Switch the telling on or off; dispatch_go does it for this thread, too. */
static void
turn(struct tarea *t, enum mark m)
{
	if ((m == MARK_OFF) == (rt.ctl->off != 0))
		return;
	mark(t, m, 0);
}

static void
print(struct tarea *t, const uint64_t a[6], bool where)
{
	uint64_t arg[4] = { a[1], a[2], where ? t->pc : 0,
	    (uint64_t)t->gpr };

	ask(t, REQ_PRINT, arg);
	t->gpr[2] = t->slot->ret[0];
}

/* Is xsave in use? Where cpuid faults (ARCH_SET_CPUID) it is. */
static bool
has_xsave(void)
{
	uint32_t r[4];

	return rt_cpuid(1, 0, r) < 0 || (r[2] >> 27 & 1);	/* OSXSAVE */
}

/* Call a function natively, as Valgrind does: it is not followed. */
static void
call(struct tarea *t, const uint64_t a[6], unsigned nargs)
{
	uint64_t v[4] = { t->slotno + 1, 0, 0, 0 };
	unsigned i;

	for (i = 0; i < nargs; i++)
		v[i + 1] = a[i + 2];
	contexts_rest(t);
	t->gpr[2] = rt_call(t, a[1], v, has_xsave());
	contexts_resume(t);
}

static void
callgrind(struct tarea *t, const uint64_t a[6])
{
	switch (a[0] & 0xffff) {
	case 0:
		mark(t, MARK_DUMP, 0);
		break;
	case 1:
		mark(t, MARK_ZERO, 0);
		break;
	case 2:
		mark(t, MARK_TOGGLE, 0);
		break;
	case 3:
		mark(t, MARK_DUMP, a[1]);
		break;
	case 4:
		turn(t, MARK_COLD);
		break;
	case 5:
		turn(t, MARK_OFF);
		break;
	}
}

void
client_request(struct tarea *t)
{
	static uint64_t nstacks;
	uint64_t a[6];

	if (rt_copy(a, (const void *)t->gpr[0], sizeof a) < 0)
		return;
	if (a[0] >> 16 == TOOL('C', 'T') >> 16) {
		callgrind(t, a);
		return;
	}
	if (a[0] == TOOL('C', 'G') || a[0] == TOOL('C', 'G') + 1) {
		/* also if nothing changes: that is worth a warning */
		mark(t, a[0] == TOOL('C', 'G') ? MARK_ON : MARK_OFF, 0);
		return;
	}
	switch (a[0]) {
	case RUNNING:
		t->gpr[2] = 1;
		break;
	case DISCARD:		/* changed code is noticed without */
	case COUNT_ERRORS:
		t->gpr[2] = 0;
		break;
	case STACK_REGISTER:
		t->gpr[2] = __atomic_add_fetch(&nstacks, 1, __ATOMIC_RELAXED);
		break;
	case PRINTF:
	case PRINTF_BACKTRACE:
		print(t, a, a[0] == PRINTF_BACKTRACE);
		break;
	default:
		if (a[0] >= CALL0 && a[0] <= CALL3)
			call(t, a, (unsigned)(a[0] - CALL0));
		break;
	}
}
