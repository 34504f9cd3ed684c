/*
 * dead - what processes leave undone that were killed
 *
 * A process that shares the program's memory can be killed alone, at any
 * instruction.  If it had taken a place in the queue, nobody fills that place.
 * If it was taking a buffer or handing one over, the buffer may be counted
 * wrong, or belong to nobody.  So before a thread does either it sets `putting'
 * in its slot.
 *
 * The formatter looks for the dead, since it has to go on where nobody else
 * can.  It buries a dead thread when it has passed all places that this one can
 * have taken.
 */
#include <string.h>

#include "stream/parts.h"
#include "stream/stream.h"

#define LOOK_NS 100000000u	/* from one look for them to the next */

static bool dead[NSLOT];	/* and not buried yet */
static uint32_t until[NSLOT];	/* a dead one has no place from here on */
static uint64_t since[NSLOT];	/* ns: it is dead, or its request is taken up */
static unsigned ndead;

static bool
is_due(void)
{
	static uint64_t last;
	uint64_t now = clock_ns();

	if (now - last < LOOK_NS)
		return false;
	last = now;
	return true;
}

void
dead_find(bool at_once)
{
	uint32_t i, n = ONCE(area.ctl->sharing);
	const struct slot *s = area.ctl->slot;

	if (n == 0 || (!at_once && !is_due()))
		return;
	for (i = 0; i < n && i < NSLOT; i++) {
		if (dead[i] || ONCE(s[i].used) != SLOT_TAKEN ||
		    ONCE(s[i].pid) == (uint32_t)guest.pid ||
		    !slot_is_dead(&s[i]))
			continue;
		dead[i] = true;
		ndead++;
		since[i] = clock_ns();
		until[i] = __atomic_load_n(&area.ctl->qtail, __ATOMIC_SEQ_CST);
	}
}

/*
 * Is the serving thread done with what the dead one asked for?  If nobody has
 * told it of that, we do; but it is to do nothing.
 */
static bool
is_answered(unsigned slot)
{
	struct slot *s = &area.ctl->slot[slot];

	if (__atomic_load_n(&s->state, __ATOMIC_SEQ_CST) != SLOT_ASKED)
		return true;
	if (clock_ns() - since[slot] < LOOK_NS)
		return false;
	since[slot] = clock_ns();
	s->what = REQ_NONE;
	__atomic_fetch_or(&area.ctl->want[slot / 64], 1ull << slot % 64,
	    __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&area.ctl->wanted, 1ull << slot / 64,
	    __ATOMIC_SEQ_CST);
	bell_ring();
	return false;
}

unsigned
dead_next(uint32_t qhead)
{
	unsigned i;

	if (ndead == 0)
		return NSLOT;
	for (i = 0; i < NSLOT; i++)
		if (dead[i] && (int32_t)(qhead - until[i]) >= 0 &&
		    is_answered(i)) {
			dead[i] = false;
			ndead--;
			return i;
		}
	return NSLOT;
}

bool
dead_are_buried(uint32_t qhead)
{
	unsigned i;

	for (i = 0; i < NSLOT && ndead > 0; i++)
		if (dead[i] && (int32_t)(qhead - until[i]) < 0)
			return false;
	return true;
}

void
dead_reset(void)
{
	memset(dead, 0, sizeof dead);
	ndead = 0;
}

/* What a slot's thread puts: 0: not this place; PUT_BEGUN: perhaps it. */
static uint32_t
puts_at(const struct slot *s, uint32_t ticket)
{
	uint32_t n = __atomic_load_n(&s->putting, __ATOMIC_ACQUIRE);

	if (n <= PUT_BEGUN)
		return n;
	return ticket - ONCE(s->ticket) < n - PUT_BEGUN ? n : 0;
}

/*
 * Whoever took the place has said so before.  One that lives will say in a
 * moment which place it took, and then fill it: so we wait for that.
 */
bool
dead_took(uint32_t ticket)
{
	const struct slot *s = area.ctl->slot;
	bool found = false;
	uint32_t puts;
	unsigned i;

	if (ndead == 0)
		return false;
	for (i = 0; i < NSLOT; i++, s++) {
		if (ONCE(s->used) != SLOT_TAKEN)
			continue;
		puts = puts_at(s, ticket);
		if (puts != 0 && !dead[i])
			return false;
		if (puts > PUT_BEGUN)
			return true;
		found |= puts != 0;
	}
	return found;
}

/* ---------------------------------------------------------- buffers */

static bool owing;		/* counts and buffers may have to be settled */

void
dead_owes(void)
{
	owing = true;
}

/* Note buffer n - 1, of a slot. */
static void
hold(uint32_t *held, uint32_t n)
{
	if (n > 0 && n <= NBUF)
		held[(n - 1) / 32] |= 1u << (n - 1) % 32;
}

/* The buffers that slots hold; false: one takes or hands over something. */
static bool
find_held(uint32_t *held)
{
	const struct slot *s = area.ctl->slot;
	unsigned i;

	for (i = 0; i < NSLOT; i++, s++) {
		if (ONCE(s->used) != SLOT_TAKEN)
			continue;
		if (__atomic_load_n(&s->putting, __ATOMIC_SEQ_CST) != 0)
			return false;
		hold(held, __atomic_load_n(&s->buf, __ATOMIC_SEQ_CST));
		hold(held, __atomic_load_n(&s->turned, __ATOMIC_SEQ_CST));
	}
	return true;
}

/* Make those free that are nobody's; how many are somebody's. */
static uint32_t
free_others(const uint32_t *taken, const uint32_t *held)
{
	struct control *c = area.ctl;
	uint32_t i, n = area.boot.seg[SEG_BUFFERS].size / BUF_STRIDE, count = 0;

	for (i = 0; i < n; i++) {
		count += held[i / 32] >> i % 32 & 1;
		if (!((taken[i / 32] & ~held[i / 32]) >> i % 32 & 1))
			continue;
		memset(area.bufs + i * (size_t)BUF_STRIDE, 0, BUF_SIZE);
		__atomic_fetch_or(&c->freemask[i / 32], 1u << i % 32,
		    __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&c->freed, 1, __ATOMIC_SEQ_CST);
	}
	return count;
}

/* A count is what we have found, unless it has changed since it was read. */
static bool
set_count(uint32_t *count, uint32_t was, uint32_t is)
{
	return __atomic_compare_exchange_n(count, &was, is, false,
	    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/*
 * The queue is empty, so no buffer is full, and each is free or some slot's.
 * What is read first is of no use if a thread does something in between, but
 * then its slot says so, or the queue is not empty any more.
 */
void
dead_settle(uint32_t qhead)
{
	uint32_t held[NBUF / 32] = { 0 }, taken[NBUF / 32], full, inuse;
	struct control *c = area.ctl;
	unsigned i;

	if (!owing)
		return;
	for (i = 0; i < NBUF / 32; i++)
		taken[i] = ~__atomic_load_n(&c->freemask[i], __ATOMIC_SEQ_CST);
	full = __atomic_load_n(&c->nfull, __ATOMIC_SEQ_CST);
	inuse = __atomic_load_n(&c->inuse, __ATOMIC_SEQ_CST);
	if (!find_held(held) ||
	    __atomic_load_n(&c->qtail, __ATOMIC_SEQ_CST) != qhead)
		return;
	owing = !set_count(&c->inuse, inuse, free_others(taken, held));
	owing |= !set_count(&c->nfull, full, 0);
}
