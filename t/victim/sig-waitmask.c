/*
 * sig-waitmask - io_pgetevents and io_uring_enter wait under another mask: that
 * is the handler's, too, and the old one is back behind it
 */
#include <linux/aio_abi.h>
#include <time.h>

#include "victim.h"

static volatile uint64_t inside;
static volatile int ran;

static uint64_t
mask_now(void)
{
	uint64_t mask = 0;

	CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, 8) == 0);
	return mask;
}

static void
note(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	inside = mask_now();
	ran++;
}

static uint64_t
bit(int sig)
{
	return 1ull << (sig - 1);
}

/* What a signal that came before the call finds. */
static void
check(long r)
{
	uint64_t blocked = bit(SIGUSR1) | bit(SIGHUP);

	CHECK(r == -1 && errno == EINTR);
	SAME(inside, bit(SIGUSR1) | bit(SIGUSR2) | bit(SIGTERM));
	SAME(mask_now(), blocked);
	raise(SIGUSR1);
}

static void
wait_for_aio(uint64_t *mask)
{
	struct timespec limit = { 10, 0 };
	struct { uint64_t *mask; size_t size; } set = { mask, 8 };
	aio_context_t ctx = 0;
	struct io_event event;

	if (syscall(SYS_io_setup, 4, &ctx) == 0)
		check(syscall(SYS_io_pgetevents, ctx, 1, 1, &event, &limit,
		    &set));
}

static void
wait_for_ring(uint64_t *mask)
{
	struct { uint64_t mask; uint32_t size, pad; uint64_t limit; } arg = {
		(uint64_t)mask, 8, 0, 0 };
	uint64_t params[15] = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 4, params);

	if (fd < 0)
		return;
	check(syscall(SYS_io_uring_enter, fd, 0, 1, 1, mask, 8));
	check(syscall(SYS_io_uring_enter, fd, 0, 1, 1 | 8, &arg, sizeof arg));
}

int
main(void)
{
	uint64_t blocked = bit(SIGUSR1) | bit(SIGHUP);
	uint64_t mask = bit(SIGUSR2) | bit(SIGTERM);

	handle(SIGUSR1, note, 0);
	CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, 8) ==
	    0);
	raise(SIGUSR1);
	wait_for_aio(&mask);
	wait_for_ring(&mask);
	if (ran == 0)
		victim_skip("neither is permitted");
	return victim_ok();
}
