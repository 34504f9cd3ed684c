/*
 * exact - basic blocks as exp-bbv of Valgrind has them
 *
 * --format=exp-bbv follows the blocks that Valgrind translates, for a stream
 * that tells the order of executions:
 *
 *  - A block begins where execution enters it.  It ends behind a transfer, a
 *    repeated string instruction, pause or clflush, or after 60 instructions,
 *    31 if it has one of FMA.  It goes on behind loop and jrcxz that are not
 *    taken.  So it can begin in one superblock and go on in the next.
 *  - A repeated string instruction counts as one, together with the next
 *    instruction that is none, in the block of that.  Of two that follow each
 *    other the first counts in no block; the last of a run does not count at
 *    all.  Its rounds, with the test that ends them, are a sum of their own;
 *    lods, which Valgrind does not repeat, has one.
 *
 * What a unit's blocks are if it is entered at its beginning, is found out when
 * it is defined; then an execution is one addition, as for other formats.  It
 * takes its steps one by one if a block goes on into it, or if it has such an
 * instruction.
 */
#include "bbv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "in.h"
#include "mem.h"

#define MOST		60	/* instructions of a block */
#define MOST_FMA	31

/* What an instruction means for blocks. */
enum { ENDS = 1, LOOPS = 2, REPEATS = 4, FMA = 8, FLDCW = 16, LODS = 32 };

/* The rest of a block that may go on, behind a unit. */
struct rest {
	uint64_t next;		/* where it would go on; 0: it has ended */
	uint32_t bb, n, most;
};

/*
 * By unit: its rest if a block begins with it; has it repeated instructions;
 * would the rest go on at its beginning?
 */
static struct unit {
	struct rest rest;
	uint32_t what;		/* what[]: of each of its instructions */
	uint32_t fldcw;		/* how many */
	bool repeats, loops;
} *exact;
static size_t capexact;
static uint8_t *what;
static size_t nwhat, capwhat;

/* ---- the code ---- */

static struct mapping {
	uint64_t start, end, off;
	const uint8_t *file;	/* NULL: none */
	uint64_t size;
} *mappings;
static size_t nmapping, capmapping;

void
exact_map(uint64_t start, uint64_t end, uint64_t off, const char *path)
{
	struct mapping m = { start, end, off, NULL, 0 };
	int fd = path[0] == '/' ? in_optional(path) : -1;
	struct stat st;
	void *at;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
		    0);
		if (at != MAP_FAILED) {
			m.file = at;
			m.size = (uint64_t)st.st_size;
		}
	}
	if (fd >= 0)
		close(fd);
	mappings = xgrow(mappings, &capmapping, nmapping + 1,
	    sizeof *mappings);
	mappings[nmapping++] = m;
}

/* The bytes of an instruction, or NULL. */
static const uint8_t *
code(const struct evr *r, const struct ev_insn *i, uint32_t k)
{
	const uint8_t *told = ev_code(r, k);
	uint64_t at;

	if (told != NULL)
		return told;
	for (size_t n = nmapping; n-- > 0; ) {
		const struct mapping *m = &mappings[n];

		if (i->addr < m->start || i->addr + i->len > m->end)
			continue;
		at = i->addr - m->start + m->off;
		return m->file != NULL && at + i->len <= m->size ?
		    m->file + at : NULL;
	}
	return NULL;
}

/* A repeated lods that is told as one that is not: trace --rep=each. */
static bool
is_lods(const uint8_t *c, unsigned len)
{
	bool repeats = false;

	if ((c[len - 1] & 0xfe) != 0xac)
		return false;
	for (unsigned k = 0; k + 1 < len; k++) {
		if (c[k] == 0xf2 || c[k] == 0xf3)
			repeats = true;
		else if ((c[k] & 0xf0) == 0x40 && k + 2 == len)
			break;		/* REX */
		else if (c[k] != 0x66 && c[k] != 0x67 && c[k] != 0x64 &&
		    c[k] != 0x65 && (c[k] & 0xe7) != 0x26)
			return false;
	}
	return repeats;
}

