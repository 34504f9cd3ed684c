/*
 * x87 - the guest's pc for the address that the x87 unit remembers
 *
 * The unit keeps the address of its last instruction, which is one of the code
 * cache.  Where the guest looks at it, it gets its own pc.
 */
#include "state.h"

/*
 * The guest's pc for an address that the x87 unit remembers; the address
 * itself where it is not in the cache, or no longer.  lo: some bits of it
 * only, those of `bits`.
 */
static uint64_t
fp_pc(const struct tarea *t, uint64_t lo, uint64_t bits)
{
	uint64_t ip = lo, pc;
	struct cache_place p;
	unsigned z;

	for (z = 0; z < 2; z++) {
		ip = rt.zone[z] + ((lo - rt.zone[z]) & bits);
		if (ip - rt.zone[z] < rt.zonesize[z])
			break;
	}
	if (z == 2 || rt.ctl->nfrag[z] == 0)
		return lo;
	p = place_find(ip);
	pc = place_pc(p.f, p.m.kind == MAP_BODY || p.m.kind == MAP_ROUNDS ?
	    p.m.n : p.m.n - (p.m.n > 0));
	/* after a flush the maps are others */
	return __atomic_load_n(&rt.ctl->gen, __ATOMIC_SEQ_CST) == t->gen ?
	    pc & bits : lo;
}

uint64_t
state_fp_pc(const struct tarea *t, uint64_t ip)
{
	return fp_pc(t, ip, ~0ull);
}

void
state_fp_saved(struct tarea *t, const struct exitmeta *x)
{
	unsigned what = x->aux & 7, n = what == FP_FXSAVE64 ? 8 : 4;
	uint64_t at = t->operand + (what == FP_ENV ? 12 : 8);
	uint64_t bits = ~0ull >> (64 - 8 * n), v = 0, used = 1;

	if ((x->aux & FP_XSAVE) && (!(t->gpr[0] & 1) || rt_copy(&used,
	    (void *)(t->operand + 512), 8) < 0 || !(used & 1)))
		return;
	if (rt_copy(&v, (void *)at, n) < 0)
		return;
	v = fp_pc(t, v, bits);
	rt_copy((void *)at, &v, n);
}

void
state_fp_settle(struct tarea *t)
{
	uint8_t *fx = (uint8_t *)t - T_OFF + T_FRAME;
	uint64_t was, pc;

	__asm__ volatile("fxsave64 (%0)" : : "r"(fx) : "memory");
	memcpy(&was, fx + 8, 8);
	pc = fp_pc(t, was, ~0ull);
	if (pc == was)
		return;
	memcpy(fx + 8, &pc, 8);
	__asm__ volatile("fxrstor64 (%0)" : : "r"(fx) : "memory");
}
