/*
 * prc-maps - /proc/self/maps tells the truth of the program's own memory: its
 * text, stack, heap, what it maps and unmaps, and nothing writable that runs
 */
#include "victim.h"

struct range {
	uintptr_t start, end;
	char perms[5];
	char path[256];
};

/* The mapping that holds p; false if none does. */
static int
find(const void *p, struct range *r)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long start, end;

	CHECK(f != NULL);
	while (fgets(line, sizeof line, f) != NULL) {
		r->path[0] = '\0';
		CHECK(sscanf(line, "%lx-%lx %4s %*s %*s %*s %255s", &start,
		    &end, r->perms, r->path) >= 3);
		/* Writable and executable at once is nobody's here. */
		CHECK(strncmp(r->perms + 1, "wx", 2) != 0);
		if ((uintptr_t)p >= start && (uintptr_t)p < end) {
			r->start = start;
			r->end = end;
			fclose(f);
			return 1;
		}
	}
	fclose(f);
	return 0;
}

int
main(int argc, char **argv)
{
	struct range r;
	char *p = map_pages(3, PROT_READ | PROT_WRITE);
	char *heap = sbrk(4096);

	(void)argc;
	CHECK(find((void *)(uintptr_t)main, &r));
	CHECK(strncmp(r.perms, "r-x", 3) == 0);
	CHECK(strstr(argv[0], strrchr(r.path, '/')) != NULL);
	CHECK(find(&r, &r) && strcmp(r.path, "[stack]") == 0);
	CHECK(find(heap, &r) && strcmp(r.path, "[heap]") == 0);
	CHECK(find((void *)(uintptr_t)write, &r));
	CHECK(strstr(r.path, "libc") != NULL);
	CHECK(find(p + PAGE, &r) && strncmp(r.perms, "rw-p", 4) == 0);
	CHECK(mprotect(p + PAGE, PAGE, PROT_READ) == 0);
	CHECK(find(p + PAGE, &r) && strncmp(r.perms, "r--p", 4) == 0);
	CHECK(r.start == (uintptr_t)p + PAGE && r.end == r.start + PAGE);
	CHECK(munmap(p + PAGE, PAGE) == 0);
	CHECK(!find(p + PAGE, &r));
	CHECK(find(p, &r) && find(p + 2 * PAGE, &r));
	return victim_ok();
}
