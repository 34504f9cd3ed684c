/*
 * relocate - move a new image to where it lies without randomisation
 *
 * personality(2) switches the randomisation of addresses off, but filters of
 * system calls often forbid it, as those of containers do.  At the stop behind
 * exec no instruction has run yet: the image's addresses are in two registers,
 * in what the kernel has put on the stack, and in the kernel's own fields.  So
 * all can be moved to the places that it has without randomisation:
 *
 *	program		from 555555554000 on, unless it is linked for one place
 *	heap		behind the program
 *	loader, vDSO	below a fixed top, in this order
 *	stack		up to 7ffffffff000
 *
 * What the program maps later the kernel puts below an address that it chose at
 * random at exec, and that cannot be changed.  The top is lower than all of
 * these, and a mapping without access fills what lies between.  So the kernel
 * goes on below the loader and the vDSO, as it does without randomisation; only
 * the upper bits of these addresses differ.
 *
 * Example: cat begins at 561ee792c000, the loader ends at 7f1e196ab000, and the
 * stack at 7ffdff2cf000.  They become 555555554000, 7eeff7fff000, 7ffffffff000,
 * and what lies from 7eeff7fff000 to 7f1e196ab000 is filled.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#include "guest/fresh.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "prog.h"

#define PIE_BASE 0x555555554000ull
#define STACK_TOP 0x7ffffffff000ull
#define MMAP_TOP 0x7ffff7fff000ull	/* with a usual limit of the stack */
#define ASIDE (1ull << 36)		/* far enough below the top */

/*
 * Tops for 28 and for 32 random bits of a page's number: these, and what the
 * stack keeps free at random, at most 16 GB and more with a higher limit.
 */
static const uint64_t tops[] = {
	MMAP_TOP - (1ull << 40) - (1ull << 36),
	MMAP_TOP - (1ull << 44) - (1ull << 36)
};

static struct place {
	uint64_t top;
	uint64_t lowest;	/* what the kernel maps ends here at random */
	uint64_t filled;	/* bytes from the top on that nobody can use */
	uint64_t by[NGROUP];	/* bytes that each group moves; modulo 2^64 */
} place;
static struct fresh image;

static long
call(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	uint64_t v[6] = { a, b, c, d, e, 0 };

	if (nr == SYS_mmap)
		v[4] = ~0ull, v[5] = 0;
	return remote(nr, v);
}

static long
map(uint64_t at, uint64_t n, int prot, int flags)
{
	return call(SYS_mmap, at, n, (uint64_t)prot, (uint64_t)(flags |
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE), 0);
}

/* Die if a remote call fails for which we know no reason to fail. */
static void
must(long result)
{
	if (result >= 0)
		return;
	errno = (int)-result;
	die("process %d: its image cannot be moved:", (int)guest.pid);
}

/* ------------------------------------------------------------------- places */

static uint64_t
span(const struct group *g)
{
	return g->end - g->start;
}

/* Lower `lowest' to a group that lies in the area of mappings. */
static void
lower_to(const struct group *g)
{
	if (g->end != 0 && g->start >= MMAP_AREA && g->start < place.lowest)
		place.lowest = g->start;
}

/*
 * The top to begin with: the same each time, so not by this image's addresses
 * alone.  Where the number of bits cannot be read, our own addresses tell; then
 * 1 image in 256 begins with the other top.
 */
static size_t
first_top(void)
{
	FILE *f = fopen("/proc/sys/vm/mmap_rnd_bits", "re");
	void *own = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);
	bool low = (uint64_t)(uintptr_t)own < tops[0];
	int bits;

	if (f != NULL) {
		if (fscanf(f, "%d", &bits) == 1)
			low = bits > 28;
		fclose(f);
	}
	if (own != MAP_FAILED)
		munmap(own, PAGE);
	return low ? 1 : 0;
}

/* 0, or an error; ERANGE: the kernel maps below all tops. */
static long
choose_top(void)
{
	long at = map(0, PAGE, PROT_NONE, 0);
	size_t i;

	if (at < 0)
		return at;
	call(SYS_munmap, (uint64_t)at, PAGE, 0, 0, 0);
	place.lowest = (uint64_t)at;
	lower_to(&image.group[LOADER]);
	lower_to(&image.group[VDSO]);
	for (i = first_top(); i < sizeof tops / sizeof tops[0]; i++) {
		place.top = tops[i];
		if (place.lowest > place.top)
			return 0;
	}
	return -ERANGE;
}

