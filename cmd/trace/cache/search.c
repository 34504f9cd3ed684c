/*
 * search - find the path that a block takes most
 *
 * The formatter's sample (stream/sample.c) says by which exits blocks were
 * left.  From a block that came often, follow the exits taken most, from block
 * to block.  That is its PATH: a length, and a direction for each conditional
 * branch.  Its fragment is then made anew along the path (block_follow): over
 * taken branches, jumps, calls and their returns; small loops are unrolled.  An
 * indirect transfer goes on where its word leads now, as in a stub of linkage,
 * or to the block that mostly came behind it, if there is such a one: a
 * function's return to its only busy caller, say.  The fragment compares.
 *
 *	a: cmp; jne c   90 of 100 are left at the jne by id 7 = P 7 5 2
 *	...
 *	c: mov; jmp a	100 of 100 at the end: cmp, jne (taken), mov, jmp, cmp
 *
 * So the stream has fewer, longer lines, and the number of lines is what its
 * readers spend their time on; and the program takes fewer exits.  A path is
 * only a guess: the stream always says what really ran.
 */
#include <string.h>

#include "cache/cache.h"
#include "cache/kept.h"
#include "mem.h"
#include "stream/stream.h"
#include "xlate/xlate.h"

#define PER_SAMPLE 64u	/* counted executions that make one */
#define MIN_SAMPLES 3u	/* of a block, to know where it goes on */
#define WORTH 2048u	/* executions of one that a path for the next run
			 * begins with */

/* How many samples the block has of its exit behind n instructions. */
static uint32_t
samples_at(bool all, const struct def *d, unsigned n)
{
	uint32_t id = def_id(d, n);

	if (id == 0)
		return 0;
	if (opt->kind->records)
		return sample_count(id);
	return all ? recent_total(def_counter(d, n)) :
	    recent_count(def_counter(d, n)) / PER_SAMPLE;
}

