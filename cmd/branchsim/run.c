/*
 * run - turn executions into branches and predict them
 *
 * A block has a list of branches. The block says where those inside it went;
 * the last branch of an execution waits until its thread goes on. All threads
 * share one predictor, but each has its own return stack.
 *
 * Only mispredictions are counted here: how often a branch was executed
 * follows from the executions.
 */
#include "branchsim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

/* A block's branches. */
struct block_branches {
	uint32_t first, n;	/* branch[] */
};

struct sim_outcome *found;
unsigned nfound;

static struct evr *events;
static const struct predictor *predictor;
static bool with_rounds;
static struct block_branches *blocks;
static struct branch_thread *thread;
static size_t capblock, capfound, capthread;
static uint32_t nblock;
static unsigned nthread;

void
run_init(struct evr *r, const struct predictor *p, bool rounds)
{
	events = r;
	predictor = p;
	with_rounds = rounds;
	p->init();
	branch_init();
	run_thread(0, (struct thread_name){ 0 });
}

void
run_thread(unsigned t, struct thread_name name)
{
	thread = xgrow0(thread, &capthread, t + 1, sizeof *thread);
	if (t >= nthread)
		nthread = t + 1;
	thread[t].name = name;
	branch_thread = &thread[t];
	stack_thread = t;
}

/* ---- definitions ---- */

static bool
is_repeated(const struct ev_block *b, const struct ev_insn *i)
{
	for (unsigned k = 0; k < i->nref; k++)
		if (b->ref[i->ref + k].count != 0)
			return true;
	return false;
}

/* The branches that the predictor has to see. */
static bool
matters(const struct ev_insn *i)
{
	switch (i->flow) {
	case 'C':
	case 'I':
	case 'X':
		return true;
	case 'L':
	case 'R':
		return predictor->ret != NULL;
	}
	return false;
}

static void
define_block(struct ev_block *b)
{
	struct block_branches *of;
	bool repeats = false;

	blocks = xgrow(blocks, &capblock, nblock + 1, sizeof *blocks);
	of = &blocks[nblock++];
	of->first = branch_count;
	for (uint32_t k = 0; k < b->ninsn; k++) {
		const struct ev_insn *i = &b->insn[k];
		struct branch *br;
		bool z = with_rounds && is_repeated(b, i);

		if (!z && !matters(i))
			continue;
		br = branch_new();
		br->addr = i->addr;
		br->len = i->len;
		br->insn = (uint16_t)k;
		br->flow = z ? 'Z' : i->flow;
		if (k + 1 < b->ninsn)
			br->target = i[1].addr;
		br->taken = br->target != branch_behind(br);
		if (i->flow == 'C')
			br->target = b->target[i->target];
		if (z) {
			br->target = i->addr;
			branch_tests_new(b);
		}
		br->is_cond = br->flow == 'C' || br->flow == 'Z';
		repeats |= z;
	}
	if (repeats) {
		ev_keep(events, b);
		b->value = xcalloc(b->ngroups, sizeof *b->value);
	}
	of->n = branch_count - of->first;
	batch_define_block(of->first, of->n);
}

void
run_define(const struct ev_def *d, uint32_t id)
{
	const struct block_branches *of;
	struct branch_unit *u;

	if (d->letter == 'Q')
		return;
	if (d->letter == 'B')
		define_block(d->block);
	of = &blocks[d->block->number - 1];
	u = &branch_unit[id];
	u->entry = d->block->insn[0].addr;
	u->first = of->first;
	for (uint32_t k = of->first; k < of->first + of->n; k++) {
		const struct branch *br = &branch[k];
		bool waits = br->insn == d->n - 1 && br->flow != 'Z' &&
		    br->flow != 'L';

		if (br->insn >= d->n)
			break;
		if (waits)
			u->waits = true;
		else
			u->ninner++;
		if (br->flow == 'Z')
			u->counts = true;
		u->tests = br->flow == 'Z' && br->insn == d->n - 1;
	}
	batch_define(u);
}

/* ---- branches ---- */

static void
note(uint32_t insn, unsigned event, uint64_t n)
{
	found = xgrow(found, &capfound, nfound + 1, sizeof *found);
	found[nfound++] = (struct sim_outcome){ insn, event, n };
}

