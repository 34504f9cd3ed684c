/*
 * during - the end of --for's window
 */
#include "stream/parts.h"
#include "stream/stream.h"

_Atomic bool format_full;

static void
full(void)
{
	format_full = true;
	bell_ring();
}

/*
 * The end of --for's window in records [a, b): behind the one that fills it.
 * Later records are dropped, and the program is let go.
 */
const uint32_t *
during_records(const uint32_t *a, const uint32_t *b)
{
	static uint64_t done;
	uint32_t head;

	while (a < b && !format_full) {
		head = ONCE(*a);
		done += id_length[record_id(head)];
		a += 1 + 2 * record_nvalues(head);
		if (done >= opt->during)
			full();
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
