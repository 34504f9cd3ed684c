/*
 * fuzz_ev - the event reader on any bytes
 *
 * Reads, walks a few rounds of each execution, and passes all on to a writer. A
 * lean reader must see the same.
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
#include "prog.h"

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

/* ---- a lean reader beside it ---- */

static void
same(int is)
{
	if (!is)
		abort();
}

/* The block, as told one after the other, and the whole. */
static void
same_block(const struct ev_block *b, const struct ev_block *lean)
{
	static struct ev_ref ref[255];
	struct ev_each e;

	same(lean->ninsn == b->ninsn && lean->nref == b->nref &&
	    lean->ngroups == b->ngroups);
	ev_each(&e, lean, ref);
	for (uint32_t k = 0; k < b->ninsn; k++) {
		const struct ev_insn *i = &b->insn[k];

		ev_next_insn(&e);
		same(memcmp(&e.insn, i, sizeof *i) == 0);
		for (unsigned j = 0; j < i->nref; j++)
			same(memcmp(&ref[j], &b->ref[i->ref + j],
			    sizeof *ref) == 0);
		if (i->flow != 0 && strchr("CJL", i->flow) != NULL)
			same(e.target == b->target[i->target]);
	}
	if (!lean->shown)
		return;
	same(memcmp(lean->insn, b->insn, b->ninsn * sizeof *b->insn) == 0);
	for (uint32_t k = 0; k < b->nref; k++)
		same(memcmp(&lean->ref[k], &b->ref[k], sizeof *b->ref) == 0);
	for (uint32_t k = 0; k < b->ninsn; k++)
		if (b->insn[k].flow != 0 &&
		    strchr("CJL", b->insn[k].flow) != NULL)
			same(lean->target[b->insn[k].target] ==
			    b->target[b->insn[k].target]);
}

/* What `all` has read so far, the lean reader reads now. */
static void
lean_too(struct evr *all, const char *name)
{
	struct in *in = in_open(name);
	struct evr *r = ev_open(in);
	const struct ev_def *d;
	struct ev_block *shown;
	struct ev e;
	int c;

	ev_lean(r);
	while ((c = ev_next(r, &e)) > 0) {
		if (strchr("BPQ", c) == NULL)
			continue;
		d = ev_def(r, e.id);
		shown = d->block;
		same(shown->shown);
		if (d->n % 5 == 0)
			ev_keep(r, shown);
		same_block(ev_def(all, e.id)->block, shown);
	}
	same((ev_error(all) == NULL) == (ev_error(r) == NULL));
	for (uint32_t id = 1; (d = ev_def(r, id)) != NULL; id++) {
		if (d->letter == 'Z')
			continue;
		if (d->n % 3 == 0)
			ev_keep(r, d->block);
		same_block(ev_def(all, id)->block, d->block);
	}
	ev_free(r);
	in_close(in);
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
	/* what is compressed is fuzz_in's */
	if (fd < 0 || in_is_packed(data, len) ||
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
	lean_too(r, name);
	ev_free(r);
	in_close(in);
	close(fd);
	return 0;
}
