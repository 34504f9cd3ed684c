/*
 * jit - the pieces of code that maps and dumps name, and which one ran where
 *
 * Code comes and goes, so pieces of different times overlap. They are sorted by
 * their first address, with the highest end of all up to each: so a search goes
 * back from an address only as far as a piece can still reach it.
 */
#include "jit/parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"

#define STEPS	4096	/* a search looks at so many pieces */
#define TRIED	64	/* and compares the bytes of so many */

struct jit *
jit_new(void)
{
	struct jit *j = xcalloc(1, sizeof *j);

	j->map.fd = -1;
	return j;
}

static void
free_file(struct jit_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->lines);
}

void
jit_free(struct jit *j)
{
	free_file(&j->map);
	for (uint32_t i = 0; i < j->ndump; i++)
		free_file(&j->dump[i]);
	for (size_t i = 0; i < j->ncode; i++) {
		free((char *)j->code[i].name);
		free((struct jit_line *)j->code[i].line);
	}
	free(j->code);
	free(j->order);
	free(j->reach);
	free(j);
}

int
jit_open_map(struct jit *j, int fd)
{
	if (j->map.fd >= 0)
		return -1;
	j->map.fd = fd;
	return 0;
}

int
jit_open_dump(struct jit *j, int fd)
{
	if (j->ndump == JIT_DUMPS)
		return -1;
	j->dump[j->ndump] = (struct jit_file){ .fd = fd,
	    .number = j->ndump + 1 };
	j->ndump++;
	return 0;
}

size_t
jit_poll(struct jit *j)
{
	if (j->map.fd >= 0 && !j->map.bad)
		perfmap_poll(j);
	for (uint32_t i = 0; i < j->ndump; i++)
		if (!j->dump[i].bad)
			jitdump_poll(j, &j->dump[i]);
	return j->ncode;
}

const struct jit_code *
jit_get(const struct jit *j, size_t i)
{
	return &j->code[i];
}

/* ---- search ---- */

static const struct jit *sorting;

static int
by_start(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t s = sorting->code[x].start, t = sorting->code[y].start;

	return s != t ? (s < t ? -1 : 1) : x < y ? -1 : x > y;
}

static void
sort(struct jit *j)
{
	uint64_t reach = 0;

	j->order = xrealloc(j->order, j->ncode * sizeof *j->order);
	j->reach = xrealloc(j->reach, j->ncode * sizeof *j->reach);
	for (size_t i = 0; i < j->ncode; i++)
		j->order[i] = (uint32_t)i;
	sorting = j;
	qsort(j->order, j->ncode, sizeof *j->order, by_start);
	for (size_t i = 0; i < j->ncode; i++) {
		const struct jit_code *c = &j->code[j->order[i]];

		if (c->start + c->size > reach)
			reach = c->start + c->size;
		j->reach[i] = reach;
	}
	j->norder = j->ncode;
}

/* How many of n bytes at addr are those of a piece's dump. */
static size_t
alike(const struct jit *j, const struct jit_code *c, uint64_t addr,
    const uint8_t *code, size_t n)
{
	uint8_t have[256];
	size_t same = 0;

	if (n > c->start + c->size - addr)
		n = (size_t)(c->start + c->size - addr);
	if (n > sizeof have)
		n = sizeof have;
	if (!jit_read(&j->dump[c->dump - 1], c->bytes + (addr - c->start),
	    have, n))
		return 0;
	for (size_t i = 0; i < n; i++)
		same += have[i] == code[i];
	return same * 2 > n ? same : 0;
}

/* Of two pieces of maps, the one that the code is of; see jit_find. */
static size_t
of_map(size_t a, size_t b, size_t known)
{
	if (a == JIT_NONE || (a < known) != (b < known))
		return a != JIT_NONE && a < known ? a : b;
	return (a < b) == (a < known) ? b : a;
}

/* How many pieces begin at addr or before it. */
static size_t
up_to(const struct jit *j, uint64_t addr)
{
	size_t lo = 0, hi = j->norder, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (j->code[j->order[mid]].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t
jit_find(struct jit *j, uint64_t addr, const uint8_t *code, size_t n,
    size_t known)
{
	size_t i, best = JIT_NONE, named = JIT_NONE, most = 0, same;
	unsigned steps = 0, tried = 0;

	if (j->norder != j->ncode)
		sort(j);
	for (i = up_to(j, addr); i-- > 0 && j->reach[i] > addr &&
	    steps++ < STEPS; ) {
		size_t k = j->order[i];
		const struct jit_code *c = &j->code[k];

		if (c->start + c->size <= addr)
			continue;
		if (c->dump == 0) {
			named = of_map(named, k, known);
			continue;
		}
		if (tried++ >= TRIED)
			continue;
		same = alike(j, c, addr, code, n);
		if (same > most || (same != 0 && same == most && k > best)) {
			most = same;
			best = k;
		}
	}
	return best != JIT_NONE ? best : named;
}
