/*
 * hot - machine code for the units that run often
 *
 * short.c takes each reference from a table, and decides for each what to do.
 * What a unit does is the same each time, so one that has run HOT_AFTER times
 * gets code of its own: no table, no loop, but constants. A reference is, with
 * lines of 64 bytes,
 *
 *	mov  8*val(rec),V; lea dist(V),A
 *	pext MASK,A,I; movzwl (HINT,I,2),I
 *	sub  (TAG,I,8),A; cmp $64-size,A; ja miss
 *	inc  NOW; mov NOW,(STAMP,I,8)
 *
 * which leaves its offset in A. One that is relative to the same value, at most
 * 63 bytes away, is mostly in the same line, whose stamp is the newest then:
 *
 *	add  $distance,A; cmp $64-size,A; ja look
 *
 * and is looked up as above where it is not. References and fetches are in the
 * order of their events, so misses go to LL in that order by themselves, and an
 * execution of which a code line is missing need not be run another way.
 *
 * What is unusual lies behind the unit's code: a call of C by hot_miss or
 * hot_fetch (hotloop.S), and then back. A reference that often misses (sites.c)
 * begins with a jump to that part, which calls hotsearch.S then. Only where a
 * value is 0, so that a reference did not happen, is the execution left to
 * ordered_long().
 *
 * Code is mapped twice, to be written and to be run. None is made where the
 * kernel does not allow that, nor when its memory is full.
 */
#include "cachesim.h"

#include <stddef.h>
#include <sys/mman.h>

#include "cpu.h"
#include "emit.h"
#include "hot.h"
#include "mem.h"

#define HOT_AFTER	1024			/* executions */
#define HOT_SIZE	((size_t)2 << 20)	/* of all code */
#define HOT_PART	((size_t)1 << 16)	/* see end_part */
#define HOT_TIMES	8	/* that it doubles HOT_AFTER */
#define LINE_SHIFT	6
#define NEAR		(1 << LINE_SHIFT)

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13,
    R14, R15 };
enum { CC_E = 4, CC_A = 7 };	/* conditions */

/* Registers of a unit's code: hotloop.S */
enum { OFF = RAX, AT = RCX, VALUE = RDX, DIFFS = RBX, TOLD = RSI, REC = RDI,
    HINT = R8, TAG = R9, STAMP = R10, MASK = R11, NOW_D = R12, NOW_I = R13,
    ISTAMP = R14, RECORDS = R15 };

uint64_t hot_after = UINT64_MAX;

static struct hot {
	struct times now;
	uint64_t *istamp, *record;
	uint16_t *hint;
	uint64_t *tag, *stamp;
	uint64_t mask;
	struct cache_unit *unit;
	hot_missed_fn *missed;
	hot_fetched_fn *fetched;
	uint64_t set, left;
	uint64_t sets;		/* the bits of an address that select its set */
	struct llc *llc;
	void (*carry)(uint8_t *miss);
	void (*drain)(void);
} hot;

_Static_assert(offsetof(struct hot, now.i) == HOT_NOW_I &&
    offsetof(struct hot, now.d) == HOT_NOW_D &&
    offsetof(struct hot, istamp) == HOT_ISTAMP &&
    offsetof(struct hot, record) == HOT_RECORD &&
    offsetof(struct hot, hint) == HOT_HINT &&
    offsetof(struct hot, tag) == HOT_TAG &&
    offsetof(struct hot, stamp) == HOT_STAMP &&
    offsetof(struct hot, mask) == HOT_MASK &&
    offsetof(struct hot, unit) == HOT_UNITS &&
    offsetof(struct hot, missed) == HOT_MISSED &&
    offsetof(struct hot, fetched) == HOT_FETCHED &&
    offsetof(struct hot, set) == HOT_SET &&
    offsetof(struct hot, left) == HOT_LEFT &&
    offsetof(struct hot, sets) == HOT_SETS &&
    offsetof(struct hot, llc) == HOT_LLC &&
    offsetof(struct hot, carry) == HOT_CARRY &&
    offsetof(struct hot, drain) == HOT_DRAIN, "hot.h");
