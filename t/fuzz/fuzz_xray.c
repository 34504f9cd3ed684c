/*
 * fuzz_xray - any bytes as an XRay log
 *
 * The reader must come to an end.  What a whole FDR log tells is written again,
 * in version 5, and must be the same when that is read, apart from the clock
 * values that the writer tells of its own accord.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "out.h"
#include "prog.h"
#include "xray.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static uint64_t
mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x9e3779b97f4a7c15u + (h >> 29);
}

static uint64_t
digest(uint64_t h, const struct xray_rec *r)
{
	size_t i;

	if (r->kind != XRAY_DATA)
		h = mix(h, r->kind);
	switch (r->kind) {
	case XRAY_BUFFER:
		h = mix(mix(h, r->tid), r->has_pid ? r->pid : 77);
		return mix(mix(h, (uint64_t)r->sec), (uint64_t)r->usec);
	case XRAY_ARG:
		return mix(h, r->arg);
	case XRAY_TYPED:
		h = mix(h, r->type);
		/* FALLTHROUGH */
	case XRAY_CUSTOM:
		return mix(mix(h, r->tsc), r->size);
	case XRAY_DATA:
		for (i = 0; i < r->len; i++)
			h = mix(h, r->data[i]);
		return h;
	default:
		return mix(mix(h, r->id), r->tsc);
	}
}

static int odd;		/* a buffer came twice, or something is lost */

/* all records of x, and a digest of them; into w, if not NULL */
static uint64_t
pass(struct xray *x, struct xray_writer *w, uint64_t most)
{
	struct xray_rec r;
	uint64_t h = 0, n = 0;

	for (xray_next(x, &r); r.kind != XRAY_END; xray_next(x, &r)) {
		if (++n > most)
			abort();
		if (r.kind == XRAY_TWICE || r.kind == XRAY_LOST)
			odd = 1;
		if (w)
			xray_put(w, &r);
		if (r.kind != XRAY_LOST && r.kind != XRAY_TWICE &&
		    r.kind != XRAY_CPU && r.kind != XRAY_WRAP)
			h = digest(h, &r);
	}
	return h;
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct xray_head head;
	struct xray_writer *w;
	struct xray *x;
	struct out *o;
	uint64_t first, second;
	int in = memfd_create("in", 0), fd = memfd_create("out", 0);

	if (in < 0 || fd < 0 || write(in, p, n) != (ssize_t)n)
		die("memfd:");
	x = xray_fdopen(in, "in");
	head = *xray_header(x);
	if (head.type != XRAY_FDR || head.version < 1 || head.version > 5) {
		pass(x, NULL, n + 100);
		xray_close(x);
		close(fd);
		return 0;
	}
	head.version = 5;
	o = out_fd(dup(fd), "out");
	w = xray_create(o, &head);
	odd = 0;
	first = pass(x, w, n + 100);
	xray_close(x);
	xray_finish(w);
	out_close(o);
	x = xray_fdopen(fd, "out");
	second = pass(x, NULL, 4 * n + 1000);
	xray_close(x);
	if (first != second && !odd)
		abort();
	return 0;
}
