/*
 * vector - a thread's vector: room for its counts, and the end of a row
 */
#include "bbv.h"

#include <string.h>

#include "mem.h"

void
vector_room(struct bbv_thread *t)
{
	if (t->cap < nbb)
		t->n = xgrow0(t->n, &t->cap, nbb, sizeof *t->n);
}

void
vector_row(struct bbv_thread *t, uint64_t rest)
{
	rows_write(t);
	t->marked = false;
	t->nrow++;
	t->ninsn = t->excess = rest;
	if (t->cap != 0)
		memset(t->n, 0, t->cap * sizeof *t->n);
	if (t->captouches != 0)
		memset(t->touches, 0, t->captouches * sizeof *t->touches);
}
