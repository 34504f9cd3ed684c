/*
 * marks - markers and blocks of vectors in PinPoints' form, for -regions
 *
 *	S: 0x401136 1 /usr/bin/prog 0x400000 + 0x1136
 *	T:1:50 :2:50
 *	M: 0x401190 17
 *	...
 *	Block id: 1 0x401136:0x401140 static instructions: 5 block count: 90 ...
 *
 * A marker stands between intervals: the block about to run, and how often it
 * has run, counting that execution.  The number of executions of a marker's
 * block within an interval follows from the vectors.  But blocks get their
 * addresses at the end of the file, so the vectors are kept: packed, as two
 * variable-length numbers for each pair.
 */
#include "simpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

struct marked_block {
	uint64_t first;		/* address */
	uint32_t id, insns;
};

static struct mark *mark;	/* [i]: before vector i */
static struct marked_block *block;
static unsigned char *pack;	/* vector i: from packed[i] to packed[i + 1] */
static size_t *packed;
static char *tid;		/* "P: tid" */
static size_t *hit;		/* blocks that begin at find_blocks' pc */
static size_t nvec, nblock, nmark, nhit;
static size_t capmark, capblock, cappack, cappacked, caphit;

static void
set_mark(const struct mark *m)
{
	mark = xgrow0(mark, &capmark, nvec + 1, sizeof *mark);
	if (!mark[nvec].set)
		mark[nvec] = *m;
	nmark++;
}

/* Replace characters at which readers split the CSV. */
static char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = xstrdup(slash ? slash + 1 : path), *p;

	for (p = name; *(p += strcspn(p, ", |")) != '\0'; p++)
		*p = '_';
	return name;
}

/* "S: pc count [path low + off]" or "M: pc count ..." */
static void
marker(char *line, uint64_t lineno, const char *name)
{
	struct mark m = { .set = true };
	char *end, *path, *plus;

	m.pc = strtoull(line + 2, &end, 16);
	if (end == line + 2 || *end != ' ')
		die("%s:%" PRIu64 ": marker without address", name, lineno);
	line = end;
	m.count = strtoull(line, &end, 10);
	if (end == line || (*end != '\0' && *end != ' ' && *end != '\r'))
		die("%s:%" PRIu64 ": marker without count", name, lineno);
	plus = strstr(end, " + 0x");
	path = end + strspn(end, " ");
	if (*path == '/' && plus) {
		m.off = strtoull(plus + 3, NULL, 16);
		*plus = '\0';
		end = strrchr(path, ' ');	/* before low */
		if (end)
			*end = '\0';
		m.image = base_name(path);
	} else
		m.image = xstrdup("no_image");
	set_mark(&m);
}

static void
block_id(const char *line, uint64_t lineno, const char *name)
{
	struct marked_block b;

	if (sscanf(line, "Block id: %" SCNu32 " %" SCNx64 ":%*x static "
	    "instructions: %" SCNu32, &b.id, &b.first, &b.insns) != 3 ||
	    b.insns == 0)
		die("%s:%" PRIu64 ": not \"Block id: id first:last static "
		    "instructions: n\"", name, lineno);
	block = xgrow(block, &capblock, nblock + 1, sizeof *block);
	block[nblock++] = b;
}

/* Read a line that is not a vector. */
void
marks_line(char *line, uint64_t lineno, const char *name)
{
	if ((*line == 'S' || *line == 'M') && line[1] == ':')
		marker(line, lineno, name);
	else if (strncmp(line, "Block id:", 9) == 0)
		block_id(line, lineno, name);
	else if (strncmp(line, "P: ", 3) == 0 && !tid)
		tid = xstrdup(line + 3);
}

/* The thread, or NULL: the file does not say. */
const char *
marks_tid(void)
{
	if (tid)
		tid[strspn(tid, "0123456789")] = '\0';
	return tid && *tid ? tid : NULL;
}

static unsigned char *
put_number(unsigned char *p, uint64_t n)
{
	for (; n > 0x7f; n >>= 7)
		*p++ = (unsigned char)(n | 0x80);
	*p++ = (unsigned char)n;
	return p;
}

static const unsigned char *
get_number(const unsigned char *p, uint64_t *n)
{
	int shift = 0;

	for (*n = 0; *p & 0x80; shift += 7)
		*n |= (uint64_t)(*p++ & 0x7f) << shift;
	*n |= (uint64_t)*p++ << shift;
	return p;
}

/* Keep the next vector. */
void
marks_vector(const uint32_t *at, const double *val, size_t n)
{
	size_t have = nvec ? packed[nvec] : 0, i;
	unsigned char *p;

	packed = xgrow(packed, &cappacked, nvec + 2, sizeof *packed);
	pack = xgrow(pack, &cappack, have + n * 15 + 1, 1);
	packed[0] = 0;
	p = pack + have;
	for (i = 0; i < n; i++) {
		p = put_number(p, at[i]);
		p = put_number(p, val[i] > 0 && val[i] < 0x1p63 ?
		    (uint64_t)val[i] : 0);
	}
	packed[++nvec] = (size_t)(p - pack);
}

bool
marks_have(void)
{
	return nmark > 0;
}

/* The marker before vector `border`; NULL: there is none. */
const struct mark *
marks_at(size_t border)
{
	return border < capmark && mark[border].set ? &mark[border] : NULL;
}

static void
find_blocks(uint64_t pc)
{
	size_t i;

	for (nhit = i = 0; i < nblock; i++)
		if (block[i].first == pc) {
			hit = xgrow(hit, &caphit, nhit + 1, sizeof *hit);
			hit[nhit++] = i;
		}
}

/* Executions of block id by its n instructions; 0: it is none of hit. */
static uint64_t
runs_of(uint64_t id, uint64_t n)
{
	size_t i;

	for (i = 0; i < nhit; i++)
		if (block[hit[i]].id == id)
			return n / block[hit[i]].insns;
	return 0;
}

/* Does some block begin at pc? */
bool
marks_known(uint64_t pc)
{
	find_blocks(pc);
	return nhit > 0;
}

uint64_t
marks_runs(uint64_t pc, size_t from, size_t to)
{
	const unsigned char *p = pack + packed[from], *end = pack + packed[to];
	uint64_t id, n, sum = 0;

	find_blocks(pc);
	while (p < end) {
		p = get_number(p, &id);
		p = get_number(p, &n);
		sum += runs_of(id, n);
	}
	return sum;
}
