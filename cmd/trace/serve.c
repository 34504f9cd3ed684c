/*
 * serve - answer the requests of the guest's threads
 *
 * This runs in the main thread, which also makes all ptrace calls.  A thread
 * that wants something sets its bit in `want` and rings the bell on which we
 * sleep.  After work we poll for a moment before we sleep, because a thread
 * that asked once mostly asks again.
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
#include "context/context.h"
#include "guest/guest.h"
#include "stream/stream.h"
#include "prog.h"
#include "trace.h"
#include "xlate/xlate.h"

#define RENEW_LATER 10000u	/* steps, where that gave no numbers */

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

/*
 * At pc is an instruction that we cannot follow, or bytes that were none when
 * they were translated.
 */
static enum refused
refused(app_pc pc, uint32_t owner)
{
	uint8_t code[MAX_LEN];
	unsigned n = maps_code(pc, code, sizeof code), mode;
	struct insn in;
	char text[128];

	if (decode_again(&in, pc, code, n) < 0)
		return REFUSED_NATIVE;
	if (in.special != SP_REFUSE) {
		for (mode = 0; mode <= MODE_ALL; mode++)
			frag_stale(pc, mode, owner);
		return REFUSED_AGAIN;
	}
	decode_text(code, n, pc, text, sizeof text);
	warn("%#llx: %s: cannot be traced; the program goes on "
	    "natively, the stream ends here", (unsigned long long)pc, text);
	stats.refused = true;
	return REFUSED_LETGO;
}

/* Once is enough: a loop may have it. */
static void
unknown(app_pc pc)
{
	static bool told;

	if (!told)
		warn("%#llx: an instruction that the decoder does not know: "
		    "such are executed one at a time, and not recorded",
		    (unsigned long long)pc);
	told = true;
}

static uint64_t
say(uint64_t what, app_pc pc, uint32_t owner)
{
	switch (what) {
	case SAY_REFUSED:
		return refused(pc, owner);
	case SAY_TRACED:
		warn("process %d asks to be traced by its parent: it goes on "
		    "natively, the stream ends here", (int)guest.pid);
		stats.refused = true;
		break;
	case SAY_FILTER:
		warn("%#llx: a seccomp filter that looks at the instruction "
		    "pointer would see ours; the program goes on natively, "
		    "the stream ends here", (unsigned long long)pc);
		stats.refused = true;
		break;
	case SAY_32BIT:
		warn("%#llx: 32-bit code cannot be traced; the program goes on "
		    "natively, the stream ends here", (unsigned long long)pc);
		stats.refused = true;
		break;
	case SAY_UNKNOWN:
		unknown(pc);
		break;
	case SAY_SECCOMP:
		exec_filtered((pid_t)pc);
		break;
	default:
		warn("the program goes on natively, the stream ends here");
		stats.refused = true;
		break;
	}
	return 0;
}

/*
 * The id of the part of its block that a stopped thread has done.  We count it
 * here, for counters may be freed before the thread gets this answer.
 */
static void
partial(unsigned slot, const uint64_t arg[4], uint64_t ret[2])
{
	uint32_t id;

	if (!counters_left(1))
		frag_renew();
	if (!counters_left(1))
		return;			/* the run is over */
	id = def_partial((uint32_t)arg[0], (unsigned)arg[1],
	    (unsigned)arg[2], &ret[1]);
	if (area.boot.countbytes == 0)
		ret[0] = id;
	else if (id != NO_COUNTER)
		counter_add(slot, id, 1);
	if (counts_refs())
		ret[0] = def_refs((uint32_t)arg[0], (unsigned)arg[1]);
}

/* A branch was mispredicted, which its thread could not count; or once less. */
static void
missed(unsigned slot, const uint64_t arg[4])
{
	uint32_t c;

	if (!opt->kind->learns)
		return;
	if (!counters_left(1))
		frag_renew();
	if (!counters_left(1))		/* the run is over */
		return;
	if (!learn_counter((uint32_t)arg[0], (unsigned)arg[1], &c))
		return;
	if (arg[2] != 0)
		counter_add(slot, c, arg[2]);
	else
		counter_take_one(slot, c);
}

/* Is the slot's thread the only one? */
static bool
is_alone(unsigned slot)
{
	unsigned i;

	for (i = 0; i < NSLOT; i++)
		if (i != slot && ONCE(area.ctl->slot[i].used) != SLOT_FREE &&
		    ONCE(area.ctl->slot[i].used) != SLOT_DEAD)
			return false;
	return true;
}

/*
 * Number calls anew beside other threads, which rest meanwhile.  Where one does
 * not, or their frames need as many numbers, try again later.
 */
static void
renew_beside_others(unsigned slot, int64_t p)
{
	static unsigned later;

	if (later > 0 && --later > 0)
		return;
	rest_begin();
	if (frag_renew())
		context_renew(slot, p);
	if (context_is_full())
		later = RENEW_LATER;
	rest_end();
}

/*
 * Numbers of calls are used up, almost.  Records have them, too, so these are
 * to be written first: only a thread by itself can do that.
 */
static void
renew_contexts(unsigned slot, int64_t p)
{
	static uint32_t published;	/* by the thread, before it asked */

	if (!context_is_full())
		return;
	if (!is_alone(slot)) {
		if (!counts_refs() && !opt->allocs)
			renew_beside_others(slot, p);
		return;
	}
	published &= ONCE(area.ctl->publish);	/* 0 in a new image */
	if (published) {
		frag_renew();
		context_renew(slot, p);
	}
	published = published == 0;
	__atomic_store_n(&area.ctl->publish, published, __ATOMIC_SEQ_CST);
}

