/*
 * simpass - -t: pass on executions, by their records or the stream's own text,
 * and write outcomes behind them
 */
#include "siminside.h"

#include <stdio.h>
#include <string.h>

#include "evw.h"
#include "num.h"

/* ---- passing through ---- */

void
simrun_pass(struct simrun *s, const uint64_t *rec, uint64_t more)
{
	evw_exec(s->writer, ev_def(s->events, ev_id(*rec))->id,
	    ev_ngroups(*rec), rec + 1, more);
}

void
simrun_standing(struct simrun *s, uint32_t id, const char *const *names,
    unsigned n)
{
	char text[400], *p;

	p = text + sprintf(text, "O @%x", ev_def(s->events, id)->id);
	for (unsigned i = 0; i < n; i++) {
		*p++ = ' ';
		p = stpcpy(p, names[i]);
	}
	evw_raw(s->writer, text, (size_t)(p - text));
}

void
simrun_outcomes(struct simrun *s, const char *const *names,
    const struct sim_outcome *o, unsigned n)
{
	char text[4000], *p = text;

	if (inside(s)->warm != 0)
		return;
	for (unsigned i = 0; i < n; i++) {
		if (p == text) {
			p = stpcpy(p, "O ");
			p = num_hex(p, o[i].insn + 1);
		}
		*p++ = ' ';
		for (const char *name = names[o[i].event]; *name != '\0'; )
			*p++ = *name++;
		if (o[i].n != 1) {
			*p++ = '*';
			p = num_hex(p, o[i].n);
		}
		if (i + 1 == n || o[i + 1].insn != o[i].insn) {
			evw_raw(s->writer, text, (size_t)(p - text));
			p = text;
		}
	}
}

/* ---- the stream's own text, line by line ---- */

/* Pass on an execution of rec, whose line is this one of s->text. */
static void
pass_line(struct simrun *s, const uint64_t *rec, const char *line, size_t len)
{
	evw_exec_line(s->writer, ev_def(s->events, ev_id(*rec))->id,
	    ev_ngroups(*rec), rec + 1, line, len);
}

/* Pass on lines of s->text as they are, which are n executions. */
static void
pass_text(struct simrun *s, const char *from, const char *to, uint64_t n)
{
	evw_text(s->writer, from, (size_t)(to - from), n);
}

static const char *
behind_line(const char *text)
{
	return (const char *)memchr(text, '\n', PTRDIFF_MAX) + 1;
}

/* The text behind the lines of so many records, and outcomes between them. */
static const char *
behind_lines(const char *text, uint64_t n)
{
	for (; n > 0; text = behind_line(text))
		n -= *text != 'O';
	return text;
}

void
simpass_lines(struct simpass *t)
{
	const char *end;

	if (t->lines == 0)
		return;
	end = behind_lines(t->text, t->lines);
	pass_text(t->s, t->text, end, t->executions);
	t->text = end;
	t->lines = t->executions = 0;
}

void
simpass_outcomes(struct simpass *t)
{
	const char *end;

	simpass_lines(t);
	if (t->text == NULL)
		return;
	end = t->text;
	while (end < t->s->textend && *end == 'O')
		end = behind_line(end);
	if (end != t->text)
		pass_text(t->s, t->text, end, 0);
	t->text = end;
}

void
simpass_skip(struct simpass *t, const uint64_t *rec)
{
	if (t->text == NULL)
		return;
	t->text = behind_line(t->text);
	t->last = rec;
}

/* Are two records the same execution, each some times? */
static inline bool
is_same(const uint64_t *a, const uint64_t *b)
{
	return ((*a ^ *b) & ~EV_MORE) == 0 &&
	    memcmp(a + 1, b + 1, ev_ngroups(*a) * sizeof *a) == 0;
}

/*
 * Equal lines become one, where the writer sees them one by one.  The first and
 * the last one may be equal to what was passed before, or is passed after.
 */
void
simpass_one(struct simpass *t, const uint64_t *rec, const uint64_t *end)
{
	const uint64_t *last = t->last, *next = ev_skip(rec);
	const char *line;

	t->last = rec;
	if (last != NULL && next < end && !is_same(rec, last) &&
	    !is_same(rec, next) && (*rec & EV_MORE) == 0) {
		t->lines++;
		t->executions++;
		return;
	}
	simpass_outcomes(t);
	line = t->text;
	simpass_skip(t, rec);
	if ((*rec & EV_MORE) != 0)
		simrun_pass(t->s, rec, 0);
	else
		pass_line(t->s, rec, line, (size_t)(t->text - 1 - line));
}
