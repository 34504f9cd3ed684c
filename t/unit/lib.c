/*
 * lib - drive prog, mem, args, in and out for t/0001-lib.t
 *
 *	lib cat [-o out] file...	by blocks
 *	lib lines [-o out] file...	by lines, "number length text"
 *	lib half file			some output, then die
 *	lib many name			4,200 files at once, name.0 to name.4199
 *	lib shown			standard input as shown.h has it
 *	lib num text...			num_parse of counts
 *	lib size text...		num_parse of sizes
 *	lib die kind			each way to say something
 *	lib grow			xgrow
 *	lib keep			xkeep, in four threads at once
 *	lib pages			xtouch
 *	lib parts			xtouch_at
 *	lib format			the out_ writers
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "args.h"
#include "in.h"
#include "mem.h"
#include "num.h"
#include "out.h"
#include "prog.h"
#include "shown.h"

static void
cat(struct out *o, struct in *in)
{
	static char buf[7000];
	ssize_t n;

	while ((n = in_read(in, buf, sizeof buf)) > 0)
		out_write(o, buf, (size_t)n);
}

static void
lines(struct out *o, struct in *in)
{
	char *line;
	size_t len;

	while ((line = in_line(in, &len)) != NULL) {
		out_u64(o, in_lineno(in));
		out_ch(o, ' ');
		out_u64(o, len);
		out_ch(o, ' ');
		out_write(o, line, len);
		out_str(o, in_eol(in) ? "\n" : "(no newline)\n");
		if (line[len] != '\0')
			die("line without a NUL behind it");
	}
}

/* A line, the rest by blocks: what was read ahead must come first. */
static void
mixed(struct out *o, struct in *in)
{
	char *line = in_line(in, NULL);

	out_printf(o, "[%s]\n", line);
	cat(o, in);
}

static void
files(char **argv, void (*f)(struct out *, struct in *))
{
	struct out *o;
	struct in *in;
	const char *name = NULL;

	if (*argv != NULL && strcmp(*argv, "-o") == 0) {
		name = argv[1];
		argv += 2;
	}
	o = out_open(name);
	if (*argv == NULL) {
		in = in_open(NULL);
		f(o, in);
		in_close(in);
	}
	for (; *argv != NULL; argv++) {
		in = in_open(*argv);
		if (getenv("ALLOW_CUT") != NULL)
			in_allow_cut(in);
		f(o, in);
		in_close(in);
	}
	out_close(o);
}

static void
half(const char *name)
{
	struct out *o = out_open(name);

	out_str(o, "half of it\n");
	out_flush(o);
	die("that was half");
}

/* Many files, each a byte, whole only together. */
static void
many(const char *name)
{
	struct out *o[4200];
	char each[4096];
	size_t i;

	out_hold();
	for (i = 0; i < sizeof o / sizeof *o; i++) {
		snprintf(each, sizeof each, "%s.%zu", name, i);
		o[i] = out_open(each);
		out_ch(o[i], '1');
	}
	while (i-- > 0)
		out_close(o[i]);
	if (access(each, F_OK) == 0)
		die("%s: there before the others", each);
	out_publish();
}

/* The ways to show a line, which agree; one is cut. */
static void
show(void)
{
	struct out *o = out_open(NULL);
	struct in *in = in_open(NULL);
	char *line, copy[64];
	size_t len, n;

	while ((line = in_line(in, &len)) != NULL) {
		out_shown(o, line, len);
		n = shown_copy(copy, sizeof copy, line, len);
		if (n != strlen(copy) || n >= sizeof copy)
			die("%zu bytes, not %zu", strlen(copy), n);
		if (strlen(line) == len && n < 60 &&
		    strcmp(shown(line), copy) != 0)
			die("\"%s\", not \"%s\"", shown(line), copy);
		out_printf(o, "|%s\n", copy);
	}
	out_close(o);
}

