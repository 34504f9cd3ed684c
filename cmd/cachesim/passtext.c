/*
 * passtext - -t: the stream's own text, which is passed on piece by piece
 */
#include "cachesim.h"

#include <string.h>

/* The text behind so many lines. */
static const char *
behind_lines(const char *text, uint64_t n)
{
	for (; n > 0; n--)
		text = (const char *)memchr(text, '\n', PTRDIFF_MAX) + 1;
	return text;
}

void
passing_lines(struct passing *t)
{
	const char *end = behind_lines(t->text, t->lines);

	if (t->lines == 0)
		return;
	simrun_pass_text(t->s, t->text, end, t->executions);
	t->text = end;
	t->lines = t->executions = 0;
}

void
passing_skip(struct passing *t)
{
	t->text = behind_lines(t->text, 1);
}
