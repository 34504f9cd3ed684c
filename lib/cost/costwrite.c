/*
 * costwrite - the cost text: writer
 *
 * Writes what all readers of Callgrind's format understand alike
 * (callgrind_annotate, KCachegrind, gprof2dot, speedscope): single blanks, none
 * at the end of a line, all columns of every line, fl= before every fn=, cob=
 * and cfi= before every cfn= (some readers forget them after a call, some do
 * not), each name defined once.  Relative positions and short lines are
 * options; addresses and jumps, which not all readers know, are written if the
 * caller puts them.
 */
#include "cost.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "out.h"
#include "prog.h"

/* Spaces of numbers; CTX: functions that have a ctx, with numbers of FN. */
enum costw_space { OB, FL, FN, CTX, NSPACE };

struct ids {		/* by name: its number in this file, 0: none yet */
	uint32_t *id;
	size_t cap;
};

struct costw {
	struct out *o;
	struct costnames *nm;
	unsigned flags;
	bool callgrind;
	unsigned positions;
	size_t nev;
	struct ids ids[NSPACE];
	uint32_t last[NSPACE];	/* the highest number so far */
	bool begun;		/* a record was written in this part */
	bool has_ob, has_cob;	/* ob= or cob= was written in this part */
	bool summed;		/* sum was given beforehand */
	bool ended;		/* costw_more: its end mark is written */
	uint32_t ob, file, fn;
	struct costfn f;	/* what fn stands for */
	bool near;		/* pos may be referred to */
	struct cost_pos pos;
	uint32_t obj_fn;	/* costw_object, costw_function */
	uint32_t obj_file, obj_line;	/* costw_line */
	int64_t sum[COST_EVMAX];
};

static const char pairs[201] =
    "0001020304050607080910111213141516171819"
    "2021222324252627282930313233343536373839"
    "4041424344454647484950515253545556575859"
    "6061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

