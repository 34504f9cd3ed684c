/*
 * func - drive lib/func.h
 *
 * Reads M and U lines of a stream, and "? addr" to ask: prints where the
 * function begins and ends, whether it is skipped, whether the address is that
 * of a symbol, and the function's name. "= addr addr" says whether two addresses are in one
 * section, in one function, and in parts of one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "func.h"
#include "in.h"
#include "objmap.h"
#include "prog.h"

static void
ask(uint64_t addr)
{
	struct func_place p;
	uint64_t end = func_place(addr, &p);

	printf("%" PRIx64 " %" PRIx64 " ", addr, p.fn->start + p.slide);
	if (end == UINT64_MAX)
		printf("-");
	else
		printf("%" PRIx64, end);
	printf("%s%s %s\n", p.fn->skip ? " skip" : "",
	    p.entry ? " entry" : "", p.fn->name);
}

static void
compare(uint64_t a, uint64_t b)
{
	struct func_place p, q;

	func_place(a, &p);
	func_place(b, &q);
	printf("section %s, function %s\n",
	    p.section == q.section ? "same" : "other",
	    p.fn == q.fn ? "same" : func_same(p.fn, q.fn) ? "parts" : "other");
}

int
main(void)
{
	struct in *in = in_open(NULL);
	struct objmap *om = objmap_new();
	size_t len;
	char *line, *end;
	uint64_t a;

	prog_init("func");
	func_map(om);
	while ((line = in_line(in, &len)) != NULL) {
		if (line[0] == 'M' || line[0] == 'U') {
			if (objmap_line(om, line, len) < 0)
				printf("malformed\n");
			continue;
		}
		a = strtoull(line + 1, &end, 16);
		if (line[0] == '?')
			ask(a);
		else
			compare(a, strtoull(end, NULL, 16));
	}
	in_close(in);
	return 0;
}