_Static_assert(offsetof(struct llc, n) == LLC_N &&
    offsetof(struct llc, shift) == LLC_SHIFT &&
    offsetof(struct llc, sets.mask) == LLC_MASK &&
    offsetof(struct llc, sets.stride) == LLC_STRIDE &&
    offsetof(struct llc, sets.tag) == LLC_SET &&
    offsetof(struct llc, queue) == LLC_QUEUE &&
    offsetof(struct llc, queue[0].miss) == LLC_QUEUE + 8 &&
    offsetof(struct llc, queue[1]) == LLC_QUEUE + 16 &&
    offsetof(struct misses, ll) == 1 && LL_NQUEUE == LLC_NQUEUE, "hot.h");
_Static_assert(sizeof(struct cache_unit) == 1 << UNIT_SHIFT &&
    offsetof(struct cache_unit, count) == UNIT_COUNT &&
    offsetof(struct cache_unit, ntouch) == UNIT_NTOUCH &&
    offsetof(struct cache_unit, code) == UNIT_CODE, "hot.h");

extern const uint8_t hot_loop[], hot_next[], hot_zero[], hot_miss[],
    hot_fetch[], hot_search8[], hot_search16[], hot_four8[], hot_four16[],
    hot_loop_end[];

/* The code, as it is run; and where the next is written. */
static const uint8_t *code;
static struct emitter to;

/* What is unusual: its code in the cold part. */
struct cold_code {
	uint8_t *from;		/* a jump's displacement */
	uint8_t *back;		/* where to go on */
	const uint8_t *what;	/* call that; NULL: look ref up */
	uint64_t told;
	const struct fastref *ref;
};

static struct cold_code *cold;
static size_t ncode, capcode;

/* The copy of a part of hotloop.S, where it is written. */
static uint8_t *
part(const uint8_t *what)
{
	return to.start + (what - hot_loop);
}

static void
add_cold(uint8_t *from, const uint8_t *what, uint64_t told,
    const struct fastref *r)
{
	cold = xgrow(cold, &capcode, ncode + 1, sizeof *cold);
	cold[ncode++] = (struct cold_code){ from, to.p, what, told, r };
}

/* ---- values ---- */

/*
 * All are added before the first reference, so that an execution can be left to
 * ordered_long() as a whole. VALUE is the last one then.
 */
static void
add_values(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int at = 8 * (int)i;

		emit_load(&to, VALUE, DIFFS, at);
		emit_add_sib(&to, VALUE, REC, NOIDX, 1, at);
		emit_store(&to, REC, at, VALUE);
		add_cold(emit_jcc32(&to, CC_E), hot_zero, i + 1, NULL);
	}
}

/* ---- code lines ---- */

/* Go on if the line is there; returns where the displacement is if not. */
static uint8_t *
is_missing(uint32_t line)
{
	emit_cmp_mem_imm(&to, ISTAMP, (int32_t)(line * 8), 0);
	return emit_jcc32(&to, CC_E);
}

static void
stamp_line(uint32_t line)
{
	emit_inc(&to, NOW_I);
	emit_store(&to, ISTAMP, (int32_t)(line * 8), NOW_I);
}

/* Fetch number k; a line that the one before touched is the newest. */
static void
fetch(const struct visit *v, uint32_t k, uint32_t last)
{
	uint8_t *a = v->a != last ? is_missing(v->a) : NULL;
	uint8_t *b = v->b != 0 ? is_missing(v->b) : NULL;

	if (a != NULL)
		stamp_line(v->a);
	if (v->b != 0)
		stamp_line(v->b);
	if (a != NULL)
		add_cold(a, hot_fetch, k, NULL);
	if (b != NULL)
		add_cold(b, hot_fetch, k, NULL);
}

/* ---- references ---- */

static size_t look_size;	/* of what look() writes */

/* The number of the hint: 5 bytes or more, where hot_search puts a jump. */
static void
number_hint(struct emitter *e)
{
	if (cpu_fast_pext()) {
		emit_pext(e, AT, OFF, MASK);
	} else {
		emit_mov32(e, AT, OFF);
		emit_shr32(e, AT, LINE_SHIFT);
		emit_and32_imm(e, AT, L1_NHINT - 1);
	}
}

