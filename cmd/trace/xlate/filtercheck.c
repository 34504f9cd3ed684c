/*
 * filtercheck - what the checks of lines of code and of data share
 *
 * P is the clock, since only the runtime writes records here.  It need not tick
 * between uses whose lines are the same or in different sets: references whose
 * addresses differ by a small constant, and lines of code close to each other.
 *
 * Where the guest's flags are alive they are saved in rax (lahf, seto), and the
 * map says so.
 */
#include <string.h>

#include "look.h"
#include "xlate/filter.h"

/* ------------------------------------------------------------------ flags */

void
check_save_flags(struct xlate *x)
{
	struct emitter *c = &x->c;

	if (x->deadflags[x->i] || x->flags_in_rax)
		return;
	regs_home(x, RAX);
	mark(x, x->i, MAP_BODY, 0);
	emit_save_flags(c);
	x->flags_in_rax = true;
	mark(x, x->i, MAP_BODY, 0);
}

void
check_restore_flags(struct xlate *x)
{
	struct emitter *c = &x->c;

	if (!x->flags_in_rax)
		return;
	emit_restore_flags(c);
	x->flags_in_rax = false;
	mark(x, x->i, MAP_BODY, 0);
}

int
check_scratch(struct xlate *x, uint32_t avoid)
{
	return regs_scratch(x, avoid | (x->flags_in_rax ? BIT(RAX) : 0));
}

/* ------------------------------------------------------------------ clock */

static void
tick(struct xlate *x)
{
	/* inc P: the flags are free here */
	emit_bytes(&x->c, 0xc0ff49u | (REG_P & 7) << 16, 3);
	x->ticks = true;
	x->code.lo = x->code.hi = x->data.lo = x->data.hi = 0;
}

/* Lines first to last of code are used now. */
void
check_use_code(struct xlate *x, int64_t first, int64_t last)
{
	int64_t lo = first < x->code.lo ? first : x->code.lo;
	int64_t hi = last >= x->code.hi ? last + 1 : x->code.hi;

	if (!x->ticks || (x->code.lo != x->code.hi && hi - lo > opt->sets))
		tick(x);
	if (x->code.lo == x->code.hi) {
		lo = first;
		hi = last + 1;
	}
	x->code.lo = lo;
	x->code.hi = hi;
}

/*
 * Data is used now, of so many bytes.  If it and what was used since the last
 * tick lie within as many lines as there are sets, less one, no two of them are
 * different lines of a set.
 */
void
check_use_data(struct xlate *x, const struct refgroup *g, int64_t size)
{
	int64_t lo = g->off < x->data.lo ? g->off : x->data.lo;
	int64_t hi = g->off + size > x->data.hi ? g->off + size : x->data.hi;

	if (!x->ticks || (x->data.lo != x->data.hi && (!g->akin ||
	    hi - lo > (opt->sets - 1) << opt->lineshift)))
		tick(x);
	if (x->data.lo == x->data.hi) {
		lo = g->off;
		hi = lo + size;
	}
	x->data.lo = lo;
	x->data.hi = hi;
}

/* -------------------------------------------------------------- cold code */

void
check_look(struct xlate *x, int s, unsigned kind, uint32_t head)
{
	emit_store(&x->c, REG_T, TO(pc), s);
	look(&x->c, head, kind);
}

uint8_t *
check_arguments(struct xlate *x, const struct cold_check *d, unsigned kind,
    bool stays)
{
	uint8_t *at = x->c.p;

	emit_u32(&x->c, record_head(d->id, stays));
	emit_u32(&x->c, kind | look_back((int)(d->back - at)));
	return at;
}

/* The code for a check begins here. */
void
check_reach(struct xlate *x, const struct cold_check *d)
{
	unsigned j;

	for (j = 0; j < 2; j++)
		if (d->branch[j] != NULL)
			emit_patch32(d->branch[j], x->c.p);
}

struct cold_check *
check_new(struct xlate *x, enum cold_kind kind, unsigned k, bool stays)
{
	struct cold_check *d = &x->cold[x->ncold++];

	memset(d, 0, sizeof *d);
	d->kind = (uint8_t)kind;
	d->i = (uint8_t)x->i;
	d->id = def_ref_id(x->def, x, x->i, k, stays);
	d->homed = x->homed;
	d->flags_in_rax = x->flags_in_rax;
	return d;
}
