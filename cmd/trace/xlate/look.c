/*
 * look - call the runtime to look at something, by rt_look or rt_line
 *
 *	mov $arguments,entry(T); jmp *rt_look(T)
 *	arguments
 *
 * This changes no register and no flag.  The arguments are aligned to 4 bytes:
 * the program may have alignment checked (runtime/look.S).
 */
#include "xlate/parts.h"

/* What t->entry has for the place where the next byte will be: look_place. */
static uint32_t
place(const struct emitter *c)
{
	const struct segment *seg = area.boot.seg;
	uint64_t off = emit_here(c) - seg[SEG_ZONE0].addr;

	return off < seg[SEG_ZONE0].size ? (uint32_t)off : look_in_zone1(
	    emit_here(c) - seg[SEG_ZONE1].addr);
}

void
look_call(struct emitter *c, int32_t routine)
{
	uint32_t v;
	uint8_t *at;

	emit_store_simm(c, REG_T, TO(entry), 0);
	at = c->p - sizeof v;
	emit_jmp_mem(c, REG_T, routine);
	while ((emit_here(c) & 3) != 0)
		emit_byte(c, 0xcc);
	v = place(c);
	memcpy(at, &v, sizeof v);
}

void
look(struct emitter *c, uint32_t head, uint32_t kind)
{
	look_call(c, TO(rt_look));
	emit_u32(c, head);
	emit_u32(c, kind);
}