/* How many it has of those behind more than k, up to UINT32_MAX. */
static uint32_t
samples_behind(bool all, const struct def *d, unsigned k)
{
	uint64_t sum = 0;
	unsigned n;

	for (n = k + 1; n <= def_length(d); n++)
		sum += samples_at(all, d, n);
	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

/* Has the block so many samples that it is known where it goes on? */
static bool
is_known(bool all, const struct def *d)
{
	unsigned per_sample = all ? PER_SAMPLE : 1;

	return d != NULL &&
	    samples_behind(all, d, 0) >= MIN_SAMPLES * per_sample;
}

/* Where a path may begin: behind k instructions of a block. */
struct origin {
	const struct def *d;
	unsigned k;
	app_pc pc;
	uint64_t flow;		/* how often the program came there, perhaps */
};

/* Those that a search by all of the run has still to go on from. */
#define MAX_ORIGINS 1024u
static struct {
	unsigned n;
	struct origin o[MAX_ORIGINS];
} beside;

/* The state of a search. */
struct search {
	bool all;		/* by all of the run, not by what is recent */
	app_pc head, pc;
	const struct def *d;	/* the block that we are in */
	unsigned k;		/* how many of its instructions are done */
	uint32_t rest;		/* samples that came this far */
	uint64_t flow;		/* of them those that came from the head */
	unsigned n, branches;	/* instructions and branches of the path */
	unsigned depth;		/* calls that have not returned */
	unsigned round;		/* instructions until the head came again */
	bool leaves;		/* it goes on in another block */
	app_pc back[MAX_CALLS];	/* their return addresses */
	uint64_t taken;
	unsigned nto;
	app_pc to[MAX_GUESSES];	/* of the path */
};

/*
 * In a search by all of the run: by a definition's number, how many samples
 * came by way of paths that have been found.
 */
static uint32_t *led;
static size_t capled;

static void
lead_to(const struct def *d, uint64_t n)
{
	uint32_t i = def_number(d);

	led = xgrow0(led, &capled, i + 1ul, sizeof *led);
	led[i] = n < UINT32_MAX - led[i] ? led[i] + (uint32_t)n : UINT32_MAX;
}

/* How many came by none. */
static uint32_t
samples_left(const struct def *d)
{
	uint32_t n = samples_behind(true, d, 0), i = def_number(d);

	return i >= capled ? n : n > led[i] ? n - led[i] : 0;
}

/* The path enters the block at pc; false: it ends before. */
static bool
enter_block(struct search *s, app_pc pc)
{
	struct def *d = def_at(pc);

	if (pc == s->head) {
		if (s->round == 0)
			s->round = s->n;
		if (s->n + s->round > MAX_INSN)
			return false;
	}
	if (!is_known(s->all, d) ||
	    (s->all && object_at(pc) != object_at(s->head)))
		return false;
	if (pc != s->head && s->all)
		lead_to(d, s->flow);
	else if (pc != s->head)
		def_pass(d);
	s->d = d;
	s->k = 0;
	s->rest = samples_behind(s->all, d, 0);
	s->pc = pc;
	s->leaves = true;
	return true;
}

/* What goes on where most of a and b do; returns what does not. */
static uint64_t
take_share(struct search *s, uint64_t a, uint64_t b)
{
	uint64_t was = s->flow;

	if (a + b != 0)
		s->flow = s->flow * (a > b ? a : b) / (a + b);
	return was - s->flow;
}

/* The program went on in the midst of the block as well, so often. */
static void
note_beside(const struct search *s, uint64_t flow)
{
	if (s->all && flow != 0 && beside.n < MAX_ORIGINS)
		beside.o[beside.n++] = (struct origin){ s->d, s->k, s->pc,
		    flow };
}

/* Take the branch in the direction of most samples; false: the path ends. */
static bool
follow_branch(struct search *s, const struct insn *in)
{
	uint64_t others;
	uint32_t t;

	if (s->branches == 64 || s->k == def_length(s->d) ||
	    def_id(s->d, s->k) == 0)
		return false;
	t = samples_at(s->all, s->d, s->k);
	t = t < s->rest ? t : s->rest;
	s->rest -= t;
	others = take_share(s, t, s->rest);
	if (t > s->rest) {
		note_beside(s, others);
		if (in->special == SP_SHORT || !enter_block(s, in->target))
			return false;
		s->taken |= 1ull << s->branches;
	}
	s->branches++;
	return true;
}

/* Where the block's last instruction mostly led, by the sample; 0: nowhere. */
static app_pc
mostly_to(struct search *s)
{
	uint32_t id = def_id(s->d, s->k);
	const struct def *d;

	if (s->all)
		return targets_follower(def_counter(s->d, s->k), &s->flow);
	if (!opt->kind->records)
		return recent_follower(def_counter(s->d, s->k));
	d = def_of(id == 0 ? 0 : sample_follower(id));
	return d == NULL ? 0 : def_pc(d);
}

/* Where a jump, call or return leads; 0: unknown. */
static app_pc
leads_to(struct search *s, const struct insn *in)
{
	app_pc target;

	if (in->flow == FLOW_JUMP || in->flow == FLOW_CALL)
		return in->target;
	if (in->flow == FLOW_RET && s->depth > 0)
		return s->back[--s->depth];
	if (s->nto == MAX_GUESSES || !block_passes(in))
		return 0;
	if (!block_word(in, &target))
		target = mostly_to(s);
	return s->to[s->nto++] = target;
}

/* Go over an instruction; false: the path ends behind it. */
static bool
step_over(struct search *s, const struct insn *in)
{
	app_pc target;

	s->n++;
	s->k++;
	s->pc = in->pc + in->len;
	if (in->special >= SP_EMULATE || in->emulate != 0)
		return false;
	switch (in->flow) {
	case FLOW_NONE:
		break;
	case FLOW_COND:
		if (!follow_branch(s, in))
			return false;
		break;
	case FLOW_SYSCALL:
		return false;
	default:
		target = leads_to(s, in);
		if (in->flow == FLOW_CALL || in->flow == FLOW_ICALL) {
			if (s->depth == MAX_CALLS)
				return false;
			s->back[s->depth++] = s->pc;
		}
		return target != 0 && enter_block(s, target);
	}
	return s->k < def_length(s->d) || enter_block(s, s->pc);
}

/* Find the path from o; false: it does not get out of its block. */
static bool
find_path(struct search *s, const struct origin *o, bool all, struct path *p)
{
	uint8_t code[CLIENT_BYTES];
	struct insn in;
	unsigned n;

	memset(s, 0, sizeof *s);
	s->all = all;
	s->head = s->pc = o->pc;
	s->d = o->d;
	s->k = o->k;
	s->rest = samples_behind(all, o->d, o->k);
	s->flow = o->flow;
	while (s->n < MAX_INSN) {
		n = maps_code(s->pc, code, sizeof code);
		if (n < MAX_LEN || block_decode(&in, s->pc, code, n) < 0 ||
		    !step_over(s, &in))
			break;
	}
	if (s->n == MAX_INSN && s->k < def_length(s->d))
		note_beside(s, s->flow);
	p->ninsn = (uint8_t)s->n;
	p->taken = s->taken;
	p->nto = (uint8_t)s->nto;
	memcpy(p->to, s->to, sizeof p->to);
	return s->leaves;
}

bool
search_pending(void)
{
	return opt->kind->records ? sample_pending() : recent_pending();
}

/* Find the path of block d; its pc, or 0. */
static app_pc
path_from(struct def *d)
{
	struct origin o = { .d = d };
	struct path p;
	struct search s;

	if (d == NULL || d != def_at(def_pc(d)) || maps_volatile(def_pc(d)))
		return 0;
	/* a new path covers it: sample it anew */
	if (def_was_passed(d))
		return 0;
	o.pc = def_pc(d);
	if (path_known(o.pc) || !find_path(&s, &o, false, &p))
		return 0;
	path_put(o.pc, &p);
	return o.pc;
}

app_pc
search_next(void)
{
	uint32_t counter;

	if (opt->kind->records)
		return path_from(def_of(sample_next()));
	counter = recent_next();
	return shelf_has(counter) ? kept_pc(counter) :
	    path_from(def_of(counter_id(counter)));
}

void
search_whole(app_pc pc, void (*found)(app_pc))
{
	const struct def *d = def_at(pc);
	struct origin o = { d, 0, pc, d == NULL ? 0 : samples_left(d) };
	struct path p;
	struct search s;

	if (o.flow < WORTH || maps_volatile(pc))
		return;
	beside.n = 0;
	beside.o[beside.n++] = o;
	while (beside.n > 0) {
		o = beside.o[--beside.n];
		if (path_known(o.pc))
			continue;
		if (o.flow >= WORTH && find_path(&s, &o, true, &p))
			path_put(o.pc, &p);
		else if (o.k == 0)
			continue;
		found(o.pc);
	}
}