/* Look the address in OFF up. */
static void
look(const struct fastref *r, uint64_t told)
{
	uint8_t *begin = to.p, *ja;

	number_hint(&to);
	emit_load16_sib(&to, AT, HINT, AT, 2, 0);
	emit_sub_sib(&to, OFF, TAG, AT, 8, 0);
	emit_cmp_imm(&to, OFF, r->most);
	ja = emit_jcc32(&to, CC_A);
	emit_inc(&to, NOW_D);
	emit_store_sib(&to, STAMP, AT, 8, 0, NOW_D);
	look_size = (size_t)(to.p - begin);
	add_cold(ja, hot_miss, told, r);
}

/* Is the reference relative to the same value, and close? */
static bool
is_near(const struct fastref *r, const struct fastref *last)
{
	int64_t by = (int64_t)r->dist - last->dist;

	return r->val == last->val && by > -NEAR && by < NEAR;
}

static void
refer_near(const struct fastref *r, uint64_t told)
{
	uint8_t *ja;

	if (r->dist != r[-1].dist)
		emit_add_imm(&to, OFF, r->dist - r[-1].dist);
	emit_cmp_imm(&to, OFF, r->most);
	ja = emit_jcc32(&to, CC_A);
	add_cold(ja, NULL, told, r);
}

/* References from..to of the unit's; VALUE is value number *val. */
static void
references(const struct cache_unit *u, uint32_t from, uint32_t end, int *val)
{
	const struct fastref *r = record_ref + u->ref;
	struct misses *m = cold_data(&cold_block[u->cold]);

	for (uint32_t i = from; i < end; i++) {
		uint64_t told = hot_ref(&m[i], r[i].most);

		if (i > 0 && is_near(&r[i], &r[i - 1])) {
			refer_near(&r[i], told);
			continue;
		}
		if (r[i].val != *val)
			emit_load(&to, VALUE, REC, 8 * r[i].val);
		*val = r[i].val;
		emit_lea(&to, OFF, VALUE, r[i].dist);
		look(&r[i], told);
	}
}

/* ---- units ---- */

/* In the order of events, so that misses go to LL in that order. */
static void
events_of(const struct cache_unit *u, uint32_t ninsn, int val)
{
	const struct cold_block *c = &cold_block[u->cold];
	uint32_t done = 0, last = 0;

	for (uint32_t k = 0; k < c->nvisit && c->visit[k].insn < ninsn; k++) {
		const struct visit *v = &c->visit[k];

		references(u, done, v->ref, &val);
		done = v->ref;
		fetch(v, k, last);
		last = v->b != 0 ? v->b : v->a;
	}
	references(u, done, u->nref, &val);
}

/* The cold parts, which may become more on the way. */
static void
cold_parts(void)
{
	for (size_t i = 0; i < ncode; i++) {
		struct cold_code c = cold[i];

		emit_patch32(c.from, to.p);
		if (c.what == NULL) {
			emit_lea(&to, OFF, VALUE, c.ref->dist);
			look(c.ref, c.told);
		} else {
			emit_imm64(&to, TOLD, c.told);
			emit_patch32(emit_call32(&to), part(c.what));
		}
		emit_patch32(emit_jmp32(&to), c.back);
	}
}

/* At most so many bytes of code: see what each part emits. */
static size_t
room_for(const struct cache_unit *u, unsigned ngroups)
{
	return 96 + 48ul * ngroups + 48ul * u->ntouch + 112ul * u->nref;
}

/*
 * What has been written need not be counted as ours twice. The more code there
 * is, the less of it the processor's caches hold, so the more it has to be
 * worth.
 */
static void
end_part(const uint8_t *from)
{
	size_t done = (size_t)(to.p - to.start) & ~(size_t)(HOT_PART - 1);

	if ((size_t)(from - to.start) >= done)
		return;
	madvise(to.start, done, MADV_DONTNEED);
	hot_after = (uint64_t)HOT_AFTER << done / (HOT_SIZE / HOT_TIMES);
}

