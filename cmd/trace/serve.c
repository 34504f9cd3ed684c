/*
 * serve - wait for the requests of the guest's threads, and for its end
 *
 * This runs in the main thread, which also makes all ptrace calls.  A thread
 * that wants something sets its bit in `want` and rings the bell on which we
 * sleep.  After work we poll for a moment before we sleep, because a thread
 * that asked once mostly asks again.  What it asks for is done in requests.c.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cache/cache.h"
#include "code/code.h"
#include "guest/guest.h"
#include "stream/stream.h"
#include "prog.h"
#include "trace.h"

static void
futex_wait(uint32_t *word, uint32_t val, long ns)
{
	struct timespec t = { 0, ns };

	syscall(SYS_futex, word, FUTEX_WAIT, val, &t, NULL, 0);
}

static void
futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static volatile sig_atomic_t stop_wanted;

void
serve_stop(void)
{
	stop_wanted = 1;
	if (area.ctl != NULL)
		bell_ring();
}

/*
 * Whether the threads of an attached process have gone on natively.  Those
 * that wait in the kernel do so when they come back; we give them 200 ms.
 */
static bool
all_gone(void)
{
	static unsigned quiet;
	unsigned i, left = 0;

	if (!opt->leaves || !area_is_left())
		return false;
	left = ONCE(area.ctl->joining);
	for (i = 0; i < NSLOT; i++)
		left += __atomic_load_n(&area.ctl->slot[i].used,
		    __ATOMIC_SEQ_CST) == SLOT_TAKEN;
	if (left > 0 && quiet++ < 200) {
		usleep(1000);
		return false;
	}
	return true;
}

/* Is it one of many that come while code is new? */
static bool
is_for_code(uint32_t what)
{
	return what == REQ_TRANSLATE || what == REQ_MOVE;
}

#define FRESH_REQUESTS 64u

/*
 * Is the next answer late for a reason of our own?  The first ones are: we
 * touch our memory for the first time.
 */
static bool
is_settling(void)
{
	return image_is_unsettled() || stats.requests < FRESH_REQUESTS;
}

static void
answer(unsigned slot)
{
	struct slot *s = &area.ctl->slot[slot];
	uint64_t arg[4], ret[2] = { 0, 0 };
	unsigned i;

	if (ONCE(s->state) != SLOT_ASKED)	/* see stream/dead.c */
		return;
	stats.requests++;
	if (is_for_code(ONCE(s->what)))
		near_asked(ONCE(s->cpu), ONCE(s->turns));
	else
		near_leave();	/* what we start is to run on any processor */
	for (i = 0; i < 4; i++)
		arg[i] = ONCE(s->arg[i]);
	request_grant(slot, ONCE(s->what), arg, ret);
	s->ret[0] = ret[0];
	s->ret[1] = ret[1];
	area.ctl->settling = is_settling();
	__atomic_store_n(&s->state, SLOT_ANSWERED, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->sleeps, __ATOMIC_SEQ_CST))
		futex_wake(&s->state);
	image_settle();
	area.ctl->settling = is_settling();
}

static unsigned asked;		/* the slot that asked last */

static bool
is_wanted(void)
{
	return __atomic_load_n(&area.ctl->wanted, __ATOMIC_SEQ_CST) != 0;
}

/* Answer all threads that have asked; false: none had. */
static bool
answer_all(void)
{
	uint64_t sum, w;
	unsigned i, bit;

	_Static_assert(NSLOT == 64 * 64, "one bit for each word");
	if (!is_wanted())
		return false;
	sum = __atomic_exchange_n(&area.ctl->wanted, 0, __ATOMIC_SEQ_CST);
	for (; sum != 0; sum &= sum - 1) {
		i = (unsigned)__builtin_ctzll(sum);
		w = __atomic_exchange_n(&area.ctl->want[i], 0,
		    __ATOMIC_SEQ_CST);
		for (; w != 0; w &= w - 1) {
			bit = (unsigned)__builtin_ctzll(w);
			asked = i * 64 + bit;
			answer(asked);
		}
	}
	return true;
}

/* A thread of its own waits for the guest's end. */
static void *
watch(void *arg)
{
	struct pollfd p = { guest.pidfd, POLLIN, 0 };

	(void)arg;
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	guest_ended = true;
	bell_ring();
	return NULL;
}

#define SPINS_LEAST 80u

static bool counts_begun;	/* at the end */

/* Has the program's only thread ended it, and are its counts not begun? */
static bool
is_over(void)
{
	return !counts_begun && ONCE(area.ctl->ended) == ENDED_ALONE &&
	    opt->kind->counters && opt->contexts == 0;
}

