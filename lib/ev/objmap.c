/*
 * objmap - which object is mapped where: run-time to link-time addresses
 *
 *	M 1 555555555000 555555556000 1000 /bin/true
 *
 * says that 555555555140 is byte 1140 of the file; the program header of the
 * segment that holds this byte gives its link-time address. A page at the seam
 * of two segments is mapped twice, with the permissions of each. Lookups are
 * for code, so executable segments are preferred, and a segment's own bytes
 * to bytes that merely share its pages.
 *
 * Mappings are a sorted array without overlaps: a program has hundreds of
 * them, and lookups are far more frequent than changes.
 */
#include "objmap.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"
#include "segments.h"

#define PAGE	4096

struct objmap_seg {
	uint64_t off, size;	/* in the file */
	uint64_t vaddr;		/* of its first byte */
	bool exec;
};

struct objmap_map {
	uint64_t start, end;	/* [start, end) */
	uint64_t off;		/* of start, in the file */
	struct obj *obj;
};

KHASH_MAP_INIT_STR(object, struct obj *)

struct objmap {
	struct objmap_map *map;
	size_t nmap, capmap;
	size_t last;		/* index of the mapping found last */
	struct obj **obj;	/* by id */
	size_t nobj, capobj;
	khash_t(object) *known;	/* by path */
};

struct objmap *
objmap_new(void)
{
	struct objmap *om = xcalloc(1, sizeof *om);

	if (elf_version(EV_CURRENT) == EV_NONE)
		die("libelf: %s", elf_errmsg(-1));
	om->known = kh_init(object);
	return om;
}

static void
read_segments(struct obj *obj, Elf *elf)
{
	size_t cap = 0;
	GElf_Phdr ph;

	if (elf_kind(elf) != ELF_K_ELF)
		return;
	for (size_t i = 0; segment_next(elf, &i, &ph); ) {
		if (ph.p_filesz == 0)
			continue;
		obj->seg = xgrow(obj->seg, &cap, obj->nseg + 1,
		    sizeof *obj->seg);
		obj->seg[obj->nseg++] = (struct objmap_seg){
			.off = ph.p_offset, .size = ph.p_filesz,
			.vaddr = ph.p_vaddr, .exec = (ph.p_flags & PF_X) != 0,
		};
	}
	obj->readable = obj->nseg > 0;
}

static struct obj *
new_object(char *path, unsigned id)
{
	struct obj *obj = xcalloc(1, sizeof *obj);
	Elf *elf;
	int fd;

	obj->path = path;
	obj->id = id;
	/* a name that is no absolute path is the kernel's, as [vdso] */
	fd = path[0] == '/' ? in_optional(path) : -1;
	if (fd < 0)
		return obj;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf != NULL) {
		read_segments(obj, elf);
		elf_end(elf);
	}
	close(fd);
	if (obj->readable)
		in_older(path);
	return obj;
}

/* The object of this path, which is taken over. */
static struct obj *
object(struct objmap *om, char *path)
{
	khiter_t k;
	int new;

	k = kh_put(object, om->known, path, &new);
	if (!new) {
		free(path);
		return kh_value(om->known, k);
	}
	om->obj = xgrow(om->obj, &om->capobj, om->nobj + 1, sizeof *om->obj);
	om->obj[om->nobj] = new_object(path, (unsigned)om->nobj);
	return kh_value(om->known, k) = om->obj[om->nobj++];
}

