/*
 * in - read a file or standard input; gzip is recognized by itself
 *
 * Data goes file -> raw (gzip only) -> buf (lines only) -> caller. A plain
 * file read by blocks goes straight into the caller's buffer.
 *
 * Several gzip members in a row are one input, as for gzip -d. Zeros that pad
 * the end (tapes) are skipped; other bytes behind the last member are an error,
 * because they may be the data that the user wanted.
 */
#include "in.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "fd.h"
#include "mem.h"
#include "meter.h"
#include "named.h"
#include "prog.h"
#include "signals.h"

#define BUFSIZE	(256 << 10)
#define LINE_MOST ((size_t)1 << 30)

enum in_kind { UNSEEN, PLAIN, GZIP };

struct in {
	int fd;
	char *name;
	enum in_kind kind;
	bool allow_cut, was_cut, told_cut, whole_lines;
	uint64_t offset;	/* bytes read from fd */
	bool wide;		/* pipe_widen's */
	bool reading;		/* a pipe, whose end was not read yet */
	bool metered;		/* its reader shows progress itself */

	/* bytes of the file not consumed yet: raw[rawpos..rawlen) */
	unsigned char *raw;
	size_t rawpos, rawlen;
	z_stream z;
	bool in_member;		/* between a member's begin and its end */
	bool ended;		/* the gzip data is at its end */

	/* lines: buf[pos..len) is still to be returned */
	char *buf;
	size_t pos, len, cap;
	uint64_t lineno;
	bool eol;
};

static bool
is_pipe(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode);
}

struct in *
in_open(const char *name)
{
	struct in *in = xcalloc(1, sizeof *in);
	struct stat st;

	if (name == NULL || strcmp(name, "-") == 0) {
		in->name = xstrdup("stdin");
		in->fd = STDIN_FILENO;
	} else {
		in->name = xstrdup(name);
		in->fd = open(name, O_RDONLY | O_CLOEXEC);
		if (in->fd < 0)
			die("%s: open:", name);
	}
	if (fstat(in->fd, &st) < 0)
		return in;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		die("%s: read:", in->name);
	}
	in->reading = is_pipe(&st);
	if (in->reading)
		signals_reading();
	return in;
}

void
in_dated(const struct in *in)
{
	named_since(in->fd, in->name);
}

void
in_allow_cut(struct in *in)
{
	in->allow_cut = true;
}

void
in_whole_lines(struct in *in)
{
	in->whole_lines = true;
}

bool
in_was_cut(const struct in *in)
{
	return in->was_cut;
}

bool
in_told_cut(const struct in *in)
{
	return in->told_cut;
}

/*
 * Exit silently if standard input is a pipe that brought nothing: the program
 * that should have written into it has failed and said why.
 */
static void
end_of_nothing(const struct in *in)
{
	struct stat st;

	if (in->fd == STDIN_FILENO && fstat(in->fd, &st) == 0 &&
	    is_pipe(&st))
		exit(die_status);
}

/* No writer is left: signals end the program again. */
static void
end_of_pipe(struct in *in)
{
	if (in->reading)
		signals_read();
	in->reading = false;
}

/* Show how much of a file has been read; on a pipe the writer does. */
static void
progress(struct in *in)
{
	uint64_t size;

	if (in->metered || !meter_due() || (size = in_size(in)) == 0)
		return;
	meter_line("%s: %.0f %%", in->name,
	    100.0 * (double)in->offset / (double)size);
}

void
in_meter(struct in *in)
{
	in->metered = true;
}

bool
in_is_plain(const struct in *in)
{
	return in->kind == PLAIN && in->rawpos == in->rawlen &&
	    in->pos == in->len;
}

ssize_t
in_ahead(const struct in *in, void *buf, size_t n)
{
	ssize_t r;

	do
		r = read(in->fd, buf, n);
	while (r < 0 && fd_again(in->fd, POLLIN));
	return r < 0 ? -errno : r;
}

void
in_took(struct in *in, ssize_t r)
{
	if (r < 0) {
		errno = (int)-r;
		die("%s: read:", in->name);
	}
	progress(in);
	if (r == 0) {
		meter_end();
		end_of_pipe(in);
		if (in->offset == 0)
			end_of_nothing(in);
	}
	in->offset += (uint64_t)r;
	pipe_widen(in->fd, (size_t)r, &in->wide);
}

static size_t
fd_read(struct in *in, void *buf, size_t n)
{
	ssize_t r = in_ahead(in, buf, n);

	if (r != 0 || n > 0)
		in_took(in, r);
	return (size_t)r;
}

/* Die of bad compressed data; lineno is that of the last whole line. */
static _Noreturn void
gzip_die(const struct in *in, const char *what)
{
	if (in->lineno == 0)
		die("%s: gzip: %s", in->name, what);
	die("%s:%" PRIu64 ": gzip: %s", in->name, in->lineno, what);
}

/* Read more of the file into raw, keeping what is there. 0 at its end. */
static size_t
fill_raw(struct in *in)
{
	size_t n;

	if (in->rawpos == in->rawlen)
		in->rawpos = in->rawlen = 0;
	if (in->rawlen == BUFSIZE) {
		memmove(in->raw, in->raw + in->rawpos,
		    in->rawlen - in->rawpos);
		in->rawlen -= in->rawpos;
		in->rawpos = 0;
	}
	n = fd_read(in, in->raw + in->rawlen, BUFSIZE - in->rawlen);
	in->rawlen += n;
	return n;
}

/* Does a gzip member begin at rawpos? Reads its two magic bytes. */
static bool
at_gzip(struct in *in)
{
	while (in->rawlen - in->rawpos < 2 && fill_raw(in) > 0)
		continue;
	return in->rawlen - in->rawpos >= 2 && in->raw[in->rawpos] == 0x1f &&
	    in->raw[in->rawpos + 1] == 0x8b;
}

