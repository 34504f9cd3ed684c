/*
 * symstack - a stack for libdw
 *
 * libdw reads a line table with some 170 KB of stack, and there may be less
 * (ulimit -s 64). Then it gets one of ours, and no limit is changed: programs
 * that are started later would have that.
 */
#include "symunit.h"

#include <sys/resource.h>
#include <stdlib.h>
#include <ucontext.h>

#include "mem.h"

#define STACK_BYTES (1u << 20)

struct visit {
	void (*call)(void *);
	void *arg;
	ucontext_t from;
};

static __thread struct visit *visiting;

static bool
is_scarce(void)
{
	struct rlimit r;

	return getrlimit(RLIMIT_STACK, &r) == 0 && r.rlim_cur < STACK_BYTES;
}

static void
visit(void)
{
	visiting->call(visiting->arg);
}

void
sym_with_stack(void (*call)(void *), void *arg)
{
	struct visit v = { .call = call, .arg = arg };
	ucontext_t there;

	if (!is_scarce()) {
		call(arg);
		return;
	}
	getcontext(&there);
	there.uc_stack.ss_sp = xmalloc(STACK_BYTES);
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = &v.from;
	makecontext(&there, visit, 0);
	visiting = &v;
	swapcontext(&v.from, &there);
	free(there.uc_stack.ss_sp);
}
