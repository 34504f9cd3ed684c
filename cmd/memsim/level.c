/*
 * level - caches that ask each other: hits, misses, what leaves
 *
 * An access asks the first cache of its side for some bytes. A cache that is
 * asked goes through the bytes line by line; what it misses it asks of the
 * next, and brings in. memsim-machine(5) has the rules, in the same order.
 */
#include "memsim.h"

#include <string.h>

#include "mem.h"

static struct node *shared[MOST_PARTS];

/* An asking writes, is a prefetch's, or is that of an access itself. */
enum how { HOW_WRITE = 1, HOW_PREFETCH = 2, HOW_FIRST = 4 };

/* ---- building ---- */

static struct node *
node_new(const struct part *p, unsigned number, unsigned whose)
{
	struct node *n = xkeep(sizeof *n);

	n->part = p;
	n->number = number;
	n->core = whose;
	n->shift = (unsigned)__builtin_ctzll(p->line);
	n->c = cache_new(p);
	if (has_prefetcher(p))
		n->prefetch = prefetch_new(p);
	if (many_cores && whose != MOST_CORES)
		n->touched = xcalloc((size_t)n->c->sets << n->c->wshift,
		    sizeof *n->touched);
	return n;
}

static void
asks(struct node *n, struct node *next)
{
	n->next = next;
	for (struct node *far = next; far != NULL; far = far->next) {
		far->before = xrealloc(far->before, (far->nbefore + 1) *
		    sizeof *far->before);
		far->before[far->nbefore++] = n;
	}
}

static bool
serves(const struct part *p, unsigned side)
{
	return p->side == BOTH || p->side == side;
}

/* The caches of a core, from the farthest on. */
static void
core_init(struct core *c, unsigned number)
{
	c->own = xcalloc(machine->npart, sizeof *c->own);
	for (unsigned i = machine->npart; i-- > 0; ) {
		const struct part *p = &machine->part[i];
		struct node *n = shared[i];
		bool new = n == NULL;

		if (p->tlb)
			continue;
		if (new)
			n = node_new(p, i, p->shared ? MOST_CORES : number);
		if (p->shared)
			shared[i] = n;
		else
			c->own[c->nown++] = n;
		if (new)
			asks(n, c->first[p->side == BOTH ? DATA : p->side]);
		for (unsigned side = CODE; side <= DATA; side++)
			if (serves(p, side))
				c->first[side] = n;
	}
	tlb_core(c);
}

void
level_cores(unsigned n)
{
	for (; ncore < n; ncore++)
		core_init(&core[ncore], ncore);
}

void
level_init(const struct machine *m)
{
	machine = m;
	many_cores = m->cores != 1;
	core = xcalloc(MOST_CORES, sizeof *core);
	level_cores(1);
	cpu = core;
}

/* ---- asking ---- */

/* One asking of a cache, and the part of it that is under way. */
struct asking {
	struct node *n;
	uint64_t start;		/* the first byte of all */
	uint64_t from, size;	/* the part */
	uint64_t line;
	unsigned how;
	bool take;		/* who asks will bring the line in */
	bool missed;		/* an earlier part */
	bool first;		/* the access asks itself */
};

static bool ask(struct node *, uint64_t from, uint64_t size, unsigned how,
    bool take);

/* A use of the line: what it means for prefetching. */
static void
looked_up(const struct asking *q, bool missed, bool used)
{
	struct node *n = q->n;
	uint64_t bit = (uint64_t)1 << n->number;
	bool again = (now.asked & bit) != 0;

	if (q->how & HOW_PREFETCH)
		return;
	now.asked |= bit;
	if (missed) {
		now.missed |= bit;
		if (table_wanted && table_first(n->number, q->line))
			now.first |= bit;
	}
	if (used) {
		tally[n->number].useful++;
		count_event(col_useful[n->number], 1);
	}
	if (n->prefetch != NULL)
		prefetch_train(n, q->line, missed, used, again);
}

/* A part that was hit, where another was missed. */
static void
ask_too(const struct asking *q, uint64_t from, uint64_t size)
{
	struct node *next = q->n->next;

	if (next != NULL && !is_exclusive(next))
		ask(next, from, size, q->how & HOW_PREFETCH, false);
}

/* The line is there. Returns whether a dirty line is given away. */
static bool
hit(struct asking *q, uint32_t slot)
{
	struct node *n = q->n;
	bool used = n->c->entry[slot] & CACHE_NEW &&
	    !(q->how & HOW_PREFETCH);

	if (used)
		n->c->entry[slot] &= ~(uint64_t)CACHE_NEW;
	looked_up(q, false, used);
	if (q->take && is_exclusive(n))
		return leave_given(n, q->line);
	cache_touch(n->c, slot);
	if (q->how & HOW_WRITE && n->part->through) {
		tally[n->number].out += q->size;
		ask(n->next, q->from, q->size, q->how, false);
		return false;
	}
	if (q->how & HOW_WRITE)
		n->c->entry[slot] &= ~(uint64_t)CACHE_CLEAN;
	if (q->missed)
		ask_too(q, q->from, q->size);
	return false;
}

