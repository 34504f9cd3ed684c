/*
 * serve - answer the guest's threads
 *
 * Runs in the main thread, which also makes all ptrace calls.  A thread that
 * wants something sets its bit in `want` and rings the bell where we sleep.
 * After work we spin for a moment: who came once comes again.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cache/cache.h"
#include "code/code.h"
#include "guest/guest.h"
#include "stream/stream.h"
#include "trace.h"
#include "util.h"
#include "xlate/xlate.h"

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

static volatile int stop_asked;

void
serve_stop(void)
{
	stop_asked = 1;
	if (area.ctl != NULL)
		bell_ring();
}

/*
 * Of a process that we attached to: 1 once its threads have gone on natively,
 * but for those that wait in the kernel; these do when they come back.
 */
static int
all_gone(void)
{
	static unsigned quiet;
	unsigned i, left = 0;

	if (opt->pid == 0 || !area.ctl->letgo)
		return 0;
	left = area.ctl->joining;
	for (i = 0; i < NSLOT; i++)
		left += __atomic_load_n(&area.ctl->slot[i].used,
		    __ATOMIC_SEQ_CST) == 1;
	if (left > 0 && quiet++ < 200) {
		usleep(1000);
		return 0;
	}
	return 1;
}

/* An instruction that none was when it was translated, or none to follow. */
static enum refused
refused(app_pc pc)
{
	uint8_t code[15];
	unsigned n = maps_code(pc, code, sizeof code), mode;
	struct insn in;
	char text[128];

	if (decode_again(&in, pc, code, n) < 0)
		return REFUSED_NATIVE;
	if (in.special != SP_REFUSE) {
		for (mode = 0; mode <= (MODE_OUT | MODE_PAST); mode++)
			frag_stale(pc, mode);
		return REFUSED_AGAIN;
	}
	decode_text(code, n, pc, text, sizeof text);
	warn("%#llx: %s: cannot be traced; the program goes on "
	    "natively, the stream ends here", (unsigned long long)pc, text);
	stats.refused = true;
	return REFUSED_LETGO;
}

static void
say(struct slot *s)
{
	switch (s->arg[0]) {
	case SAY_REFUSED:
		s->ret[0] = refused(s->arg[1]);
		break;
	case SAY_TRACED:
		warn("process %d asks to be traced by its parent: it goes on "
		    "natively, the stream ends here", (int)guest.pid);
		stats.refused = true;
		break;
	case SAY_FILTER:
		warn("%#llx: a seccomp filter that looks at the instruction "
		    "pointer would see ours; the program goes on natively, "
		    "the stream ends here", (unsigned long long)s->arg[1]);
		stats.refused = 1;
		break;
	case SAY_32BIT:
		warn("%#llx: 32-bit code cannot be traced; the program goes on "
		    "natively, the stream ends here",
		    (unsigned long long)s->arg[1]);
		stats.refused = true;
		break;
	case SAY_SECCOMP:
		warn("exec behind a seccomp filter: the new program runs "
		    "natively, the stream ends here");
		stats.refused = true;
		break;
	default:
		warn("the program goes on natively, the stream ends here");
		stats.refused = true;
		break;
	}
}

/*
 * What a stopped thread did of its block.  Counters may begin anew before it
 * hears of it: the count is made here.
 */
static void
partial(struct slot *s)
{
	uint64_t sizes;
	uint32_t id;

	if (!counters_left(1))
		frag_renew();
	id = def_partial((uint32_t)s->arg[0], (unsigned)s->arg[1],
	    (unsigned)s->arg[2], &sizes);
	if (area.boot.countbytes == 0)
		s->ret[0] = id;
	else if (id != NO_COUNTER)
		counter_add((unsigned)(s - area.ctl->slot), id);
	s->ret[1] = sizes;
}

