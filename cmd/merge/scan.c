/*
 * scan - is a file of Cachegrind's in canonical order?
 *
 * Cachegrind and merge write that: files in byte order, within a file the
 * functions, within a function the lines by number, and nothing twice.  This
 * scan checks only how lines begin; the reader reports other errors.
 */
#include "merge.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in.h"
#include "mem.h"

struct last_name {		/* the last fl= or fn= */
	char *s;
	size_t cap;
	bool set;
};

/* A regular file, not compressed: only such a file can be read twice. */
static bool
is_plain(const char *name)
{
	unsigned char magic[IN_MAGIC];
	int fd = in_regular(name);
	ssize_t n = fd < 0 ? -1 : read(fd, magic, sizeof magic);
	bool is = n > 0 && !in_is_packed(magic, (size_t)n);

	if (fd >= 0)
		close(fd);
	return is;
}

/*
 * Does a name follow the last one, which it then replaces?  An escaped name
 * does not: its order is not that of its bytes.
 */
static bool
follows(struct last_name *n, const char *s, size_t len)
{
	if ((n->set && strcmp(n->s, s) >= 0) || memchr(s, '\\', len))
		return false;
	n->s = xgrow(n->s, &n->cap, len + 1, 1);
	memcpy(n->s, s, len + 1);
	n->set = true;
	return true;
}

struct scan {
	bool cmd, events, ended;
	struct last_name fl, fn;
	int64_t line;		/* the last one of the function, or -1 */
};

static bool
body(struct scan *s, const char *p, size_t len)
{
	if (!strncmp(p, "fl=", 3)) {
		s->fn.set = false;
		return follows(&s->fl, p + 3, len - 3);
	}
	if (!strncmp(p, "fn=", 3) && s->fl.set) {
		s->line = -1;
		return follows(&s->fn, p + 3, len - 3);
	}
	s->ended = !strncmp(p, "summary:", 8);
	return s->ended;
}

static bool
costs(struct scan *s, const char *p)
{
	int64_t v = 0;

	for (; (unsigned)(*p - '0') <= 9 && v < UINT32_MAX; p++)
		v = 10 * v + (*p - '0');
	if (!s->fn.set || v <= s->line || *p != ' ')
		return false;
	s->line = v;
	return true;
}

static bool
check_line(struct scan *s, const char *p, size_t len)
{
	if (s->ended)
		return false;
	if ((unsigned)(*p - '0') <= 9)
		return costs(s, p);
	if (s->events)
		return body(s, p, len);
	if (!strncmp(p, "cmd:", 4) && !s->cmd)
		return s->cmd = true;
	if (!strncmp(p, "events:", 7) && s->cmd)
		return s->events = true;
	return !strncmp(p, "desc:", 5) && strncmp(p, "desc: Files compared:",
	    21);
}

bool
is_canonical(const char *name)
{
	struct scan s = { .line = -1 };
	struct in *in;
	char *p;
	size_t len;
	bool is = true;

	if (!strcmp(name, "-") || !is_plain(name))
		return false;
	in = in_open(name);
	while (is && (p = in_line(in, &len)))
		is = check_line(&s, p, len);
	in_close(in);
	free(s.fl.s);
	free(s.fn.s);
	return is && s.ended;
}
