/*
 * evpack - blocks in few bytes, for readers that seldom use them again
 *
 * In the reader's structs an instruction takes 16 bytes and a reference 16
 * more; packed, as below, an instruction with its references takes about 3.
 *
 *	instruction = [ code ] head [ moved ] [ nref ] { reference }
 *	              [ flow [ target ] ]
 *	code        = 16 * length, then the instruction's bytes
 *	reference   = kind [ locked ] [ size ] [ group ] [ at ] [ count ]
 *
 * head: length, number of references (3: see nref), whether a flow follows,
 * whether the instruction is not right behind the one before (moved: its
 * distance from there). A kind of 3 means that the reference is locked, and
 * what else it is follows. Numbers are 7 bits a byte, the lowest first; signed
 * ones have the sign in the lowest bit. Addresses are differences: fixed ones
 * from the instruction's address, targets from the instruction's end.
 */
#include "evpack.h"

#include <string.h>

#include "evdef.h"
#include "evwrec.h"
#include "mem.h"

#define HEAD_NREF	4	/* shift of the number of references, up to 3 */
#define HEAD_FLOW	0x40
#define HEAD_MOVED	0x80

#define KIND_LOCKED	3
#define KIND_WHERE	2	/* shift of enum ev_where */
#define KIND_SIZE	5	/* shift of log2 of the size; 7: it follows */
#define KIND_COUNT	0x10

/* ---- numbers ---- */

static uint8_t *
put(uint8_t *p, uint64_t n)
{
	for (; n > 127; n >>= 7)
		*p++ = (uint8_t)(n | 128);
	*p++ = (uint8_t)n;
	return p;
}

static uint8_t *
put_signed(uint8_t *p, uint64_t n)
{
	return put(p, n << 1 ^ -(n >> 63));
}

static inline uint64_t
get(const uint8_t **p)
{
	uint64_t n = *(*p)++;

	if (__builtin_expect(n < 128, 1))
		return n;
	n &= 127;
	for (unsigned shift = 7; ; shift += 7) {
		uint64_t b = *(*p)++;

		n |= (b & 127) << shift;
		if (b < 128)
			return n;
	}
}

static inline uint64_t
get_signed(const uint8_t **p)
{
	uint64_t n = get(p);

	return n >> 1 ^ -(n & 1);
}

/* ---- packing ---- */

static bool
has_target(uint8_t flow)
{
	return flow == 'C' || flow == 'J' || flow == 'L';
}

static uint8_t *
pack_ref(uint8_t *p, const struct ev_ref *r, uint64_t addr)
{
	unsigned kind = r->kind == 'r' ? 0 : r->kind == 'w' ? 1 : 2;
	unsigned size = 7, what = r->locked ? KIND_LOCKED : kind;

	if ((r->size & (r->size - 1)) == 0 && r->size <= 64)
		size = (unsigned)__builtin_ctz(r->size);
	*p++ = (uint8_t)(what | (unsigned)r->where << KIND_WHERE |
	    (r->count != 0 ? KIND_COUNT : 0) | size << KIND_SIZE);
	if (r->locked)
		*p++ = (uint8_t)kind;
	if (size == 7)
		p = put(p, r->size);
	if (r->where == EV_GROUP)
		*p++ = r->group;
	if (r->where != EV_BARE)
		p = put_signed(p, r->where == EV_FIXED ? r->at - addr : r->at);
	if (r->count != 0)
		*p++ = r->count;
	return p;
}

uint8_t *
evpack_insn(uint8_t *p, const struct ev_insn *i, const struct ev_ref *ref,
    uint64_t target, uint64_t behind)
{
	*p++ = (uint8_t)(i->len | (i->nref < 3 ? i->nref : 3) << HEAD_NREF |
	    (i->flow != 0 ? HEAD_FLOW : 0) |
	    (i->addr != behind ? HEAD_MOVED : 0));
	if (i->addr != behind)
		p = put_signed(p, i->addr - behind);
	if (i->nref >= 3)
		p = put(p, i->nref);
	for (unsigned k = 0; k < i->nref; k++)
		p = pack_ref(p, &ref[k], i->addr);
	if (i->flow == 0)
		return p;
	*p++ = i->flow;
	if (has_target(i->flow))
		p = put_signed(p, target - (i->addr + i->len));
	return p;
}

