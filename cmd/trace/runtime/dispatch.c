/*
 * dispatch - go from the end of one fragment to the start of the next
 *
 * A thread that leaves the cache comes here: what its exit is for is done, the
 * code for the next pc is found, or asked for, and the thread enters the cache
 * again.
 */
#include "contexts.h"
#include "kinds.h"
#include "queue.h"
#include "runtime.h"
#include "signals.h"
#include "state.h"

/* The owner of a table's entry, with PLAIN_JUMP or without. */
static uint32_t
owner_of(const uint32_t *e)
{
	return rt.tabowner == NULL ? 0 :
	    __atomic_load_n(&rt.tabowner[e - rt.tab], __ATOMIC_ACQUIRE);
}

/* The fragment that a table's entry has. */
static const struct fragmeta *
fragment_of(uint32_t word)
{
	return &rt.frags[(word & TAB_ZONE) != 0][word % TAB_NUMBER - 1];
}

/* By the key of a pc and a mode, and an owner. */
static const uint32_t *
find(uint64_t key, uint32_t owner)
{
	uint32_t mask = __atomic_load_n(&rt.ctl->tabmask, __ATOMIC_SEQ_CST);
	uint32_t i = tab_first(key, mask), n = 0;
	uint32_t tag = tab_tag(key, owner), word;
	const uint32_t *tab = rt.tab + mask + 1;
	const struct fragmeta *f;

	for (;; i = tab_next(key, owner, i, ++n, mask)) {
		word = __atomic_load_n(&tab[i], __ATOMIC_ACQUIRE);
		if (word == 0)
			return NULL;
		if (!tab_has_tag(word, tag))
			continue;
		f = fragment_of(word);
		if (tab_key(f->pc, f->mode) == key &&
		    (owner_of(&tab[i]) & ~PLAIN_JUMP) == owner)
			return &tab[i];
	}
}

/* Its fragment's entry, see entry_word; 0: it is gone. */
static uint64_t
entry_of(const uint32_t *e)
{
	uint32_t word = __atomic_load_n(e, __ATOMIC_SEQ_CST);
	const struct fragmeta *f;

	if (word == 0 || (word & TAB_GONE))
		return 0;
	f = fragment_of(word);
	return entry_word(rt.boot.seg[word & TAB_ZONE ? SEG_ZONE1 :
	    SEG_ZONE0].addr + f->code + f->entry, f->prologue);
}

static uint64_t
lookup(uint64_t key, uint32_t owner)
{
	const uint32_t *e = find(key, owner);

	return e == NULL ? 0 : entry_of(e);
}

/*
 * There is no code at pc, or none that we can decode: let the processor try,
 * with the guest's own state.  It faults, or executes one instruction.
 */
static void
go_native(struct tarea *t)
{
	t->trap = TRAP_NATIVE;
	t->stepping = 1;
	t->tf = t->rflags >> 8 & 1;
	rt_trap(t);
}

/*
 * What may come between, and then does not return.  rt_trap's signal makes the
 * kernel forget the restartable sequence: it is learned first.
 */
static void
interrupted(struct tarea *t)
{
	if (t->rseq != 0)
		rseq_learn(t);
	if (t->syncpending != 0)
		signal_sync_pending(t);
	if (t->raise) {
		t->trap = TRAP_RAISE;
		rt_trap(t);
	}
	if (t->pending && !signal_hold(t)) {
		t->trap = TRAP_DELIVER;
		rt_trap(t);
	}
	if (__atomic_load_n(&rt.ctl->letgo, __ATOMIC_ACQUIRE) || trace_died())
		let_go(t);
}

/*
 * Has another thread ended what --after skips?  Then the code made since
 * records, and this thread must not enter it as it is.
 */
static bool
after_is_over(const struct tarea *t)
{
	return t->skips == SKIP_AFTER &&
	    !__atomic_load_n(&rt.ctl->skipping, __ATOMIC_SEQ_CST);
}

