/*
 * mem - memory that succeeds, or ends the program
 */
#include "mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prog.h"

void *
xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (p == NULL)
		die("%zu bytes of memory:", n);
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (p == NULL)
		die("%zu * %zu bytes of memory:", n, size);
	return p;
}

void *
xrealloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (p == NULL)
		die("%zu bytes of memory:", n);
	return p;
}

char *
xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(xmalloc(n), s, n);
}

char *
xstrndup(const char *s, size_t most)
{
	size_t n = strnlen(s, most);
	char *copy = memcpy(xmalloc(n + 1), s, n);

	copy[n] = '\0';
	return copy;
}

#define TOUCH_LEAST ((size_t)16 << 10)
#define TOUCH_MOST ((size_t)64 << 10)
#define KEEP_MOST ((size_t)256 << 10)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void
xtouch_all(void *p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)p & ~(page - 1);

	/* old kernels cannot: there each page comes by its fault */
	madvise((void *)from, (uintptr_t)p + n - from, MADV_POPULATE_WRITE);
}

void
xtouch_part(void *table, size_t size, struct touched_parts *t, unsigned part)
{
	size_t from = part * TOUCH_PART, left = size - from;

	t->done |= (uint64_t)1 << part;
	xtouch_all((char *)table + from, left < TOUCH_PART ? left : TOUCH_PART);
}

void *
xkeep(size_t n)
{
	static _Thread_local char *room;
	static _Thread_local size_t left, size = TOUCH_LEAST;
	void *p;

	n = (n + 7) & ~(size_t)7;
	if (n > left) {
		size = size < KEEP_MOST ? 2 * size : size;
		left = n > size ? n : size;
		room = xcalloc(1, left);
		xtouch_all(room, left);
	}
	p = room;
	room += n;
	left -= n;
	return p;
}

void *
xreserve(size_t n, size_t elemsize, const char *what)
{
	void *p = MAP_FAILED;

	errno = ENOMEM;
	if (n <= SIZE_MAX / elemsize)
		p = mmap(NULL, n * elemsize, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		die("%s: mmap:", what);
	return p;
}

void
xtouch_more(void *p, struct touched *t, size_t need)
{
	size_t n = t->have / 4 & ~(TOUCH_LEAST - 1);

	if (need > t->size)
		return;
	n = n < TOUCH_LEAST ? TOUCH_LEAST : n > TOUCH_MOST ? TOUCH_MOST : n;
	if (need - t->have > n)
		t->have = (need - 1) & ~(TOUCH_LEAST - 1);
	if (n > t->size - t->have)
		n = t->size - t->have;
	xtouch_all((char *)p + t->have, n);
	t->have += n;
}

void *
xgrow(void *p, size_t *cap, size_t need, size_t elemsize)
{
	size_t n = *cap, bytes;

	if (need <= n && p != NULL)
		return p;
	n = n < SIZE_MAX / 2 ? 2 * n : need;
	if (n < need)
		n = need;
	if (n < 16)
		n = 16;
	if (__builtin_mul_overflow(n, elemsize, &bytes))
		die("%zu * %zu bytes of memory: too much", n, elemsize);
	*cap = n;
	return xrealloc(p, bytes);
}

void *
xgrow0(void *p, size_t *cap, size_t need, size_t elemsize)
{
	size_t old = *cap;

	p = xgrow(p, cap, need, elemsize);
	if (*cap > old)
		memset((char *)p + old * elemsize, 0, (*cap - old) * elemsize);
	return p;
}
