/*
 * fuzz_cost - any bytes as a cost file
 *
 * The reader comes to an end or tells what is wrong.  What it read, written
 * again in one of the writer's styles, reads the same; and so does the table
 * made of it, which is in canonical order and comes to the same sum.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cost.h"
#include "in.h"
#include "out.h"
#include "prog.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* die and warn come here; memory is ours to free after a jump over its owner */
_Noreturn void __wrap_die(const char *, ...);
void __wrap_warn(const char *, ...);
void *__wrap_malloc(size_t), *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void __wrap_free(void *);
void *__real_malloc(size_t), *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);

static jmp_buf trouble;
static bool running;
static char said[1024];
static void *held[1 << 16];
static size_t nheld;

void
__wrap_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof said, fmt, ap);
	va_end(ap);
	longjmp(trouble, 1);
}

void
__wrap_warn(const char *fmt, ...)
{
	(void)fmt;
}

static void *
hold(void *p)
{
	if (running && p && nheld < sizeof held / sizeof held[0])
		held[nheld++] = p;
	return p;
}

static void
let_go(void *p)
{
	size_t i;

	for (i = nheld; running && i-- > 0;)
		if (held[i] == p) {
			held[i] = held[--nheld];
			break;
		}
}

void *
__wrap_malloc(size_t n)
{
	return hold(__real_malloc(n));
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return hold(__real_calloc(n, size));
}

void *
__wrap_realloc(void *p, size_t n)
{
	let_go(p);
	return hold(__real_realloc(p, n));
}

void
__wrap_free(void *p)
{
	let_go(p);
	__real_free(p);
}

static uint64_t
mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x9e3779b97f4a7c15u + (h >> 29);
}

static uint64_t
mix_pos(uint64_t h, const struct cost_pos *p)
{
	return mix(mix(mix(h, p->addr), p->bb), p->line);
}

static uint64_t
digest(uint64_t h, const struct cost *c, size_t nev)
{
	size_t i;

	h = mix_pos(mix(mix(mix(h, c->kind), c->fn), c->file), &c->pos);
	if (c->kind != COST_SELF)
		h = mix_pos(mix(h, c->callee), &c->to);
	if (c->kind == COST_JUMP)
		h = mix(mix(h, c->tofile), c->cond);
	if (c->kind != COST_SELF)
		h = mix(mix(h, (uint64_t)c->count[0]), (uint64_t)c->count[1]);
	for (i = 0; c->kind != COST_JUMP && i < nev; i++)
		h = mix(h, (uint64_t)c->n[i]);
	return h;
}

static uint64_t
digest_head(uint64_t h, const struct cost_head *head)
{
	size_t i;

	h = mix(mix(mix(h, head->format), head->positions), head->nev);
	for (i = 0; i < head->nev; i++)
		h = mix(mix(h, (uintptr_t)head->ev[i].name),
		    (uintptr_t)head->ev[i].longname);
	for (i = 0; i < head->nderived; i++)
		h = mix(mix(h, (uintptr_t)head->derived[i].name),
		    (uintptr_t)head->derived[i].formula);
	for (i = 0; i < head->ndesc; i++)
		h = mix(h, (uintptr_t)head->desc[i]);
	return h;
}

static int
file(const void *data, size_t len)
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	return fd;
}

/*
 * Read fd; a copy into *copy in a style, or NULL: only look. A copy is in one
 * format, so there is none of parts in two.
 */
static uint64_t
pass(int fd, struct costnames *nm, int *copy, unsigned style)
{
	char name[32];
	struct costr *r;
	struct costw *w = NULL;
	struct out *o = NULL;
	struct cost c;
	unsigned format = 0;
	uint64_t h = 1;

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	r = costr_open(name, nm);
	if (copy) {
		*copy = memfd_create("fuzz", 0);
		o = out_fd(dup(*copy), "copy");
	}
	while (costr_next(r, &c)) {
		h = c.kind == COST_PART ? digest_head(h, &r->head) :
		    digest(h, &c, r->head.nev);
		if (!copy)
			continue;
		if (c.kind != COST_PART) {
			costw_put(w, &c);
		} else if (!w) {
			w = costw_begin(o, nm, &r->head, style);
			format = r->head.format;
		} else if (r->head.format != format) {
			die("two formats");
		} else {
			costw_part(w, &r->head);
		}
	}
	if (copy) {
		costw_end(w);
		out_close(o);
	}
	costr_close(r);
	return h;
}

/* All parts in one table; false: their events differ. */
static bool
table(int fd, struct costnames *nm)
{
	char name[32];
	struct costr *r;
	struct costsum *t = NULL;
	struct cost_head first = { .nev = 0 };
	size_t map[COST_EVMAX], i;
	int64_t sum[COST_EVMAX] = { 0 };
	struct cost c, last = { .kind = COST_PART };

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	r = costr_open(name, nm);
	while (costr_next(r, &c)) {
		if (c.kind != COST_PART) {
			costsum_put(t, &c);
			continue;
		}
		if (!t) {
			first = r->head;
			t = costsum_new(nm, first.positions, first.nev);
		}
		if (costhead_map(&first, &r->head, map) < 0)
			return false;
		costsum_positions(t, r->head.positions);
	}
	costsum_sort(t);
	while (costsum_next(t, &c)) {
		if (last.kind != COST_PART && cost_cmp(nm, &last, &c) >= 0)
			abort();
		last = c;
		for (i = 0; c.kind == COST_SELF && i < first.nev; i++)
			sum[i] = (int64_t)((uint64_t)sum[i] + (uint64_t)c.n[i]);
	}
	if (memcmp(sum, r->total, first.nev * sizeof sum[0]) ||
	    memcmp(sum, costsum_total(t), first.nev * sizeof sum[0]))
		abort();
	costsum_free(t);
	costr_close(r);
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct costnames *volatile nm;
	volatile bool whole = false;
	volatile uint64_t h = 0;
	int fd = file(data, len), copy = -1;

	/* what is compressed is fuzz_in's */
	if (in_is_packed(data, len)) {
		close(fd);
		return 0;
	}
	running = true;
	nm = costnames_new();
	if (!setjmp(trouble)) {
		h = pass(fd, nm, &copy, len % 8);
		whole = true;
	}
	if (whole) {
		if (setjmp(trouble)) {
			fprintf(stderr, "what was written: %s\n", said);
			abort();
		}
		if (pass(copy, nm, NULL, 0) != h)
			abort();
		if (!setjmp(trouble))
			table(fd, nm);
	}
	running = false;
	while (nheld)
		__real_free(held[--nheld]);
	close_range((unsigned)fd, ~0U, 0);
	return 0;
}
