/*
 * pack - compress messages
 *
 * A profile may come in pieces: readers take consecutive messages for one that
 * has all their fields.  So only one piece is in memory at a time.  The strings
 * come last, when all are known.  The output does not depend on the time or the
 * machine.
 */
#include "pprof.h"

#include <pprof.pb-c.h>
#include <string.h>
#include <zlib.h>

#include "khash.h"
#include "mem.h"
#include "out.h"
#include "prog.h"
#include "shown.h"

KHASH_MAP_INIT_STR(string, int64_t)

static struct out *out;
static z_stream z;
static khash_t(string) *strings;
static char **table;		/* in order */
static size_t ntable, captable;

/* ---- bytes ---- */

static void
squeeze(const void *data, size_t len, int flush)
{
	unsigned char buf[16 << 10];
	int r;

	z.next_in = (unsigned char *)data;
	z.avail_in = (unsigned)len;
	do {
		z.next_out = buf;
		z.avail_out = sizeof buf;
		r = deflate(&z, flush);
		if (r == Z_STREAM_ERROR)
			die("deflate: %s", z.msg == NULL ? "?" : z.msg);
		out_write(out, buf, sizeof buf - z.avail_out);
	} while (z.avail_out == 0 || (flush == Z_FINISH && r != Z_STREAM_END));
}

static void
append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	(void)buffer;
	squeeze(data, len, Z_NO_FLUSH);
}

void
pack_open(struct out *o)
{
	out = o;
	/* 15 + 16: with a gzip header, which has no time */
	if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8,
	    Z_DEFAULT_STRATEGY) != Z_OK)
		die("deflate:");
	strings = kh_init(string);
	pack_string("");
}

void
pack_message(const PprofProfile *p)
{
	ProtobufCBuffer b = { append };

	pprof_profile__pack_to_buffer(p, &b);
}

/* ---- strings ---- */

/* Readers refuse a message with a string that is not UTF-8. */
int64_t
pack_string(const char *s)
{
	khint_t k;
	int new;

	s = shown(s);
	k = kh_get(string, strings, s);
	if (k != kh_end(strings))
		return kh_val(strings, k);
	table = xgrow(table, &captable, ntable + 1, sizeof *table);
	table[ntable] = xstrdup(s);
	k = kh_put(string, strings, table[ntable], &new);
	return kh_val(strings, k) = (int64_t)ntable++;
}

void
pack_close(void)
{
	PprofProfile p = PPROF_PROFILE__INIT;

	p.n_string_table = ntable;
	p.string_table = table;
	pack_message(&p);
	squeeze(NULL, 0, Z_FINISH);
	deflateEnd(&z);
}
