/*
 * evcheck - make records of the words of execution lines
 *
 * The thread that reads ahead (evahead.c) does that while the reader may still
 * define ids of earlier lines, so it stops at a line whose id it does not know,
 * and the reader goes on there.  An id that is known to the thread was defined
 * before its line, as the reader is always behind, and is never defined again.
 */
#include "ev.h"
#include "evdef.h"
#include "evscan.h"

void
evcheck_begin(struct evscan *s)
{
	s->checked = s->star = 0;
	s->nline = s->nexec = 0;
}

int
evcheck(struct evscan *s, const uint32_t *heads)
{
	uint32_t i, from, next, starred = s->star, head;
	uint64_t lines = 0, more = 0, id, n;

	next = s->piece[s->checked];
	for (i = s->checked; i < s->npiece; i++) {
		from = next;
		next = s->piece[i + 1];
		n = (next - from - 1) & ~EVSCAN_STAR;
		if (__builtin_expect(from & EVSCAN_STAR, 0)) {
			from &= ~EVSCAN_STAR;
			if (n != 0 || next & EVSCAN_STAR ||
			    s->word[from] > EV_MOST)
				break;
			s->word[starred] |= EV_MORE;
			more += s->word[from];
			continue;
		}
		id = s->word[from];
		if (id > EVDEF_MAXID)
			break;
		head = __atomic_load_n(&heads[id], __ATOMIC_RELAXED);
		if (head == 0 || n != ev_ngroups(head))
			break;
		s->word[from] = head;
		starred = from;
		lines++;
	}
	s->checked = i;
	s->star = starred;
	s->nline += lines;
	s->nexec += lines + more;
	return i == s->npiece ? 0 : -1;
}
