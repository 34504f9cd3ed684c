/*
 * tally - the sums of a run, as Lackey has them: calls of a function, branches,
 * superblocks, instructions
 *
 * What an execution adds is known when its id is defined, but for its last
 * branch: whether that was taken shows when its thread goes on.
 */
#include "tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "func.h"
#include "mem.h"
#include "objmap.h"
#include "out.h"

/* What an execution of an id adds. */
struct addend {
	uint64_t calls, branches, taken, insns, items;
	uint64_t start, last;		/* its first and last instruction */
	uint64_t target, behind;	/* target 0: no branch at its end */
	bool whole, repeats;
};

static struct addend *addends;		/* by id */
static size_t capaddend;
static uint64_t *pending;		/* by thread: 1 + id of the last */
static size_t cappending;
static struct addend sum;
static uint64_t entered, completed;
static struct objmap *map;
static const char *wanted;
static const char *how = "";
static uint64_t status;

void
tally_open(const char *function)
{
	wanted = function;
	map = objmap_new();
	func_map(map);
}

static bool
is_call(uint64_t addr)
{
	struct func_place at;

	func_place(addr, &at);
	return at.entry && strcmp(at.fn->name, wanted) == 0;
}

/* One instruction; next: the one behind it in this id, or NULL. */
static void
instruction(struct addend *a, const struct ev_block *b,
    const struct ev_insn *i, const struct ev_insn *next)
{
	a->insns++;
	a->items += 1u + i->nref + (i->flow != 0);
	for (unsigned k = 0; k < i->nref; k++)
		a->repeats |= b->ref[i->ref + k].count != 0;
	a->calls += is_call(i->addr);
	if (i->flow != 'C')
		return;
	a->branches++;
	if (next == NULL) {
		a->target = b->target[i->target];
		a->behind = i->addr + i->len;
	} else {
		a->taken += next->addr != i->addr + i->len;
	}
}

static void
define(const struct evr *r, uint32_t id)
{
	const struct ev_def *d = ev_def(r, id);
	const struct ev_block *b = d->block;
	struct addend *a;

	addends = xgrow0(addends, &capaddend, (size_t)id + 1, sizeof *addends);
	a = &addends[id];
	for (uint32_t k = 0; k < d->n; k++)
		instruction(a, b, &b->insn[k],
		    k + 1 < d->n ? &b->insn[k + 1] : NULL);
	a->start = b->insn[0].addr;
	a->last = b->insn[d->n - 1].addr;
	a->whole = d->letter == 'B';
}

/*
 * What Valgrind makes of a repeated instruction: a loop that tests the count
 * before each round, and a comparison tests its result behind each.  One whose
 * count is used up is told once more, again, with no rounds (trace --rep=each).
 */
static void
repeated(uint64_t count, bool writes, bool again)
{
	if (writes) {
		sum.insns += count;
		sum.branches += count + 1;
		sum.taken += count;
	} else if (count > 0) {
		sum.insns += count - 1;
		sum.branches += 2 * count;
		sum.taken += 2 * count - 1;
	} else {
		sum.branches++;
		sum.taken += again;	/* the last result was no end */
	}
}

static void
rounds(const struct ev_block *b, uint32_t n, bool again)
{
	for (uint32_t k = 0; k < n; k++) {
		const struct ev_insn *i = &b->insn[k];
		bool writes = false, repeats = false;
		uint64_t count = 0;

		for (unsigned j = 0; j < i->nref; j++) {
			const struct ev_ref *ref = &b->ref[i->ref + j];

			if (ref->count != 0)
				count = b->value[ref->count - 1];
			repeats |= ref->count != 0;
			writes |= ref->kind != 'r';
		}
		if (repeats)
			repeated((int64_t)count < 0 ? -count : count, writes,
			    again && k == 0);
	}
}

static bool
is_taken(const struct addend *last, uint64_t next)
{
	return last->target != 0 && next == last->target &&
	    next != last->behind;
}

static void
execution(const struct evr *r, const uint64_t *p)
{
	uint32_t id = ev_id(*p);
	const struct addend *a = &addends[id];
	uint64_t *last = &pending[ev_thread(r)], n = 1 + ev_more(p);
	bool again = *last != 0 && addends[*last - 1].last == a->start;

	if (*last != 0)
		sum.taken += is_taken(&addends[*last - 1], a->start);
	*last = (uint64_t)id + 1;
	sum.taken += (n - 1) * is_taken(a, a->start) + n * a->taken;
	sum.calls += n * a->calls;
	sum.branches += n * a->branches;
	sum.insns += n * a->insns;
	sum.items += n * a->items;
	entered += n;
	completed += n * a->whole;
	for (; a->repeats && n > 0; n--) {
		const struct ev_def *d = ev_def(r, id);

		ev_apply(d, p + 1);
		rounds(d->block, d->n, again);
		again = a->last == a->start;
	}
}

void
tally_line(const struct evr *r, const struct ev *e, int letter)
{
	switch (letter) {
	case 'M':
	case 'U':
		objmap_line(map, e->line, e->len);
		break;
	case 'B':
	case 'P':
		define(r, e->id);
		break;
	case 'E':
		how = strcmp(e->text, "exit") == 0 ? "status" : "signal";
		status = e->num[0];
		break;
	case EV_EXECS:
		pending = xgrow0(pending, &cappending, ev_thread(r) + 1u,
		    sizeof *pending);
		for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p))
			execution(r, p);
		break;
	default:
		break;
	}
}

void
tally_print(struct out *o)
{
	out_printf(o, "calls of %s: %" PRIu64 "\nbranches: %" PRIu64
	    "\ntaken: %" PRIu64 "\nsuperblocks: %" PRIu64
	    "\ncompleted: %" PRIu64 "\ninstructions: %" PRIu64
	    "\nitems: %" PRIu64 "\n", wanted, sum.calls, sum.branches,
	    sum.taken, entered, completed, sum.insns, sum.items);
	if (*how != '\0')
		out_printf(o, "%s: %" PRIu64 "\n", how, status);
}