static void
num(char **argv, unsigned k)
{
	uint64_t v;

	for (; *argv != NULL; argv++)
		if (num_parse(*argv, k, &v) == 0)
			printf("%" PRIu64 "\n", v);
		else
			printf("no\n");
}

static void
say(const char *kind)
{
	if (strcmp(kind, "errno") == 0) {
		errno = ENOENT;
		die("%s: open:", "a\tfile\n");
	}
	if (strcmp(kind, "arg") == 0)
		num_arg("--size", "70", 1, 64);
	if (strcmp(kind, "choice") == 0)
		choice_arg("--rep", "x", "once", "each");
	if (strcmp(kind, "word") == 0)
		word_arg("--by", "x", (const char *const[]){ "object", "type",
		    "page" }, 3);
	if (strcmp(kind, "125") == 0) {
		die_status = 125;
		die("own status");
	}
	warn("%5000d|", 1);
	warn("plain");
}

static void
grow(void)
{
	uint32_t *v = NULL;
	size_t cap = 0, i, moves = 0;

	for (i = 0; i < 1000000; i++) {
		if (i >= cap)
			moves++;
		v = xgrow(v, &cap, i + 1, sizeof *v);
		v[i] = (uint32_t)i;
	}
	for (i = 0; i < 1000000; i++)
		if (v[i] != i)
			die("element %zu is %u", i, v[i]);
	if (moves > 20)
		die("moved %zu times", moves);
	free(v);
}

#define KEPT 200000

/* Keep small things, which begin as zeros, and find them as they were. */
static void *
keeper(void *barrier)
{
	static _Thread_local size_t *kept[KEPT];
	size_t i, j, n;

	for (i = 0; i < KEPT; i++) {
		if (i % 1000 == 0)
			pthread_barrier_wait(barrier);
		n = 1 + i % 8;
		kept[i] = xkeep(n * sizeof **kept);
		for (j = 0; j < n; j++)
			if (kept[i][j] != 0)
				die("kept %zu: not zeros", i);
		for (j = 0; j < n; j++)
			kept[i][j] = (uintptr_t)&kept[i];
	}
	for (i = 0; i < KEPT; i++)
		for (j = 0; j < 1 + i % 8; j++)
			if (kept[i][j] != (uintptr_t)&kept[i])
				die("kept %zu: not what it was", i);
	return NULL;
}

static void
keep(void)
{
	pthread_barrier_t barrier;
	pthread_t thread[4];
	unsigned i;

	pthread_barrier_init(&barrier, NULL, 4);
	for (i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, keeper, &barrier) != 0)
			die("no thread");
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* How many of these pages the kernel has given us. */
static unsigned
resident(char *p, unsigned pages)
{
	unsigned char there[1024];
	unsigned i, n = 0;

	if (mincore(p, pages * 4096ul, there) < 0)
		die("mincore:");
	for (i = 0; i < pages; i++)
		n += there[i] & 1;
	return n;
}

/*
 * Memory that fills from its beginning: what is needed has its pages, little
 * else has, nothing behind the end is asked for, and what is there stays.
 */
static void
pages(void)
{
	enum { PAGES = 1000 };
	char *p = xreserve(PAGES + 24, 4096, "memory");
	struct touched t = { PAGES * 4096ul, 0 };
	unsigned i, n;

	xtouch_all(t.size + p, 4096);
	if (resident(p + t.size, 1) != 1)
		return;		/* before Linux 5.14 pages come by faults */
	for (i = 0; i < 500; i++) {
		xtouch(p, &t, i * 4096ul + 1);
		n = resident(p, PAGES);
		if (n < i + 1 || n > i + 17)
			die("%u pages for %u", n, i + 1);
		memset(p + i * 4096ul, (int)i, 4096);
	}
	xtouch(p, &t, 900 * 4096ul);
	if (resident(p + 600 * 4096ul, 200) != 0 ||
	    resident(p + 899 * 4096ul, 1) != 1)
		die("a leap");
	xtouch(p, &t, PAGES * 4096ul);
	if (resident(p + PAGES * 4096ul, 24) != 1 || t.have != t.size ||
	    resident(p + (PAGES - 1) * 4096ul, 1) != 1)
		die("the end");
	xtouch(p, &t, (PAGES + 1) * 4096ul);
	if (resident(p + PAGES * 4096ul, 24) != 1)
		die("behind the end");
	for (i = 0; i < 500; i++)
		if (p[i * 4096ul] != (char)i || p[i * 4096ul + 4095] != (char)i)
			die("page %u is another", i);
}