/* A branch that repeats. */
struct test {
	uint64_t addr, missed;
	uint64_t kept[2];
};

static int
test_round(void *what)
{
	struct test *t = what;

	t->missed += predictor->cond(t->addr, true);
	return 0;
}

static void
test_keep(void *what, int level)
{
	struct test *t = what;

	t->kept[level] = t->missed;
}

static bool
test_add(void *what, int level, uint64_t times, uint64_t rounds)
{
	struct test *t = what;

	(void)rounds;
	t->missed += (t->missed - t->kept[level]) * times;
	return true;
}

/* Take a branch n times; return how often it is mispredicted. */
static uint64_t
goes_back(uint64_t addr, uint64_t n)
{
	struct test t = { .addr = addr };
	const struct branch_repeat r = { predictor, 1, &t, test_round,
	    test_keep, test_add };

	repeat(&r, n);
	return t.missed;
}

/*
 * What Valgrind makes of `rep': see the page.  True: it compares, and where its
 * thread goes on says how its last test came out.
 */
static bool
rounds(struct branch *br, bool waits)
{
	struct branch_tests *t = branch_tests((uint32_t)(br - branch));
	const struct ev_block *b = t->block;
	const struct ev_insn *i = &b->insn[br->insn];
	uint64_t n = 0, missed;
	bool writes = false;

	for (unsigned k = 0; k < i->nref; k++) {
		const struct ev_ref *r = &b->ref[i->ref + k];

		writes |= r->kind != 'r';
		if (r->count != 0)
			n = b->value[r->count - 1];
	}
	if ((int64_t)n < 0)
		n = -n;
	waits &= !writes && n != 0;
	missed = goes_back(br->addr, writes || n == 0 ? n : 2 * n - 1);
	if (!waits)
		missed += predictor->cond(br->addr, false);
	t->fetches += writes ? n : n - (n != 0);
	n = writes || n == 0 ? n + 1 : 2 * n;
	t->times += n;
	branch_missed[br - branch] += missed;
	note(br->insn, BC, n);
	if (missed != 0)
		note(br->insn, BCM, missed);
	return waits;
}

static void
missed(struct branch *br)
{
	branch_missed[br - branch]++;
	if (br->free)
		return;
	note(br->insn, br->is_cond ? BCM : br->flow == 'R' ? BRM : BIM, 1);
}

/* Nearly all branches are conditional, and nearly all runs want this one. */
static inline bool
conditional(uint64_t addr, bool taken)
{
	return predictor == &cachegrind ? predict_cachegrind(addr, taken) :
	    predictor->cond(addr, taken);
}

/* A branch whose outcome is part of the block. */
static inline void
inner(struct branch *br)
{
	bool wrong = false;

	if (__builtin_expect(br->flow == 'C', 1)) {
		if (conditional(br->addr, br->taken))
			missed(br);
		return;
	}
	switch (br->flow) {
	case 'I':
		wrong = predictor->indirect(br->addr, br->target);
		break;
	case 'L':
		stack_call(branch_behind(br));
		break;
	case 'R':
		wrong = predictor->ret(br->target);
		break;
	case 'X':
		wrong = predictor->indirect(br->addr, br->target);
		if (predictor->ret != NULL)
			stack_call(branch_behind(br));
		break;
	}
	if (__builtin_expect(wrong, 0))
		missed(br);
}

/* Decide the branch that waited: its thread goes on at pc. */
static inline int
resolve(struct branch *br, uint64_t pc)
{
	uint64_t behind;
	bool wrong, taken;

	switch (br->flow) {
	case 'C':
		behind = branch_behind(br);
		taken = pc == br->target && pc != behind;
		if (__builtin_expect(!taken && pc != behind, 0))
			return ev_bad(events, "the branch at %" PRIx64 " to %"
			    PRIx64 " went on at %" PRIx64, br->addr,
			    br->target, pc);
		wrong = conditional(br->addr, taken);
		break;
	case 'Z':	/* it is interrupted, or tests its count once more */
		wrong = conditional(br->addr, pc == br->addr);
		break;
	case 'R':
		wrong = predictor->ret(pc);
		break;
	default:
		wrong = predictor->indirect(br->addr, pc);
		if (br->flow == 'X' && predictor->ret != NULL)
			stack_call(branch_behind(br));
	}
	if (__builtin_expect(wrong, 0))
		missed(br);
	return 0;
}

