/*
 * images - variables of the object files that are mapped
 *
 * The stream tells where code is mapped; the program headers say where that
 * puts the rest of the object. Thread-local variables of the program and of the
 * libraries that it begins with lie below the thread pointer, in this order:
 * each block ends where its predecessor begins, aligned as its segment wants.
 */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataprof.h"
#include "hash.h"
#include "in.h"
#include "mem.h"
#include "segments.h"
#include "sym.h"

#define KNOWN	14		/* log2: references whose variables are kept */
#define TCB	0x900		/* at least what C libraries have there */

struct image {
	char *path;
	struct sym *sym;	/* opened when needed */
	uint64_t slide;		/* run-time - link-time */
	uint64_t lo, hi;	/* of its segments, run-time */
	uint64_t codelo, codehi;	/* what is mapped of its code */
	uint64_t tlsoff, tlssize;	/* below the thread pointer */
};

/* A thread's own data; that of one that has ended may be used until it goes. */
struct local {
	unsigned thread;
	uint64_t number;	/* of the event that told it */
	uint64_t base;
	uint64_t below;		/* bytes of all blocks */
};

static struct image *images;
static size_t nimage, capimage;
static struct local *locals;
static size_t nlocal, caplocal;
static uint64_t tlsall;		/* bytes of all images' blocks */

/* ---- which objects ---- */

static void
place_tls(struct image *im, const GElf_Phdr *ph)
{
	uint64_t align = ph->p_align == 0 ? 1 : ph->p_align, first;

	first = -ph->p_vaddr & (align - 1);
	tlsall = (tlsall + ph->p_memsz - first + align - 1) / align * align +
	    first;
	im->tlsoff = tlsall;
	im->tlssize = ph->p_memsz;
}

/* -1: it cannot be read, or is no object with code there. */
static int
read_image(struct image *im, Elf *elf, uint64_t start, uint64_t off)
{
	GElf_Phdr ph;
	size_t n, i;
	bool found = false;

	if (elf == NULL || elf_getphdrnum(elf, &n) < 0)
		return -1;
	im->lo = UINT64_MAX;
	for (i = 0; segment_next(elf, &i, &ph); ) {
		if (ph.p_flags & PF_X &&
		    off - page_start(ph.p_offset) <= ph.p_filesz + PAGE - 1) {
			im->slide = start - off + ph.p_offset - ph.p_vaddr;
			found = true;
		}
		if (ph.p_vaddr < im->lo)
			im->lo = ph.p_vaddr;
		if (ph.p_vaddr + ph.p_memsz > im->hi)
			im->hi = ph.p_vaddr + ph.p_memsz;
	}
	for (i = 0; found && i < n; i++)
		if (gelf_getphdr(elf, (int)i, &ph) != NULL &&
		    ph.p_type == PT_TLS)
			place_tls(im, &ph);
	im->lo += im->slide;
	im->hi += im->slide;
	return found ? 0 : -1;
}