/* A table used here and there: its parts have their pages, and no others. */
static void
parts(void)
{
	enum { PART = 16, PAGES = 4 * PART + 3 };	/* the last one is short */
	const size_t size = PAGES * 4096ul;
	char *p = xreserve(PAGES + PART, 4096, "memory");
	struct touched_parts t = { 0 };

	xtouch_at(p, size, &t, (PART + 5) * 4096ul);
	if (resident(p + PART * 4096ul, PART) == 0)
		return;		/* before Linux 5.14 pages come by faults */
	if (resident(p, PAGES + PART) != PART ||
	    resident(p + PART * 4096ul, PART) != PART)
		die("not one part");
	p[(PART + 5) * 4096ul] = 'x';
	xtouch_at(p, size, &t, (2 * PART - 1) * 4096ul);
	xtouch_at(p, size, &t, size - 1);
	if (resident(p, PAGES + PART) != PART + 3 ||
	    resident(p + 4 * PART * 4096ul, 3) != 3 || t.done != 0x12 ||
	    p[(PART + 5) * 4096ul] != 'x')
		die("not the last part");
}

static void
format(void)
{
	struct out *o = out_open(NULL);
	char *p;
	int i;

	out_u64(o, 0);
	out_ch(o, ' ');
	out_u64(o, UINT64_MAX);
	out_ch(o, ' ');
	out_hex(o, 0);
	out_ch(o, ' ');
	out_hex(o, 0x123456789abcdef0);
	out_printf(o, " %d %s\n", -7, "x");
	out_printf(o, "%3000d\n", 9);
	for (i = 0; i < 100000; i++) {
		p = out_room(o, 20);
		memcpy(p, "0123456789\n", 11);
		out_advance(o, 11);
	}
	out_close(o);
}

int
main(int argc, char **argv)
{
	prog_init(argv[0]);
	if (argc < 2)
		prog_usage("what ...");
	if (strcmp(argv[1], "--version") == 0)
		prog_version();
	else if (strcmp(argv[1], "--help") == 0)
		prog_help("Some help.\n");
	else if (strcmp(argv[1], "cat") == 0)
		files(argv + 2, cat);
	else if (strcmp(argv[1], "lines") == 0)
		files(argv + 2, lines);
	else if (strcmp(argv[1], "mixed") == 0)
		files(argv + 2, mixed);
	else if (strcmp(argv[1], "half") == 0)
		half(argv[2]);
	else if (strcmp(argv[1], "many") == 0)
		many(argv[2]);
	else if (strcmp(argv[1], "shown") == 0)
		show();
	else if (strcmp(argv[1], "num") == 0)
		num(argv + 2, COUNTS);
	else if (strcmp(argv[1], "size") == 0)
		num(argv + 2, BYTES);
	else if (strcmp(argv[1], "die") == 0)
		say(argv[2]);
	else if (strcmp(argv[1], "grow") == 0)
		grow();
	else if (strcmp(argv[1], "keep") == 0)
		keep();
	else if (strcmp(argv[1], "pages") == 0)
		pages();
	else if (strcmp(argv[1], "parts") == 0)
		parts();
	else if (strcmp(argv[1], "format") == 0)
		format();
	else
		prog_usage("what ...");
	return 0;
}