/* As the kernel maps: the highest place that has room. */
static void
choose_places(void)
{
	const struct group *g = image.group;
	uint64_t at = place.top, room;

	place.by[STACK] = STACK_TOP - g[STACK].end;
	if (g[PROGRAM].end != 0)
		place.by[PROGRAM] = (PIE_BASE & ~(image.align - 1)) -
		    g[PROGRAM].start;
	if (g[LOADER].end != 0) {
		at -= span(&g[LOADER]);
		if (image.movable && g[PROGRAM].end == 0)
			at &= ~(image.align - 1);
		place.by[LOADER] = at - g[LOADER].start;
	}
	room = place.top - at - span(&g[LOADER]);
	if (room >= span(&g[VDSO]))
		at = place.top;
	place.by[VDSO] = at - span(&g[VDSO]) - g[VDSO].start;
}

/* Where an address of the image, or the end of a part of it, will lie. */
static uint64_t
moved(uint64_t at)
{
	size_t i;

	for (i = 0; i < image.n; i++)
		if (at - image.piece[i].start <
		    image.piece[i].end - image.piece[i].start)
			return at + place.by[image.piece[i].group];
	for (i = 0; i < image.n; i++)
		if (at == image.piece[i].end)
			return at + place.by[image.piece[i].group];
	return at;
}

/*
 * The heap begins where the program ends.  That of a static program that lies
 * where the loader would be begins where programs do.
 */
static uint64_t
heap_start(void)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < image.n; i++)
		if (image.piece[i].end <= image.mm.start_brk &&
		    image.piece[i].group <= PROGRAM)
			end = image.piece[i].end +
			    place.by[image.piece[i].group];
	return end != 0 ? end : PIE_BASE + PAGE;
}

/* ------------------------------------------------------------------ changes */

/* An address on the stack, or of what is below the strings. */
static uint64_t
moved_low(uint64_t at)
{
	return moved(at) + (at < image.low.end ? image.low.up : 0);
}

static void
edit_low(void)
{
	static const uint64_t addresses[] = {
		AT_PHDR, AT_BASE, AT_ENTRY, AT_SYSINFO_EHDR, AT_EXECFN,
		AT_RANDOM, AT_PLATFORM
	};
	struct low *l = &image.low;
	uint64_t *v;
	size_t i;

	for (i = 1; i < l->auxv; i++)
		if (l->word[i] != 0)
			l->word[i] = moved(l->word[i]);
	for (i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
		v = fresh_auxv_entry(&image, addresses[i]);
		if (v != NULL && *v != 0)
			*v = i < 4 ? moved(*v) : moved_low(*v);
	}
}

/* Where the stack still is. */
static void
write_low(void)
{
	static const uint8_t none[FRESH_PAD];
	const struct low *l = &image.low;

	guest_write(l->sp + l->up, l->word, 8 * l->n);
	guest_write(l->sp, none, l->up);
}

static void
edit_fields(void)
{
	struct prctl_mm_map *m = &image.mm;

	m->brk = m->start_brk = heap_start();
	m->start_code = moved(m->start_code);
	m->end_code = moved(m->end_code);
	m->start_data = moved(m->start_data);
	m->end_data = moved(m->end_data);
	m->start_stack = moved_low(m->start_stack);
	m->arg_start = moved(m->arg_start);
	m->arg_end = moved(m->arg_end);
	m->env_start = moved(m->env_start);
	m->env_end = moved(m->env_end);
}

static void
write_fields(void)
{
	uint64_t sp = moved_low(image.low.sp);
	uint64_t at = (sp - 512) & ~15ull;
	static const struct prctl_mm_map none;

	image.mm.auxv = (void *)(uintptr_t)(sp + 8 * image.low.auxv);
	image.mm.auxv_size = (uint32_t)(8 * image.low.nauxv);
	guest_write(at, &image.mm, sizeof image.mm);
	must(call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, at, sizeof image.mm, 0));
	guest_write(at, &none, sizeof none);
}

/* -------------------------------------------------------------------- moves */

