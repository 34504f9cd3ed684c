/*
 * fuzz_store - any bytes as an entry of trace's store
 *
 * The first byte says how.  As they are: what is not refused has the sum that
 * it says, and parts within it; also where a look at the sum is not asked for.
 * As a right entry, of parts as long as the bytes say: it is not refused, but
 * with any byte changed it is.  As a definition: what is believed of it is
 * within its bytes.
 *
 * The readers are files of trace; the rest of it is what they need, here.
 */
/* names of one file are another's locals */
#pragma GCC diagnostic ignored "-Wshadow"
#include "../../cmd/trace/cache/keptread.c"
#include "../../cmd/trace/keep/sum.c"
#include "../../cmd/trace/xlate/defpack.c"

#include <stdlib.h>
#include <unistd.h>

#include "prog.h"

#define NCOUNTER 1000u
#define MOST (64u * PAGE)

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const struct kind kind = { .name = "counts", .tells = true,
	.counters = true, .intervals = true };
static const struct options options = { .kind = &kind };
const struct options *const opt = &options;
struct area area = { .maxfrag = 1u << 18, .maxexit = 1u << 20,
	.maxmap = 20u << 20, .maxcount = 1u << 24 };
struct kept kept;
struct evw *stream_writer;
static char key[] = "a key";

uint32_t
counters_used(void)
{
	return NCOUNTER;
}

static void
must(int is)
{
	if (!is)
		abort();
}

static uint64_t
sum_of(const uint8_t *p, const struct kept_head *h)
{
	const size_t from = offsetof(struct kept_head, size);
	uint64_t at = PAGE, sum = keep_sum(0, (const char *)h + from,
	    sizeof *h - from);
	unsigned i;
	size_t n;

	for (i = 0; i < NPART; i++, at = kept_align(at + n)) {
		n = kept_part_size(i, h->n[i]);
		sum = keep_sum(sum, p + at, n);
	}
	return sum;
}

/* What is not refused is within the file. */
static void
look(const struct kept_head *h, size_t size)
{
	const uint8_t *base = (const uint8_t *)h, *part;
	unsigned i;
	size_t n;

	for (i = 0; i < NPART; i++) {
		part = kept.part[i];
		n = kept_part_size(i, h->n[i]);
		must(part >= base + PAGE && part <= base + size &&
		    n <= (size_t)(base + size - part));
	}
	must(memcmp(kept.part[PART_KEY], key, sizeof key - 1) == 0);
	must(h->n[PART_FRAGS] <= area.maxfrag / 2);
}

/* Open the bytes as an entry; is it accepted? */
static bool
try(const uint8_t *p, size_t n, bool sure)
{
	int fd = memfd_create("entry", 0);
	bool known = sure, is;

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		die("memfd:");
	is = kept_open(fd, &sure);
	must(!is || sure);
	if (is)
		look(kept.head, n);
	if (is && !known)
		must(kept.head->sum == sum_of(p, kept.head));
	if (kept.head != NULL)
		munmap((void *)(uintptr_t)kept.head, n);
	memset(&kept, 0, sizeof kept);
	kept.key = key;
	close(fd);
	return is;
}

/* The bytes' first numbers are the lengths of the parts of a right entry. */
static size_t
make(uint8_t *to, const uint8_t *p, size_t n)
{
	struct kept_head h = { KEPT_MAGIC, .size = PAGE, .ncounter = NCOUNTER };
	uint64_t at, size;
	unsigned i;

	memset(to, 0, MOST);
	for (i = 0; i < NPART; i++)
		h.n[i] = i < n ? p[i] : 0;
	h.n[PART_KEY] = sizeof key - 1;
	h.n[PART_INDEX] = h.n[PART_FRAGS];
	h.n[PART_LINKS] = h.n[PART_EXITS];
	h.n[PART_NUMBERS] = h.n[PART_SUMS];
	h.n[PART_COUNTS] = h.ncounter = n % 128;
	h.n[PART_ZONE0] = h.n[PART_ZONE1] = 0;
	for (i = 0; i < NPART; i++) {
		at = h.size;
		size = kept_part_size(i, h.n[i]);
		if (at + size + PAGE > MOST)
			return 0;
		for (uint64_t k = 0; k < size && n > 0; k++)
			to[at + k] = p[k % n];
		h.size = kept_align(at + size);
	}
	memcpy(to + PAGE, key, sizeof key - 1);
	h.sum = sum_of(to, &h);
	memcpy(to, &h, sizeof h);
	return h.size;
}

/* Is the byte one that the sum is of, or the sum? */
static bool
counts(const uint8_t *p, size_t at)
{
	const struct kept_head *h = (const void *)p;
	uint64_t from = PAGE, n;
	unsigned i;

	for (i = 0; i < NPART; i++, from = kept_align(from + n)) {
		n = kept_part_size(i, h->n[i]);
		if (at >= from && at < from + n)
			return true;
	}
	return at < sizeof *h;
}

static void
change(const uint8_t *p, size_t n)
{
	static _Alignas(PAGE) uint8_t file[MOST];
	size_t size = n < 4 ? 0 : make(file, p, n), at;

	if (size == 0)
		return;
	must(try(file, size, false));
	at = (p[1] | p[2] << 8 | (size_t)p[3] << 16) % size;
	if (!counts(file, at))
		return;
	file[at] ^= (uint8_t)(p[0] | 1);
	must(!try(file, size, false));
	try(file, size, true);
}

/* A definition: sizes and numbers. */
static void
define(const uint8_t *p, size_t n)
{
	static struct unpacked u;
	static struct shelf_count count[NCOUNTER + 1];	/* the last: of none */
	const uint8_t *from = p;
	size_t size = def_packed_size(p, n);

	must(size <= n);
	if (size == 0)
		return;
	if (unpack(&u, &from, n, NCOUNTER)) {
		must(from >= p && u.p.npacked <= (size_t)(p + n - from));
		def_packed_counts(p, n, 0, count);
		must(count[NCOUNTER].what == SHELF_NOTHING);
	}
	must(def_packed_items(p) <= p + n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	kept.key = key;
	if (n == 0)
		return 0;
	switch (p[0] & 3) {
	case 0:
		try(p + 1, n - 1, false);
		break;
	case 1:
		try(p + 1, n - 1, true);
		break;
	case 2:
		change(p + 1, n - 1);
		break;
	default:
		define(p + 1, n - 1);
	}
	return 0;
}
