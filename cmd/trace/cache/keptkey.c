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
#if defined __has_include
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define HAVE_X86_H 1
#endif
#endif

#include "cache/kept.h"
#include "mem.h"

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

/* What libc has asked the processor for; NULL: it has not. */
static const unsigned *
look_up(unsigned leaf, unsigned sub)
{
#if HAVE_X86_H
	static const struct {
		unsigned leaf, sub, i;
	} at[] = { { 1, 0, CPUID_INDEX_1 }, { 7, 0, CPUID_INDEX_7 },
		{ 7, 1, CPUID_INDEX_7_ECX_1 },
		{ 0x80000001, 0, CPUID_INDEX_80000001 } };
	size_t i;

	for (i = 0; i < sizeof at / sizeof at[0]; i++)
		if (at[i].leaf == leaf && at[i].sub == sub)
			return __x86_get_cpuid_feature_leaf(at[i].i)->
			    cpuid_array;
#endif
	(void)leaf;
	(void)sub;
	return NULL;
}

static void
add_leaf(struct text *t, unsigned leaf, unsigned sub)
{
	unsigned r[4] = { 0, 0, 0, 0 };
	const unsigned *known = look_up(leaf, sub);

	if (known != NULL)
		memcpy(r, known, sizeof r);
	else if (leaf == 0)
		__cpuid(0, r[0], r[1], r[2], r[3]);
	else
		__get_cpuid_count(leaf, sub, &r[0], &r[1], &r[2], &r[3]);
	add(t, "cpuid", leaf);
	add(t, "a", r[0]);
	if (leaf != 1)		/* which of the processors */
		add(t, "b", r[1]);
	add(t, "c", r[2]);
	add(t, "d", r[3]);
}

/*
 * The processor: make, model, features.  A virtual machine takes 10 us or more
 * for each cpuid, so where libc tells the rest only the make is asked for.
 */
static void
add_processor(struct text *t)
{
	static const struct {
		unsigned leaf, sub;
	} leaves[] = { { 0, 0 }, { 1, 0 }, { 7, 0 }, { 7, 1 },
		{ 0x80000001, 0 } };
	size_t i;

	for (i = 0; i < sizeof leaves / sizeof leaves[0]; i++)
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
	add(&t, "requests", opt->windows);
	if (dl_iterate_phdr(find_build, &t) != 1)
		add_file(&t, "/proc/self/exe");
	snprintf(exe, sizeof exe, "/proc/%d/exe", (int)guest.pid);
	add_file(&t, exe);
	add_processor(&t);
	add_layout(&t);
	return t.s;
}
