/*
 * evr - a reader of event text: its options, errors and properties
 */
#include "evr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "meter.h"
#include "prog.h"

/* ---- errors ---- */

static int
fail(struct evr *r, const char *fmt, va_list ap)
{
	char why[400];
	size_t n;

	vsnprintf(why, sizeof why, fmt, ap);
	n = strlen(why) + strlen(in_name(r->b.in)) + 32;
	r->error = xmalloc(n);
	snprintf(r->error, n, "%s:%" PRIu64 ": %s", in_name(r->b.in), r->lineno,
	    why);
	r->state = FAILED;
	return -1;
}

int
evr_bad(struct evr *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(r, fmt, ap);
	va_end(ap);
	return -1;
}

int
ev_bad(struct evr *r, const char *fmt, ...)
{
	va_list ap;

	if (r->state == FAILED)
		return -1;
	/* lineno already counts the line in question */
	r->lineno--;
	va_start(ap, fmt);
	fail(r, fmt, ap);
	va_end(ap);
	return -1;
}

void
ev_bad_out(struct evr *r, const struct ev *e, const struct ev_out *o,
    const char *fmt, ...)
{
	const struct ev_out *last = e->out + e->nout;
	const uint64_t *rec = ev_out_end(e, o);
	va_list ap;

	if (r->state == FAILED)
		return;
	for (; rec < e->end; rec = ev_skip(rec))
		r->lineno--;
	r->lineno -= (uint64_t)(last - o);
	va_start(ap, fmt);
	fail(r, fmt, ap);
	va_end(ap);
}

const char *
ev_error(const struct evr *r)
{
	return r->error;
}

/* ---- opening, closing, properties ---- */

struct evr *
ev_open(struct in *in)
{
	struct evr *r = xcalloc(1, sizeof *r);

	in_allow_cut(in);
	in_dated(in);
	evdef_open(&r->def);
	evbuf_open(&r->b, in, r->def.head);
	r->lineno = 1;
	r->kind = EV_ALL;
	r->accept = ~(unsigned)EV_ROUNDS;
	r->text = xmalloc(EVBUF_MAXLINE + 1);
	r->tid = kh_init(tid);
	r->last = xgrow(NULL, &r->caplast, 1, sizeof *r->last);
	r->last[0] = 0;
	r->nthread = 1;
	in_meter(in);
	return r;
}

void
ev_accept(struct evr *r, unsigned kinds, const char *why)
{
	r->accept = kinds;
	r->why = why;
}

void
ev_lean(struct evr *r)
{
	r->def.lean = true;
}

void
ev_lean_calls(struct evr *r)
{
	r->def.lean = r->def.calls = true;
}

void
ev_standing(struct evr *r)
{
	r->stand.known = true;
}

_Static_assert(EV_LISTS == 2 << EVOUT_BITS, "two have lists");

void
ev_outcomes(struct evr *r)
{
	if (r->lists != NULL || !(r->kind & (EV_ALL | EV_BLOCKS)))
		return;
	r->lists = xcalloc(2, sizeof *r->lists);
	r->lists[1].first = 1U << EVOUT_BITS;
	r->b.lists = &r->lists[1];
}

const char *
ev_list(const struct evr *r, unsigned list)
{
	return r->lists[list >> EVOUT_BITS].list[list %
	    (1U << EVOUT_BITS)].text;
}

void
ev_modify_writes(struct evr *r)
{
	r->def.writes = true;
}

void
ev_keep(struct evr *r, struct ev_block *b)
{
	evdef_keep(&r->def, b);
}

void
ev_free(struct evr *r)
{
	evbuf_close(&r->b);
	evdef_close(&r->def);
	evctx_close(&r->ctx);
	evnames_close(&r->names);
	evstand_close(&r->stand);
	kh_destroy(tid, r->tid);
	free(r->text);
	free(r->last);
	free(r->lists);
	free(r->error);
	free(r);
}

int
ev_close(struct evr *r)
{
	int status = r->state == ENDED && !in_lacked() ? 0 : 2;

	meter_end();
	if (r->error != NULL && !r->cut)
		warn("%s", r->error);
	ev_free(r);
	return status;
}

const struct ev_def *
ev_def(const struct evr *r, uint32_t id)
{
	return evdef_get(&r->def, id);
}

unsigned
ev_kind(const struct evr *r)
{
	return r->kind;
}

void
ev_filter(const struct evr *r, uint64_t *sets, uint64_t *linesize,
    uint64_t *ways)
{
	*sets = r->fsets;
	*linesize = r->fsize;
	*ways = r->fways;
}

bool
ev_contexts(const struct evr *r)
{
	return r->ctx.told;
}

unsigned
ev_thread(const struct evr *r)
{
	return r->thread;
}

const struct ev_def *
ev_last(const struct evr *r)
{
	uint32_t id = r->last[r->thread];

	return id == 0 ? NULL : evdef_get(&r->def, id);
}

const struct ev_def *
ev_out_def(const struct evr *r, const struct ev *e, const struct ev_out *o)
{
	return evdef_get(&r->def, o->at == EV_OUT_BEFORE ? r->before :
	    ev_id(e->rec[o->at]));
}

uint32_t
ev_last_id(const struct evr *r)
{
	return r->last[r->thread];
}

const uint8_t *
ev_code(const struct evr *r, uint32_t insn)
{
	return insn < r->def.ncode && r->def.code[insn].known ?
	    r->def.code[insn].byte : NULL;
}
