/*
 * jitdump - read jit-PID.dump
 *
 * A header is followed by records, each with its size, so that those that are
 * not known are skipped. All numbers are the machine's.
 *
 *	header	u32 magic, version, size, machine, pad, pid; u64 time, flags
 *	record	u32 id, size; u64 time; then, by id:
 *	0 load	u32 pid, tid; u64 vma, address, size, index; name \0; code
 *	1 move	u32 pid, tid; u64 vma, old, new, size, index
 *	2 lines	u64 address, n; n times u64 address; u32 line, column; file \0
 *	3 close
 *
 * Lines come before the code that they are of. A file "\xff" is the last one's.
 * V8 adds 0x40 to the addresses of lines, for the header of an object that perf
 * makes of them: it is told from others by what it writes into the pad.
 */
#include "jit/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "util.h"

enum { LOAD, MOVE, LINES, CLOSE };
enum { MAGIC = 0x4a695444, X86_64 = 62 };
#define V8_PAD		0xdeadbeef
#define V8_SHIFT	0x40
#define LINES_MOST	((uint32_t)16 << 20)	/* bytes of a record of lines */

struct header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};
struct record {
	uint32_t id, size;
	uint64_t time;
};
struct load {
	uint32_t pid, tid;
	uint64_t vma, addr, size, index;
};
struct move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};
struct entry {
	uint64_t addr;
	uint32_t line, column;
};

static bool
read_header(struct jit_file *f)
{
	struct header h;

	if (!jit_read(f, 0, &h, sizeof h))
		return false;
	if (h.magic != MAGIC || h.machine != X86_64 || h.size < sizeof h) {
		f->bad = true;
		return false;
	}
	f->shift = h.pad == V8_PAD ? V8_SHIFT : 0;
	f->at = h.size;
	return true;
}

static void
forget_lines(struct jit_file *f)
{
	free(f->line);
	f->line = NULL;
	f->nline = 0;
}

/* ---- lines ---- */

static int
by_addr(const void *a, const void *b)
{
	const struct jit_line *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* A file's name, which may be a URL. NULL: too long, or one too many. */
static const char *
file_name(struct jit *j, const char *s, const char *last)
{
	size_t n;

	if (strncmp(s, "file:///", 8) == 0)
		s += 7;
	if (last != NULL && strcmp(s, last) == 0)
		return last;
	n = strlen(s) + 1;
	if (n > JIT_NAME || n > JIT_TEXT - j->text)
		return NULL;
	j->text += n;
	return intern(s);
}

/* The entries in [p, end) of a record, up to a malformed one. */
static void
read_entries(struct jit *j, struct jit_file *f, const char *p, const char *end,
    uint64_t n)
{
	const char *file = NULL, *nul;
	struct entry e;

	for (; n > 0 && (size_t)(end - p) > sizeof e; n--, p = nul + 1) {
		memcpy(&e, p, sizeof e);
		p += sizeof e;
		nul = memchr(p, '\0', (size_t)(end - p));
		if (nul == NULL)
			return;
		if (strcmp(p, "\xff") != 0)
			file = file_name(j, p, file);
		if (file == NULL || *file == '\0' || e.line > INT32_MAX)
			continue;
		f->line[f->nline++] = (struct jit_line){ e.addr - f->shift,
		    file, e.line };
	}
}

static void
read_lines(struct jit *j, struct jit_file *f, uint64_t at, uint64_t size)
{
	uint64_t head[2];	/* address, n */
	size_t n;
	char *body;

	forget_lines(f);
	if (size < sizeof head || size > LINES_MOST ||
	    !jit_read(f, at, head, sizeof head))
		return;
	n = (size_t)(size - sizeof head);
	body = xmalloc(n + 1);
	if (jit_read(f, at + sizeof head, body, n)) {
		f->line = xmalloc((n / (sizeof(struct entry) + 1) + 1) *
		    sizeof *f->line);
		f->line_code = head[0];
		read_entries(j, f, body, body + n, head[1]);
		if (f->nline > 1)
			qsort(f->line, f->nline, sizeof *f->line, by_addr);
	}
	free(body);
}

/* Give the waiting lines to a piece of code, if they are of it. */
static void
take_lines(struct jit *j, struct jit_file *f, struct jit_code *c)
{
	struct jit_line *v;

	if (f->nline != 0 && f->line_code == c->start &&
	    (v = jit_text(j, f->nline * sizeof *v)) != NULL) {
		memcpy(v, f->line, f->nline * sizeof *v);
		c->line = v;
		c->nline = f->nline;
	}
	forget_lines(f);
}

/* ---- code ---- */

static void
read_load(struct jit *j, struct jit_file *f, uint64_t at, uint64_t size)
{
	char name[JIT_NAME + 1];
	struct load l;
	struct jit_code c = { .dump = f->number };
	uint64_t room;
	size_t n;

	if (size < sizeof l || !jit_read(f, at, &l, sizeof l)) {
		forget_lines(f);
		return;
	}
	at += sizeof l;
	room = size - sizeof l;
	n = room < sizeof name ? (size_t)room : sizeof name;
	c.start = l.addr;
	c.size = l.size;
	take_lines(j, f, &c);
	/* the code is at the record's end, whatever the name */
	c.bytes = at + room - l.size;
	if (l.size >= room || !jit_read(f, at, name, n) ||
	    !jit_add(j, c, name, strnlen(name, n)))
		free((struct jit_line *)c.line);
}

/* Code moved: from now on it is at another place, too. */
static void
read_move(struct jit *j, struct jit_file *f, uint64_t at, uint64_t size)
{
	struct move m;
	struct jit_code c;
	struct jit_line *v = NULL;
	size_t i = j->ncode;

	if (size < sizeof m || !jit_read(f, at, &m, sizeof m))
		return;
	for (unsigned steps = 0; i > 0 && (j->code[i - 1].dump != f->number ||
	    j->code[i - 1].start != m.from); i--)
		if (steps++ > 1 << 16)
			return;
	if (i == 0)
		return;
	c = j->code[i - 1];
	c.start = m.to;
	if (c.nline != 0 && (v = jit_text(j, c.nline * sizeof *v)) != NULL)
		for (uint32_t k = 0; k < c.nline; k++) {
			v[k] = c.line[k];
			v[k].addr += m.to - m.from;
		}
	c.line = v;
	c.nline = v == NULL ? 0 : c.nline;
	/* an address may be anything, and so beyond the last one now */
	if (c.nline > 1)
		qsort(v, c.nline, sizeof *v, by_addr);
	if (!jit_add(j, c, c.name, strlen(c.name)))
		free(v);
}

void
jitdump_poll(struct jit *j, struct jit_file *f)
{
	struct record r;
	char last;

	if (f->at == 0 && !read_header(f))
		return;
	while (jit_read(f, f->at, &r, sizeof r)) {
		uint64_t body = f->at + sizeof r;

		if (r.size < sizeof r) {
			f->bad = true;
			return;
		}
		if (!jit_read(f, f->at + r.size - 1, &last, 1))
			return;		/* it is not whole yet */
		if (r.id == LOAD)
			read_load(j, f, body, r.size - sizeof r);
		else if (r.id == MOVE)
			read_move(j, f, body, r.size - sizeof r);
		else if (r.id == LINES)
			read_lines(j, f, body, r.size - sizeof r);
		else if (r.id == CLOSE)
			f->bad = true;
		f->at += r.size;
		if (f->bad)
			return;
	}
}