int
run_goes_on(uint64_t pc)
{
	uint32_t open = branch_thread->open;

	nfound = 0;
	branch_thread->open = 0;
	return open == 0 ? 0 : resolve(&branch[open], pc);
}

/* The thread does not go on.  True: a conditional branch was open. */
static bool
stops(struct branch_thread *t)
{
	uint32_t open = t->open;

	nfound = 0;
	t->open = 0;
	if (open == 0 || !branch[open].is_cond)
		return false;
	resolve(&branch[open], branch_behind(&branch[open]));
	return true;
}

void
run_stops(void)
{
	stops(branch_thread);
}

bool
run_end(struct thread_name *name)
{
	static unsigned next;
	unsigned t;

	while (next < nthread) {
		t = next++;
		*name = thread[t].name;
		if (stops(&thread[t]))
			return true;
	}
	next = 0;
	return false;
}

/* Each thread waits at a copy of its branch, which no block has. */
void
run_forget(void)
{
	for (unsigned t = 0; t < nthread; t++) {
		uint32_t k = thread[t].open, copy = branch_count;

		if (k == 0)
			continue;
		branch_new();
		branch[copy] = branch[k];
		branch[copy].free = true;
		batch_define_block(copy, 1);
		thread[t].open = copy;
	}
}

/* ---- executions ---- */

/* Those of a unit with repeated instructions. */
static __attribute__((noinline)) void
counted_branches(struct branch_unit *u, const uint64_t *rec)
{
	struct branch *br = &branch[u->first];

	ev_apply(ev_def(events, ev_id(*rec)), rec + 1);
	branch_thread->open = branch_last(u);
	for (uint32_t k = 0; k < u->ninner; k++)
		if (br[k].flow != 'Z')
			inner(br + k);
		else if (rounds(br + k, u->tests && k + 1 == u->ninner))
			branch_thread->open = u->first + k;
}

static inline void
own_branches(struct branch_unit *u, const uint64_t *rec)
{
	struct branch *br = &branch[u->first];

	if (__builtin_expect(u->counts, 0)) {
		counted_branches(u, rec);
		return;
	}
	for (uint32_t k = 0; k < u->ninner; k++)
		inner(br + k);
	branch_thread->open = branch_last(u);
}

int
run_before(const uint64_t *rec)
{
	return run_goes_on(branch_unit[ev_id(*rec)].entry);
}

void
run_round(const uint64_t *rec)
{
	struct branch_unit *u = &branch_unit[ev_id(*rec)];

	nfound = 0;
	u->count++;
	own_branches(u, rec);
}

/* Run one round; the caller counts it. */
static int
one_round(const uint64_t *rec)
{
	struct branch_unit *u = &branch_unit[ev_id(*rec)];
	uint32_t open = branch_thread->open;

	nfound = 0;
	if (open != 0 && resolve(&branch[open], u->entry) < 0)
		return -1;
	own_branches(u, rec);
	return 0;
}

static int
all_rounds(const uint64_t *rec)
{
	struct run_many m = { .rec = rec, .one = one_round };
	uint64_t n = ev_more(rec) + 1;

	branch_unit[ev_id(*rec)].count += n;
	if (n > REPEAT_FIRST)
		return run_many(&m, n);
	do
		if (one_round(rec) < 0)
			return -1;
	while (--n > 0);
	return 0;
}

const uint64_t *run_refused;

/* All executions of a record, by any predictor. */
static int
run_record(const uint64_t *rec)
{
	if (all_rounds(rec) == 0)
		return 0;
	run_refused = rec;
	return -1;
}

int
run_batch(const uint64_t *rec, const uint64_t *end)
{
	if (predictor == &cachegrind)
		return batch_run(rec, end, run_record);
	for (; rec < end; rec = ev_skip(rec))
		if (run_record(rec) < 0)
			return -1;
	return 0;
}

void
run_counted(const uint64_t *rec, uint64_t rounds)
{
	branch_unit[ev_id(*rec)].count += rounds;
}

/* ---- sums ---- */

void
run_sum(uint32_t id, uint64_t n)
{
	branch_unit[id].count += n;
}

