/*
 * vecs - copy a vector, dense or sparse
 */
#include <string.h>

#include "cluster.h"

/* row = vector i */
void
vec_copy(const struct vecs *v, size_t i, double *row)
{
	size_t j;

	if (v->x) {
		memcpy(row, v->x + i * v->dim, v->dim * sizeof *row);
		return;
	}
	memset(row, 0, v->dim * sizeof *row);
	for (j = v->from[i]; j < v->from[i + 1]; j++)
		row[v->at[j]] = v->val[j];
}