/* All earlier parts were hit, and the next cache was not asked for them. */
static void
ask_earlier(const struct asking *q)
{
	uint64_t from = q->start, size;

	if (q->missed || (q->how & HOW_WRITE && q->n->part->through))
		return;
	for (; from != q->from; from += size) {
		size = line_addr(q->n, 1) - (from & (line_addr(q->n, 1) - 1));
		ask_too(q, from, size);
	}
}

static bool
miss(struct asking *q)
{
	struct node *n = q->n;
	bool write = q->how & HOW_WRITE, done = write && !n->part->through;
	bool dirty;

	looked_up(q, true, false);
	ask_earlier(q);
	q->missed = true;
	if (is_exclusive(n) || (write && !n->part->allocate)) {
		if (write)
			tally[n->number].out += q->size;
		return ask(n->next, q->from, q->size, q->how,
		    is_exclusive(n) && q->take);
	}
	if (write && !done)
		tally[n->number].out += q->size;
	leave_hold(n, q->line);
	dirty = ask(n->next, q->from, q->size,
	    done ? q->how & ~(unsigned)HOW_WRITE : q->how, true);
	leave_fill(n, q->line, dirty || done, false);
	leave_let_go(n, q->line);
	return false;
}

/* The part is in one line. */
static bool
ask_line(struct asking *q)
{
	uint32_t slot = q->first && now.absent == q->line + 1 ? CACHE_NONE :
	    cache_find(q->n->c, q->line);

	return slot != CACHE_NONE ? hit(q, slot) : miss(q);
}

/* The same for an access with many cores, and their first cache. */
static bool
ask_coherent(struct asking *q)
{
	uint64_t off = q->from & (line_addr(q->n, 1) - 1), bytes = ~(uint64_t)0;
	bool write = q->how & HOW_WRITE, dirty;

	if (now.kind != 'i')
		bytes = bytes >> (64 - q->size) << off;
	cohere_before(q->n->core, q->line, write, bytes);
	dirty = ask_line(q);
	cohere_after(q->n->core, q->line, write, bytes);
	return dirty;
}

static bool
ask(struct node *n, uint64_t from, uint64_t size, unsigned how,
    bool take)
{
	struct asking q = { .n = n, .start = from, .from = from,
	    .how = how & ~(unsigned)HOW_FIRST, .take = take,
	    .first = how & HOW_FIRST };
	bool coherent, dirty = false;
	uint64_t left = size;

	if (n == NULL) {
		if (how & HOW_WRITE)
			memory_written += size;
		return false;
	}
	coherent = how & HOW_FIRST && n->touched != NULL;
	for (; left > 0; q.from += q.size, left -= q.size) {
		q.line = q.from >> n->shift;
		q.size = line_addr(n, 1) - (q.from & (line_addr(n, 1) - 1));
		if (q.size > left)
			q.size = left;
		dirty |= coherent ? ask_coherent(&q) : ask_line(&q);
	}
	return dirty;
}

/* ---- accesses ---- */

static void
count_misses(unsigned kind)
{
	for (uint64_t bits = now.asked; bits != 0; bits &= bits - 1) {
		unsigned part = (unsigned)__builtin_ctzll(bits);
		struct tally *t = &tally[part];

		t->asked++;
		if ((now.missed >> part & 1) == 0)
			continue;
		t->missed++;
		t->first += now.first >> part & 1;
		count_event(col_miss[machine->part[part].level][kind], 1);
	}
}

/* Is the line here, or where it may not be if it is here? */
static bool
is_near(struct node *n, uint64_t line)
{
	if (cache_find(n->c, line) != CACHE_NONE)
		return true;
	if (n->part->content != EXCLUSIVE)
		return false;
	for (unsigned i = 0; i < n->nbefore; i++)
		if (n->before[i]->next == n &&
		    cache_find(n->before[i]->c, line) != CACHE_NONE)
			return true;
	return false;
}

void
level_prefetch(void)
{
	for (unsigned i = 0; i < prefetch_waiting; i++) {
		struct node *n = prefetch_wanted[i].n;
		uint64_t line = prefetch_wanted[i].line;
		bool dirty;

		if (is_near(n, line))
			continue;
		tally[n->number].issued++;
		count_event(col_issued[n->number], 1);
		if (n->touched != NULL)
			cohere_before(n->core, line, false, 0);
		leave_hold(n, line);
		dirty = ask(n->next, line << n->shift,
		    (uint64_t)1 << n->shift, HOW_PREFETCH, true);
		leave_fill(n, line, dirty, true);
		leave_let_go(n, line);
		if (n->touched != NULL)
			cohere_after(n->core, line, false, 0);
	}
	prefetch_waiting = 0;
}

void
level_access(void)
{
	bool code = now.kind == 'i', write = now.kind == 'w';

	now.asked = now.missed = now.first = 0;
	ask(cpu->first[code ? CODE : DATA], now.addr, now.size,
	    HOW_FIRST | (write || now.kind == 'm' ? HOW_WRITE : 0), true);
	count_misses(code ? 0 : write ? 2 : 1);
	if (prefetch_waiting != 0)
		level_prefetch();
}
