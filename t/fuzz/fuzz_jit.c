/*
 * fuzz_jit - any bytes as a perf map and as a jitdump
 *
 * The file grows between two looks at it. What is found must be sound, and each
 * search gives a piece that holds the address, or none.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit.h"
#include "prog.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static uint64_t seen;	/* so that nothing read is optimised away */

static void
must(int is)
{
	if (!is)
		abort();
}

static void
search(struct jit *j, uint64_t addr, size_t known)
{
	static const uint8_t code[32] = { 0xb9, 1, 2, 0, 0, 0xff, 0xc9 };
	size_t i = jit_find(j, addr, code, sizeof code, known);

	if (i != JIT_NONE)
		must(addr - jit_get(j, i)->start < jit_get(j, i)->size);
}

static void
look(struct jit *j, size_t n)
{
	for (size_t i = 0; i < n && i < 200; i++) {
		const struct jit_code *c = jit_get(j, i);

		must(c->size != 0 && c->start + c->size > c->start);
		must(strlen(c->name) != 0 && strlen(c->name) <= JIT_NAME);
		for (uint32_t k = 0; k < c->nline; k++) {
			must(k == 0 ||
			    c->line[k - 1].addr <= c->line[k].addr);
			seen += c->line[k].line + strlen(c->line[k].file);
		}
		search(j, c->start, i);
		search(j, c->start + c->size - 1, n);
		search(j, c->start + c->size, 0);
		search(j, c->start - 1, n / 2);
	}
}

static void
try(const uint8_t *p, size_t n, int (*use)(struct jit *, int))
{
	struct jit *j = jit_new();
	int fd = memfd_create("in", 0);
	size_t half = n / 2, before;

	if (fd < 0 || write(fd, p, half) != (ssize_t)half)
		die("memfd:");
	must(use(j, fd) == 0);
	before = jit_poll(j);
	look(j, before);
	if (write(fd, p + half, n - half) != (ssize_t)(n - half))
		die("memfd:");
	must(jit_poll(j) >= before);
	look(j, jit_poll(j));
	jit_free(j);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	try(p, n, jit_open_map);
	try(p, n, jit_open_dump);
	return 0;
}
