/*
 * in - read a file or standard input; gzip and zstd are recognized
 *
 * Data goes file -> raw (compressed only) -> buf (lines only) -> caller. A
 * plain file read by blocks goes straight into the caller's buffer.
 *
 * Several members (of gzip) or frames (of zstd) in a row are one input, as for
 * gzip -d and zstd -d. Zeros that pad the end (tapes) are skipped; other bytes
 * behind the last member are an error, because they may be the data that the
 * user wanted.
 *
 * What in_ahead does may be done by another thread: it reads and decompresses,
 * and leaves it to in_took to say what is wrong.
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

#include "fd.h"
#include "mem.h"
#include "meter.h"
#include "named.h"
#include "prog.h"
#include "signals.h"
#include "unpack.h"

#define BUFSIZE	(256 << 10)
#define LINE_MOST ((size_t)1 << 30)

struct in {
	int fd;
	char *name;
	bool seen;		/* its first bytes were: it has its packing */
	bool allow_cut, was_cut, told_cut, whole_lines;
	_Atomic uint64_t offset;	/* bytes read from fd */
	bool wide;		/* pipe_widen's */
	bool reading;		/* a pipe, whose end was not read yet */
	bool metered;		/* its reader shows progress itself */

	/* bytes of the file not consumed yet: raw[rawpos..rawlen) */
	unsigned char *raw;
	size_t rawpos, rawlen;
	const struct packing *packing;	/* NULL: it is not compressed */
	void *unpacking;
	bool in_member;		/* between a member's begin and its end */
	bool ended;		/* the compressed data is at its end ... */
	bool early;		/* ... within a member */
	const char *bad;	/* what is wrong with it */

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

/* Die of bad compressed data; lineno is that of the last whole line. */
static _Noreturn void
packed_die(const struct in *in, const char *what)
{
	const char *how = in->packing->name;

	if (in->lineno == 0)
		die("%s: %s: %s", in->name, how, what);
	die("%s:%" PRIu64 ": %s: %s", in->name, in->lineno, how, what);
}

static _Noreturn void
die_of_read(const struct in *in, ssize_t r)
{
	if (in->bad != NULL)
		packed_die(in, in->bad);
	errno = (int)-r;
	die("%s: read:", in->name);
}

/* The compressed data is cut. */
static void
tell_cut(struct in *in)
{
	static const char what[] = "data ends early";

	if (in->told_cut)
		return;
	if (!in->allow_cut)
		packed_die(in, what);
	warn("%s: %s: %s", in->name, in->packing->name, what);
	in->was_cut = in->told_cut = true;
}

static void
at_end(struct in *in)
{
	meter_end();
	end_of_pipe(in);
	if (in->offset == 0)
		end_of_nothing(in);
	if (in->early)
		tell_cut(in);
}

/* What read(2) gives, or -errno; it is counted. */
static ssize_t
fd_read(struct in *in, void *buf, size_t n)
{
	ssize_t r;

	do
		r = read(in->fd, buf, n);
	while (r < 0 && fd_again(in->fd, POLLIN));
	if (r < 0)
		return -errno;
	in->offset += (uint64_t)r;
	pipe_widen(in->fd, (size_t)r, &in->wide);
	return r;
}

/* Read more of the file into raw, keeping what is there; as fd_read. */
static ssize_t
fill_raw(struct in *in)
{
	ssize_t r;

	if (in->rawpos == in->rawlen)
		in->rawpos = in->rawlen = 0;
	if (in->rawlen == BUFSIZE) {
		memmove(in->raw, in->raw + in->rawpos,
		    in->rawlen - in->rawpos);
		in->rawlen -= in->rawpos;
		in->rawpos = 0;
	}
	r = fd_read(in, in->raw + in->rawlen, BUFSIZE - in->rawlen);
	if (r > 0)
		in->rawlen += (size_t)r;
	return r;
}

/* Which compression begins at rawpos? NULL: none. Less than 0: -errno. */
static ssize_t
find_packing(struct in *in, const struct packing **found)
{
	ssize_t r = 0;
	bool more;

	do
		*found = packing_of(in->raw + in->rawpos,
		    in->rawlen - in->rawpos, &more);
	while (more && (r = fill_raw(in)) > 0);
	return more ? r : 0;
}

