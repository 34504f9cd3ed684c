/*
 * evwline - write event text, events(5): the buffer, lines, the end
 *
 * Executions are evwrite.c's, definitions evwids.c's, and the hot loops are in
 * evwrec.c and in the files that its head names.
 */
#include "evw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evwrec.h"
#include "mem.h"
#include "out.h"
#include "prog.h"

struct evw *
evw_open(struct out *out)
{
	struct evw *w = xcalloc(1, sizeof *w);
	unsigned way = EVWREC_WAYS - 1;

	evwrec_init();
	while (evwrec_way(way) == NULL)
		way--;
	w->way = evwrec_way(way);
	w->single = evwrec_single_way(way);
	w->out = out;
	w->buf = xmalloc(EVW_BUFSIZE);
	w->p = w->buf;
	return w;
}

void
evw_raw(struct evw *w, const char *line, size_t len)
{
	char *p = evwrec_finish(w, w->p);

	if (len > EVW_MAXLINE)
		die("a line of %zu bytes, at most %d", len, EVW_MAXLINE);
	if (len == 12 && memcmp(line, "H kind calls", 12) == 0)
		w->calls = true;
	/* entries and exits count as executions */
	if (w->calls && len > 0 && strchr("NVX", *line) != NULL)
		w->nexec++;
	p = evwrec_text(w, p, line, len);
	*p++ = '\n';
	w->p = p;
}

void
evw_text(struct evw *w, const char *text, size_t len, uint64_t n)
{
	char *p = evwrec_finish(w, w->p);
	size_t some;

	for (; len > 0; len -= some, text += some) {
		some = len < EVW_MAXLINE ? len : EVW_MAXLINE;
		p = evwrec_text(w, p, text, some);
	}
	w->p = p;
	w->nexec += n;
}

void
evw_line(struct evw *w, const char *fmt, ...)
{
	va_list ap;
	char some[512], *line = some;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(some, sizeof some, fmt, ap);
	va_end(ap);
	if (len < 0)
		die("line:");
	if ((size_t)len >= sizeof some) {
		line = xmalloc((size_t)len + 1);
		va_start(ap, fmt);
		vsnprintf(line, (size_t)len + 1, fmt, ap);
		va_end(ap);
	}
	evw_raw(w, line, (size_t)len);
	if (line != some)
		free(line);
}

void
evw_flush(struct evw *w)
{
	w->p = evwrec_spill(w, evwrec_finish(w, w->p));
	out_flush(w->out);
}

uint64_t
evw_executions(const struct evw *w)
{
	return w->nexec;
}

void
evw_told(struct evw *w, uint64_t n)
{
	w->nexec += n;
}

void
evw_end(struct evw *w, const char *how, int status)
{
	evw_line(w, "E %s %d %" PRIu64, how, status, w->nexec);
	evw_flush(w);
}
