/*
 * recent - what ran often lately, where executions are counted
 *
 * Kinds with counters have no records that a sample could be taken of.  So the
 * serving thread looks at the counters now and then: what they gained since the
 * last look says which blocks run often, and by which exits they are left.
 * Where indirect exits lead is not counted; each stores its target in a cell of
 * its thread (leave.c).  Those that run often are SPOTS: between two looks
 * targets.c reads their cells, once a TICK: a sample of their targets.
 *
 * A block is called hot by the second look that finds it so, because targets of
 * its exits are known only then.  That is all that search.c asks for.  The less
 * is new the longer it is until the next look; and while much code is made,
 * none is taken.
 *
 * Everything here is a guess: a cell that two exits share, a count that its
 * thread steps while we read it, make a path that is worse, not a wrong one.
 */
#include <sys/mman.h>

#include "cache/cache.h"
#include "cache/kept.h"
#include "cache/parts.h"
#include "stream/stream.h"
#include "xlate/xlate.h"
#include "mem.h"

#define TICK_NS 500000
#define FIRST 22u		/* ticks until the first look, */
#define FIRST_KEPT 200u		/* where the store has paths already */
#define REST_LEAST 16u		/* until the next one */
#define REST_MOST 2000u
#define SHARE 50u		/* looks take a fiftieth of the time at most */
#define NEW_CODE 512u		/* fragments since the last look: too many */
#define HOT 4096u		/* executions since then */
#define FEW 1024u		/* of a thread's: not looked at meanwhile */
#define GAIN_MOST (1u << 30)
#define TRIES_MOST 9u
#define NHOT 512u
#define NSPOT 1024u
#define VOTES_LEAST 4u		/* these are few */

/* An indirect exit that runs often. */
struct spot {
	uint32_t exit;		/* its number */
	uint32_t counter;
	struct votes where;	/* it led, mostly */
};

static struct spot spot[NSPOT];
static unsigned nspot;		/* ever; the latest NSPOT are there */

/* What is known of a counter. */
static struct known {
	uint32_t was;		/* its low bits, at the last look */
	uint32_t gain;		/* the older the less it weighs */
	uint32_t total;		/* GAIN_MOST at most */
	uint32_t sum;		/* of all threads, at this look; else 0 */
	uint8_t tries;		/* how many looks found it hot */
	uint16_t spot;		/* index, + 1: perhaps that is its spot */
} *known;
static size_t capknown;

/* The counters of blocks that are hot, until search_next takes them. */
static uint32_t hot[NHOT];
static unsigned nhot;

static uint64_t due;		/* when the next tick is, in ns; 0: never yet */
static unsigned left, rest = REST_LEAST; /* ticks until a look */
static unsigned nlook;

static void
forget(void)
{
	if (capknown != 0)
		munmap(known, capknown * sizeof *known);
	known = NULL;
	capknown = 0;
}

void
recent_reset(void)
{
	nspot = nhot = 0;
	left = rest = REST_LEAST;
	forget();
}

uint32_t
recent_count(uint32_t counter)
{
	return counter < capknown ? known[counter].gain : 0;
}

uint32_t
recent_total(uint32_t counter)
{
	return counter < capknown ? known[counter].total : 0;
}

static struct spot *
spot_of(uint32_t counter)
{
	unsigned i = counter < capknown ? known[counter].spot : 0;

	return i != 0 && i <= nspot && spot[i - 1].counter == counter ?
	    &spot[i - 1] : NULL;
}

app_pc
recent_follower(uint32_t counter)
{
	const struct spot *s = spot_of(counter);

	return s == NULL ? 0 : votes_most(&s->where, VOTES_LEAST);
}

/* The indirect exit of this counter that fragment f has, or ~0. */
static uint32_t
indirect_exit(const struct frag *f, uint32_t counter)
{
	struct exitmeta e;
	uint32_t i;

	for (i = 0; i < f->nexit; i++) {
		e = exit_unpack(&area.exits[f->exit + i]);
		if (e.kind == EXIT_INDIRECT && e.id == counter)
			return f->exit + i;
	}
	return ~0u;
}

/* The spot of a counter of block d, made if it is of an indirect exit; NULL. */
static struct spot *
spot_for(const struct def *d, uint32_t counter)
{
	uint32_t f = table_find(key_for(def_pc(d), MODE_IN, 0)), exit;
	struct spot *s = spot_of(counter);

	if (f == 0 || s != NULL)
		return s;
	exit = indirect_exit(&frags[f - 1], counter);
	if (exit == ~0u)
		return NULL;
	known[counter].spot = (uint16_t)(nspot % NSPOT + 1);
	s = &spot[nspot++ % NSPOT];
	*s = (struct spot){ .exit = exit, .counter = counter };
	return s;
}