/* Have trace make the code for t->pc, and link exitno; 0: look again. */
static uint64_t
request_code(struct tarea *t, uint64_t exitno, uint64_t mode)
{
	uint64_t arg[4] = { t->pc, exitno, t->gen, mode };

	state_fp_settle(t);
	if (ask(t, REQ_TRANSLATE, arg) < 0)
		let_go(t);
	if (t->slot->ret[0] == 0 && !__atomic_load_n(&rt.ctl->letgo,
	    __ATOMIC_SEQ_CST))
		go_native(t);
	return t->slot->ret[0];
}

/*
 * The thread is about to enter the cache at t->entry, which was found when the
 * cache was of this generation; false: look again, something else is due.
 */
static bool
enter(struct tarea *t, uint32_t gen)
{
	__atomic_store_n(&t->slot->incache, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&rt.ctl->gen, __ATOMIC_SEQ_CST) != gen ||
	    __atomic_load_n(&rt.ctl->letgo, __ATOMIC_SEQ_CST) ||
	    after_is_over(t) || !window_is_right(t)) {
		__atomic_store_n(&t->slot->incache, 0, __ATOMIC_SEQ_CST);
		return false;
	}
	t->gen = gen;
	t->renewed = rt.ctl->renewed;
	t->tf = t->rflags >> 8 & 1;
	t->trapped = 0;
	if (p_is_guests())
		t->p = t->gpr[REG_P];
	if (t->past == t->pc)
		t->past = 0;
	return true;
}

#define TRIES 100000u		/* wrong answers before we give up */

void
dispatch_go(struct tarea *t, uint64_t exitno)
{
	uint64_t e, key, mode;
	uint32_t gen, tries = 0, owner, by = 0;

	if (exitno == BY_LOOKUP) {
		by = t->held ? 0 : MODE_LOOKUP;
		exitno = ~0ull;
	}
	for (;;) {
		interrupted(t);
		if (after_is_over(t))
			buffer_first(t);
		window_switch(t);
		contexts_arrive(t);
		allocs_thread(t);
		gen = __atomic_load_n(&rt.ctl->gen, __ATOMIC_SEQ_CST);
		mode = window_mode(t) | (t->held ? MODE_ONCE : 0);
		key = tab_key(t->pc, (unsigned)mode);
		owner = contexts_owner(t);
		e = lookup(key, owner);
		if (exitno == ~0ull && e == 0)
			exitno = contexts_called(t);
		if (t->held)
			exitno = ~0ull;
		if (e == 0 || (exitno != ~0ull && !rt.ctl->nolink) ||
		    (by != 0 && entry_prologue(e) == 0)) {
			e = request_code(t, exitno, mode | by |
			    (uint64_t)owner << 32);
			by = 0;
			exitno = ~0ull;
			if (e == 0)
				continue;
			gen = __atomic_load_n(&rt.ctl->gen, __ATOMIC_SEQ_CST);
			if (lookup(key, owner) != e) {	/* a flush, perhaps */
				if (++tries == TRIES)
					panic("the table was written over");
				continue;
			}
		}
		t->entry = entry_address(e);
		if (enter(t, gen))
			return;
	}
}

/*
 * Kind counts: REG_P counts instructions down; kind cache with --for: t->left.
 * When it reaches 0 an interval has ended, behind the block whose execution
 * completed it.  True: that is why the thread left the cache, or it is in other
 * code now; so its exit has no need of a link.
 */
static bool
interval(struct tarea *t)
{
	uint64_t arg[4] = { 0, 0, 0, 0 };
	uint64_t *left = p_is_kept() && !t->skips ? &t->left : &t->p;

	if ((left == &t->p && t->bufend != 0) || (int64_t)*left > 0 ||
	    t->skips == SKIP_OUT || buffer_span() == 0)
		return false;
	if (t->skips == SKIP_AFTER) {
		ask(t, REQ_WINDOW, arg);
		buffer_first(t);
		return true;
	}
	queue_interval(t);
	*left = buffer_span();
	return true;
}

