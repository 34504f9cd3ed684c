/*
 * unzstd - frames of zstd, by libzstd
 *
 * A frame says how far back it refers: its window, which is kept in memory. Up
 * to 128 MB are taken, as zstd -d does; more takes zstd --long or --ultra.
 */
#include <zstd.h>
#include <zstd_errors.h>

#include "unpack.h"

#define WINDOWLOG 27		/* 2 to this are 128 MB */

static void
unzstd_close(void *z)
{
	ZSTD_freeDCtx(z);
}

static void *
unzstd_open(void)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();

	if (z == NULL || !ZSTD_isError(ZSTD_DCtx_setParameter(z,
	    ZSTD_d_windowLogMax, WINDOWLOG)))
		return z;
	unzstd_close(z);
	return NULL;
}

static bool
unzstd_again(void *z)
{
	return !ZSTD_isError(ZSTD_DCtx_reset(z, ZSTD_reset_session_only));
}

/* What is wrong, from an error of libzstd. */
static const char *
fault(size_t r)
{
	switch (ZSTD_getErrorCode(r)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		return "needs a window of more than 128 MB: zstd -dc --long=31 "
		    "FILE | ...";
	case ZSTD_error_dictionary_wrong:
		return "needs a dictionary: zstd -dc -D DICTIONARY FILE | ...";
	case ZSTD_error_memory_allocation:
		return "no memory";
	case ZSTD_error_checksum_wrong:
		return "damaged: its checksum is wrong";
	default:
		return "damaged";
	}
}

static enum unpacked
unzstd_step(void *z, struct unpack_step *s)
{
	ZSTD_inBuffer from = { s->from, s->nfrom, 0 };
	ZSTD_outBuffer to = { s->to, s->nto, 0 };
	size_t r = ZSTD_decompressStream(z, &to, &from);

	s->from += from.pos;
	s->nfrom -= from.pos;
	s->to += to.pos;
	s->nto -= to.pos;
	if (ZSTD_isError(r)) {
		s->bad = fault(r);
		return UNPACK_BAD;
	}
	return r == 0 ? UNPACK_ENDED : UNPACK_MORE;
}

const struct unpacker unzstd = {
	unzstd_open, unzstd_again, unzstd_step, unzstd_close
};
