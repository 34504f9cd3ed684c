/*
 * client - what the program asks for by valgrind.h: marks, and printing
 *
 * A mark is a J line of the stream.  What the program prints is formatted here:
 * its format, its strings and its va_list are read from its memory, and each
 * conversion is done by snprintf.  Nothing that it can put there does more than
 * end the text.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/cache.h"
#include "evw.h"
#include "guest/guest.h"
#include "mem.h"
#include "prog.h"
#include "shown.h"
#include "stream/stream.h"
#include "trace.h"

#define TEXT_BYTES 4096u

/* The program's memory at an address: how many bytes could be read. */
static size_t
get(uint64_t at, void *to, size_t n)
{
	ssize_t r = pread(guest.mem, to, n, (off_t)at);

	return r < 0 ? 0 : (size_t)r;
}

/* A string of the program's, cut to the buffer's size. */
static void
get_string(uint64_t at, char buf[TEXT_BYTES])
{
	size_t n = 0, part;

	do {		/* not over the end of a page that is the last one */
		part = PAGE - (at + n) % PAGE;
		if (part > TEXT_BYTES - 1 - n)
			part = TEXT_BYTES - 1 - n;
		part = get(at + n, buf + n, part);
		n += part;
	} while (part > 0 && n < TEXT_BYTES - 1 &&
	    memchr(buf + n - part, '\0', part) == NULL);
	buf[n] = '\0';
}

/* --------------------------------------------------------------------- text */

static int
open_log(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		die("%s: open:", name);
	return fd;
}

