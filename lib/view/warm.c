/*
 * warm - costs at the end of a warm-up, to be taken off those of the end
 */
#include "warm.h"

#include <string.h>

#include "mem.h"

struct warm {
	unsigned nev;
	uint32_t *row;		/* by instruction, plus 1; 0: none */
	int64_t *kept;		/* by row */
	size_t caprow, nrow, capkept;
};

struct warm *
warm_new(unsigned nev)
{
	struct warm *w = xcalloc(1, sizeof *w);

	w->nev = nev;
	return w;
}

void
warm_keep(struct warm *w, uint64_t insn, const int64_t *n, int sign)
{
	int64_t *kept;

	w->row = xgrow0(w->row, &w->caprow, insn + 1, sizeof *w->row);
	w->kept = xgrow0(w->kept, &w->capkept, (w->nrow + 1) * w->nev,
	    sizeof *w->kept);
	if (w->row[insn] == 0)
		w->row[insn] = (uint32_t)++w->nrow;
	kept = w->kept + (size_t)(w->row[insn] - 1) * w->nev;
	for (unsigned i = 0; i < w->nev; i++)
		kept[i] += sign * n[i];
}

void
warm_zero(struct warm *w)
{
	if (w->kept != NULL)
		memset(w->kept, 0, w->capkept * sizeof *w->kept);
}

void
warm_take_off(const struct warm *w, uint64_t insn, int64_t *n)
{
	const int64_t *kept;

	if (insn >= w->caprow || w->row[insn] == 0)
		return;
	kept = w->kept + (size_t)(w->row[insn] - 1) * w->nev;
	for (unsigned i = 0; i < w->nev; i++)
		n[i] -= kept[i];
}

uint64_t
warm_rounds(uint64_t *left, uint64_t rounds, uint64_t ninsn)
{
	uint64_t n = *left / ninsn + (*left % ninsn != 0);

	if (n > rounds)
		n = rounds;
	*left -= *left < n * ninsn ? *left : n * ninsn;
	return n;
}