static inline char *
put_u64(char *p, uint64_t v)
{
	char tmp[24], *t = tmp + sizeof tmp;
	size_t n;

	if (v < 10) {
		*p++ = '0' + v;
		return p;
	}
	if (v < 100) {
		memcpy(p, pairs + 2 * v, 2);
		return p + 2;
	}
	while (v >= 100) {
		memcpy(t -= 2, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(t -= 2, pairs + 2 * v, 2);
	else
		*--t = '0' + v;
	n = tmp + sizeof tmp - t;
	memcpy(p, t, n);
	return p + n;
}

static inline char *
put_i64(char *p, int64_t v)
{
	if (v >= 0)
		return put_u64(p, v);
	*p++ = '-';
	return put_u64(p, -(uint64_t)v);
}

static char *
put_hex(char *p, uint64_t v)
{
	char tmp[16], *t = tmp + sizeof tmp;

	do
		*--t = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	memcpy(p, "0x", 2);
	memcpy(p + 2, t, tmp + sizeof tmp - t);
	return p + 2 + (tmp + sizeof tmp - t);
}

static inline char *
subpos(const struct costw *w, char *p, uint64_t v, uint64_t last)
{
	uint64_t d = v >= last ? v - last : last - v;

	if (w->flags & COSTW_RELATIVE && w->near && d < 1000) {
		if (!d) {
			*p++ = '*';
			return p;
		}
		*p++ = v > last ? '+' : '-';
		return put_u64(p, d);
	}
	return NULL;
}

static inline char *
put_pos(const struct costw *w, char *p, const struct cost_pos *pos)
{
	char *q;

	if (w->positions & COST_INSTR) {
		q = subpos(w, p, pos->addr, w->pos.addr);
		p = q ? q : put_hex(p, pos->addr);
		*p++ = ' ';
	}
	if (w->positions & COST_BB) {
		q = subpos(w, p, pos->bb, w->pos.bb);
		p = q ? q : put_hex(p, pos->bb);
		*p++ = ' ';
	}
	if (w->positions & COST_LINE) {
		q = subpos(w, p, pos->line, w->pos.line);
		p = q ? q : put_u64(p, pos->line);
		*p++ = ' ';
	}
	return p - 1;
}

static inline char *
put_counts(const struct costw *w, char *p, const int64_t *n)
{
	size_t i, nev = w->nev;

	if (w->flags & COSTW_SHORT)
		while (nev > 1 && !n[nev - 1])
			nev--;
	for (i = 0; i < nev; i++) {
		p[0] = ' ';
		if ((uint64_t)n[i] < 10) {
			p[1] = '0' + n[i];
			p += 2;
		} else {
			p = put_i64(p + 1, n[i]);
		}
	}
	return p;
}

/* "(1) name", then "(1)"; which: its place in the table of numbers */
static void
put_string(struct costw *w, const char *s, enum costw_space sp, uint32_t which)
{
	struct ids *ids = &w->ids[sp];
	size_t old = ids->cap;

	ids->id = xgrow(ids->id, &ids->cap, which + (size_t)1, sizeof *ids->id);
	if (ids->cap > old)
		memset(ids->id + old, 0, (ids->cap - old) * sizeof *ids->id);
	if (!w->callgrind || (w->flags & COSTW_PLAIN && *s != '(')) {
		ids->id[which] = 0;
	} else if (ids->id[which]) {
		out_printf(w->o, "(%" PRIu32 ")\n", ids->id[which]);
		return;
	} else {
		ids->id[which] = ++w->last[sp == CTX ? FN : sp];
		out_printf(w->o, "(%" PRIu32 ") ", ids->id[which]);
	}
	cost_put_text(w->o, s);
	out_ch(w->o, '\n');
}

static void
put_name(struct costw *w, const char *word, enum costw_space sp, uint32_t name)
{
	out_str(w->o, word);
	put_string(w, costnames_get(w->nm, name), sp, name);
}

static void
put_fn(struct costw *w, const char *word, struct costfn f)
{
	out_str(w->o, word);
	put_string(w, costnames_get(w->nm, f.fn), f.ctx ? CTX : FN,
	    f.ctx ? f.ctx : f.fn);
}

static void
begin_fn(struct costw *w, uint32_t fn)
{
	w->f = costfn_get(w->nm, fn);
	out_ch(w->o, '\n');
	if (w->f.ob != w->ob || (w->f.ob && !w->has_ob)) {
		put_name(w, "ob=", OB, w->f.ob);
		w->has_ob = true;
	}
	put_name(w, "fl=", FL, w->f.fl);
	put_fn(w, "fn=", w->f);
	w->ob = w->f.ob;
	w->file = w->f.fl;
	w->fn = fn;
	w->near = false;
	w->begun = true;
}

/* fl= and fn= by the line's file: the format has no other */
static void
put_cachegrind(struct costw *w, const struct cost *c)
{
	struct costfn f = costfn_get(w->nm, c->fn);
	bool moved = !w->begun || c->file != w->file;
	char *p, *room;

	if (c->kind != COST_SELF)
		return;
	if (moved)
		put_name(w, "fl=", FL, c->file);
	if (moved || f.fn != w->f.fn)
		put_name(w, "fn=", FN, f.fn);
	w->begun = true;
	w->file = c->file;
	w->f = f;
	room = out_room(w->o, 24 + 21 * w->nev);
	p = put_u64(room, c->pos.line);
	p = put_counts(w, p, c->n);
	*p++ = '\n';
	out_advance(w->o, p - room);
}

static void
put_call(struct costw *w, const struct cost *c)
{
	struct costfn f = costfn_get(w->nm, c->callee);
	char *p, *room;

	if (f.ob || w->has_cob || w->has_ob) {
		put_name(w, "cob=", OB, f.ob);
		w->has_cob = true;
	}
	put_name(w, "cfi=", FL, f.fl);
	put_fn(w, "cfn=", f);
	room = out_room(w->o, 128);
	memcpy(room, "calls=", 6);
	p = put_i64(room + 6, c->count[0]);
	*p++ = ' ';
	p = put_pos(w, p, &c->to);
	*p++ = '\n';
	out_advance(w->o, p - room);
}

static void
put_jump(struct costw *w, const struct cost *c)
{
	char *p, *room;

	if (c->tofile != w->file)
		put_name(w, "jfi=", FL, c->tofile);
	if (c->callee != c->fn)
		put_fn(w, "jfn=", costfn_get(w->nm, c->callee));
	room = out_room(w->o, 128);
	memcpy(room, c->cond ? "jcnd=" : "jump=", 5);
	p = room + 5;
	if (c->cond) {
		p = put_i64(p, c->count[1]);
		*p++ = '/';
	}
	p = put_i64(p, c->count[0]);
	*p++ = ' ';
	p = put_pos(w, p, &c->to);
	*p++ = '\n';
	out_advance(w->o, p - room);
}

static void
add(struct costw *w, const int64_t *n)
{
	size_t i;

	for (i = 0; i < w->nev; i++)
		if (__builtin_add_overflow(w->sum[i], n[i], &w->sum[i]))
			die("the sum of the costs is beyond 64 bits");
}

void
costw_put(struct costw *w, const struct cost *c)
{
	char *p, *room;

	if (!w->summed && c->kind == COST_SELF)
		add(w, c->n);
	if (!w->callgrind) {
		put_cachegrind(w, c);
		return;
	}
	if (!w->begun || c->fn != w->fn)
		begin_fn(w, c->fn);
	if (c->file != w->file) {
		put_name(w, c->file == w->f.fl ? "fe=" : "fi=", FL, c->file);
		w->file = c->file;
	}
	if (c->kind == COST_CALL)
		put_call(w, c);
	else if (c->kind == COST_JUMP)
		put_jump(w, c);
	room = out_room(w->o, 96 + 21 * w->nev);
	p = put_pos(w, room, &c->pos);
	if (c->kind != COST_JUMP)
		p = put_counts(w, p, c->n);
	*p++ = '\n';
	out_advance(w->o, p - room);
	w->pos = c->pos;
	w->near = true;
}

static void
text(struct costw *w, const char *key, const char *value)
{
	if (!value)
		return;
	out_printf(w->o, "%s: ", key);
	cost_put_text(w->o, value);
	out_ch(w->o, '\n');
}

static void
sums(struct costw *w, const char *key, const int64_t *n)
{
	char *room, *p;

	out_str(w->o, key);
	room = out_room(w->o, 21 * w->nev + 8);
	p = put_counts(w, room, n);
	*p++ = '\n';
	out_advance(w->o, p - room);
}

static void
event(struct costw *w, const struct cost_event *e)
{
	out_printf(w->o, "event: %s", e->name);
	if (e->formula)
		out_printf(w->o, " = %s", e->formula);
	if (e->longname) {
		out_str(w->o, " : ");
		cost_put_text(w->o, e->longname);
	}
	out_ch(w->o, '\n');
}

static void
events(struct costw *w, const struct cost_head *h)
{
	size_t i;

	for (i = 0; w->callgrind && i < h->nev; i++)
		if (h->ev[i].longname)
			event(w, &h->ev[i]);
	for (i = 0; w->callgrind && i < h->nderived; i++)
		event(w, &h->derived[i]);
	out_str(w->o, "events:");
	for (i = 0; i < h->nev; i++)
		out_printf(w->o, " %s", h->ev[i].name);
	out_ch(w->o, '\n');
}

static void
head(struct costw *w, const struct cost_head *h, bool first)
{
	size_t i;

	w->positions = h->positions;
	w->nev = h->nev;
	w->begun = w->has_ob = w->has_cob = w->summed = w->near = false;
	w->ob = w->file = w->fn = 0;
	memset(w->sum, 0, sizeof w->sum);
	if (w->callgrind && first) {
		out_str(w->o, "# callgrind format\nversion: 1\n");
		text(w, "creator", h->creator ? h->creator : "quern");
		text(w, "pid", h->pid);
		text(w, "cmd", h->cmd ? h->cmd : "");
	}
	if (w->callgrind) {
		text(w, "part", h->part ? h->part : "1");
		text(w, "thread", h->thread);
	}
	for (i = 0; i < h->ndesc; i++)
		text(w, "desc", h->desc[i]);
	if (w->callgrind)
		out_printf(w->o, "positions:%s%s%s\n",
		    h->positions & COST_INSTR ? " instr" : "",
		    h->positions & COST_BB ? " bb" : "",
		    h->positions & COST_LINE ? " line" : "");
	else
		text(w, "cmd", h->cmd ? h->cmd : "");
	events(w, h);
}

struct costw *
costw_begin(struct out *o, struct costnames *nm, const struct cost_head *h,
    unsigned flags)
{
	struct costw *w = xcalloc(1, sizeof *w);

	w->o = o;
	w->nm = nm;
	w->flags = flags;
	w->callgrind = h->format == COST_CALLGRIND;
	head(w, h, true);
	return w;
}

void
costw_total(struct costw *w, const int64_t *total)
{
	memcpy(w->sum, total, w->nev * sizeof *total);
	w->summed = true;
	if (w->callgrind)
		sums(w, "summary:", total);
}

void
costw_late(struct costw *w, const char *desc)
{
	out_str(w->o, COST_LATE);
	cost_put_text(w->o, desc);
	out_ch(w->o, '\n');
}

static void
end_part(struct costw *w, bool more)
{
	if (w->callgrind)
		out_ch(w->o, '\n');
	if (w->callgrind && more)
		out_str(w->o, COST_MORE "\n");
	if (!w->summed || !w->callgrind)
		sums(w, "summary:", w->sum);
	if (w->callgrind)
		sums(w, "totals:", w->sum);
}

void
costw_more(struct costw *w)
{
	end_part(w, true);
	w->ended = true;
	out_flush(w->o);
}

/*
 * For some readers the numbers of names hold for a part, for others for the
 * file: so each part defines its names anew, with numbers not used before.
 */
void
costw_part(struct costw *w, const struct cost_head *h)
{
	int i;

	if (!w->ended)
		end_part(w, true);
	w->ended = false;
	out_ch(w->o, '\n');
	for (i = 0; i < NSPACE; i++)
		if (w->ids[i].cap)
			memset(w->ids[i].id, 0,
			    w->ids[i].cap * sizeof *w->ids[i].id);
	head(w, h, false);
}

void
costw_end(struct costw *w)
{
	int i;

	end_part(w, false);
	for (i = 0; i < NSPACE; i++)
		free(w->ids[i].id);
	free(w);
}

void
costw_rename(struct costw *w, struct costnames *to)
{
	w->file = costnames_str(to, costnames_get(w->nm, w->file));
	w->f.fl = costnames_str(to, costnames_get(w->nm, w->f.fl));
	w->f.fn = costnames_str(to, costnames_get(w->nm, w->f.fn));
	w->nm = to;
}

void
costw_object(struct costw *w, const char *path)
{
	uint32_t unknown = costnames_str(w->nm, "???");

	w->obj_fn = costfn_add(w->nm, (struct costfn){
	    costnames_str(w->nm, path), unknown, unknown, 0 });
	w->obj_file = unknown;
	w->obj_line = 0;
}

void
costw_function(struct costw *w, const char *file, const char *name)
{
	w->obj_file = costnames_str(w->nm, file);
	w->obj_line = 0;
	w->obj_fn = costfn_add(w->nm, (struct costfn){
	    costnames_str(w->nm, "???"), w->obj_file,
	    costnames_str(w->nm, name), 0 });
}

void
costw_line(struct costw *w, const char *file, uint32_t line)
{
	w->obj_file = costnames_str(w->nm, file);
	w->obj_line = line;
}

void
costw_addr(struct costw *w, uint64_t addr, const int64_t *n)
{
	struct cost c = { .kind = COST_SELF, .fn = w->obj_fn,
	    .n = (int64_t *)n };

	c.file = w->obj_file;
	c.pos.addr = addr;
	c.pos.line = w->obj_line;
	costw_put(w, &c);
}

void
costw_announce(struct costw *w, const char *path)
{
	costw_object(w, path);
	begin_fn(w, w->obj_fn);
	out_flush(w->o);
}