int
run_missed(uint32_t block, uint32_t insn, uint64_t n)
{
	const struct block_branches *of = &blocks[block];

	for (uint32_t k = of->first; k < of->first + of->n; k++)
		if (branch[k].insn == insn) {
			branch_missed[k] += n;
			return 0;
		}
	return -1;
}

/* ---- many rounds ---- */

/* What its block's branches had counted. */
static struct kept {
	struct branch_tests *tests;
	uint64_t *missed, told;
	size_t captests, capmissed;
} kept[2];

static const struct block_branches *
branches_of(const struct run_many *m)
{
	const struct ev_def *d = ev_def(events, ev_id(*m->rec));

	return &blocks[d->block->number - 1];
}

static int
many_round(void *what)
{
	const struct run_many *m = what;

	return m->one(m->rec);
}

static void
many_keep(void *what, int level)
{
	const struct run_many *m = what;
	const struct block_branches *of = branches_of(m);
	const struct branch_tests *t = branch_tests(of->first);
	const struct branch_tests *end = branch_tests(of->first + of->n);
	struct kept *k = &kept[level];

	k->tests = xgrow(k->tests, &k->captests, (size_t)(end - t) + 1,
	    sizeof *t);
	k->missed = xgrow(k->missed, &k->capmissed, of->n + (size_t)1,
	    sizeof *branch_missed);
	memcpy(k->tests, t, (size_t)(end - t) * sizeof *t);
	memcpy(k->missed, &branch_missed[of->first],
	    of->n * sizeof *branch_missed);
	if (m->told != NULL)
		k->told = *m->told;
}

static bool
many_add(void *what, int level, uint64_t times, uint64_t rounds)
{
	const struct run_many *m = what;
	const struct block_branches *of = branches_of(m);
	const struct branch_tests *was = kept[level].tests;
	struct branch_tests *t = branch_tests(of->first);
	struct branch_tests *end = branch_tests(of->first + of->n);
	uint64_t *missed = &branch_missed[of->first];

	if (m->told != NULL && *m->told != kept[level].told)
		return false;
	for (uint32_t k = 0; k < of->n; k++)
		missed[k] += (missed[k] - kept[level].missed[k]) * times;
	for (; t < end; t++, was++) {
		t->times += (t->times - was->times) * times;
		t->fetches += (t->fetches - was->fetches) * times;
	}
	if (m->left_out != NULL)
		m->left_out(m->rec, rounds);
	return true;
}

/* Do its repeated instructions have equal counts in each round? */
static bool
same_rounds(const struct ev_def *d, const uint64_t *diff)
{
	const struct ev_block *b = d->block;

	if (!branch_unit[d->block->id].counts)
		return true;
	for (uint32_t k = 0; k < b->nref; k++)
		if (b->ref[k].count != 0 && b->ref[k].count <= d->ngroups &&
		    diff[b->ref[k].count - 1] != 0)
			return false;
	return true;
}

int
run_many(struct run_many *m, uint64_t n)
{
	const struct branch_repeat r = { predictor, 0, m, many_round, many_keep,
	    many_add };

	if (same_rounds(ev_def(events, ev_id(*m->rec)), m->rec + 1))
		return repeat(&r, n);
	for (; n > 0; n--)
		if (m->one(m->rec) < 0)
			return -1;
	return 0;
}

/* ---- costs ---- */

uint64_t
run_count(uint32_t id)
{
	return branch_unit[id].count;
}

void
run_costs(uint32_t block, uint32_t insn, uint64_t times, int64_t *n)
{
	const struct block_branches *of = &blocks[block];

	for (uint32_t k = of->first; k < of->first + of->n; k++) {
		const struct branch *br = &branch[k];
		int64_t all = (int64_t)times;
		int64_t wrong = (int64_t)branch_missed[k];
		const struct branch_tests *tests;

		if (br->insn != insn)
			continue;
		switch (br->flow) {
		case 'Z':
			tests = branch_tests(k);
			n[NEVENT] += (int64_t)tests->fetches;
			all = (int64_t)tests->times;
			/* FALLTHROUGH */
		case 'C':
			n[BC] += all;
			n[BCM] += wrong;
			break;
		case 'I':
		case 'X':
			n[BI] += all;
			n[BIM] += wrong;
			break;
		case 'R':
			n[BR] += all;
			n[BRM] += wrong;
			break;
		}
	}
}