static long
move_pieces(unsigned group, uint64_t from, uint64_t to)
{
	long r = 0;
	size_t i;

	for (i = 0; i < image.n && r >= 0; i++) {
		const struct piece *p = &image.piece[i];

		if (p->group == group)
			r = call(SYS_mremap, p->start + from,
			    p->end - p->start, p->end - p->start,
			    MREMAP_MAYMOVE | MREMAP_FIXED, p->start + to);
	}
	return r;
}

/* By another place if the new one would overlap the old one. */
static long
move(unsigned group)
{
	const struct group *g = &image.group[group];
	uint64_t by = place.by[group];
	uint64_t other = place.top - ASIDE - g->start;
	long r;

	if (by == 0)
		return 0;
	if (by >= span(g) && -by >= span(g))
		return move_pieces(group, 0, by);
	r = move_pieces(group, 0, other);
	return r < 0 ? r : move_pieces(group, other, by);
}

/*
 * What is left between the top and where the kernel begins.  Children that are
 * not followed do without all of it, as they have no limit that knows of it.
 */
static void
fill(void)
{
	uint64_t end = place.lowest;
	long at = map(0, PAGE, PROT_NONE, 0);

	must(at);
	if ((uint64_t)at < place.lowest)	/* below the top: all is full */
		must(call(SYS_munmap, (uint64_t)at, PAGE, 0, 0, 0));
	else
		end = (uint64_t)at + PAGE;
	if (end > place.lowest + PAGE)
		must(map(place.lowest, (uint64_t)at - place.lowest, PROT_NONE,
		    MAP_FIXED_NOREPLACE));
	place.filled = end - place.top;
	if (!opt->follow)
		must(call(SYS_madvise, place.top, place.filled, MADV_DONTFORK,
		    0, 0));
}

/* What may be refused; an error leaves all as it was. */
static long
try_moves(uint64_t page)
{
	long r;

	r = map(place.top, place.lowest - place.top, PROT_NONE,
	    MAP_FIXED_NOREPLACE);
	if (r < 0)
		return r;
	remote_end();
	remote_begin(page);
	r = move(VDSO);
	if (r >= 0)
		return 0;
	remote_end();
	remote_begin(image.r.rip);
	call(SYS_munmap, place.top, place.lowest - place.top, 0, 0,
	    0);
	return r;
}

static void
finish(uint64_t page)
{
	edit_low();
	edit_fields();
	write_low();
	must(move(STACK));
	must(move(PROGRAM));
	must(move(LOADER));
	image.r.rip = moved(image.r.rip);
	image.r.rsp = moved_low(image.r.rsp);
	if (ptrace(PTRACE_SETREGS, guest.tid, 0L, &image.r) < 0)
		guest_lost("ptrace");
	write_fields();
	remote_end();
	remote_begin(image.r.rip);
	must(call(SYS_munmap, page, PAGE, 0, 0, 0));
	fill();
}

/* Does the kernel let us set its fields? */
static long
try_fields(void)
{
	uint64_t at = (image.low.sp - 512) & ~15ull;
	static const uint32_t none;
	long r = call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP_SIZE, at, 0, 0);

	guest_write(at, &none, sizeof none);
	return r;
}

/* Calls are made from a page of their own, as all code moves. */
static long
by_calls(void)
{
	long page, r;

	r = try_fields();
	if (r >= 0)
		r = choose_top();
	if (r < 0)
		return r;
	choose_places();
	page = map(place.top - 2 * ASIDE, PAGE, PROT_READ | PROT_EXEC,
	    MAP_FIXED_NOREPLACE);
	if (page < 0)
		return page;
	r = try_moves((uint64_t)page);
	if (r < 0)
		call(SYS_munmap, (uint64_t)page, PAGE, 0, 0, 0);
	else
		finish((uint64_t)page);
	return r;
}

const char *
relocate(uint64_t *filled)
{
	int error;

	memset(&place, 0, sizeof place);
	errno = EINVAL;
	if (!fresh_read(&image)) {
		error = errno;
	} else {
		remote_begin(image.r.rip);
		error = (int)-by_calls();
		remote_end();
	}
	fresh_free(&image);
	*filled = place.filled;
	return error == 0 ? NULL : error == ERANGE ?
	    "the limit of the stack is too high" : strerror(error);
}