uint8_t *
evpack_code(uint8_t *p, const uint8_t *code, unsigned len)
{
	*p++ = (uint8_t)(len << 4);
	memcpy(p, code, len);
	return p + len;
}

size_t
evdef_pack(struct evdef *d)
{
	uint64_t behind = 0;
	uint8_t *p;

	d->packed = xgrow(d->packed, &d->cappacked, d->ninsn *
	    (size_t)EVPACK_INSN + d->nref * (size_t)EVPACK_REF, 1);
	p = d->packed;
	for (const struct ev_insn *i = d->insn; i < d->insn + d->ninsn; i++) {
		p = evpack_insn(p, i, i->nref > 0 ? d->ref + i->ref : NULL,
		    has_target(i->flow) ? d->target[i->target] : 0, behind);
		behind = i->addr + i->len;
	}
	return (size_t)(p - d->packed);
}

/* ---- unpacking ---- */

void
ev_each(struct ev_each *e, const struct ev_block *b, struct ev_ref *ref)
{
	memset(e, 0, sizeof *e);
	e->block = b;
	e->at = b->shown ? NULL : evdef_packed(b);
	e->ref = ref;
}

/* Returns the number of groups used so far. */
static inline unsigned
unpack_ref(const uint8_t **p, struct ev_ref *r, uint64_t addr, unsigned ngroups)
{
	unsigned kind = *(*p)++;

	memset(r, 0, sizeof *r);
	r->locked = (kind & 3) == KIND_LOCKED;
	r->kind = (uint8_t)"rwm"[r->locked ? *(*p)++ : kind & 3];
	r->where = (uint8_t)(kind >> KIND_WHERE & 3);
	r->size = (uint16_t)(kind >> KIND_SIZE == 7 ? get(p) :
	    1U << (kind >> KIND_SIZE));
	if (r->where == EV_GROUP) {
		r->group = *(*p)++;
		if (r->group >= ngroups)
			ngroups = r->group + 1U;
	}
	if (r->where != EV_BARE)
		r->at = get_signed(p);
	if (r->where == EV_FIXED)
		r->at += addr;
	if (kind & KIND_COUNT) {
		r->count = *(*p)++;
		if (r->count > ngroups)
			ngroups = r->count;
	}
	return ngroups;
}

void
evpack_each(struct ev_each *e, const uint8_t *packed, struct ev_ref *ref)
{
	memset(e, 0, sizeof *e);
	e->at = packed;
	e->ref = ref;
}

static void
next_kept(struct ev_each *e)
{
	const struct ev_block *b = e->block;

	e->insn = b->insn[e->n++];
	if (e->insn.nref != 0)
		memcpy(e->ref, b->ref + e->insn.ref, e->insn.nref *
		    sizeof *e->ref);
	if (has_target(e->insn.flow))
		e->target = b->target[e->insn.target];
}

void
ev_next_insn(struct ev_each *e)
{
	struct ev_insn *i = &e->insn;
	const uint8_t *p = e->at;
	unsigned head, ngroups = i->ngroups;

	if (p == NULL) {
		next_kept(e);
		return;
	}
	head = *p++;
	e->code = NULL;
	if ((head & 15) == 0) {
		e->code = p;
		p += head >> 4;
		head = *p++;
	}
	i->addr += i->len;
	i->len = head & 15;
	if (head & HEAD_MOVED)
		i->addr += get_signed(&p);
	i->nref = head >> HEAD_NREF & 3;
	if (i->nref == 3)
		i->nref = (uint8_t)get(&p);
	i->ref = (uint16_t)e->nref;
	for (unsigned k = 0; k < i->nref; k++)
		ngroups = unpack_ref(&p, &e->ref[k], i->addr, ngroups);
	e->nref += i->nref;
	i->ngroups = (uint8_t)ngroups;
	i->flow = 0;
	i->target = 0;
	if (head & HEAD_FLOW) {
		i->flow = *p++;
		if (has_target(i->flow)) {
			e->target = i->addr + i->len + get_signed(&p);
			i->target = (uint16_t)e->ntarget++;
		}
	}
	e->at = p;
}

