/*
 * text - pack a block's items for the stream's writer
 *
 * lib's evpack turns them into text when the block's first record is written.
 * Many blocks never get there, and text is about three times as long.
 *
 * The bytes of instructions are told where no object file has them.
 */
#include "evpack.h"
#include "code/code.h"

#define MAX_ELEM 16u		/* of a gather; other instructions have 3 */

/* How a reference gets its address. */
static void
put_group(struct ev_ref *to, const struct ref *r, const struct refgroup *rg,
    enum refs refs)
{
	if (r->form == REF_STATIC) {
		if (refs != REFS_ALL)
			return;
		to->where = EV_FIXED;
		to->at = (uint64_t)r->disp;
		return;
	}
	if (rg->count != NOCOUNT)
		to->count = (uint8_t)(rg->count + 1);
	if (rg->group == NOGROUP)
		return;
	to->where = EV_GROUP;
	to->group = rg->group;
	to->at = (uint64_t)rg->dist;
}

/* The elements of a gather; returns how many. */
static unsigned
put_gather(struct ev_ref *to, const struct insn *in, unsigned first,
    enum refs refs)
{
	unsigned j;

	for (j = 0; j < in->gather.nelem; j++) {
		to[j] = (struct ev_ref){ .kind = (uint8_t)in->ref[0].rw,
		    .size = in->ref[0].size };
		if (refs != REFS_ALL)
			continue;
		to[j].where = EV_GROUP;
		to[j].group = (uint8_t)(first + j);
	}
	return j;
}

size_t
text_pack(uint8_t *buf, const struct block *b, const struct groups *g,
    const struct kind *kind, bool *made)
{
	static const char letter[] = "\0CJLIXRS";
	struct ev_ref ref[MAX_ELEM];
	uint8_t *p = buf;
	uint64_t behind = 0;
	bool told = false;
	unsigned i, j;

	*made = false;
	for (i = 0; i < b->n; i++) {
		const struct insn *in = &b->in[i];
		struct ev_insn to = { .addr = in->pc, .len = in->len,
		    .flow = (uint8_t)letter[in->flow] };

		if (in->special == SP_GATHER) {
			to.nref = (uint8_t)put_gather(ref, in, g->gather[i],
			    kind->refs);
			to.flow = 0;
		}
		for (j = 0; in->special != SP_GATHER && j < in->nref; j++) {
			ref[j] = (struct ev_ref){
			    .kind = (uint8_t)in->ref[j].rw,
			    .size = in->ref[j].size,
			    .locked = in->ref[j].locked };
			put_group(&ref[j], &in->ref[j], &g->ref[i][j],
			    kind->refs);
			to.nref++;
		}
		if (i == 0 || in->pc != behind || in->pc / PAGE !=
		    (behind - 1) / PAGE)
			told = !maps_in_file(in->pc);
		*made |= told;
		if (told)
			p = evpack_code(p, in->bytes, in->len);
		p = evpack_insn(p, &to, ref, in->target, behind);
		behind = in->pc + in->len;
	}
	return (size_t)(p - buf);
}

void
text_keep_constants(const struct block *b, uint8_t *packed, const uint8_t *old)
{
	static struct ev_ref ref[255];
	struct ev_each e;

	evpack_each(&e, packed, ref);
	for (unsigned i = 0; i < b->n; i++) {
		const struct insn *in = &b->in[i];
		unsigned k = in->siboff != 0xff ? in->siboff :
		    in->modrmoff != 0xff ? in->modrmoff : in->opcoff;
		size_t at;

		ev_next_insn(&e);
		if (e.code == NULL)
			continue;
		at = (size_t)(e.code - packed);
		for (k++; k < in->len; k++)
			packed[at + k] = old[at + k];
	}
}