/* FMA3, FMA4, and pmulhrsw of 32 bytes: they make much code in Valgrind. */
static bool
is_fma(const uint8_t *c, unsigned len)
{
	unsigned op;

	if (len < 5 || c[0] != 0xc4)
		return false;
	op = c[3];
	if ((c[1] & 31) == 2)
		return (op >= 0x96 && op <= 0xbf && (op & 15) >= 6) ||
		    (op == 0x0b && (c[2] & 4) != 0);
	return (c[1] & 31) == 3 && ((op >= 0x5c && op <= 0x5f) ||
	    (op >= 0x68 && op <= 0x6f) || (op >= 0x78 && op <= 0x7f));
}

static uint8_t
meaning_of_code(const uint8_t *c, unsigned len, uint8_t flow)
{
	unsigned k = 0;

	if (flow == 'C') {
		while (k + 1 < len && c[k] == 0x67)
			k++;
		return c[k] >= 0xe0 && c[k] <= 0xe3 ? LOOPS : ENDS;
	}
	if (is_lods(c, len))
		return REPEATS | LODS;
	if (len >= 2 && c[0] == 0xd9 && c[1] < 0xb0 && (c[1] >> 3 & 7) == 5)
		return FLDCW;
	if (is_fma(c, len))
		return FMA;
	if (c[0] == 0xcc || (len == 2 && c[0] == 0xf3 && c[1] == 0x90) ||
	    (len >= 2 && c[0] == 0xc7 && c[1] == 0xf8))
		return ENDS;
	if (c[0] == 0x66)
		k = 1;
	if (len > k && c[k] >= 0x40 && c[k] <= 0x4f)
		k++;
	if (len >= k + 3 && c[k] == 0x0f && c[k + 1] == 0xae &&
	    c[k + 2] < 0xc0 && (c[k + 2] >> 3 & 7) == 7)
		return ENDS;
	return 0;
}

static uint8_t
meaning(const struct evr *r, const struct ev_block *b, uint32_t k)
{
	const struct ev_insn *i = &b->insn[k];
	const uint8_t *c = code(r, i, k);

	for (unsigned n = 0; n < i->nref; n++)
		if (b->ref[i->ref + n].count != 0)
			return c != NULL && (c[i->len - 1] & 0xfe) == 0xac ?
			    REPEATS | LODS : REPEATS | ENDS;
	if (i->flow != 0 && i->flow != 'C')
		return ENDS;
	if (c == NULL)
		return i->flow != 0 ? ENDS : 0;
	return meaning_of_code(c, i->len, i->flow);
}

/* ---- definitions ---- */

/* Go on with an instruction; false: a block begins with it. */
static bool
goes_on(const struct rest *s, uint64_t addr)
{
	return s->next == addr && addr != 0;
}

static void
begin_block(struct rest *s, uint32_t bb)
{
	s->bb = bb;
	s->n = 0;
	s->most = MOST;
}

/* An instruction has become the block's last one so far. */
static void
step(struct rest *s, const struct ev_insn *i, uint8_t w)
{
	s->n++;
	if (w & FMA)
		s->most = MOST_FMA;
	s->next = (w & ENDS) || s->n >= s->most ? 0 : i->addr + i->len;
}

void
exact_define(const struct evr *r, uint32_t id, struct objmap *map)
{
	const struct ev_def *d = ev_def(r, id);
	const struct ev_block *b = d->block;
	struct rest s = { 0, 0, 0, 0 };
	struct unit *u;
	uint32_t from = 0;

	exact = xgrow0(exact, &capexact, (size_t)id + 1, sizeof *exact);
	u = &exact[id];
	u->what = (uint32_t)nwhat;
	what = xgrow(what, &capwhat, nwhat + d->n, 1);
	blocks_begin(id, d->n);
	for (uint32_t k = 0; k < d->n; k++) {
		uint8_t w = meaning(r, b, k);

		what[nwhat++] = w;
		u->repeats |= (w & REPEATS) != 0;
		u->fldcw += (w & FLDCW) != 0;
		if (!goes_on(&s, b->insn[k].addr)) {
			if (k > from)
				blocks_part(id, b->insn + from, k - from, map);
			from = k;
			begin_block(&s, 0);
		}
		step(&s, &b->insn[k], w);
	}
	blocks_part(id, b->insn + from, d->n - from, map);
	s.bb = parts[units[id].part + units[id].npart - 1].bb;
	u->rest = s;
	u->loops = goes_on(&s, b->insn[0].addr);
}

