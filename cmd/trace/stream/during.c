/*
 * during - the end of --for's window
 */
#include "stream/parts.h"
#include "stream/stream.h"

volatile int format_full;

/* What an id stands for: see format_part. */
static struct part {
	uint32_t block;
	uint8_t n, nvalues;
	bool branch;
} parts[NIDS];
static uint32_t last_part;

void
format_part(uint32_t id, uint32_t block, unsigned n, unsigned nvalues,
    bool branch)
{
	parts[id] = (struct part){ block, (uint8_t)n, (uint8_t)nvalues,
	    branch };
	if (id > last_part)
		__atomic_store_n(&last_part, id, __ATOMIC_RELEASE);
}

static void
full(void)
{
	format_full = 1;
	bell_ring();
}

/*
 * Of this id's instructions, the id of those up to the first branch behind n of
 * them; 0: there is none.
 */
static uint32_t
up_to_branch(uint32_t id, uint64_t n)
{
	uint32_t end = __atomic_load_n(&last_part, __ATOMIC_ACQUIRE), i;
	uint32_t block = parts[id].block, best = 0;
	const struct part *p;

	for (i = block; i <= end && block != 0; i++) {
		p = &parts[i];
		if (p->block == block && p->branch && p->n >= n &&
		    p->n <= parts[best != 0 ? best : id].n)
			best = i;
	}
	return best;
}

/*
 * The end of --for's window in records [a, b): the first branch with which the
 * number is reached, so that it does not matter where blocks end, and which of
 * them were made anew along their paths by then.  Later records are dropped,
 * and the program is let go.
 */
const uint32_t *
during_records(uint32_t *a, const uint32_t *b)
{
	static uint64_t done;
	uint32_t head, id;
	uint64_t left;

	while (a < b && !format_full) {
		head = ONCE(*a);
		id = record_id(head);
		left = done < opt->during ? opt->during - done : 0;
		done += parts[id].n;
		if (parts[id].n >= left && (id = up_to_branch(id, left)) != 0 &&
		    parts[id].nvalues <= record_nvalues(head)) {
			head = record_head(id, parts[id].nvalues);
			*a = head;
			full();
		}
		a += 1 + 2 * record_nvalues(head);
	}
	return a < b ? a : b;
}

void
during_counted(uint64_t n)
{
	if (opt->during == 0 || area.remaining == 0)
		return;
	area.remaining -= n < area.remaining ? n : area.remaining;
	__atomic_store_n(&area.ctl->remaining, area.remaining,
	    __ATOMIC_SEQ_CST);
	if (area.remaining == 0)
		full();
}
