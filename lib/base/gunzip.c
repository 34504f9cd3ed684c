/*
 * gunzip - members of gzip, by zlib
 */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "unpack.h"

static void *
gunzip_open(void)
{
	z_stream *z = calloc(1, sizeof *z);

	/* 16: with gzip's header */
	if (z == NULL || inflateInit2(z, 15 + 16) == Z_OK)
		return z;
	free(z);
	return NULL;
}

static bool
gunzip_again(void *z)
{
	return inflateReset(z) == Z_OK;
}

static uInt
as_uint(size_t n)
{
	return n > UINT_MAX ? UINT_MAX : (uInt)n;
}

static enum unpacked
gunzip_step(void *state, struct unpack_step *s)
{
	z_stream *z = state;
	uInt nfrom = as_uint(s->nfrom), nto = as_uint(s->nto);
	int r;

	z->next_in = (Bytef *)s->from;
	z->avail_in = nfrom;
	z->next_out = s->to;
	z->avail_out = nto;
	r = inflate(z, Z_NO_FLUSH);
	s->from += nfrom - z->avail_in;
	s->nfrom -= nfrom - z->avail_in;
	s->to += nto - z->avail_out;
	s->nto -= nto - z->avail_out;
	if (r == Z_STREAM_END)
		return UNPACK_ENDED;
	if (r == Z_OK || r == Z_BUF_ERROR)
		return UNPACK_MORE;
	s->bad = r == Z_MEM_ERROR ? "no memory" :
	    z->msg != NULL ? z->msg : "damaged";
	return UNPACK_BAD;
}

static void
gunzip_close(void *z)
{
	inflateEnd(z);
	free(z);
}

const struct unpacker gunzip = {
	gunzip_open, gunzip_again, gunzip_step, gunzip_close
};
