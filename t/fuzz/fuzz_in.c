/*
 * fuzz_in - any bytes as a file, perhaps a compressed one
 *
 * What is read in parts of an odd size, by in_ahead as a thread does, and by
 * lines is the same, up to the same end, good or cut. How much comes before what
 * is damaged depends on the room that there is, and so do some faults: libzstd
 * makes all of a frame at once where it can, and is stricter then. What is plain
 * is what the file has. die and warn lead here (--wrap).
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "in.h"
#include "prog.h"

#define MOST	(4u << 20)	/* a small file can have very much in it */

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);
_Noreturn void __wrap_die(const char *fmt, ...);
void __wrap_warn(const char *fmt, ...);
const char *__asan_default_options(void);

static sigjmp_buf died;
static volatile enum { GOOD, CUT, BAD } end;
static unsigned char text[3][MOST + 70000];

/* Readers that die free nothing. */
const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

void
__wrap_die(const char *fmt, ...)
{
	(void)fmt;
	siglongjmp(died, 1);
}

void
__wrap_warn(const char *fmt, ...)
{
	(void)fmt;
	end = CUT;
}

static void
by_blocks(struct in *in, unsigned char *to, volatile size_t *n)
{
	ssize_t r;

	while (*n < MOST && (r = in_read(in, to + *n, 7000)) > 0)
		*n += (size_t)r;
}

/* The same after some bytes, as evahead.c does it. */
static void
ahead(struct in *in, unsigned char *to, volatile size_t *n)
{
	ssize_t r = in_read(in, to, 1);

	if (r <= 0)
		return;
	*n = 1;
	while (*n < MOST && !in_may_ahead(in)) {
		if ((r = in_read(in, to + *n, 65536)) == 0)
			return;
		*n += (size_t)r;
	}
	while (*n < MOST) {
		r = in_ahead(in, to + *n, 65536);
		in_took(in, r);
		if (r == 0)
			return;
		*n += (size_t)r;
	}
}

static void
by_lines(struct in *in, unsigned char *to, volatile size_t *n)
{
	size_t len;
	char *line;

	while (*n < MOST && (line = in_line(in, &len)) != NULL) {
		if (len > MOST - *n)
			len = MOST - *n;
		memcpy(to + *n, line, len);
		*n += len;
		if (in_eol(in))
			to[(*n)++] = '\n';
	}
}

/* Read it one way: how it ended; *n bytes are in text[way]. */
static int
pass(const char *name, unsigned way, volatile size_t *n)
{
	static void (*const ways[])(struct in *, unsigned char *,
	    volatile size_t *) = { by_blocks, ahead, by_lines };
	struct in *volatile in = in_open(name);

	*n = 0;
	end = GOOD;
	in_allow_cut(in);
	if (sigsetjmp(died, 0) == 0)
		ways[way](in, text[way], n);
	else
		end = BAD;
	in_close(in);
	return end;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	volatile size_t n[3];
	char name[40];
	int e[3], fd = memfd_create("fuzz", 0);

	progname = "fuzz_in";
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	for (unsigned way = 0; way < 3; way++)
		e[way] = pass(name, way, &n[way]);
	close(fd);
	for (unsigned way = 1; way < 3; way++) {
		size_t least = n[0] < n[way] ? n[0] : n[way];

		if (memcmp(text[0], text[way], least) != 0)
			abort();
		if (least < MOST && e[way] != BAD && e[0] != BAD &&
		    (e[way] != e[0] || n[way] != n[0]))
			abort();
	}
	if (!in_is_packed(data, len) && len < MOST && (e[0] != GOOD ||
	    n[0] != len || memcmp(text[0], data, len) != 0))
		abort();
	return 0;
}
