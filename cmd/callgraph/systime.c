/*
 * systime - --collect-systime: how many system calls, and how long they took
 *
 * The stream tells a call that has returned with its times in nanoseconds. They
 * count for the instruction that made it. One that ends its thread or the
 * process counts, without a time. In larger units the rest of one call
 * is added to the next one, so the sums are those of the nanoseconds.
 */
#include "callgraph.h"

#include <string.h>

#include "args.h"
#include "outcome.h"
#include "prog.h"

static uint64_t unit;		/* in nanoseconds; 0: no such option */
static bool cpu;		/* time of the processor, too */
static uint64_t rest;		/* nanoseconds not counted yet */
static unsigned first;		/* the columns begin here */
static bool told;		/* the stream has times */

bool
systime_option(const char *s)
{
	static const char *const words[] = { "no", "yes", "msec", "usec",
	    "nsec" };
	static const uint64_t units[] = { 0, 1000000, 1000000, 1000, 1 };

	unit = units[word_arg("--collect-systime", s, words, 5)];
	cpu = unit == 1;
	return unit != 0;
}

void
systime_head(const struct ev *e)
{
	told |= strcmp(e->text, "syscalls") == 0 &&
	    strcmp(e->value, "ns") == 0;
}

void
systime_begin(void)
{
	if (unit == 0)
		return;
	if (!told) {
		ev_bad(walk.events, "a stream without the times of system "
		    "calls for --collect-systime: needs trace "
		    "--syscall-times");
		return;
	}
	first = outcome_columns(walk.told);
	if (outcome_head(walk.told, cpu ? "sysCount sysTime sysCpuTime" :
	    "sysCount sysTime") < 0)
		die("H outcomes: no room for sysTime");
}

const char *
systime_name(const char *event)
{
	if (unit == 0)
		return NULL;
	if (strcmp(event, "sysCpuTime") == 0)
		return "sysCpuTime (system cpu ns)";
	if (strcmp(event, "sysTime") != 0)
		return NULL;
	return unit == 1 ? "sysTime (elapsed ns)" : unit == 1000 ?
	    "sysTime (elapsed us)" : "sysTime (elapsed ms)";
}

void
systime_call(struct walk_thread *t, const struct ev *e)
{
	/* those that end a thread or the process never return */
	if (unit == 0 || (e->nnum == 1 && e->num[0] != EV_EXIT &&
	    e->num[0] != EV_EXIT_GROUP))
		return;
	walk_add(t, first, 1);
	if (e->nnum == 1)
		return;
	rest += e->num[1];
	walk_add(t, first + 1, rest / unit);
	rest %= unit;
	if (cpu)
		walk_add(t, first + 2, e->num[2]);
}