/*
 * The kernel takes about a millisecond to take the process apart.  Meanwhile
 * write what is in its counters; what counts on after all is written later.
 */
static bool
begin_counts(void)
{
	if (!is_over())
		return false;
	counts_begun = true;
	kept_look();
	format_counts();
	return true;
}

/* A request, or an id that came often, or the end. */
static bool
is_called(void)
{
	return is_wanted() || is_over() || (!counts_begun && search_pending());
}

/*
 * Poll until something is to be done; true: it is.  Where polls are in vain
 * they become shorter: with what the store has, a program asks only now and
 * then.  On a crowded processor (runtime/wait.c) we do not poll, and where
 * others want the processor we sleep soon: who wakes us then gets an answer
 * before who lets us yield.
 */
static bool
poll_requests(void)
{
	static unsigned most = SPINS;
	unsigned spin;

	if (ONCE(area.ctl->crowded) != 0) {
		near_leave();
		return false;
	}
	if (near_turns(is_called))
		return true;
	for (spin = 0; spin < most; spin++) {
		__builtin_ia32_pause();
		if (is_called() || watch_pending()) {
			most = SPINS;
			return true;
		}
		if (spin >= SPINS_ALONE && spin % SPINS_YIELD == 0 &&
		    !near_yield(is_called) && near_is_slow())
			break;
	}
	most = most / 4 < SPINS_LEAST ? SPINS_LEAST : most / 4;
	return false;
}

/*
 * Poll, then sleep until the bell rings.  After a sleep in which nothing was
 * asked we do not poll: with -f there are as many traces as processes, most of
 * them asleep.
 */
static void
rest(void)
{
	static bool idle;
	struct control *c = area.ctl;
	uint32_t bell;
	long ns;

	if (!idle && poll_requests())
		return;
	ns = counts_begun ? 100000000 : recent_look(100000000);
	bell = __atomic_load_n(&c->bell, __ATOMIC_SEQ_CST);
	__atomic_store_n(&c->serving_sleeps, 1, __ATOMIC_SEQ_CST);
	if (!is_called() && !watch_pending() && !control_pending() &&
	    !guest_ended && !trust_lost)
		futex_wait(&c->bell, bell, ONCE(c->no_futex) ? 20000 :
		    exec_pending ? 200000 : ns);
	__atomic_store_n(&c->serving_sleeps, 0, __ATOMIC_SEQ_CST);
	idle = !ONCE(c->no_futex) && !is_wanted() &&
	    __atomic_load_n(&c->bell, __ATOMIC_SEQ_CST) == bell;
}

/* Make a frequent block anew along its path; false: there is none. */
static bool
make_path(void)
{
	app_pc pc;

	if (!search_pending())
		return false;
	pc = search_next();
	if (pc != 0)
		frag_again(pc);
	return true;
}

/* The stream cannot go on, so the program must not either. */
static void
kill_guest(void)
{
	if (!opt->leaves &&
	    syscall(SYS_pidfd_send_signal, guest.pidfd, SIGKILL, NULL, 0) < 0 &&
	    errno != ESRCH)
		warn("process %d:", (int)guest.pid);
}

bool
serve(void)
{
	struct pollfd p = { guest.pidfd, POLLIN, 0 };
	pthread_t t;

	if (poll(&p, 1, 0) < 0 && errno != EINTR)	/* as watch will */
		die("poll:");
	if (pthread_create(&t, NULL, watch, NULL) != 0)
		die("thread:");
	pthread_detach(t);
	while (!guest_ended && !trust_lost) {
		while (area_abandoned)	/* another thread ends us */
			pause();
		kept_notice();
		if (frag_written() || frag_landing() || answer_all() ||
		    request_link_call(asked) || begin_counts())
			continue;
		if (!counts_begun && (frag_ahead() || make_path()))
			continue;
		if (!area_is_intact())
			trust_lose("its control words");
		if (all_gone())
			return true;
		if (exec_pending)
			exec_poll();
		if (control_pending())
			control_do(exec_let_go);
		if (last_pass_on())
			follow_signal(SIGUSR1);
		if ((format_full || format_lost || stop_wanted) &&
		    !area_is_left())
			frag_letgo();
		else if (!opt->leaves || !area_is_left())
			rest();
	}
	/* it may have ended before we had time to look */
	if (!trust_lost && !area_is_intact())
		trust_lose("its control words");
	if (trust_lost)
		kill_guest();
	return trust_lost && opt->leaves;
}