/* A counter of block d is hot: sample its targets, if it has several. */
static void
sample_targets(const struct def *d, uint32_t counter)
{
	struct spot *s = spot_for(d, counter);

	if (s != NULL && s->where.seen < VOTES_MOST)
		targets_sample(s->exit, &s->where);
}

/*
 * Is something to be done about a hot counter now?  A fragment of the store's
 * is made anew by the first look that finds it hot; else a search is due from
 * the second one on; either again after 1, 2, 4 ... looks, if it was in vain.
 */
static bool
is_due(uint32_t counter)
{
	unsigned n = known[counter].tries;

	return n == 0 ? shelf_has(counter) : nlook % (1u << (n - 1)) == 0;
}

/* Is it of a block that a path can begin with?  Then sample its targets. */
static bool
note_targets(uint32_t counter)
{
	struct def *d = def_of(counter_id(counter));

	if (d == NULL || d != def_at(def_pc(d)) || path_known(def_pc(d)))
		return false;
	sample_targets(d, counter);
	return true;
}

/* A counter gained much; returns whether it is to be seen how that goes on. */
static bool
note_hot(uint32_t counter)
{
	struct known *k = &known[counter];

	if (shelf_has(counter) ? kept_pc(counter) == 0 : !note_targets(counter))
		return false;
	if (is_due(counter) && nhot < NHOT)
		hot[nhot++] = counter;
	else if (k->tries > 0)
		return false;
	if (k->tries < TRIES_MOST)
		k->tries++;
	return true;
}

/* Take in a counter's sum; true: it has run often, in a way that is new. */
static bool
take(uint32_t counter, uint32_t sum)
{
	struct known *k = &known[counter];
	uint32_t d = sum - k->was;

	k->was = sum;
	if ((int32_t)d <= 0)		/* less: it was told meanwhile */
		return false;
	k->gain = k->gain / 2 + (d < GAIN_MOST ? d : GAIN_MOST);
	k->total = d < GAIN_MOST - k->total ? k->total + d : GAIN_MOST;
	return d >= HOT && note_hot(counter);
}

static void
add(uint32_t counter, uint64_t v)
{
	known[counter].sum += (uint32_t)v;
}

static bool is_new;		/* of this look */

/* Once for each counter, whatever threads stepped it. */
static void
take_sum(uint32_t counter, uint64_t v __attribute__((unused)))
{
	uint32_t sum = known[counter].sum;

	known[counter].sum = 0;
	if (sum != 0 && sum != known[counter].was && take(counter, sum))
		is_new = true;
}

/*
 * Look at the counters that a thread has stepped so often; true: something was
 * new. What is known of others takes no memory.
 */
static bool
look(uint64_t least)
{
	uint32_t n = counters_used();

	if (n > capknown) {
		forget();
		capknown = area.maxcount;
		known = xreserve(capknown, sizeof *known, "gains of counters");
	}
	nlook++;
	targets_sample_none();
	is_new = false;
	counters_each(n, least, add);
	counters_each(n, least, take_sum);
	return is_new;
}

void
recent_end(void)
{
	look(1);
}

bool
recent_pending(void)
{
	return nhot != 0;
}

uint32_t
recent_next(void)
{
	return hot[--nhot];
}

/* Were many fragments made since the last time?  Then it is too early. */
static bool
is_new_code(void)
{
	static uint32_t before;
	uint32_t n = nfrag - before;

	before = nfrag;
	return n >= NEW_CODE;
}

/* The ticks until the next look; this one, if it was one, took some ns. */
static unsigned
ticks_from(bool new, uint64_t ns)
{
	uint64_t least = ns * SHARE / TICK_NS + REST_LEAST;

	rest = new ? REST_LEAST : rest < REST_MOST / 2 ? 2 * rest : REST_MOST;
	return rest > least ? rest : least < REST_MOST ? (unsigned)least :
	    REST_MOST;
}

static void
do_tick(uint64_t t)
{
	bool new;

	targets_read_sampled();
	if (--left != 0)
		return;
	new = is_new_code() || look(FEW);
	left = ticks_from(new, clock_ns() - t);
}

/*
 * Where no spot is sampled, nothing is to be done until the next look.  So many
 * ticks from t on something is.
 */
static void
wait_ticks(uint64_t t)
{
	unsigned n = 1;

	if (!targets_any_sampled()) {
		n = left;
		left = 1;
	}
	due = t + (uint64_t)n * TICK_NS;
}

long
recent_look(long most)
{
	uint64_t t;

	if (!opt->kind->counters || !opt_makes_paths() ||
	    (opt->debug & DEBUG_LONG) || area_is_left())
		return most;
	t = clock_ns();
	if (due == 0) {
		left = kept.head != NULL ? FIRST_KEPT : FIRST;
		wait_ticks(t);
	}
	if (t >= due) {
		do_tick(t);
		wait_ticks(t);
	}
	return due - t < (uint64_t)most ? (long)(due - t) : most;
}
