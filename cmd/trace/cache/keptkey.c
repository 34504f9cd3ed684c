/*
 * keptkey - which entry of the store an image has: a text that names all
 *
 * Whatever a translation depends on, but for the code itself, is in this text:
 * two images with the same text have the same translations of the same code.
 */
#include <cpuid.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache/kept.h"
#include "util.h"

struct text {
	char *s;
	size_t n, cap;
};

static void
add(struct text *t, const char *name, uint64_t v)
{
	t->s = xgrow(t->s, &t->cap, t->n + strlen(name) + 32, 1);
	t->n += (size_t)sprintf(t->s + t->n, "%s %llx\n", name,
	    (unsigned long long)v);
}

/* Our own build, by the note that the linker leaves; 1: found. */
static int
find_build(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct text *t = arg;
	unsigned i, k;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;
		uintptr_t end = at + p->p_memsz;

		while (p->p_type == PT_NOTE && at + 12 < end) {
			const ElfW(Nhdr) *h = (const void *)at;
			const uint8_t *desc = (const uint8_t *)(h + 1) +
			    (h->n_namesz + 3u) / 4 * 4;

			if (h->n_type == NT_GNU_BUILD_ID) {
				for (k = 0; k < h->n_descsz; k++)
					add(t, "trace", desc[k]);
				return 1;
			}
			at = (uintptr_t)desc + (h->n_descsz + 3u) / 4 * 4;
		}
	}
	return -1;		/* only the first object is ours */
}

static void
add_file(struct text *t, const char *path)
{
	struct stat s;

	if (stat(path, &s) < 0)
		return;
	add(t, "dev", s.st_dev);
	add(t, "ino", s.st_ino);
	add(t, "size", (uint64_t)s.st_size);
	add(t, "sec", (uint64_t)s.st_mtim.tv_sec);
	add(t, "nsec", (uint64_t)s.st_mtim.tv_nsec);
}

static void
add_leaf(struct text *t, unsigned leaf, unsigned sub)
{
	unsigned a, b, c, d;

	__cpuid_count(leaf, sub, a, b, c, d);
	add(t, "cpuid", leaf);
	add(t, "a", a);
	if (leaf != 1)		/* which of the processors */
		add(t, "b", b);
	add(t, "c", c);
	add(t, "d", d);
}

/* The processor: makes, models, features. */
static void
add_processor(struct text *t)
{
	static const struct {
		unsigned leaf, sub;
	} leaves[] = { { 0, 0 }, { 1, 0 }, { 7, 0 }, { 7, 1 },
		{ 0x80000001, 0 }, { 0x80000002, 0 }, { 0x80000003, 0 },
		{ 0x80000004, 0 } };
	/* one look for each half: a virtual machine takes 4 us for each */
	unsigned most[2] = { __get_cpuid_max(0, NULL),
		__get_cpuid_max(0x80000000, NULL) };
	size_t i;

	for (i = 0; i < sizeof leaves / sizeof leaves[0]; i++)
		if (leaves[i].leaf <= most[leaves[i].leaf >> 31])
			add_leaf(t, leaves[i].leaf, leaves[i].sub);
	add(t, "cpu", opt->cpu);
}

static void
add_layout(struct text *t)
{
	const struct segment *s = area.boot.seg;
	unsigned i;

	for (i = 0; i < NSEG; i++) {
		add(t, "segment", s[i].addr);
		add(t, "bytes", s[i].size);
	}
	add(t, "runtime", area.blob);
	add(t, "fragments", area.maxfrag);
	add(t, "maps", area.maxmap);
	add(t, "exits", area.maxexit);
	add(t, "counters", area.maxcount);
}

char *
kept_key(void)
{
	struct text t = { NULL, 0, 0 };
	char exe[64];

	add(&t, opt->kind->name, opt->interval != 0);
	add(&t, "sets", opt->sets);
	add(&t, "ways", opt->ways);
	add(&t, "line", opt->lineshift);
	add(&t, "each", opt->each);
	if (dl_iterate_phdr(find_build, &t) != 1)
		add_file(&t, "/proc/self/exe");
	snprintf(exe, sizeof exe, "/proc/%d/exe", (int)guest.pid);
	add_file(&t, exe);
	add_processor(&t);
	add_layout(&t);
	return t.s;
}