void
dispatch_share(struct tarea *t)
{
	uint64_t *left = p_is_kept() ? &t->left : &t->p;

	if (rt.ctl->remaining == 0 || rt.boot.countbytes == 0 || t->skips)
		return;
	queue_interval(t);
	*left = buffer_span();
}

/* Canonical: all upper bits of the address are equal. */
static bool
is_canonical(uint64_t pc)
{
	int64_t s = (int64_t)pc >> (rt.boot.addrbits - 1);

	return s == 0 || s == -1;
}

/*
 * The indirect exit that the thread left by: from its last record or, where
 * there are no records, from the number it stored.  ~0: unknown.
 */
static uint32_t
last_exit(struct tarea *t)
{
	uint32_t i, n = __atomic_load_n(&rt.ctl->nexit, __ATOMIC_ACQUIRE);
	uint32_t head = 0;
	uint64_t at;

	if (rt.boot.countbytes != 0 || t->skips || rt.bufs == 0)
		return (uint32_t)t->exitno;
	if (t->bufend == 0)
		return ~0u;
	for (at = t->from; at < t->p; at += record_size(record_nvalues(head)))
		head = *(uint32_t *)at;
	for (i = 0; i < n; i++)
		if (rt.exits[i].kind == EXIT_INDIRECT && rt.exits[i].id == head)
			return i;
	return ~0u;
}

/* A transfer to a non-canonical address faults at the transfer: undo it. */
static void
undo_transfer(struct tarea *t)
{
	uint32_t number = last_exit(t);
	struct exitmeta x;

	if (number == ~0u)
		return;
	x = exit_at(number);
	t->pc = x.target;
	t->gpr[4] += (uint64_t)(int64_t)(int32_t)x.aux;
	state_untell(t, &x);
	branches_undo(t, &x);
	signal_raise(t, SIG_SEGV, SI_KERNEL, 0);
}

/*
 * The lookup word of t->pc led elsewhere: have rt_again's word lead to cache
 * address `to', and return that word; NULL: there is none for this pc.
 */
static uint64_t *
set_again(struct tarea *t, uint64_t to)
{
	unsigned zone = to - rt.zone[1] < rt.zonesize[1];
	uint64_t word = again_word(t->pc, (uint32_t)(to - rt.place[zone]));

	if (word == 0)
		return NULL;
	__atomic_store_n(&rt.ibl[again_at(t->pc)], word, __ATOMIC_SEQ_CST);
	return &rt.ibl[again_at(t->pc)];
}

/* Indirect jumps will find the code at t->pc by its lookup word. */
static void
set_lookup(struct tarea *t)
{
	unsigned mode = t->skips == SKIP_OUT ? MODE_OUT : MODE_IN;
	uint32_t owner = contexts_owner(t);
	uint64_t key = tab_key(t->pc, mode);
	const uint32_t *found = find(key, owner);
	uint64_t e, k = (t->pc + owner_key(owner)) % IBL_WORDS, to, was;
	uint64_t *again = NULL;

	if (found == NULL || (owner != 0 && !(owner_of(found) & PLAIN_JUMP)))
		return;
	e = entry_of(found);
	if (e == 0 || entry_prologue(e) == 0)
		return;
	k += mode == MODE_OUT ? IBL_WORDS : 0;
	to = entry_address(e) - entry_prologue(e);
	was = __atomic_exchange_n(&rt.ibl[k], to, __ATOMIC_SEQ_CST);
	if (was != (uint64_t)rt_miss && was != to && owner == 0 &&
	    rt.ctl->windows == 0)
		again = set_again(t, to);
	/* trace empties the entry of the table in use first, then the words */
	if (lookup(key, owner) == e)
		return;
	rt.ibl[k] = (uint64_t)rt_miss;
	if (again != NULL)
		*again = 0;
}

/* The thread has left the cache by the assembler. */
static void
left(struct tarea *t)
{
	if (p_is_guests())
		t->gpr[REG_P] = t->p;
}

#define JUMPS_SEEN 64u	/* jumps that are calls for each request */

