/*
 * fuzz_ev - the event reader on any bytes
 *
 * Reads, walks a few rounds of each execution, and passes all on to a writer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ev.h"
#include "evw.h"
#include "in.h"
#include "out.h"
#include "util.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len);

static uint64_t seen;	/* so that nothing read is optimised away */

static void
executions(struct evr *r, struct evw *w, const struct ev *e)
{
	for (const uint64_t *p = e->rec; p < e->end; p = ev_skip(p)) {
		const struct ev_def *d = ev_def(r, ev_id(*p));
		struct ev_walk walk;

		for (uint64_t n = 0; n <= ev_more(p) && n < 3; n++) {
			ev_apply(d, p + 1);
			ev_walk(&walk, d);
			for (int k = 0; k < 1000 && ev_step(&walk); k++)
				seen += walk.addr + walk.size + walk.kind;
		}
		evw_exec(w, d->id, ev_ngroups(*p), p + 1, ev_more(p));
	}
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t len)
{
	static struct out *o;
	static struct evw *w;
	char name[40], event[32];
	uint64_t n;
	struct evr *r;
	struct in *in;
	struct ev e;
	int c, fd = memfd_create("fuzz", 0);

	if (o == NULL) {
		o = out_open("/dev/null");
		w = evw_open(o);
		progname = "fuzz_ev";
	}
	/* gzip is zlib's own affair */
	if (fd < 0 || (len > 1 && data[0] == 0x1f && data[1] == 0x8b) ||
	    write(fd, data, len) != (ssize_t)len) {
		close(fd);
		return 0;
	}
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	in = in_open(name);
	r = ev_open(in);
	while ((c = ev_next(r, &e)) > 0) {
		if (c == EV_EXECS)
			executions(r, w, &e);
		else
			evw_raw(w, e.line, e.len);
		while (c == 'O' && ev_outcome(&e.text, event, &n) > 0)
			seen += n;
		seen += ev_thread(r) + ev_kind(r);
	}
	if ((c == 0) != (ev_error(r) == NULL))
		abort();
	ev_free(r);
	in_close(in);
	close(fd);
	return 0;
}
