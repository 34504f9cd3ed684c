/*
 * evbuf - the text of a stream, by whole lines
 */
#include "evbuf.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define BUFSIZE	(256 << 10)
#define SHORT	(1 << 20)	/* not worth a thread */

void
evbuf_open(struct evbuf *b, struct in *in, const uint32_t *heads)
{
	b->heads = heads;
	b->in = in;
	b->buf = xmalloc(EVSCAN_BEFORE + BUFSIZE + EVSCAN_BEHIND);
	memset(b->buf, '\n', EVSCAN_BEFORE + BUFSIZE + EVSCAN_BEHIND);
	b->buf += EVSCAN_BEFORE;
	b->p = b->lines = b->end = b->buf;
	b->given = 0;
	b->ahead = NULL;
	b->lists = NULL;
}

void
evbuf_done(struct evbuf *b)
{
	if (b->ahead == NULL)
		return;
	evahead_end(b->ahead);
	b->ahead = NULL;
	b->p = b->lines = b->end = b->buf;
}

void
evbuf_close(struct evbuf *b)
{
	evbuf_done(b);
	free(b->buf - EVSCAN_BEFORE);
}

int
evbuf_fill(struct evbuf *b)
{
	while (b->p == b->lines) {
		size_t have = (size_t)(b->end - b->p);
		ssize_t n;
		char *nl;

		if (b->ahead == NULL && b->given > SHORT)
			b->ahead = evahead_begin(b->in, b->heads, b->lists,
			    b->p, have);
		if (b->ahead != NULL)
			return evahead_fill(b);
		if (have > EVBUF_MAXLINE)
			return -1;
		if (b->p != b->buf) {
			memmove(b->buf, b->p, have);
			b->p = b->lines = b->buf;
			b->end = b->buf + have;
			b->buf[-1] = '\n';
		}
		n = in_read(b->in, b->end, (size_t)BUFSIZE - have);
		if (n == 0)
			return 0;
		b->given += (uint64_t)n;
		nl = memrchr(b->end, '\n', (size_t)n);
		b->end += n;
		if (nl != NULL)
			b->lines = nl + 1;
	}
	return 1;
}

bool
evbuf_follows(struct evbuf *b)
{
	if (b->p != b->end)
		return true;
	if (b->ahead == NULL)
		return in_read(b->in, b->buf, 1) != 0;
	return evahead_fill(b) != 0 || b->p != b->end;
}

struct evscan *
evbuf_scanned(const struct evbuf *b, size_t *taken)
{
	return b->ahead == NULL ? NULL : evahead_scanned(b, taken);
}