/* The indirect jump at exit t->exitno is a call: see REQ_JUMPS. */
static void
jump_called(struct tarea *t, const struct exitcall *c)
{
	uint64_t arg[4] = { t->exitno, t->gen, 0, 0 };

	if (!c->looks && ++t->jumps % JUMPS_SEEN == 0)
		ask(t, REQ_JUMPS, arg);
}

/* Out of the cache by an indirect transfer that the lookup words missed. */
void
dispatch_miss(struct tarea *t)
{
	struct exitmeta x;
	const struct exitcall *c = contexts_owner(t) == 0 ? NULL :
	    contexts_exit((uint32_t)t->exitno);
	bool jump = c != NULL && c->move == MOVE_IJUMP;
	const uint32_t *e;

	left(t);
	if (c != NULL)
		x = exit_at(t->exitno);
	if (jump)
		t->pc -= owner_key(contexts_owner(t));
	if (!is_canonical(t->pc)) {
		undo_transfer(t);
		c = NULL;
	}
	if (jump && c != NULL) {
		e = find(tab_key(t->pc, MODE_IN), contexts_owner(t));
		jump = e == NULL || !(owner_of(e) & PLAIN_JUMP);
	}
	if (c != NULL && (jump || c->move != MOVE_IJUMP))
		contexts_left(t, &x, c);
	t->slot->incache = 0;
	t->slot->nmissed++;
	signal_unhold(t);
	interval(t);
	window_counted(t);
	window_returned(t);
	if (jump && c != NULL)
		jump_called(t, c);
	dispatch_go(t, BY_LOOKUP);
	set_lookup(t);
}

#define UNLINKED 8u	/* calls by arcs without code for each request */

/*
 * At a call whose frame is there, but no code of its target.  Where the thread
 * has made the arc, trace will link it with the next request.
 */
void
dispatch_called(struct tarea *t)
{
	uint64_t arc = contexts_top(t)->arc / 16;
	bool is_due = ++t->unlinked % UNLINKED == 0;

	t->pc = contexts_arc(t)->target;
	t->slot->incache = 0;
	signal_unhold(t);
	interval(t);
	window_counted(t);
	dispatch_go(t, is_due ? CALLED | arc : ~0ull);
}

void
dispatch_resume(struct tarea *t)
{
	t->slot->incache = 0;
	dispatch_go(t, ~0ull);
}

/* There was no valid instruction; its bytes may have changed since. */
static void
refuse(struct tarea *t, const struct exitmeta *x)
{
	uint64_t arg[4] = { SAY_REFUSED, x->target, contexts_owner(t), 0 };

	if (t->pending)
		return;
	if (ask(t, REQ_SAY, arg) < 0 || t->slot->ret[0] == REFUSED_LETGO)
		let_go(t);
	if (t->slot->ret[0] != REFUSED_NATIVE)
		return;
	t->unknown = x->target;
	go_native(t);
}

/* Execute the instruction of exit x natively; a fault undoes its record. */
static void
do_native(struct tarea *t, const struct exitmeta *x)
{
	t->told = *x;
	go_native(t);
}

/*
 * lret, iret: aux holds bytes of an operand and what the count adds.  What
 * faults, leads to 32-bit code or has another stack segment is the processor's
 * own.
 */
static void
far_return(struct tarea *t, const struct exitmeta *x)
{
	uint64_t v[5] = { 0, 0, 0, 0, 0 }, w = x->aux & 15;
	unsigned i, n = x->emulate == EMU_IRET ? 5 : 2;

	for (i = 0; i < n; i++)
		if (rt_copy(&v[i], (void *)(t->gpr[4] + i * w), w) < 0)
			v[1] = 0;
	if ((v[1] & 0xffff) != CS64 || (n == 5 && (v[4] & 0xffff) != SS64))
		do_native(t, x);
	t->pc = v[0];
	if (n == 5) {
		t->rflags = v[2];
		t->df = v[2] >> 10 & 1;
		t->gpr[4] = v[3];
	} else {
		t->gpr[4] += 2 * w + (x->aux >> 4);
	}
}

