/*
 * shelf - counters whose definitions are text already (--store)
 *
 * In kind counts nobody needs the definition of a stored block until its count
 * is told.  So the store has the first counters; the id of a counter's block is
 * the counter's number added to the first of these ids; and the text of a
 * definition is copied from the entry when it is needed.
 * Only the formatting thread writes anything here while the program runs.
 */
#include <stdlib.h>
#include <string.h>

#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"
#include "mem.h"

static struct {
	const struct shelf_count *count;	/* by counter */
	uint32_t n;
	const char *text;
	size_t size;
	uint32_t first;		/* the id of counter 0 */
	bool *written;		/* by counter: its definition is in the text */
	size_t nwritten;	/* blocks */
} shelf;

void
shelf_take(const struct shelf_count *count, uint32_t n, const char *text,
    size_t size, uint32_t first)
{
	shelf_drop();
	shelf.count = count;
	shelf.n = n;
	shelf.text = text;
	shelf.size = size;
	shelf.first = first;
	shelf.written = xcalloc(n + 1ul, sizeof *shelf.written);
}

void
shelf_drop(void)
{
	__atomic_store_n(&shelf.n, 0, __ATOMIC_RELEASE);
	free(shelf.written);
	shelf.written = NULL;
}

bool
shelf_has(uint32_t c)
{
	return c < __atomic_load_n(&shelf.n, __ATOMIC_RELAXED);
}

bool
shelf_has_id(uint32_t id)
{
	return id >= shelf.first && shelf_has(id - shelf.first);
}

uint32_t
shelf_id(uint32_t c)
{
	return shelf.first + c;
}

uint32_t
shelf_counter(uint32_t id)
{
	return id - shelf.first;
}

size_t
shelf_written(void)
{
	return shelf.nwritten;
}

unsigned
shelf_length(uint32_t c)
{
	return shelf.count[c].what == SHELF_BLOCK ||
	    shelf.count[c].what == SHELF_PREFIX ? shelf.count[c].n : 0;
}

static void
define_block(uint32_t c)
{
	const char *text = shelf.text + shelf.count[c].at;

	if (shelf.written[c])
		return;
	shelf.written[c] = true;
	shelf.nwritten++;
	evw_define_block(stream_writer, shelf_id(c), text, strlen(text));
}

static void
define_prefix(uint32_t c, uint32_t block)
{
	if (shelf.written[c])
		return;
	shelf.written[c] = true;
	evw_define_prefix(stream_writer, shelf_id(c), shelf_id(block),
	    shelf.count[c].n);
}

/* The counter of its block; s.n: the entry is not as it should be. */
static uint32_t
block_of(uint32_t c)
{
	uint32_t b = shelf.count[c].what == SHELF_BLOCK ? c : shelf.count[c].at;

	return b < shelf.n && shelf.count[b].what == SHELF_BLOCK &&
	    shelf.count[b].at < shelf.size ? b : shelf.n;
}

bool
shelf_define(uint32_t c)
{
	uint32_t b = block_of(c);

	if (b == shelf.n)
		return false;
	define_block(b);
	if (shelf.count[c].what == SHELF_PREFIX)
		define_prefix(c, b);
	return true;
}

bool
shelf_is_pair(uint32_t c)
{
	return shelf.count[c].what == SHELF_ROUNDS && shelf_has(c + 1);
}

uint64_t
shelf_tell(uint32_t c, uint64_t v, uint64_t none)
{
	const struct shelf_count *k = &shelf.count[c];

	if (!shelf_define(c))
		return 0;
	if (shelf_length(c) != 0) {
		evw_exec(stream_writer, shelf_id(c), 0, NULL, v - 1);
		return v * k->n;
	}
	if (k->what == SHELF_NONE) {
		none = v;
		v = 0;
	}
	evw_line(stream_writer, "R %x %x %llx %llx", shelf_id(k->at), k->n,
	    (unsigned long long)v, (unsigned long long)none);
	return 0;
}
