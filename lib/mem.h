/*
 * mem.h - memory that succeeds, or ends the program with a message
 */
#ifndef MEM_H
#define MEM_H

#include <stddef.h>
#include <stdint.h>

/* As in libc, with sizes in bytes; 0 bytes are some memory, too. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t most);
/* Zeroed memory for small things that are never freed, also in threads. */
void *xkeep(size_t n);
/*
 * Zeroed memory for n elements of so many bytes; what is never touched takes
 * none. `what' begins the message when there is no address space.
 */
void *xreserve(size_t n, size_t elemsize, const char *what);
/*
 * Reserved memory that fills from its beginning: give the first `need' bytes,
 * and some behind them, their pages in one call. By itself a page costs a fault
 * each, and two if it is read before it is written; the second interrupts all
 * processors that run our threads. What a leap of `need' leaves out is left to
 * faults.
 */
struct touched {
	size_t size;		/* bytes reserved */
	size_t have;		/* so many have their pages; 0 at first */
};
/* For xtouch: need is more than t->have. */
void xtouch_more(void *p, struct touched *t, size_t need);

/* The first `need' bytes at p, which was reserved so, have their pages. */
static inline void
xtouch(void *p, struct touched *t, size_t need)
{
	if (need > t->have)
		xtouch_more(p, t, need);
}

/* Give all pages of any n bytes in one call. */
void xtouch_all(void *p, size_t n);
/*
 * The same for a table of at most 64 * TOUCH_PART bytes that is used here and
 * there: all pages of a part in one call, when an element of it is first used.
 */
#define TOUCH_PART	((size_t)64 << 10)
struct touched_parts {
	uint64_t done;		/* bit i: part i has its pages */
};
void xtouch_part(void *table, size_t size, struct touched_parts *t,
    unsigned part);

/* The element at byte `at` of a table of `size' bytes is to be used. */
static inline void
xtouch_at(void *table, size_t size, struct touched_parts *t, size_t at)
{
	unsigned part = (unsigned)(at / TOUCH_PART);

	if ((t->done >> part & 1) == 0)
		xtouch_part(table, size, t, part);
}

/*
 * Room for `need` elements in a buffer with room for *cap (which at least
 * doubles when it has to grow): v = xgrow(v, &cap, n + 1, sizeof *v).
 */
void *xgrow(void *p, size_t *cap, size_t need, size_t elemsize);
/* The same; the new elements are 0. */
void *xgrow0(void *p, size_t *cap, size_t need, size_t elemsize);

#endif