static void
add_image(uint64_t start, uint64_t end, uint64_t off, const char *path)
{
	struct image im = { .codelo = start, .codehi = end };
	size_t i;
	Elf *elf;
	int fd;

	for (i = 0; i < nimage; i++)
		if (strcmp(images[i].path, path) == 0 &&
		    start >= images[i].lo && start < images[i].hi)
			return;
	if (path[0] != '/' || (fd = in_optional(path)) < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (read_image(&im, elf, start, off) == 0) {
		im.path = xstrdup(path);
		images = xgrow(images, &capimage, nimage + 1, sizeof *images);
		images[nimage++] = im;
	}
	elf_end(elf);
	close(fd);
}

/* Symbols stay: an object often comes back. */
static void
remove_images(uint64_t start, uint64_t end)
{
	size_t i, n = 0;

	for (i = 0; i < nimage; i++)
		if (images[i].codehi <= start || images[i].codelo >= end)
			images[n++] = images[i];
	nimage = n;
	if (n == 0)
		tlsall = 0;	/* an exec */
}

void
images_exec(void)
{
	nlocal = 0;
}

void
images_line(const struct ev *e, char letter)
{
	epoch_change();
	if (letter == 'M')
		add_image(e->num[1], e->num[2], e->num[3], e->text);
	else
		remove_images(e->num[0], e->num[1]);
}

/* ---- variables ---- */

/*
 * The object of a variable, or of what lies between variables; part: the member
 * that a reference of this size is to, see sym_member.
 */
static uint32_t
variable(const struct image *im, const struct sym_data *at, uint64_t addr,
    unsigned size, const char *part)
{
	enum data_class class = at->tls ? DATA_TLS : DATA_STATIC;
	char name[1000];

	if (at->name == NULL)
		snprintf(name, sizeof name, "(%s)", at->section == NULL ?
		    "no symbol" : at->section);
	else if (dp.by != BY_TYPE)
		snprintf(name, sizeof name, "%s%s", at->name, part);
	else if (!sym_member(im->sym, at, addr - at->start, size, true, name,
	    sizeof name))
		snprintf(name, sizeof name, "(type not known)");
	return object_get(class, im->path, name);
}

/*
 * What a reference to a link-time address is to: that of an object file does
 * not change.
 */
struct known {
	const struct sym *sym;	/* NULL: nothing yet */
	uint64_t link;
	unsigned size;
	bool tls;
	uint32_t object;
	uint64_t lo, hi;	/* link-time */
};

static void
get_known(struct known *k, struct image *im, uint64_t link, unsigned size,
    bool tls)
{
	struct sym_data at;
	char part[400];

	sym_variable(im->sym, link, tls, &at);
	if (at.name == NULL || !sym_member(im->sym, &at, link - at.start, size,
	    false, part, sizeof part))
		part[0] = '\0';
	*k = (struct known){ im->sym, link, size, tls,
	    variable(im, &at, link, size, part), at.start, at.end };
	/* the next address may be another member's */
	if (at.end == UINT64_MAX || part[0] != '\0')
		k->hi = k->lo;
}

static void
look_up(struct image *im, uint64_t slide, uint64_t link, unsigned size,
    bool tls, struct data_place *p)
{
	static struct known known[1 << KNOWN];
	struct known *k = &known[(link ^ (uint64_t)size << 48) *
	    HASH_MULTIPLIER >> (64 - KNOWN)];

	if (im->sym == NULL)
		im->sym = sym_open(im->path, SYM_DEMANGLE);
	if (k->sym != im->sym || k->link != link || k->size != size ||
	    k->tls != tls)
		get_known(k, im, link, size, tls);
	p->object = k->object;
	p->lo = slide + k->lo;
	p->hi = slide + k->hi;
}

bool
images_find(uint64_t addr, unsigned size, struct data_place *p)
{
	size_t i;

	for (i = 0; i < nimage; i++) {
		if (addr < images[i].lo || addr >= images[i].hi)
			continue;
		look_up(&images[i], images[i].slide, addr - images[i].slide,
		    size, false, p);
		if (dp.by == BY_PAGE) {
			p->object = object_page(DATA_STATIC, addr);
			p->lo = page_start(addr);
			p->hi = p->lo + PAGE;
		}
		return true;
	}
	return false;
}

void
images_thread(unsigned thread, uint64_t base, uint64_t number)
{
	size_t i, n = 0;

	epoch_change();
	for (i = 0; i < nlocal; i++)
		if (locals[i].thread != thread && locals[i].base != base)
			locals[n++] = locals[i];
	nlocal = n;
	if (base == 0)
		return;
	locals = xgrow(locals, &caplocal, nlocal + 1, sizeof *locals);
	locals[nlocal++] = (struct local){ thread, number, base, tlsall };
}

void
images_unmapped(uint64_t start, uint64_t end, uint64_t number)
{
	size_t i, n = 0;

	for (i = 0; i < nlocal; i++)
		if (locals[i].base < start || locals[i].base >= end ||
		    locals[i].number > number)
			locals[n++] = locals[i];
	if (n != nlocal)
		epoch_change();
	nlocal = n;
}

static void
cut(struct data_place *p, uint64_t addr, uint64_t lo, uint64_t hi)
{
	if (hi <= addr && hi > p->lo)
		p->lo = hi;
	if (lo > addr && lo < p->hi)
		p->hi = lo;
}

void
images_cut(uint64_t addr, struct data_place *p)
{
	for (size_t i = 0; i < nimage; i++)
		cut(p, addr, images[i].lo, images[i].hi);
	for (size_t i = 0; i < nlocal; i++)
		cut(p, addr, locals[i].base - locals[i].below,
		    locals[i].base + TCB);
}

uint64_t
images_below(uint64_t lo, uint64_t hi)
{
	const struct local *l;

	for (l = locals; l < locals + nlocal; l++)
		if (l->base - l->below <= hi && l->base + TCB > lo)
			lo = l->base + TCB <= hi ? l->base + TCB : hi + 1;
	return lo;
}

static uint32_t
control_block(void)
{
	static uint32_t number;		/* + 1 */

	if (number == 0)
		number = 1 + object_get(DATA_TLS, "", "(thread control block)");
	return number - 1;
}

bool
images_local(uint64_t addr, unsigned size, struct data_place *p)
{
	const struct local *l;
	struct image *im;
	uint64_t block;

	for (l = locals; l < locals + nlocal; l++) {
		if (addr < l->base - l->below ||
		    addr >= l->base + TCB)
			continue;
		for (im = images; im < images + nimage; im++) {
			block = l->base - im->tlsoff;
			if (im->tlsoff > l->below ||
			    addr - block >= im->tlssize)
				continue;
			look_up(im, block, addr - block, size, true, p);
			return true;
		}
		p->lo = p->hi = 0;
		p->object = control_block();
		return true;
	}
	return false;
}