/* The index of the first mapping that ends behind addr. */
static size_t
after(const struct objmap *om, uint64_t addr)
{
	size_t lo = 0, hi = om->nmap, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (om->map[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
insert(struct objmap *om, size_t i, struct objmap_map m)
{
	om->map = xgrow(om->map, &om->capmap, om->nmap + 1, sizeof *om->map);
	memmove(om->map + i + 1, om->map + i, (om->nmap - i) * sizeof *om->map);
	om->map[i] = m;
	om->nmap++;
}

/* Remove [start, end); of mappings that extend beyond it the rest stays. */
static void
unmap(struct objmap *om, uint64_t start, uint64_t end)
{
	size_t i = after(om, start), j;
	struct objmap_map m;

	if (i < om->nmap && om->map[i].start < start) {
		m = om->map[i];
		om->map[i].end = start;
		i++;
		if (m.end > end) {
			m.off += end - m.start;
			m.start = end;
			insert(om, i, m);
			return;
		}
	}
	for (j = i; j < om->nmap && om->map[j].end <= end; j++)
		continue;
	if (i == om->nmap)
		return;
	memmove(om->map + i, om->map + j, (om->nmap - j) * sizeof *om->map);
	om->nmap -= j - i;
	if (i < om->nmap && om->map[i].start < end) {
		om->map[i].off += end - om->map[i].start;
		om->map[i].start = end;
	}
}

/* Read " hex" at *p, before end; moves *p behind it. */
static int
number(const char **p, const char *end, uint64_t *out)
{
	const char *s = *p;
	uint64_t v = 0;
	unsigned d;

	if (s == end || *s++ != ' ')
		return -1;
	for (; s < end && *s != ' '; s++) {
		if (*s >= '0' && *s <= '9')
			d = (unsigned)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			d = (unsigned)(*s - 'a') + 10;
		else
			return -1;
		if (v >> 60 != 0)
			return -1;
		v = v << 4 | d;
	}
	if (s == *p + 1)
		return -1;
	*p = s;
	*out = v;
	return 0;
}

static int
octal(const char *s, const char *end)
{
	int i, v = 0;

	if (end - s < 4)
		return -1;
	for (i = 1; i <= 3; i++) {
		if (s[i] < '0' || s[i] > '7')
			return -1;
		v = 8 * v + s[i] - '0';
	}
	return v > 0 && v < 256 ? v : -1;
}

/* Read " text" up to end, and resolve `\ooo`; NULL if it is malformed. */
static char *
text(const char *p, const char *end)
{
	char *s, *q;
	int c;

	if (end - p < 2 || *p++ != ' ')
		return NULL;
	q = s = xmalloc((size_t)(end - p) + 1);
	while (p < end) {
		c = (unsigned char)*p;
		if (c == '\\') {
			c = octal(p, end);
			if (c < 0)
				break;
			p += 3;
		} else if (c < 0x20 || c > 0x7e) {
			break;
		}
		*q++ = (char)c;
		p++;
	}
	*q = '\0';
	if (p == end)
		return s;
	free(s);
	return NULL;
}

/* Takes the path over. */
static void
map(struct objmap *om, struct objmap_map m, char *path)
{
	m.obj = object(om, path);
	unmap(om, m.start, m.end);
	insert(om, after(om, m.start), m);
}

static int
map_line(struct objmap *om, const char *p, const char *end)
{
	struct objmap_map m;
	uint64_t n;
	char *path;

	if (number(&p, end, &n) < 0 || number(&p, end, &m.start) < 0 ||
	    number(&p, end, &m.end) < 0 || number(&p, end, &m.off) < 0 ||
	    m.end <= m.start)
		return -1;
	path = text(p, end);
	if (path == NULL)
		return -1;
	map(om, m, path);
	return 0;
}

int
objmap_line(struct objmap *om, const char *line, size_t len)
{
	const char *p = line + 1, *end = line + len;
	uint64_t from, to;

	om->last = 0;
	if (len > 1 && line[0] == 'M')
		return map_line(om, p, end);
	if (len < 2 || line[0] != 'U' || number(&p, end, &from) < 0 ||
	    number(&p, end, &to) < 0 || p != end || to < from)
		return -1;
	unmap(om, from, to);
	return 0;
}

/* How well the segment fits byte off: higher is better, 0 is not at all. */
static int
fit(const struct objmap_seg *s, uint64_t off)
{
	uint64_t page = s->off & ~(uint64_t)(PAGE - 1);
	uint64_t end = (s->off + s->size + PAGE - 1) & ~(uint64_t)(PAGE - 1);

	if (off >= s->off && off - s->off < s->size)
		return s->exec ? 4 : 2;
	if (off >= page && off < end)
		return s->exec ? 3 : 1;
	return 0;
}

static uint64_t
link_address(const struct obj *obj, uint64_t off)
{
	const struct objmap_seg *best = NULL;
	int f, bestfit = 0;
	unsigned i;

	for (i = 0; i < obj->nseg; i++) {
		f = fit(&obj->seg[i], off);
		if (f > bestfit) {
			bestfit = f;
			best = &obj->seg[i];
		}
	}
	return best == NULL ? off : off - best->off + best->vaddr;
}

const struct obj *
objmap_find(struct objmap *om, uint64_t addr, uint64_t *link)
{
	const struct objmap_map *m;

	if (om->last >= om->nmap || addr < om->map[om->last].start ||
	    addr >= om->map[om->last].end)
		om->last = after(om, addr);
	if (om->last >= om->nmap || addr < om->map[om->last].start)
		return NULL;
	m = &om->map[om->last];
	*link = link_address(m->obj, addr - m->start + m->off);
	return m->obj;
}

unsigned
objmap_nobj(const struct objmap *om)
{
	return (unsigned)om->nobj;
}

const struct obj *
objmap_obj(const struct objmap *om, unsigned id)
{
	return om->obj[id];
}
