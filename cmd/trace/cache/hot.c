/*
 * hot - blocks that run often go on along the way that they mostly take
 *
 * The formatter counts, in a sample of the records, how often each id was
 * told: an id says by which exit a block was left.  One that comes often makes
 * us look, in the serving thread, where its block and those behind it mostly
 * go: that is a PATH, a length and a direction for each conditional branch.
 * The fragment is made anew along it (block_follow): over branches that are
 * taken, jumps, calls, and their returns; small loops are unrolled.
 *
 *	a: cmp; jne c   90 of 100 are left at the jne by id 7 = P 7 5 2
 *	...
 *	c: mov; jmp a	100 of 100 at the end: cmp, jne (taken), mov, jmp, cmp
 *
 * That makes fewer and longer lines, which is what the readers of the stream
 * spend their time on, and fewer exits for the program.  A path is a guess:
 * whatever it says, what is told is what ran.
 */
#include <stdlib.h>
#include <string.h>

#include <htslib/khash.h>

#include "trace.h"
#include "util.h"
#include "xlate/xlate.h"

#define OFTEN 64u		/* samples of an id; a power of two */
#define ENOUGH 3u		/* samples of a block, to know where it goes */
#define RING 1024u
#define NID (1u << 24)

KHASH_MAP_INIT_INT64(path, struct path)

static khash_t(path) *paths;

/* Written by the formatter: samples of each id, and ids that came often. */
static uint16_t count[NID];
static uint32_t ring[RING];
static uint32_t put, taken;

int
hot_wanted(void)
{
	return opt.window <= KIND_BLOCKS && window_bits() == 0 &&
	    !(opt.debug & (DEBUG_NOSUPER | DEBUG_LONG));
}

/* In the formatter: the first of the records in [a, b). */
void
hot_sample(const uint32_t *a, const uint32_t *b)
{
	const uint32_t *end = a + 64 + (b - a) / 8;
	uint32_t id, n, at = put;

	if (!hot_wanted())
		return;
	for (end = end < b ? end : b; a < end; a += 1 + 2 * (*a >> 24)) {
		id = *a & (NID - 1);
		n = count[id];
		if (n == UINT16_MAX)
			continue;
		count[id] = (uint16_t)++n;
		if (n >= OFTEN && (n & (n - 1)) == 0 && at - __atomic_load_n(
		    &taken, __ATOMIC_ACQUIRE) < RING)
			ring[at++ % RING] = id;
	}
	if (at == put)
		return;
	__atomic_store_n(&put, at, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&area.ctl->serving_sleeps, __ATOMIC_SEQ_CST))
		serve_wake();
}

int
hot_pending(void)
{
	return __atomic_load_n(&put, __ATOMIC_SEQ_CST) != taken;
}

/* How often the block was told at all. */
static uint32_t
samples(const struct def *d)
{
	uint32_t sum = 0, id;
	unsigned n;

	for (n = 1; n <= def_length(d); n++)
		if ((id = def_id(d, n)) != 0)
			sum += count[id];
	return sum;
}

/* While we look where it mostly goes on. */
struct view {
	app_pc head, pc;
	const struct def *d;	/* the block that we are in */
	unsigned k;		/* instructions of it done */
	uint32_t rest;		/* samples that came this far */
	unsigned n, branches, depth;
	unsigned round;		/* instructions until the head came again */
	unsigned whole;		/* instructions, at the end of the last block; 0: none */
	app_pc back[MAX_CALLS];
	uint64_t taken;
};

static int
on_at(struct view *l, app_pc pc)
{
	struct def *d = def_at(pc);

	if (pc == l->head) {
		if (l->round == 0)
			l->round = l->n;
		if (l->n + l->round > MAX_INSN)
			return 0;
	}
	if (d == NULL || samples(d) < ENOUGH)
		return 0;
	if (pc != l->head)
		def_pass(d);
	l->d = d;
	l->k = 0;
	l->rest = samples(d);
	l->pc = pc;
	l->whole = l->n;
	return 1;
}