/* ---- executions ---- */

struct exact_state {
	struct rest rest;
	uint64_t repeated;	/* executions of the last repeated one */
	uint64_t at;		/* its address */
};

static inline struct exact_state *
state(struct bbv_thread *t)
{
	if (t->state == NULL)
		t->state = xcalloc(1, sizeof *t->state);
	return t->state;
}

void
exact_break(struct bbv_thread *t)
{
	state(t)->rest.next = 0;
}

/* n instructions at once, of a block or of none. */
static void
add(struct bbv_thread *t, uint64_t n, const struct rest *s)
{
	vector_room(t);
	t->total += n;
	t->ninsn += n;
	if (s == NULL)
		return;
	t->n[s->bb] += n;
	if (t->ninsn > opt.interval)
		vector_row(t, t->ninsn - opt.interval);
}

/* A repeated instruction that counts with what follows. */
static void
told_repeated(struct bbv_thread *t, struct exact_state *s)
{
	t->reps += s->repeated;
	t->unique++;
	s->repeated = 0;
}

/* How often is a repeated instruction executed, in Valgrind's way? */
static uint64_t
times_repeated(const struct ev_block *b, const struct ev_insn *i)
{
	const struct ev_ref *ref = &b->ref[i->ref];
	uint64_t count = 0;
	bool compares = ref->kind == 'r';

	for (unsigned k = 0; k < i->nref; k++) {
		if (ref[k].count != 0)
			count = b->value[ref[k].count - 1];
		compares &= ref[k].kind == 'r';
	}
	if ((int64_t)count < 0)
		count = -count;
	return count + (!compares || count == 0);
}

static void
repeated(struct bbv_thread *t, struct exact_state *s, const struct ev_block *b,
    const struct ev_insn *i, uint8_t w, struct objmap *map)
{
	uint64_t n = w & LODS ? 1 : times_repeated(b, i);

	if (s->repeated != 0 && s->at != i->addr) {
		told_repeated(t, s);
		add(t, 1, NULL);
	}
	s->at = i->addr;
	s->repeated += n;
	if (n > 1)	/* it jumps to itself: a block begins */
		blocks_enter(blocks_find(i->addr, map));
}

/*
 * One execution, instruction by instruction.  The memory of one is touched in
 * the interval that the instruction counts in: before it may end that.
 */
static void
walk(struct bbv_thread *t, struct exact_state *s, const struct ev_def *d,
    uint32_t id, struct objmap *map)
{
	const struct ev_block *b = d->block;
	bool touches = touch_wanted(t);

	for (uint32_t k = 0; k < d->n; k++) {
		const struct ev_insn *i = &b->insn[k];
		uint8_t w = what[exact[id].what + k];

		if (touches)
			touch_insns(t, d, k, 1, 1);
		if (!goes_on(&s->rest, i->addr)) {
			begin_block(&s->rest, blocks_find(i->addr, map));
			blocks_enter(s->rest.bb);
		}
		step(&s->rest, i, w);
		t->fldcw += (w & FLDCW) != 0;
		if (w & REPEATS) {
			repeated(t, s, b, i, w, map);
			continue;
		}
		if (s->repeated == 0) {
			add(t, 1, &s->rest);
			continue;
		}
		told_repeated(t, s);
		add(t, 2, &s->rest);
	}
}

bool
exact_is_plain(struct bbv_thread *t, const struct ev_def *d, uint32_t id)
{
	const struct exact_state *s = state(t);

	return !exact[id].repeats && s->repeated == 0 &&
	    !goes_on(&s->rest, d->block->insn[0].addr);
}

bool
exact_goes_on(uint32_t id)
{
	return exact[id].loops;
}

void
exact_walk(struct bbv_thread *t, const struct ev_def *d, uint32_t id,
    struct objmap *map)
{
	walk(t, state(t), d, id, map);
}

/* n plain executions were counted. */
void
exact_counted(struct bbv_thread *t, uint32_t id, uint64_t n)
{
	const struct unit *u = &exact[id];

	state(t)->rest = u->rest;
	t->fldcw += n * u->fldcw;
}