void
evdef_unpack(struct evdef *d, const struct ev_block *b)
{
	struct ev_each e;

	if (d->unpacked == b)
		return;
	d->unpacked = b;
	d->insn = xgrow(d->insn, &d->capinsn, b->ninsn, sizeof *d->insn);
	d->ref = xgrow(d->ref, &d->capref, b->nref, sizeof *d->ref);
	d->target = xgrow(d->target, &d->captarget, b->ninsn,
	    sizeof *d->target);
	ev_each(&e, b, d->ref);
	for (uint32_t k = 0; k < b->ninsn; k++) {
		ev_next_insn(&e);
		e.ref += e.insn.nref;
		d->insn[k] = e.insn;
		if (has_target(e.insn.flow))
			d->target[e.insn.target] = e.target;
	}
	d->ninsn = b->ninsn;
	d->nref = b->nref;
	d->ntarget = e.ntarget;
}

/* ---- text ---- */

static char *
put_ref(char *p, const struct ev_ref *r)
{
	uint64_t dist = r->at;

	*p++ = (char)r->kind;
	p = evw_puthex(p, r->size);
	if (r->locked)
		*p++ = '!';
	if (r->where == EV_FIXED) {
		*p++ = '@';
		p = evw_puthex(p, r->at);
	} else if (r->where == EV_GROUP) {
		*p++ = '.';
		p = evw_puthex(p, r->group);
		if ((int64_t)dist < 0) {
			*p++ = '-';
			p = evw_puthex(p, -dist);
		} else if (dist != 0) {
			*p++ = '+';
			p = evw_puthex(p, dist);
		}
	}
	if (r->count != 0) {
		*p++ = '*';
		p = evw_puthex(p, r->count - 1U);
	}
	return p;
}

static char *
put_code(char *p, const uint8_t *code, unsigned len)
{
	*p++ = '=';
	for (unsigned k = 0; k < len; k++) {
		*p++ = "0123456789abcdef"[code[k] >> 4];
		*p++ = "0123456789abcdef"[code[k] & 15];
	}
	return p;
}

int
evpack_items(char *text, size_t room, const uint8_t *packed, unsigned ninsn)
{
	struct ev_ref ref[255];
	struct ev_each e;
	uint64_t behind = 0;
	uint8_t flow = 'J';	/* the first item is an address */
	char *p = text;

	evpack_each(&e, packed, ref);
	for (unsigned k = 0; k < ninsn; k++) {
		ev_next_insn(&e);
		/* evw_puthex stores 8 bytes at a time, beyond the digits */
		if (room - (size_t)(p - text) < 112 + 50U * e.insn.nref)
			return -1;
		if (k != 0)
			*p++ = ' ';
		if ((flow != 0 && flow != 'C') || e.insn.addr != behind) {
			*p++ = '>';
			p = evw_puthex(p, e.insn.addr);
			*p++ = ' ';
		}
		p = evw_puthex(p, e.insn.len);
		if (e.code != NULL)
			p = put_code(p, e.code, e.insn.len);
		for (unsigned j = 0; j < e.insn.nref; j++)
			p = put_ref(p, &ref[j]);
		flow = e.insn.flow;
		behind = e.insn.addr + e.insn.len;
		if (flow != 0)
			*p++ = (char)flow;
		if (has_target(flow))
			p = evw_puthex(p, e.target);
	}
	return (int)(p - text);
}
