/*
 * requests - do what the guest's threads ask for
 *
 * Each request comes with four words of arguments and is answered by two, see
 * enum request.  A thread may ask for anything at any time, so that nothing is
 * taken from it unchecked.
 */
#include <signal.h>
#include <sys/syscall.h>
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
	warn("%#llx: %s: cannot be traced; the program goes on natively%s",
	    (unsigned long long)pc, text, stream_ends());
	stats.refused = true;
	return REFUSED_LETGO;
}

/* Once is enough: a loop may have it. */
static void
unknown(app_pc pc)
{
	static bool told;

	if (is_first(&told))
		warn("%#llx: an instruction that the decoder does not know: "
		    "such are executed one at a time, and not recorded",
		    (unsigned long long)pc);
}

static uint64_t
say(uint64_t what, app_pc pc, uint32_t owner)
{
	switch (what) {
	case SAY_REFUSED:
		return refused(pc, owner);
	case SAY_TRACED:
		warn("process %d asks to be traced by its parent: it goes on "
		    "natively%s", (int)guest.pid, stream_ends());
		stats.refused = true;
		break;
	case SAY_FILTER:
		warn("%#llx: a seccomp filter that looks at the instruction "
		    "pointer would see ours; the program goes on natively%s",
		    (unsigned long long)pc, stream_ends());
		stats.refused = true;
		break;
	case SAY_32BIT:
		warn("%#llx: 32-bit code cannot be traced; the program goes on "
		    "natively%s", (unsigned long long)pc, stream_ends());
		stats.refused = true;
		break;
	case SAY_UNKNOWN:
		unknown(pc);
		break;
	case SAY_SECCOMP:
		exec_filtered((pid_t)pc);
		break;
	default:	/* only a program that writes over its memory says so */
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
		frag_renew(false);
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
		frag_renew(false);
	if (!counters_left(1))		/* the run is over */
		return;
	if (!learn_counter((uint32_t)arg[0], (unsigned)arg[1], &c))
		return;
	if (arg[2] != 0)
		counter_add(slot, c, arg[2]);
	else
		counter_take_one(slot, c);
}

/* No counter was left: all counts are told, and there are again; or not. */
static bool
has_counters(void)
{
	frag_renew(false);
	return counters_left(DEF_COUNTERS);
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
	if (frag_renew(false))
		context_renew(slot, p);
	if (context_is_full())
		later = RENEW_LATER;
	rest_end();
}

/*
 * Numbers of calls are used up, almost.  Records have them, too, so these are
 * to be written first: only a thread by itself can do that.  In limbo it waits
 * until it is known where it is.
 */
static void
renew_contexts(unsigned slot, int64_t p)
{
	static uint32_t published;	/* by the thread, before it asked */

	if (!context_is_full() || context_in_limbo(context_owner(slot)))
		return;
	if (!is_alone(slot)) {
		if (!counts_refs() && !opt->allocs)
			renew_beside_others(slot, p);
		return;
	}
	published &= ONCE(area.ctl->publish);	/* 0 in a new image */
	if (published) {
		frag_renew(false);
		context_renew(slot, p);
	}
	published = published == 0;
	__atomic_store_n(&area.ctl->publish, published, __ATOMIC_SEQ_CST);
}

bool
request_link_call(unsigned slot)
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
	while (request_link_call(slot))
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
	if (s.step == MOVE_SIGNAL && (s.site & NOT_BEGUN))
		context_not_begun(&s);
	renew_contexts(slot, s.p);
	ret[0] = context_step(slot, &s);
	ret[1] = (uint64_t)context_back();
	if (context_landed(slot, &limbo, &owner))
		while (!def_move(slot, limbo, owner) && has_counters())
			;
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

/* Trust no page in [start, end), or none at all, before a call. */
static void
unwatch(uint64_t start, uint64_t end)
{
	frag_kill(start, end);
	if (!watch_leave(start, end))
		frag_compare();
}

void
request_grant(unsigned slot, uint32_t what, const uint64_t arg[4],
    uint64_t ret[2])
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
	case REQ_JUMPS:
		if (opt->contexts != 0 && arg[1] == area.gen)
			frag_jumps(arg[0]);
		break;
	case REQ_COMPARE:
		frag_compare();
		break;
	case REQ_UNWATCH:
		unwatch(arg[0], arg[1]);
		break;
	case REQ_MAPPED:
		image_changed(arg[2] == 0 ? arg[0] :
		    guest_mapped_from(arg[0]), arg[1]);
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
