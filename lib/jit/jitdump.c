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
#include "mem.h"

enum { LOAD, MOVE, LINES, CLOSE };
enum { MAGIC = 0x4a695444, X86_64 = 62 };
#define V8_PAD		0xdeadbeef
#define V8_SHIFT	0x40
#define V8_PADDING	7	/* bytes behind the last line */
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
	free(f->lines);
	f->lines = NULL;
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

/* Is it the line of an address of this code? */
static bool
entry_line(const struct jit_file *f, const char *p, const struct jit_code *c,
    struct jit_line *l)
{
	struct entry e;

	memcpy(&e, p, sizeof e);
	*l = (struct jit_line){ e.addr - f->shift, NULL, e.line };
	return l->addr - c->start <= c->size && e.line <= INT32_MAX;
}

/* Is it a name, and not what happened to be in memory? */
static bool
is_name(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < ' ')
			return false;
	return true;
}

/* Read all entries of the waiting record; how many, or 0: it is malformed. */
static uint32_t
read_entries(struct jit *j, const struct jit_file *f, const struct jit_code *c,
    struct jit_line *v)
{
	const char *p = f->lines, *end = p + f->nlines, *file = NULL, *nul;
	uint32_t n = 0;

	for (uint64_t k = f->nentry; k > 0; k--, p = nul + 1, n++) {
		if ((size_t)(end - p) <= sizeof(struct entry) ||
		    !entry_line(f, p, c, &v[n]))
			return 0;
		p += sizeof(struct entry);
		nul = memchr(p, '\0', (size_t)(end - p));
		if (nul == NULL)
			return 0;
		if (strcmp(p, "\xff") != 0)
			file = is_name(p) ? file_name(j, p, file) : NULL;
		if (file == NULL)
			return 0;
		v[n].file = file;
	}
	return n;
}

/* The file in a name as `JS:*f /home/u/a.js:1:13', of `len' bytes; or NULL. */
static const char *
file_in_name(struct jit *j, const char *name, size_t len)
{
	char file[JIT_NAME + 1];
	size_t n = strlen(name);

	for (unsigned i = 0; i < 2; i++) {
		while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
			n--;
		if (n == 0 || name[--n] != ':')
			return NULL;
	}
	if (len >= n || len == 0 || name[n - len - 1] != ' ')
		return NULL;
	memcpy(file, name + n - len, len);
	file[len] = '\0';
	return file_name(j, file, NULL);
}

/* Entries of one size, all of this file; 0: some are malformed. */
static uint32_t
read_sized(const struct jit_file *f, const struct jit_code *c, size_t size,
    const char *file, struct jit_line *v)
{
	uint32_t n = 0;

	for (; n < f->nentry; n++) {
		if (!entry_line(f, f->lines + n * size, c, &v[n]))
			return 0;
		v[n].file = file;
	}
	return n;
}

/*
 * V8 writes the file's name from memory that it has freed. All entries of a
 * function from one file have the same size, up to some padding at the end, and
 * its name is in the function's.
 */
static uint32_t
read_v8_entries(struct jit *j, const struct jit_file *f,
    const struct jit_code *c, const char *name, struct jit_line *v)
{
	size_t size = f->nlines / f->nentry;
	const char *file;
	uint32_t n = 0;

	for (; n == 0 && f->shift == V8_SHIFT && size > sizeof(struct entry) &&
	    f->nlines - size * f->nentry <= V8_PADDING; size--) {
		file = file_in_name(j, name, size - sizeof(struct entry) - 1);
		if (file != NULL)
			n = read_sized(f, c, size, file, v);
	}
	return n;
}

/* Keep a record of lines for the code that follows. */
static void
read_lines(struct jit_file *f, uint64_t at, uint64_t size)
{
	uint64_t head[2];	/* address, n */

	forget_lines(f);
	if (size < sizeof head || size > LINES_MOST ||
	    !jit_read(f, at, head, sizeof head))
		return;
	f->nlines = (size_t)(size - sizeof head);
	f->line_code = head[0];
	f->nentry = head[1];
	if (f->nentry > f->nlines / (sizeof(struct entry) + 1))
		return;
	f->lines = xmalloc(f->nlines + 1);
	if (!jit_read(f, at + sizeof head, f->lines, f->nlines))
		forget_lines(f);
}

/* Give the waiting lines to a piece of code, if they are of it. */
static void
take_lines(struct jit *j, struct jit_file *f, struct jit_code *c,
    const char *name)
{
	struct jit_line *v = NULL;

	/* V8: the lines of its baseline code have offsets of bytecode */
	if (f->lines != NULL && f->line_code == c->start && f->nentry != 0 &&
	    (f->shift != V8_SHIFT || strncmp(name, "JS:^", 4) != 0))
		v = jit_text(j, f->nentry * sizeof *v);
	if (v != NULL) {
		c->line = v;
		c->nline = read_entries(j, f, c, v);
		if (c->nline == 0)
			c->nline = read_v8_entries(j, f, c, name, v);
		if (c->nline > 1)
			qsort(v, c->nline, sizeof *v, by_addr);
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
	uint64_t room = size - sizeof l;
	size_t n = room < JIT_NAME ? (size_t)room : JIT_NAME;

	if (size < sizeof l || !jit_read(f, at, &l, sizeof l) ||
	    l.size >= room || !jit_read(f, at + sizeof l, name, n)) {
		forget_lines(f);
		return;
	}
	name[n] = '\0';
	c.start = l.addr;
	c.size = l.size;
	/* the code is at the record's end, whatever the name */
	c.bytes = at + size - l.size;
	take_lines(j, f, &c, name);
	if (!jit_add(j, c, name, strlen(name)))
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
			read_lines(f, body, r.size - sizeof r);
		else if (r.id == CLOSE)
			f->bad = true;
		f->at += r.size;
		if (f->bad)
			return;
	}
}
