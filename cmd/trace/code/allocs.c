/*
 * allocs - with --allocs: the functions that allocate and free memory
 *
 * They are known by name.  Each object whose code is mapped is searched for
 * them, so they are those of the C library, of a static program, or of another
 * allocator; what --alloc-fn names, too.  A block ends before the first
 * instruction of each.
 */

#include <stdlib.h>
#include <string.h>

#include "khash.h"
#include "mem.h"
#include "prog.h"
#include "sym.h"
#include "code/code.h"
#include "code/entries.h"

KHASH_MAP_INIT_INT64(pc, uint32_t)	/* pc -> alloc_bits */
KHASH_MAP_INIT_STR(name, uint32_t)

#define NEW(size)	{ ALLOC_NEW, size, ALLOC_NONE, ALLOC_NONE }
#define FREE		{ ALLOC_FREE, ALLOC_NONE, ALLOC_NONE, 0 }
#define AGAIN(size)	{ ALLOC_AGAIN, size, ALLOC_NONE, 0 }

static const struct known {
	const char *names;	/* separated by blanks */
	struct alloc_args args;
} known[] = {
	{ "malloc valloc pvalloc __libc_malloc __libc_valloc __libc_pvalloc "
	    "je_malloc je_valloc je_mallocx mallocx tc_malloc tc_valloc "
	    "tc_pvalloc tc_new tc_newarray mi_malloc mi_new", NEW(0) },
	/* operator new and new[], with std::nothrow_t, std::align_val_t */
	{ "_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t "
	    "_ZnwmSt11align_val_t _ZnamSt11align_val_t "
	    "_ZnwmSt11align_val_tRKSt9nothrow_t "
	    "_ZnamSt11align_val_tRKSt9nothrow_t", NEW(0) },
	{ "aligned_alloc memalign __libc_memalign __libc_aligned_alloc "
	    "je_aligned_alloc je_memalign tc_memalign mi_memalign",
	    NEW(1) },
	{ "calloc __libc_calloc je_calloc tc_calloc mi_calloc",
	    { ALLOC_NEW, 0, 1, ALLOC_NONE } },
	{ "realloc __libc_realloc je_realloc je_rallocx rallocx tc_realloc "
	    "mi_realloc", AGAIN(1) },
	{ "reallocarray __libc_reallocarray",
	    { ALLOC_AGAIN, 1, 2, 0 } },
	{ "posix_memalign __posix_memalign je_posix_memalign "
	    "tc_posix_memalign mi_posix_memalign",
	    { ALLOC_STORE, 2, ALLOC_NONE, 0 } },
	{ "free cfree __libc_free je_free je_dallocx je_sdallocx dallocx "
	    "sdallocx tc_free tc_cfree tc_delete tc_deletearray mi_free "
	    "free_sized free_aligned_sized", FREE },
	/* operator delete and delete[], with a size, an alignment, nothrow */
	{ "_ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvRKSt9nothrow_t "
	    "_ZdaPvRKSt9nothrow_t _ZdlPvSt11align_val_t "
	    "_ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t "
	    "_ZdaPvmSt11align_val_t _ZdlPvSt11align_val_tRKSt9nothrow_t "
	    "_ZdaPvSt11align_val_tRKSt9nothrow_t", FREE },
	{ "mmap mmap64 __mmap", { ALLOC_MAP, 1, ALLOC_NONE, ALLOC_NONE } },
	{ "sbrk __sbrk", { ALLOC_BREAK, 0, ALLOC_NONE, 0 } },
	{ "mremap __mremap", { ALLOC_REMAP, 2, 1, 0 } },
	{ "munmap __munmap", { ALLOC_FREE, 1, ALLOC_NONE, 0 } },
};

/* Functions of --alloc-fn and --free-fn. */
static struct alloc_fn {
	const char *option;
	char *name;
	uint32_t bits;
	bool seen;
} *fns;
static size_t nfns, capfns;
static khash_t(name) *names;
static bool seen;		/* any function at all */

static void search(struct sym *);
static struct entries entries = { .search = search };

/* Where functions begin; hint: bit by the low bits of each pc there ever was */
static khash_t(pc) *points;
static uint64_t hint[1024];

static uint64_t *
hint_of(app_pc pc)
{
	return &hint[pc >> 6 & 1023];
}

