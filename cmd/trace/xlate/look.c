/*
 * look - call the runtime to look at something, by rt_look, rt_data or rt_fetch
 *
 *	mov $arguments,entry(T); jmp *rt_look(T)
 *	arguments
 *
 * Those of rt_fetch lie before the call.  It changes no register and no flag.
 * Arguments are aligned to 4 bytes: the program may have the processor check
 * alignment (runtime/look.S).
 */
#include "look.h"
#include "xlate/parts.h"

uint32_t
look_place(const struct emitter *c, const uint8_t *at)
{
	const struct segment *seg = area.boot.seg;
	uint64_t addr = c->addr + (uint64_t)(at - c->start);
	uint64_t off = addr - seg[SEG_ZONE0].addr;

	return off < seg[SEG_ZONE0].size ? (uint32_t)off :
	    look_in_zone1(addr - seg[SEG_ZONE1].addr);
}

void
look_align(struct emitter *c)
{
	while ((emit_here(c) & 3) != 0)
		emit_byte(c, 0xcc);
}

void
look_call(struct emitter *c, int32_t routine, const uint8_t *arguments)
{
	emit_store_simm(c, REG_T, TO(entry), (int32_t)look_place(c, arguments));
	emit_jmp_mem(c, REG_T, routine);
}

void
look(struct emitter *c, uint32_t head, uint32_t kind)
{
	uint8_t *call = c->p, *end;

	look_call(c, TO(rt_look), call);
	look_align(c);
	end = c->p;
	c->p = call;
	look_call(c, TO(rt_look), end);
	c->p = end;
	emit_u32(c, head);
	emit_u32(c, kind);
}
