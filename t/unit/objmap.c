/*
 * objmap - drive lib/objmap.h: lines of a stream, and "? addr" to ask
 *
 * "self" as the argument: this program's own mappings from /proc/self/maps
 * are the stream, and the address of main is asked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in.h"
#include "objmap.h"
#include "prog.h"

static void
ask(struct objmap *om, uint64_t addr)
{
	const struct obj *obj;
	uint64_t link;

	obj = objmap_find(om, addr, &link);
	if (obj == NULL)
		printf("%" PRIx64 " nothing\n", addr);
	else
		printf("%" PRIx64 " %u %s %s %" PRIx64 "\n", addr, obj->id,
		    obj->path, obj->readable ? "elf" : "raw", link);
}

int main(int argc, char **argv);

static void
self(struct objmap *om)
{
	struct in *in = in_open("/proc/self/maps");
	uint64_t start, end, off;
	char *line, path[512], m[1024];
	int n;

	while ((line = in_line(in, NULL)) != NULL) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
		    " %*s %*s %511s", &start, &end, &off, path) != 4)
			continue;
		n = snprintf(m, sizeof m, "M 1 %" PRIx64 " %" PRIx64 " %"
		    PRIx64 " %s", start, end, off, path);
		if (objmap_line(om, m, (size_t)n) < 0)
			die("refused: %s", m);
	}
	ask(om, (uint64_t)(uintptr_t)main);
}

int
main(int argc, char **argv)
{
	struct objmap *om = objmap_new();
	struct in *in;
	char *line;
	size_t len;

	prog_init(argv[0]);
	if (argc > 1) {
		self(om);
		return 0;
	}
	in = in_open(NULL);
	while ((line = in_line(in, &len)) != NULL)
		if (line[0] == '?')
			ask(om, strtoull(line + 1, NULL, 16));
		else if (objmap_line(om, line, len) < 0)
			printf("refused\n");
	printf("%u objects\n", objmap_nobj(om));
	return 0;
}
