/*
 * xraywindow - the bytes of a log, through a window that moves over it
 */
#include <errno.h>
#include <unistd.h>

#include "prog.h"
#include "xraylog.h"

const uint8_t *
xray_at(struct xray *x, uint64_t off, size_t n)
{
	uint64_t want;
	ssize_t got;

	if (off >= x->winoff && off - x->winoff + n <= x->winlen)
		return x->win + (off - x->winoff);
	if (off > x->size || n > x->size - off)
		return NULL;
	want = x->ahead > n ? x->ahead : n;
	if (want > x->size - off)
		want = x->size - off;
	x->winoff = off;
	x->winlen = 0;
	while (x->winlen < want) {
		got = pread(x->fd, x->win + x->winlen, want - x->winlen,
		    (off_t)(off + x->winlen));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			die("%s: read:", x->name);
		if (got == 0)
			die("%s: the file became shorter while it was read",
			    x->name);
		x->winlen += got;
	}
	return x->win;
}
