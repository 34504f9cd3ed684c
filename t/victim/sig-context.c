/*
 * sig-context - makecontext and swapcontext, and setcontext out of a handler
 * with the context that the handler was given
 */
#include "victim.h"

static ucontext_t main_ctx, co[3];
static int log_n;
static int order[64];
static volatile int in_handler;
static ucontext_t saved;

static void
body(int id)
{
	for (int i = 0; i < 4; i++) {
		order[log_n++] = id * 10 + i;
		CHECK(swapcontext(&co[id], id == 2 ? &main_ctx : &co[id + 1])
		    == 0);
	}
}

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	in_handler++;
	setcontext(&saved);
}

int
main(void)
{
	volatile int came = 0;
	sigset_t now;

	for (int i = 0; i < 3; i++) {
		CHECK(getcontext(&co[i]) == 0);
		co[i].uc_stack.ss_sp = map_pages(8, PROT_READ | PROT_WRITE);
		co[i].uc_stack.ss_size = 8 * PAGE;
		co[i].uc_link = &main_ctx;
		makecontext(&co[i], (void (*)(void))body, 1, i);
	}
	for (int i = 0; i < 4; i++)
		CHECK(swapcontext(&main_ctx, &co[0]) == 0);
	SAME(log_n, 12);
	for (int i = 0; i < 12; i++)
		SAME(order[i], i % 3 * 10 + i / 3);
	handle(SIGUSR1, on_usr1, 0);
	CHECK(getcontext(&saved) == 0);
	if (came++ < 10)
		raise(SIGUSR1);
	SAME(in_handler, 10);
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(!sigismember(&now, SIGUSR1));
	return victim_ok();
}