static int
at_branch(struct view *l, const struct insn *in)
{
	uint32_t id = def_id(l->d, l->k), t;

	if (l->branches == 64 || l->k == def_length(l->d) || id == 0)
		return 0;
	t = count[id] < l->rest ? count[id] : l->rest;
	l->rest -= t;
	if (t > l->rest) {
		if (in->special == SP_SHORT || !on_at(l, in->target))
			return 0;
		l->taken |= 1ull << l->branches;
	}
	l->branches++;
	return 1;
}

/* Behind the instruction; 0: the path ends here. */
static int
look_on(struct view *l, const struct insn *in)
{
	l->n++;
	l->k++;
	l->pc = in->pc + in->len;
	if (in->special >= SP_EMULATE || in->emulate != 0)
		return 0;
	switch (in->flow) {
	case FLOW_NONE:
		break;
	case FLOW_COND:
		if (!at_branch(l, in))
			return 0;
		break;
	case FLOW_JUMP:
		return on_at(l, in->target);
	case FLOW_CALL:
		if (l->depth == MAX_CALLS)
			return 0;
		l->back[l->depth++] = l->pc;
		return on_at(l, in->target);
	case FLOW_RET:
		return l->depth > 0 && on_at(l, l->back[--l->depth]);
	default:
		return 0;
	}
	return l->k < def_length(l->d) || on_at(l, l->pc);
}

static int
find_path(struct view *l, const struct def *d, struct path *p)
{
	uint8_t code[15];
	struct insn in;

	memset(l, 0, sizeof *l);
	l->head = l->pc = def_pc(d);
	l->d = d;
	l->rest = samples(d);
	while (l->n < MAX_INSN) {
		if (maps_code(l->pc, code, sizeof code) < sizeof code ||
		    decode_again(&in, l->pc, code, sizeof code) < 0 ||
		    !look_on(l, &in))
			break;
	}
	/* no more than it can be: then up to where a block begins, that is known */
	p->ninsn = (uint8_t)(l->n < MAX_INSN ? l->n : l->whole);
	p->taken = l->taken;
	return l->whole != 0;
}

/* One id that came often: 1 if there was one. */
int
hot_work(void)
{
	struct path p;
	struct view l;
	struct def *d;
	khiter_t k;
	int new;

	if (!hot_pending())
		return 0;
	d = def_of(ring[taken % RING]);
	__atomic_store_n(&taken, taken + 1, __ATOMIC_RELEASE);
	if (d == NULL || d != def_at(def_pc(d)) || maps_volatile(def_pc(d)))
		return 1;
	if (def_was_passed(d))		/* by who came first, perhaps */
		return 1;
	if (paths == NULL)
		paths = kh_init(path);
	if (kh_get(path, paths, def_pc(d)) != kh_end(paths) ||
	    !find_path(&l, d, &p))
		return 1;
	k = kh_put(path, paths, def_pc(d), &new);
	kh_value(paths, k) = p;
	frag_again(def_pc(d));
	return 1;
}

/* Half of all samples, so that it must come often once more. */
void
hot_forget_some(uint32_t id)
{
	count[id] /= 2;
}

void
hot_forget(app_pc pc)
{
	khiter_t k;

	if (paths == NULL)
		return;
	k = kh_get(path, paths, pc);
	if (k != kh_end(paths))
		kh_del(path, paths, k);
}

void
hot_forget_all(void)
{
	if (paths != NULL)
		kh_clear(path, paths);
}

/* For tests: along anything, to the greatest length. */
static const struct path *
any_path(app_pc pc)
{
	static struct path p;

	p.ninsn = MAX_INSN;
	p.taken = pc * 0x9e3779b97f4a7c15ull;
	return &p;
}

const struct path *
hot_path(app_pc pc)
{
	khiter_t k;

	if (opt.kind > KIND_BLOCKS || window_bits() != 0)
		return NULL;
	if (opt.debug & DEBUG_LONG)
		return any_path(pc);
	if (paths == NULL)
		return NULL;
	k = kh_get(path, paths, pc);
	return k == kh_end(paths) ? NULL : &kh_value(paths, k);
}