static void
answer(struct slot *s)
{
	s->ret[0] = s->ret[1] = 0;
	switch (s->what) {
	case REQ_TRANSLATE:
		/* an exit of before a flush is none any more */
		s->ret[0] = frag_request(s->arg[0], s->arg[2] ==
		    area.ctl->gen ? s->arg[1] : ~0ull, (unsigned)s->arg[3]);
		break;
	case REQ_PARTIAL:
		partial(s);
		break;
	case REQ_STALE:
		frag_stale(s->arg[0], (unsigned)s->arg[1]);
		break;
	case REQ_MAPPED:
		image_changed(s->arg[0], s->arg[1]);
		break;
	case REQ_EXEC:
		s->ret[0] = !exec_asked(s->arg[0], (pid_t)s->arg[1],
		    s->arg[2]);
		break;
	case REQ_EXEC_FAILED:
		exec_failed((pid_t)s->arg[0]);
		break;
	case REQ_WINDOW:
		frag_window();
		break;
	case REQ_CHILD:
		s->ret[0] = (uint64_t)follow_child((pid_t)s->arg[0],
		    (int)s->arg[1]);
		break;
	case REQ_SAY:
		say(s);
		break;
	default:
		break;
	}
	__atomic_store_n(&s->state, 2, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->sleeps, __ATOMIC_SEQ_CST))
		futex_wake(&s->state);
}

static int
wanted(void)
{
	return __atomic_load_n(&area.ctl->wanted, __ATOMIC_SEQ_CST) != 0;
}

/* Answer all who asked; 1: somebody had. */
static int
look(void)
{
	uint64_t sum, w;
	unsigned i, bit;

	_Static_assert(NSLOT == 64 * 64, "one bit for each word");
	if (!wanted())
		return 0;
	sum = __atomic_exchange_n(&area.ctl->wanted, 0, __ATOMIC_SEQ_CST);
	for (; sum != 0; sum &= sum - 1) {
		i = (unsigned)__builtin_ctzll(sum);
		w = __atomic_exchange_n(&area.ctl->want[i], 0, __ATOMIC_SEQ_CST);
		for (; w != 0; w &= w - 1) {
			bit = (unsigned)__builtin_ctzll(w);
			answer(&area.ctl->slot[i * 64 + bit]);
		}
	}
	return 1;
}

/* A thread of its own sees the guest end. */
static void *
watch(void *arg)
{
	struct pollfd p = { guest.pidfd, POLLIN, 0 };

	(void)arg;
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	guest_ended = 1;
	bell_ring();
	return NULL;
}

/*
 * Not after a sleep in which nobody came: with -f there are as many of us as
 * there are processes, most of them asleep.
 */
static void
rest(void)
{
	static int idle;
	struct control *c = area.ctl;
	uint32_t bell;
	unsigned spin;

	for (spin = idle ? SPINS : 0; spin < SPINS; spin++) {
		__builtin_ia32_pause();
		if (wanted())
			return;
		if (spin >= SPINS_ALONE && spin % SPINS_YIELD == 0)
			sched_yield();
	}
	bell = __atomic_load_n(&c->bell, __ATOMIC_SEQ_CST);
	__atomic_store_n(&c->serving_sleeps, 1, __ATOMIC_SEQ_CST);
	if (!wanted() && !sample_pending() && !guest_ended)
		futex_wait(&c->bell, bell, c->polling ? 20000 :
		    exec_pending ? 200000 : 100000000);
	__atomic_store_n(&c->serving_sleeps, 0, __ATOMIC_SEQ_CST);
	idle = !c->polling && !wanted() &&
	    __atomic_load_n(&c->bell, __ATOMIC_SEQ_CST) == bell;
}

/* A block that came often is made anew along its path; false: there is none. */
static bool
make_path(void)
{
	app_pc pc;

	if (!sample_pending())
		return false;
	pc = search_next();
	if (pc != 0)
		frag_again(pc);
	return true;
}

bool
serve(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, watch, NULL) != 0)
		die("thread:");
	pthread_detach(t);
	while (!guest_ended) {
		if (look() || frag_ahead() || make_path())
			continue;
		if (all_gone())
			return true;
		if (exec_pending)
			exec_poll();
		if (last_pass_on())
			follow_signal(SIGUSR1);
		if ((format_full || format_lost || stop_asked) &&
		    !area.ctl->letgo)
			frag_letgo();
		else if (opt->pid == 0 || !area.ctl->letgo)
			rest();
	}
	return false;
}
