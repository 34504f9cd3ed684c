/*
 * sig-returnloop - rt_sigreturn again and again, with frames that no signal
 * made, as of a scheduler that goes on where a handler was: a timer's signal
 * comes all the same, also where it is blocked before each return
 */
#include <sys/time.h>

#include "victim.h"

static volatile sig_atomic_t ticks;

static void
on_alrm(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	ticks++;
}

__asm__(
"	.text\n"
"go_on:\n"			/* the frame, where the return address was */
"	lea	8(%rdi), %rsp\n"
"	mov	$15, %eax\n"	/* rt_sigreturn: at the frame plus 8 */
"	syscall\n"
"	ud2\n");
void go_on(const char *frame) __attribute__((noreturn));

static char frame[8 + sizeof(ucontext_t)] __attribute__((aligned(16)));
static char stack[65536] __attribute__((aligned(16)));
static sigset_t alarms;

static void
loop(void)
{
	if (ticks >= 20)
		_exit(victim_ok());
	if (ticks >= 10)
		sigprocmask(SIG_BLOCK, &alarms, NULL);
	go_on(frame);
}

int
main(void)
{
	struct itimerval every = { { 0, 500 }, { 0, 500 } };
	ucontext_t *uc = (ucontext_t *)(frame + 8);
	uint16_t cs, ss;

	__asm__("mov %%cs, %0; mov %%ss, %1" : "=r"(cs), "=r"(ss));
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)loop;
	uc->uc_mcontext.gregs[REG_RSP] = (greg_t)(stack + sizeof stack - 8);
	uc->uc_mcontext.gregs[REG_EFL] = 2;
	uc->uc_mcontext.gregs[REG_CSGSFS] = (greg_t)(cs | (uint64_t)ss << 48);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	handle(SIGALRM, on_alrm, 0);
	CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
	loop();
	return 1;
}