/*
 * An arc that the slot's thread has made by itself leads to the code that is
 * there for it.  false: there is no such arc.
 */
static bool
link_call(unsigned slot)
{
	uint32_t arc, owner;
	app_pc target;

	if (opt->contexts == 0 || !counters_has(slot))
		return false;
	arc = context_made(slot, &target, &owner);
	if (arc != 0)
		frag_called(arc, target, owner);
	return arc != 0;
}

static void
link_calls(unsigned slot)
{
	while (link_call(slot))
		;
}

/* A thread's step between contexts, see REQ_MOVE. */
static void
move(unsigned slot, const uint64_t arg[4], uint64_t ret[2])
{
	struct context_step s = { .step = arg[3] & 15,
	    .move = arg[3] >> 4 & 7, .indirect = arg[3] >> 7 & 1,
	    .site = arg[0], .to = arg[1], .sp = arg[2],
	    .len = arg[3] >> 8 & 15, .p = (int64_t)arg[3] >> 12 };
	uint32_t owner, limbo;

	if (opt->contexts == 0 || !counters_has(slot) || s.step > MOVE_END)
		return;
	renew_contexts(slot, s.p);
	ret[0] = context_step(slot, &s);
	ret[1] = (uint64_t)context_back();
	if (context_landed(slot, &limbo, &owner))
		def_move(slot, limbo, owner);
	link_calls(slot);
	context_spare(slot);
	owner = context_owner(slot);
	if (s.step == MOVE_ON)	/* it would ask for it next */
		frag_request(s.to, CALLED | context_called(slot), MODE_IN,
		    owner);
	if (s.step != MOVE_ON || s.move != MOVE_IJUMP)
		return;
	if (context_plain(owner, s.site, s.to))
		frag_plain(s.to, owner);
}

/* Only contexts have owners, whatever the program says. */
static uint32_t
owner_told(uint64_t owner)
{
	return opt->contexts == 0 ? 0 : (uint32_t)owner;
}

/* The entry of the fragment that a thread wants next; 0: no code is there. */
static uint64_t
translate(const uint64_t arg[4])
{
	/* an exit from before a flush no longer exists */
	uint64_t exitno = arg[2] == area.gen ? arg[1] : ~0ull, entry;
	unsigned mode = (unsigned)arg[3] & (MODE_ALL | MODE_LOOKUP);
	uint32_t owner = owner_told(arg[3] >> 32);

	entry = frag_request(arg[0], exitno, mode, owner);
	if (entry == 0 && image_missed(arg[0]))
		entry = frag_request(arg[0], ~0ull, mode, owner);
	return entry;
}

/* Do what the slot's thread asks for. */
static void
grant(unsigned slot, uint32_t what, const uint64_t arg[4], uint64_t ret[2])
{
	switch (what) {
	case REQ_TRANSLATE:
		link_calls(slot);
		ret[0] = translate(arg);
		break;
	case REQ_PARTIAL:
		partial(slot, arg, ret);
		break;
	case REQ_MISSED:
		missed(slot, arg);
		break;
	case REQ_STALE:
		frag_stale(arg[0], (unsigned)arg[1] & MODE_ALL,
		    owner_told(arg[1] >> 32));
		break;
	case REQ_SAMPLE:
		frag_sample(arg[0]);
		break;
	case REQ_COMPARE:
		frag_compare();
		break;
	case REQ_MAPPED:
		image_changed(arg[0], arg[1]);
		break;
	case REQ_EXEC:
		ret[0] = !exec_asked(arg[0], (pid_t)arg[1], arg[2]);
		break;
	case REQ_EXEC_FAILED:
		exec_failed((pid_t)arg[0]);
		break;
	case REQ_WINDOW:
		frag_window();
		break;
	case REQ_CHILD:
		ret[0] = !follow_child((pid_t)arg[0], arg[1] != 0);
		break;
	case REQ_PTRACE:
		ret[0] = syscall(SYS_tgkill, getpid(), (pid_t)arg[0], 0) == 0;
		break;
	case REQ_MOVE:
		move(slot, arg, ret);
		break;
	case REQ_MARK:
		client_mark(slot, arg[0], arg[1]);
		break;
	case REQ_BURY:
		format_bury();
		break;
	case REQ_PRINT:
		ret[0] = client_print(arg);
		break;
	case REQ_SAY:
		ret[0] = say(arg[0], arg[1], owner_told(arg[2]));
		break;
	default:
		break;
	}
}

/* Is it one of many that come while code is new? */
static bool
is_for_code(uint32_t what)
{
	return what == REQ_TRANSLATE || what == REQ_MOVE;
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
	grant(slot, ONCE(s->what), arg, ret);
	s->ret[0] = ret[0];
	s->ret[1] = ret[1];
	area.ctl->settling = image_is_unsettled();
	__atomic_store_n(&s->state, SLOT_ANSWERED, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->sleeps, __ATOMIC_SEQ_CST))
		futex_wake(&s->state);
	image_settle();
	area.ctl->settling = 0;
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
		futex_wait(&c->bell, bell, ONCE(c->polling) ? 20000 :
		    exec_pending ? 200000 : ns);
	__atomic_store_n(&c->serving_sleeps, 0, __ATOMIC_SEQ_CST);
	idle = !ONCE(c->polling) && !is_wanted() &&
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
		kept_notice();
		if (frag_written() || frag_landing() || answer_all() ||
		    link_call(asked) || begin_counts())
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