void
hot_make(uint32_t id, unsigned ngroups)
{
	struct cache_unit *u = &unit[id];
	uint64_t at = (uint64_t)u->rec * sizeof *record;
	const uint8_t *from = to.p, *begin;

	if (at > INT32_MAX ||
	    (size_t)(to.limit - to.p) < room_for(u, ngroups)) {
		hot_after = UINT64_MAX;
		return;
	}
	while ((to.p - to.start) % 16 != 0)
		emit_byte(&to, 0xcc);
	begin = code + (to.p - to.start);
	ncode = 0;
	emit_lea(&to, REC, RECORDS, (int32_t)at);
	add_values(ngroups);
	events_of(u, ordered_ninsn(id), (int)ngroups - 1);
	emit_lea(&to, DIFFS, DIFFS, 8 * (1 + (int32_t)ngroups));
	emit_patch32(emit_jmp32(&to), part(hot_next));
	cold_parts();
	u->ntouch = HOT_UNIT;
	u->code = begin;
	end_part(from);
}

/* ---- references that often miss ---- */

static const uint8_t *search;	/* the one of hotsearch.S */

#define TOLD_SIZE 10		/* a mov to TOLD */
#define CALL_SIZE 5

/* Where a call's or jump's displacement leads to. */
static uint8_t *
leads_to(uint8_t *at)
{
	int32_t disp;

	memcpy(&disp, at, sizeof disp);
	return at + sizeof disp + disp;
}

void
hot_search(const uint8_t *from, bool on)
{
	uint8_t *behind = to.start + (from - code);
	uint8_t *look = leads_to(behind + 1) - look_size, hint[32];
	struct emitter e = { .p = hint, .start = hint };

	if (on) {
		*look = 0xe9;		/* jmp */
		emit_patch32(look + 1, behind - CALL_SIZE - TOLD_SIZE);
	} else {
		/* not in place: an emitter may write more than it counts */
		number_hint(&e);
		memcpy(look, hint, emit_off(&e));
	}
	emit_patch32(behind - 4, part(on ? search : hot_miss));
}

/* Of this round of the record some values are set, and one of them is 0. */
static void
run_long(const uint64_t *p, uint64_t set, uint64_t rounds)
{
	uint32_t id = ev_id(*p);
	uint64_t *value = &record[unit[id].rec];

	found_record = p;
	do {
		for (; set < ev_ngroups(*p); set++)
			value[set] += p[1 + set];
		ordered_long(id);
		set = 0;
	} while (rounds-- > 1);
}

const uint64_t *
hot_run(const uint64_t *p, const uint64_t *end, uint64_t most)
{
	const uint64_t *(*loop)(struct hot *, const uint64_t *,
	    const uint64_t *, uint64_t most) = (void *)code;

	hot.now = l1_time;
	hot.istamp = l1_istamp;
	p = loop(&hot, p, end, most);
	l1_time = hot.now;
	if (hot.set == 0)
		return p;
	run_long(p, hot.set, hot.left);
	return ev_skip(p);
}

/* Memory that is mapped twice, with no file that limits apply to. */
static bool
map_code(void)
{
	void *rw, *rx;

	rw = mmap(NULL, HOT_SIZE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rw == MAP_FAILED)
		return false;
	rx = mremap(rw, 0, HOT_SIZE, MREMAP_MAYMOVE);
	if (rx == MAP_FAILED ||
	    mprotect(rx, HOT_SIZE, PROT_READ | PROT_EXEC) < 0)
		return false;
	to.p = to.start = rw;
	to.limit = to.p + HOT_SIZE;
	code = rx;
	return true;
}

void
hot_init(hot_missed_fn *missed, hot_fetched_fn *fetched, bool eight)
{
	if (!map_code())
		return;
	emit_copy(&to, hot_loop, (unsigned)(hot_loop_end - hot_loop));
	hot.record = record;
	hot.hint = l1_d.hint;
	hot.tag = l1_d.tag;
	hot.stamp = l1_d.stamp;
	hot.mask = (uint64_t)(L1_NHINT - 1) << LINE_SHIFT;
	hot.unit = unit;
	hot.sets = (l1.dsets - 1) << LINE_SHIFT;
	hot.llc = &llc;
	hot.carry = misses_carry;
	hot.drain = ll_drain;
	hot.missed = missed;
	hot.fetched = fetched;
	if (l1.dways == 8)
		search = eight ? hot_search8 : hot_four8;
	else
		search = eight ? hot_search16 : hot_four16;
	hot_after = HOT_AFTER;
}
