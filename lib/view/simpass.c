/*
 * simpass - -t: pass on the stream's own text, line by line
 */
#include "simrun.h"

#include <string.h>

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
	simrun_pass_text(t->s, t->text, end, t->executions);
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
		simrun_pass_text(t->s, t->text, end, 0);
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
		simrun_pass_line(t->s, rec, line,
		    (size_t)(t->text - 1 - line));
}