static void
put(const char *text, size_t n)
{
	static int fd = -1;
	ssize_t r;

	if (fd < 0)
		fd = opt->log == NULL ? STDERR_FILENO :
		    open_log(follow_name(opt->log));
	while (n > 0) {
		r = write(fd, text, n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return;		/* there is nobody to tell */
		text += r;
		n -= (size_t)r;
	}
}

static char out[6 * TEXT_BYTES];
static size_t nout;	/* of a line that is not complete yet */
static bool within;	/* a line was begun */

/*
 * Each line with the process's number before it, between two of sign. Like
 * Valgrind, the last line waits for its end.
 */
static void
put_lines(const char *sign, const char *text)
{
	size_t n;

	for (; *text != '\0'; text += n) {
		if (nout > sizeof out / 2) {
			put(out, nout);
			nout = 0;
		}
		if (!within)
			nout += (size_t)sprintf(out + nout, "%s%d%s ", sign,
			    (int)guest.pid, sign);
		n = strcspn(text, "\n");
		if (n > TEXT_BYTES / 4)
			n = TEXT_BYTES / 4;
		nout += shown_copy(out + nout, sizeof out - 1 - nout, text, n);
		within = text[n] != '\n';
		if (!within) {
			out[nout++] = '\n';
			n++;
		}
	}
	if (within)
		return;
	put(out, nout);
	nout = 0;
}

void
client_end(void)
{
	if (within)
		put_lines("**", "\n");
}

/* -------------------------------------------------------------------- marks */

static unsigned
threads(void)
{
	unsigned i, n = 0;

	for (i = 0; i < NSLOT; i++)
		n += ONCE(area.ctl->slot[i].used) == SLOT_TAKEN;
	return n;
}

/* CACHEGRIND_START_INSTRUMENTATION when it is on, or _STOP_ when it is off. */
static bool
is_idle(uint64_t mark)
{
	bool off = mark == MARK_OFF;
	char text[160];

	if ((mark != MARK_ON && !off) || off != (ONCE(area.ctl->off) != 0))
		return false;
	snprintf(text, sizeof text, "warning: CACHEGRIND_%s_INSTRUMENTATION "
	    "called,\n         but instrumentation is already %sabled\n",
	    off ? "STOP" : "START", off ? "dis" : "en");
	put_lines("==", text);
	return true;
}

/* others: threads run that have not asked for it. */
static void
write_mark(unsigned slot, enum mark mark, const char *label, bool others)
{
	static const char *const word[NMARK] = { "on", "cold", "off",
		"toggle", "dump", "zero" };
	char *line = xmalloc(4 * strlen(label) + 64);

	strcpy(evw_escape(line + sprintf(line, "J %s%s", word[mark],
	    label[0] != '\0' ? " " : ""), label, false), "\n");
	if (mark <= MARK_OFF)
		__atomic_store_n(&area.ctl->off, mark == MARK_OFF,
		    __ATOMIC_SEQ_CST);
	/* the others' counts are theirs of before, too */
	if (others && opt->kind->counters)
		frag_renew(true);
	else if (others && mark <= MARK_OFF)
		frag_all_out();
	format_mark(slot, line);
}

void
client_mark(unsigned slot, uint64_t mark, uint64_t text)
{
	char label[TEXT_BYTES] = "";

	if (!(opt->windows & WINDOWS_REQUESTS) || mark >= NMARK ||
	    is_idle(mark))
		return;
	if (text != 0)
		get_string(text, label);
	write_mark(slot, (enum mark)mark, label, threads() > 1);
}

void
client_outside(enum mark mark, const char *text)
{
	unsigned slot = 0;

	while (slot < NSLOT - 1 &&
	    ONCE(area.ctl->slot[slot].used) != SLOT_TAKEN)
		slot++;
	if (ONCE(area.ctl->slot[slot].used) != SLOT_TAKEN ||
	    (mark <= MARK_OFF && (mark == MARK_OFF) ==
	    (ONCE(area.ctl->off) != 0)))
		return;		/* nothing runs, or it is so */
	write_mark(slot, mark, text, true);
}

/* ----------------------------------------------------------------- printing */

#define GP_END 48u		/* of the registers that a call saves: */
#define FP_END 176u		/* six of 8 bytes, then eight of 16 */

/* A va_list of the program's, as the ABI has it. */
struct args {
	uint32_t gp, fp;
	uint64_t stack, regs;
};

/* Where the next argument is, in a register of `size' bytes up to `end'? */
static uint64_t
next(struct args *a, uint32_t *reg, uint32_t end, uint32_t size)
{
	if (*reg < end) {
		*reg += size;
		return a->regs + *reg - size;
	}
	a->stack += 8;
	return a->stack - 8;
}

static uint64_t
next_word(struct args *a)
{
	uint64_t v = 0;

	get(next(a, &a->gp, GP_END, 8), &v, sizeof v);
	return v;
}

static double
next_double(struct args *a)
{
	double v = 0;

	get(next(a, &a->fp, FP_END, 16), &v, sizeof v);
	return v;
}

/* One conversion, read from its text behind the %. */
struct spec {
	char flags[8];
	int width, precision;	/* -1: none */
	bool wide;		/* of 64 bits */
	char kind;
};

static int
number(const char **s, struct args *a)
{
	int n = 0;

	if (**s == '*') {
		++*s;
		return (int)next_word(a);
	}
	for (; **s >= '0' && **s <= '9'; ++*s)
		n = n < 10000 ? 10 * n + (**s - '0') : n;
	return n;
}

static const char *
parse(const char *s, struct args *a, struct spec *p)
{
	size_t n = strspn(s, "-+ #0");

	memset(p, 0, sizeof *p);
	memcpy(p->flags, s, n < sizeof p->flags - 1 ? n : sizeof p->flags - 1);
	s += n;
	p->width = number(&s, a);
	p->precision = -1;
	if (*s == '.') {
		s++;
		p->precision = number(&s, a);
	}
	for (; *s != '\0' && strchr("hlLqjzt", *s) != NULL; s++)
		p->wide |= *s != 'h';
	p->kind = *s;
	return *s == '\0' ? s : s + 1;
}

static int
between(int n, int least, int most)
{
	return n < least ? least : n > most ? most : n;
}

/* Format the next argument into buf; returns its length. */
static size_t
convert(char *buf, size_t size, const struct spec *p, struct args *a)
{
	char fmt[32], str[TEXT_BYTES];
	int w = between(p->width, -1000, 1000);
	int prec = between(p->precision, -1, 1000), n;
	uint64_t v;

	switch (p->kind) {
	case 'd': case 'i': case 'u': case 'x': case 'X': case 'o':
		v = next_word(a);
		if (!p->wide)
			v = p->kind == 'd' || p->kind == 'i' ?
			    (uint64_t)(int64_t)(int32_t)v : (uint32_t)v;
		snprintf(fmt, sizeof fmt, "%%%s*.*ll%c", p->flags, p->kind);
		n = snprintf(buf, size, fmt, w, prec, (unsigned long long)v);
		break;
	case 'c':
		snprintf(fmt, sizeof fmt, "%%%s*c", p->flags);
		n = snprintf(buf, size, fmt, w, (int)(next_word(a) & 0xff));
		break;
	case 'p':
		v = next_word(a);
		snprintf(fmt, sizeof fmt, "%%%s*p", p->flags);
		n = snprintf(buf, size, fmt, w, (void *)(uintptr_t)v);
		break;
	case 's':
		get_string(next_word(a), str);
		snprintf(fmt, sizeof fmt, "%%%s*.*s", p->flags);
		n = snprintf(buf, size, fmt, w, prec, str);
		break;
	case 'e': case 'f': case 'g': case 'a': case 'E': case 'F': case 'G':
	case 'A':
		snprintf(fmt, sizeof fmt, "%%%s*.*%c", p->flags, p->kind);
		n = snprintf(buf, size, fmt, w, prec, next_double(a));
		break;
	default:		/* %%, or unknown: as it stands */
		n = snprintf(buf, size, "%c", p->kind == '\0' ? '%' : p->kind);
		break;
	}
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static size_t
format(char *buf, size_t size, const char *s, struct args *a)
{
	struct spec p;
	size_t n = 0;

	while (*s != '\0' && n + 1 < size) {
		if (*s != '%') {
			buf[n++] = *s++;
			continue;
		}
		s = parse(s + 1, a, &p);
		n += convert(buf + n, size - n, &p, a);
	}
	buf[n] = '\0';
	return n;
}

uint64_t
client_print(const uint64_t arg[4])
{
	char fmt[TEXT_BYTES], text[4 * TEXT_BYTES];
	uint64_t gpr[16] = { 0 };
	struct args a = { 48, 176, 0, 0 };
	size_t n;

	if (!(opt->windows & WINDOWS_REQUESTS))
		return 0;
	get_string(arg[0], fmt);
	get(arg[1], &a, sizeof a);
	n = format(text, sizeof text, fmt, &a);
	put_lines("**", text);
	if (arg[2] != 0) {
		get(arg[3], gpr, sizeof gpr);
		backtrace_text(gpr, arg[2], text, sizeof text);
		put_lines("==", text);
	}
	return n;
}
