/*
 * evout - scan executions with outcomes among them
 *
 * Where a simulator passes on what it found, an O line follows each second or
 * third execution. A batch that ended at each of these would be so short that
 * its beginning costs more than all else. So executions are copied together,
 * scanned as if they had come without a break, and what was between them is
 * told beside: of which record, of which instruction, and which list of events.
 *
 *	2+8\n			copied	2+8\n5*3\n
 *	O 4 D1mr\n		out	record 0, instruction 4, list 17
 *	5*3\n			list 17	D1mr
 *
 * This is for plain lines: a number, and a list that is short and needs no
 * unescaping. Scanning stops at any other, which the reader reads by itself.
 */
#include "evout.h"

#include <emmintrin.h>
#include <string.h>

#define TRIES	8	/* places of a list */

/* Executions without an outcome between them. */
struct part {
	const char *end;
	unsigned lines;
};

/* ---- lists ---- */

static bool
is_plain(const char *text, size_t len)
{
	for (const char *c = text; c < text + len; c++)
		if (*c < 0x20 || *c > 0x7e || *c == '\\')
			return false;
	return true;
}

/* The number of a list, perhaps a new one; -1: it is not plain, or no room. */
static int
list_number(struct evout_lists *l, const char *text, size_t len)
{
	unsigned at = evout_hash(text, len, EVOUT_BITS);

	if (len == 0 || len >= EVOUT_TEXT)
		return -1;
	for (unsigned i = 0; i < TRIES; i++) {
		struct evout_list *p =
		    &l->list[(at + i) % (1U << EVOUT_BITS)];

		if (p->len == len && memcmp(p->text, text, len) == 0)
			return (int)(l->first + (p - l->list));
		if (p->len != 0)
			continue;
		if (!is_plain(text, len))
			return -1;
		memcpy(p->text, text, len);
		p->len = (uint32_t)len;
		return (int)(l->first + (p - l->list));
	}
	return -1;
}

/* ---- lines ---- */

/* An O line: its end, and what it tells; NULL: it is not plain. */
static const char *
outcome(struct evout_lists *l, const char *p, const char *end,
    struct ev_out *o)
{
	unsigned insn = 0, d;
	const char *from;
	int list;

	if (p[1] != ' ')
		return NULL;
	for (from = p += 2; *p != ' '; p++) {
		d = (unsigned char)*p;
		d = d - '0' < 10 ? d - '0' : d - 'a' < 6 ? d - 'a' + 10 : 16;
		if (d == 16 || p - from == 4)
			return NULL;
		insn = insn << 4 | d;
	}
	from = ++p;
	p = memchr(p, '\n', (size_t)(end - p));
	list = list_number(l, from, (size_t)(p - from));
	if (insn == 0 || list < 0)
		return NULL;
	o->insn = (uint16_t)insn;
	o->list = (uint16_t)list;
	return p + 1;
}

static unsigned
newlines(__m128i x)
{
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x,
	    _mm_set1_epi8('\n')));
}

static unsigned
capitals(__m128i x)
{
	return (unsigned)_mm_movemask_epi8(_mm_and_si128(
	    _mm_cmpgt_epi8(x, _mm_set1_epi8('A' - 1)),
	    _mm_cmplt_epi8(x, _mm_set1_epi8('Z' + 1))));
}

/*
 * Copy the lines up to one that begins with a capital letter, or to the end.
 * Reads and writes up to 16 bytes beyond; the lines end with a newline.
 */
static struct part
copy_executions(char *to, const char *p, const char *end)
{
	struct part part = { end, 0 };
	unsigned ends, stops = 0;

	for (; p < end && stops == 0; p += 16, to += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)p);

		_mm_storeu_si128((__m128i *)to, x);
		ends = newlines(x);
		if (end - p < 16)
			ends &= (1U << (end - p)) - 1;
		stops = ends & capitals(_mm_loadu_si128(
		    (const __m128i *)(p + 1)));
		if (stops != 0) {
			part.end = p + __builtin_ctz(stops) + 1;
			ends &= (stops & -stops) * 2 - 1;
		}
		for (; ends != 0; ends &= ends - 1)
			part.lines++;
	}
	return part;
}

/* Of an outcome is known how many lines came before: find its record. */
static void
find_records(struct evscan *s, unsigned nout)
{
	struct ev_out *o = s->out, *end = s->out + nout;
	uint32_t lines = 0;

	for (; o < end && o->at == 0; o++)
		o->at = EV_OUT_BEFORE;
	for (unsigned i = 0; i < s->npiece && o < end; i++) {
		if (s->piece[i] & EVSCAN_STAR)
			continue;
		for (lines++; o < end && o->at == lines; o++)
			o->at = s->piece[i];
	}
}

size_t
evout_scan(struct evscan *s, struct evout_lists *l, const char *text, size_t n)
{
	char *to = s->copy + EVSCAN_BEFORE;
	const char *p = text, *end = text + n, *next;
	unsigned nout = 0;
	uint32_t lines = 0;

	s->copy[EVSCAN_BEFORE - 1] = '\n';
	while (p < end) {
		if (*p == 'O') {
			next = outcome(l, p, end, &s->out[nout]);
			if (next == NULL)
				break;
			s->out[nout++].at = lines;
		} else if (*p >= 'A' && *p <= 'Z') {
			break;
		} else {
			struct part part = copy_executions(to, p, end);

			next = part.end;
			to += next - p;
			lines += part.lines;
		}
		p = next;
	}
	n = (size_t)(to - s->copy - EVSCAN_BEFORE);
	if (lines == 0 || evscan_text(s, s->copy + EVSCAN_BEFORE, n) != n ||
	    s->malformed)
		return 0;
	find_records(s, nout);
	s->nout = nout;
	return (size_t)(p - text);
}
