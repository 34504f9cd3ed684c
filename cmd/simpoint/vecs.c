/*
 * vecs - copy a vector, dense or sparse; leave out dimensions
 *
 * A block's number can be any, and centres have all dimensions. What is 0 in
 * all vectors is 0 in all centres, and adds nothing to a distance.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "khash.h"
#include "mem.h"

KHASH_MAP_INIT_INT(dims, uint32_t)

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

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The dimensions that some vector has, rising; *n: how many. */
static uint32_t *
dims_used(const struct vecs *v, khash_t(dims) *seen, size_t *n)
{
	uint32_t *used = NULL;
	size_t j, cap = 0;
	int fresh;

	for (*n = j = 0; j < v->from[v->n]; j++) {
		kh_put(dims, seen, v->at[j], &fresh);
		if (fresh == 0)
			continue;
		used = xgrow(used, &cap, *n + 1, sizeof *used);
		used[(*n)++] = v->at[j];
	}
	qsort(used, *n, sizeof *used, by_number);
	for (j = 0; j < *n; j++)
		kh_val(seen, kh_get(dims, seen, used[j])) = (uint32_t)j;
	return used;
}

void
vecs_squeeze(struct vecs *v)
{
	khash_t(dims) *seen;

	v->wide = v->dim;
	if (v->x || v->dim <= v->from[v->n] || v->from[v->n] == 0)
		return;
	seen = kh_init(dims);
	v->used = dims_used(v, seen, &v->dim);
	for (size_t j = 0; j < v->from[v->n]; j++)
		v->at[j] = kh_val(seen, kh_get(dims, seen, v->at[j]));
	kh_destroy(dims, seen);
}
