/*
 * unwind - frames left by exceptions, longjmp and handlers that never return
 *
 *	unwind MODE
 *
 * What is left and where it goes on is told by whom a mark is called from: a
 * function with so many instructions, inner() before a jump, outer() behind it.
 */
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))
#define MARK(name) \
	extern "C" NOINLINE void name() { __asm__ volatile(".rept 99; nop; .endr"); }
MARK(inner)
MARK(outer)
MARK(cleanup)
MARK(end)

static sigjmp_buf back, level[8];
static int depth;

struct Guard {
	~Guard() { cleanup(); }
};

/* Level 1 is the outermost; `at' catches. No cleanups on the way. */
extern "C" NOINLINE void
plain(int n, int at)
{
	try {
		if (n == 6) {
			inner();
			throw n;
		}
		plain(n + 1, at);
		end();
	} catch (int) {
		if (n != at)
			throw;
		outer();
	}
	end();
}

/* Cleanups in each level; who catches is another function's first level. */
extern "C" NOINLINE void
guarded(int n)
{
	Guard g;

	if (n == 5) {
		inner();
		throw n;
	}
	guarded(n + 1);
	end();
}

extern "C" NOINLINE void pong(int n, int at);

/* Only ping's levels catch. */
extern "C" NOINLINE void
ping(int n, int at)
{
	try {
		pong(n, at);
		end();
	} catch (int) {
		if (n != at)
			throw;
		outer();
	}
	end();
}

extern "C" NOINLINE void
pong(int n, int at)
{
	if (n == 3) {
		inner();
		throw n;
	}
	ping(n + 1, at);
	end();
}

/* The innermost of four levels jumps to level `at'. */
extern "C" NOINLINE void
jumps(int n, int at)
{
	if (sigsetjmp(level[n], 0) != 0) {
		outer();
		return;
	}
	if (n == 4) {
		inner();
		siglongjmp(level[at], 1);
	}
	jumps(n + 1, at);
	end();
}

extern "C" NOINLINE void
on_jump(int)
{
	inner();
	siglongjmp(back, 1);
}

extern "C" NOINLINE void
on_return(int)
{
	inner();
}

/* Another one interrupts it, and jumps out of both. */
extern "C" NOINLINE void
on_nested(int)
{
	inner();
	raise(SIGUSR1);
	end();
}

/* The other one jumps back to this one, which returns. */
extern "C" NOINLINE void
on_inside(int)
{
	sigjmp_buf old;

	memcpy(&old, &back, sizeof old);
	if (sigsetjmp(back, 1) == 0)
		raise(SIGUSR1);
	outer();
	memcpy(&back, &old, sizeof old);
}

/* Itself once more. */
extern "C" NOINLINE void
on_again(int sig)
{
	inner();
	if (depth++ == 0)
		raise(sig);
	outer();
}

static void
handle(int sig, void (*f)(int), int flags)
{
	struct sigaction a;

	memset(&a, 0, sizeof a);
	a.sa_handler = f;
	a.sa_flags = flags;
	sigaction(sig, &a, nullptr);
}

extern "C" NOINLINE void
victim(int sig)
{
	raise(sig);
	end();
}

/* 1,000 times; volatile: as longjmp has it. */
extern "C" NOINLINE void
caught(int sig)
{
	volatile int i;

	for (i = 0; i < 1000; i++) {
		if (sigsetjmp(back, 1) == 0)
			victim(sig);
		outer();
	}
}

/* A stack above all frames that are interrupted, or below them. */
extern "C" NOINLINE void
on_other_stack(int sig, bool above)
{
	static char low[1 << 16];
	char high[1 << 16];
	stack_t s;

	memset(&s, 0, sizeof s);
	s.ss_sp = above ? high : low;
	s.ss_size = sizeof low;
	sigaltstack(&s, nullptr);
	caught(sig);
	s.ss_flags = SS_DISABLE;
	sigaltstack(&s, nullptr);
}

/* Both are delivered at once: one has not begun when the other interrupts it. */
extern "C" NOINLINE void
at_once()
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigaddset(&s, SIGUSR2);
	for (int i = 0; i < 10; i++) {
		sigprocmask(SIG_BLOCK, &s, nullptr);
		raise(SIGUSR1);
		raise(SIGUSR2);
		sigprocmask(SIG_UNBLOCK, &s, nullptr);
		outer();
	}
}

static ucontext_t in, out;

extern "C" NOINLINE void
coroutine()
{
	for (;;) {
		inner();
		swapcontext(&in, &out);
	}
}

extern "C" NOINLINE void
resume()
{
	swapcontext(&out, &in);
	outer();
}

static void
coroutines()
{
	static char stack[1 << 16];

	getcontext(&in);
	in.uc_stack.ss_sp = stack;
	in.uc_stack.ss_size = sizeof stack;
	in.uc_link = nullptr;
	makecontext(&in, coroutine, 0);
	for (int i = 0; i < 100; i++)
		resume();
}

static void
exceptions(const char *mode, int at)
{
	if (strcmp(mode, "plain") == 0)
		plain(1, at);
	else if (strcmp(mode, "pong") == 0)
		ping(1, at);
	else if (strcmp(mode, "jumps") == 0)
		jumps(1, at);
	else
		try {
			guarded(1);
		} catch (int) {
			outer();
		}
}

int
main(int argc, char **argv)
{
	const char *mode = argv[1];
	int onstack = strncmp(mode, "alt", 3) == 0 ? SA_ONSTACK : 0;

	if (argc > 2) {
		for (int i = 0; i < 3; i++)
			exceptions(mode, atoi(argv[2]));
	} else if (strcmp(mode, "coroutines") == 0) {
		coroutines();
	} else if (strcmp(mode, "once") == 0) {
		handle(SIGUSR1, on_return, 0);
		handle(SIGUSR2, on_again, 0);
		depth = 1;
		at_once();
	} else {
		handle(SIGUSR1, strstr(mode, "return") ? on_return : on_jump,
		    onstack);
		handle(SIGUSR2, strstr(mode, "inside") ? on_inside : on_nested,
		    onstack);
		handle(SIGHUP, on_again, SA_NODEFER | onstack);
		int sig = strstr(mode, "again") ? SIGHUP :
		    strstr(mode, "nested") || strstr(mode, "inside") ? SIGUSR2 :
		    SIGUSR1;
		if (onstack)
			on_other_stack(sig, strstr(mode, "above"));
		else
			caught(sig);
	}
	end();
	return 0;
}
