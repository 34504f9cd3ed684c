/* text - a block's items, as its B line will have them */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"
#include "util.h"

static char *
put_hex(char *p, uint64_t v)
{
	char tmp[16];
	unsigned n = 0;

	do
		tmp[n++] = "0123456789abcdef"[v & 15];
	while ((v >>= 4) != 0);
	while (n > 0)
		*p++ = tmp[--n];
	return p;
}

static char *
put_group(char *p, const struct ref *r, const struct refgroup *rg)
{
	if (r->form == REF_STATIC) {
		if (opt.kind != KIND_ALL && opt.kind != KIND_CACHE)
			return p;
		*p++ = '@';
		return put_hex(p, (uint64_t)r->disp);
	}
	if (rg->group == NOGROUP)
		return p;
	*p++ = '.';
	p = put_hex(p, rg->group);
	if (rg->dist != 0) {
		*p++ = rg->dist < 0 ? '-' : '+';
		p = put_hex(p, rg->dist < 0 ? -(uint64_t)rg->dist :
		    (uint64_t)rg->dist);
	}
	if (rg->count != NOCOUNT) {
		*p++ = '*';
		p = put_hex(p, rg->count);
	}
	return p;
}

static char *
put_gather(char *p, const struct insn *in, unsigned first)
{
	unsigned j;

	for (j = 0; j < in->gather.nelem; j++) {
		*p++ = in->ref[0].rw;
		p = put_hex(p, in->ref[0].size);
		if (opt.kind != KIND_ALL && opt.kind != KIND_CACHE)
			continue;
		*p++ = '.';
		p = put_hex(p, first + j);
	}
	return p;
}

static char *
put_flow(char *p, const struct insn *in)
{
	static const char letter[] = " CJLIXRS";

	if (in->flow == FLOW_NONE)
		return p;
	*p++ = letter[in->flow];
	if (in->flow <= FLOW_CALL)
		p = put_hex(p, in->target);
	return p;
}

/* 1: the next instruction does not simply follow. */
static int
goes_elsewhere(const struct insn *in)
{
	return (in->flow != FLOW_NONE && in->flow != FLOW_COND) ||
	    in[1].pc != in->pc + in->len;
}

/* Kept for as long as the stream lasts: the caller's. */
char *
text_items(const struct block *b, const struct groups *g)
{
	char buf[MAX_INSN * (16 * 8 + 64)], *p = buf, *s;
	const struct insn *in;
	unsigned i, j;

	*p++ = '>';
	p = put_hex(p, b->pc);
	for (i = 0; i < b->n; i++) {
		in = &b->in[i];
		*p++ = ' ';
		if (i > 0 && goes_elsewhere(in - 1)) {
			*p++ = '>';
			p = put_hex(p, in->pc);
			*p++ = ' ';
		}
		p = put_hex(p, in->len);
		if (in->special == SP_GATHER) {
			p = put_gather(p, in, g->gather[i]);
			continue;
		}
		for (j = 0; j < in->nref; j++) {
			*p++ = in->ref[j].rw;
			p = put_hex(p, in->ref[j].size);
			p = put_group(p, &in->ref[j], &g->ref[i][j]);
		}
		p = put_flow(p, in);
	}
	*p = '\0';
	s = xmalloc((size_t)(p - buf) + 1);
	memcpy(s, buf, (size_t)(p - buf) + 1);
	return s;
}