/* One that we cannot read is told, with who can. */
static _Noreturn void
die_of_packing(const struct in *in, const char *how)
{
	if (in->fd == STDIN_FILENO)
		die("%s: compressed by %s: %s -dc | ...", in->name, how, how);
	die("%s: compressed by %s: %s -dc %s | ...", in->name, how, how,
	    in->name);
}

/* Find out from the first bytes whether the input is compressed. */
static void
detect(struct in *in)
{
	const struct packing *p;
	ssize_t r;

	in->raw = xmalloc(BUFSIZE);
	r = fill_raw(in);
	if (r > 0)
		r = find_packing(in, &p);
	if (r < 0)
		die_of_read(in, r);
	in->seen = true;
	if (in->rawlen == 0 || p == NULL)
		return;
	if (p->how == NULL)
		die_of_packing(in, p->name);
	in->packing = p;
	in->unpacking = p->how->open();
	if (in->unpacking == NULL)
		packed_die(in, "no memory");
	in->in_member = true;
}

/*
 * Go on behind a member: to the next one, or to the end of the input. 0, or
 * -errno.
 */
static ssize_t
next_member(struct in *in)
{
	const struct packing *p;
	ssize_t r = find_packing(in, &p);

	if (r < 0)
		return r;
	if (p != NULL && p->how == in->packing->how) {
		in->in_member = in->packing->how->again(in->unpacking);
		if (!in->in_member)
			in->bad = "cannot go on";
		return 0;
	}
	do
		for (; in->rawpos < in->rawlen; in->rawpos++)
			if (in->raw[in->rawpos] != 0) {
				in->bad = "other data behind the end";
				return 0;
			}
	while ((r = fill_raw(in)) > 0);
	in->ended = true;
	return r;
}

/* Go on within a member: how many bytes that made, or -errno. */
static ssize_t
step(struct in *in, void *buf, size_t n)
{
	struct unpack_step s = { in->raw + in->rawpos,
	    in->rawlen - in->rawpos, buf, n, NULL };
	ssize_t r;

	switch (in->packing->how->step(in->unpacking, &s)) {
	case UNPACK_MORE:
		break;
	case UNPACK_ENDED:
		in->in_member = false;
		break;
	case UNPACK_BAD:
		in->bad = s.bad;
		break;
	}
	in->rawpos = in->rawlen - s.nfrom;
	if (s.nto < n || !in->in_member || in->bad != NULL || s.nfrom > 0)
		return (ssize_t)(n - s.nto);
	r = fill_raw(in);
	in->ended = in->early = r == 0;
	return r < 0 ? r : 0;
}

/* Decompress up to n bytes; 0 at the end, -errno, or -1 with in->bad. */
static ssize_t
unpack(struct in *in, void *buf, size_t n)
{
	ssize_t r = 0;

	while (r == 0 && !in->ended && in->bad == NULL)
		r = in->in_member ? step(in, buf, n) : next_member(in);
	return r == 0 && in->bad != NULL ? -1 : r;
}

bool
in_may_ahead(const struct in *in)
{
	return in->seen && in->pos == in->len &&
	    (in->packing != NULL || in->rawpos == in->rawlen);
}

ssize_t
in_ahead(struct in *in, void *buf, size_t n)
{
	return in->packing != NULL ? unpack(in, buf, n) : fd_read(in, buf, n);
}

void
in_took(struct in *in, ssize_t r)
{
	if (r < 0)
		die_of_read(in, r);
	progress(in);
	if (r == 0)
		at_end(in);
}

/* Read the bytes that follow those in buf. */
static size_t
read_more(struct in *in, void *buf, size_t n)
{
	ssize_t r;

	if (!in->seen)
		detect(in);
	if (in->packing == NULL && in->rawpos < in->rawlen) {
		if (n > in->rawlen - in->rawpos)
			n = in->rawlen - in->rawpos;
		memcpy(buf, in->raw + in->rawpos, n);
		in->rawpos += n;
		return n;
	}
	r = in_ahead(in, buf, n);
	if (r != 0 || n > 0)
		in_took(in, r);
	return (size_t)r;
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
	if (in->packing != NULL)
		in->packing->how->close(in->unpacking);
	if (in->fd != STDIN_FILENO)
		close(in->fd);
	free(in->raw);
	free(in->buf);
	free(in->name);
	free(in);
}