static void
emulate(struct tarea *t, const struct exitmeta *x)
{
	uint64_t v;

	if (emulated_inside(x->emulate))	/* see state_noted */
		return;
	switch (x->emulate) {
	case EMU_CPUID:
		if (cpuid_do(t) < 0) {
			t->pc -= 2;
			do_native(t, x);
		}
		break;
	case EMU_XGETBV:
		v = (uint32_t)t->gpr[1] == 0 ? rt.ctl->xcr0 : 0;
		t->gpr[0] = (uint32_t)v;
		t->gpr[2] = v >> 32;
		break;
	case EMU_LRET:
	case EMU_IRET:
		far_return(t, x);
		break;
	case EMU_NATIVE:
		do_native(t, x);
		break;
	case EMU_CLIENT:
		client_request(t);
		break;
	case EMU_XBEGIN:	/* a transaction that always aborts */
		t->gpr[0] = 0;
		break;
	default:
		panic("an exit that this version does not know");
	}
}

/*
 * Have trace look at code that is no longer the same, or may be trusted; once:
 * the MODE_ONCE of the fragment.
 */
static void
ask_about_code(struct tarea *t, const struct exitmeta *x, unsigned once)
{
	uint64_t arg[4] = { x->target, 0, 0, 0 };

	if (x->kind == EXIT_STALE) {
		arg[1] = window_mode(t) | once |
		    (uint64_t)contexts_owner(t) << 32;
		ask(t, REQ_STALE, arg);
		return;
	}
	t->samples[x->aux & 1] = SAMPLE_ENTRIES(x->aux & 1);
	ask(t, REQ_SAMPLE, arg);
}

/*
 * Do what the fragment was left for by exit x, out of the cache; nr: of a
 * system call, once: as above.
 */
static void
do_exit(struct tarea *t, const struct exitmeta *x, uint64_t nr, unsigned once)
{
	switch (x->kind) {
	case EXIT_INDIRECT:
	case EXIT_DIRECT:
		break;
	case EXIT_SYSCALL:
		syscall_do(t, x);
		signal_called(t, nr);
		signal_unhold(t);
		break;
	case EXIT_EMULATE:
		emulate(t, x);
		break;
	case EXIT_REFUSE:
	case EXIT_FAULT:
		refuse(t, x);
		break;
	case EXIT_WINDOW:
		window_exit(t);
		break;
	case EXIT_STALE:
	case EXIT_SAMPLE:
		ask_about_code(t, x, once);
		break;
	default:
		panic("an unknown exit");
	}
}

/* The thread left the cache at exit t->exitno. */
void
dispatch_exit(struct tarea *t)
{
	/* Copies: once out of the cache, a flush may reuse the tables. */
	struct exitmeta x = exit_at(t->exitno);
	struct exitcall c = *contexts_exit((uint32_t)t->exitno);
	/* calls go by arcs */
	uint64_t link = x.kind == EXIT_DIRECT && c.move == MOVE_NONE ?
	    t->exitno : ~0ull;
	unsigned once = t->held ? MODE_ONCE : 0;
	uint64_t nr = (uint32_t)t->gpr[0];

	left(t);
	state_noted(t, &x);
	t->df = t->rflags >> 10 & 1;
	t->rflags = (t->rflags & ~TRAP_FLAG) | (uint64_t)t->tf << 8;
	t->pc = x.target;
	if (x.kind != EXIT_SYSCALL || !signal_hold_call(t, nr))
		signal_unhold(t);
	if (x.kind == EXIT_SYSCALL && t->pending) {
		t->pc -= 2;	/* first the signal, then the call */
		state_untell(t, &x);
		x.kind = EXIT_INDIRECT;
		c.move = MOVE_NONE;
	}
	t->slot->incache = 0;
	if (interval(t))
		link = ~0ull;
	do_exit(t, &x, nr, once);
	contexts_left(t, &x, &c);
	if (t->tf && x.kind == EXIT_EMULATE && state_is_outside(&x))
		signal_raise(t, SIG_TRAP, TRAP_TRACE, t->pc);
	if (window_counted(t))
		link = ~0ull;
	dispatch_go(t, link);
}