/* NAME:argument, from 1 */
void
allocs_add(const char *option, const char *arg, enum alloc_op op)
{
	const char *colon = strrchr(arg, ':');
	struct alloc_args a = { (uint32_t)op & 15, ALLOC_NONE, ALLOC_NONE,
		ALLOC_NONE };
	struct alloc_fn *f;

	if (colon == NULL || colon == arg || colon[1] < '1' ||
	    colon[1] > '6' || colon[2] != '\0')
		die("%s=%s: NAME:N, where N is 1 to 6, the number of the "
		    "argument with %s", option, arg, op == ALLOC_FREE ?
		    "the address" : "the size");
	if (op == ALLOC_FREE)
		a.ptr = (uint32_t)(colon[1] - '1') & 7;
	else
		a.size = (uint32_t)(colon[1] - '1') & 7;
	fns = xgrow(fns, &capfns, nfns + 1, sizeof *fns);
	f = &fns[nfns++];
	*f = (struct alloc_fn){ option, xstrndup(arg, (size_t)(colon - arg)),
		alloc_bits(a), false };
}

/* ------------------------------------------------------------------ objects */

static void
add_name(char *name, uint32_t bits)
{
	khiter_t k;
	int made;

	k = kh_put(name, names, name, &made);
	kh_value(names, k) = bits;
}

static void
know_names(void)
{
	char *s, *word, *save = NULL;
	size_t i;

	names = kh_init(name);
	for (i = 0; i < sizeof known / sizeof known[0]; i++) {
		s = xstrdup(known[i].names);
		for (word = strtok_r(s, " ", &save); word != NULL;
		    word = strtok_r(NULL, " ", &save))
			add_name(word, alloc_bits(known[i].args));
	}
}

static void
know(uint64_t addr, uint32_t bits)
{
	if (entries_found(addr, bits))
		seen = true;
}

/* A function of the object; a version follows an @. */
static void
function(void *arg, const char *raw, uint64_t addr)
{
	char name[64];
	size_t n = strcspn(raw, "@");
	khiter_t k;

	(void)arg;
	if (n >= sizeof name)
		return;
	memcpy(name, raw, n);
	name[n] = '\0';
	k = kh_get(name, names, name);
	if (k != kh_end(names))
		know(addr, kh_value(names, k));
}

static void
found(void *arg, uint64_t addr)
{
	struct alloc_fn *f = arg;

	f->seen = true;
	know(addr, f->bits);
}

static void
search(struct sym *s)
{
	size_t i;

	sym_functions(s, function, NULL);
	for (i = 0; i < nfns; i++)
		sym_entries(s, fns[i].name, found, &fns[i]);
}

/* ----------------------------------------------------------------- mappings */

static void
add_point(uint64_t pc, uint32_t bits)
{
	khiter_t k;
	int made;

	k = kh_put(pc, points, pc, &made);
	kh_value(points, k) = bits;
	*hint_of(pc) |= 1ull << (pc & 63);
}

void
allocs_mapped(uint64_t start, uint64_t end, uint64_t off, const char *path)
{
	if (!opt->allocs || path[0] != '/')
		return;
	if (names == NULL) {
		know_names();
		points = kh_init(pc);
	}
	entries_mapped(&entries, start, end, off, path, add_point);
}

void
allocs_unmapped(uint64_t start, uint64_t end)
{
	khiter_t k;

	for (k = 0; points != NULL && k < kh_end(points); k++)
		if (kh_exist(points, k) && kh_key(points, k) - start <
		    end - start)
			kh_del(pc, points, k);
}

bool
allocs_at(app_pc pc, struct alloc_args *a)
{
	khiter_t k;

	if (!(*hint_of(pc) >> (pc & 63) & 1))
		return false;
	k = kh_get(pc, points, pc);
	if (k == kh_end(points))
		return false;
	if (a != NULL)
		*a = alloc_of_bits(kh_value(points, k));
	return true;
}

void
allocs_tell(void)
{
	size_t i;

	for (i = 0; i < nfns; i++)
		if (!fns[i].seen)
			warn("%s=%s: no symbol of this name was mapped%s",
			    fns[i].option, fns[i].name,
			    entries_perhaps(&entries, fns[i].name));
	if (opt->allocs && !seen)
		warn("--allocs: no object has a function that allocates "
		    "memory, by its symbols");
}