/* Find out from the first bytes whether the input is compressed. */
static void
detect(struct in *in)
{
	in->raw = xmalloc(BUFSIZE);
	in->kind = at_gzip(in) ? GZIP : PLAIN;
	if (in->kind == GZIP && inflateInit2(&in->z, 15 + 16) != Z_OK)
		die("%s: gzip: no memory", in->name);
}

/* Go on behind a member: to the next one, or to the end of the input. */
static void
next_member(struct in *in)
{
	if (at_gzip(in)) {
		if (inflateReset(&in->z) != Z_OK)
			die("%s: gzip: cannot go on", in->name);
		in->in_member = true;
		return;
	}
	do
		for (; in->rawpos < in->rawlen; in->rawpos++)
			if (in->raw[in->rawpos] != 0)
				gzip_die(in, "other data behind the end");
	while (fill_raw(in) > 0);
	in->ended = true;
}

static size_t
gzip_read(struct in *in, void *buf, size_t n)
{
	int r;

	if (n > 1 << 30)
		n = 1 << 30;
	in->z.next_out = buf;
	in->z.avail_out = (uInt)n;
	while (in->z.avail_out == n && !in->ended) {
		if (!in->in_member) {
			next_member(in);
			continue;
		}
		if (in->rawpos == in->rawlen && fill_raw(in) == 0) {
			if (!in->allow_cut)
				gzip_die(in, "data ends early");
			warn("%s: gzip: data ends early", in->name);
			in->ended = in->was_cut = in->told_cut = true;
			break;
		}
		in->z.next_in = in->raw + in->rawpos;
		in->z.avail_in = (uInt)(in->rawlen - in->rawpos);
		r = inflate(&in->z, Z_NO_FLUSH);
		in->rawpos = in->rawlen - in->z.avail_in;
		if (r == Z_STREAM_END)
			in->in_member = false;
		else if (r != Z_OK && r != Z_BUF_ERROR)
			gzip_die(in, in->z.msg ? in->z.msg : "damaged");
	}
	return n - in->z.avail_out;
}

/* Read the bytes that follow those in buf. */
static size_t
read_more(struct in *in, void *buf, size_t n)
{
	if (in->kind == UNSEEN)
		detect(in);
	if (in->kind == GZIP)
		return gzip_read(in, buf, n);
	if (in->rawpos == in->rawlen)
		return fd_read(in, buf, n);
	if (n > in->rawlen - in->rawpos)
		n = in->rawlen - in->rawpos;
	memcpy(buf, in->raw + in->rawpos, n);
	in->rawpos += n;
	return n;
}

ssize_t
in_read(struct in *in, void *buf, size_t n)
{
	if (in->pos == in->len)
		return (ssize_t)read_more(in, buf, n);
	if (n > in->len - in->pos)
		n = in->len - in->pos;
	memcpy(buf, in->buf + in->pos, n);
	in->pos += n;
	return (ssize_t)n;
}

/* Make room for more of a line.  Without a bound /dev/zero took all memory. */
static void
grow_buf(struct in *in)
{
	size_t need = in->len + BUFSIZE / 4 + 1;
	char *p = NULL;

	if (need <= in->cap)
		return;
	if (need < 2 * in->cap)
		need = 2 * in->cap;
	if (need <= LINE_MOST)
		p = realloc(in->buf, need);
	if (p == NULL)
		die("%s:%" PRIu64 ": a line of more than %zu bytes", in->name,
		    in->lineno + 1, in->len);
	in->buf = p;
	in->cap = need;
}

/* Read more bytes to buf[len], leaving room for a NUL. 0 at the end. */
static size_t
fill_buf(struct in *in)
{
	size_t n;

	if (in->pos > 0) {
		memmove(in->buf, in->buf + in->pos, in->len - in->pos);
		in->len -= in->pos;
		in->pos = 0;
	}
	grow_buf(in);
	n = read_more(in, in->buf + in->len, in->cap - in->len - 1);
	in->len += n;
	return n;
}

char *
in_line(struct in *in, size_t *len)
{
	size_t seen = 0;	/* bytes already searched for a newline */
	char *line, *nl = NULL;

	for (;;) {
		if (in->len - in->pos > seen)
			nl = memchr(in->buf + in->pos + seen, '\n',
			    in->len - in->pos - seen);
		if (nl != NULL)
			break;
		seen = in->len - in->pos;
		if (fill_buf(in) == 0) {
			if (seen == 0)
				return NULL;
			if (in->whole_lines) {
				in->was_cut = true;
				return NULL;
			}
			nl = in->buf + in->len;
			break;
		}
	}
	in->eol = nl < in->buf + in->len;
	in->lineno++;
	line = in->buf + in->pos;
	*nl = '\0';
	in->pos = (size_t)(nl - in->buf) + in->eol;
	if (len != NULL)
		*len = (size_t)(nl - line);
	return line;
}

bool
in_eol(const struct in *in)
{
	return in->eol;
}

const char *
in_name(const struct in *in)
{
	return in->name;
}

uint64_t
in_lineno(const struct in *in)
{
	return in->lineno;
}

uint64_t
in_offset(const struct in *in)
{
	return in->offset;
}

uint64_t
in_size(const struct in *in)
{
	struct stat st;

	if (fstat(in->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return (uint64_t)st.st_size;
}

void
in_close(struct in *in)
{
	end_of_pipe(in);
	if (in->kind == GZIP)
		inflateEnd(&in->z);
	if (in->fd != STDIN_FILENO)
		close(in->fd);
	free(in->raw);
	free(in->buf);
	free(in->name);
	free(in);
}
