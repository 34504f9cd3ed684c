/*
 * objmap.h - which object is mapped where: run-time to link-time addresses
 *
 * Follows the M and U lines of an event stream, events(5). Ask when a block
 * is defined (its B line): a block belongs to what is mapped then.
 */
#ifndef OBJMAP_H
#define OBJMAP_H

#include <stddef.h>
#include <stdint.h>

struct objmap;

/* An object file. Stays as it is and where it is, also when unmapped. */
struct obj {
	const char *path;	/* as the stream has it, escapes undone */
	unsigned id;		/* from 0, in the order of first mappings */
	int readable;		/* an ELF file that could be read */
	struct objmap_seg *seg;	/* its loaded segments, objmap.c's */
	unsigned nseg;
};

struct objmap *objmap_new(void);
/* Take a line that begins with M or U. -1: not in the grammar. */
int objmap_line(struct objmap *, const char *line, size_t len);
/*
 * The object mapped at a run-time address, or NULL where none is (JIT). *link
 * is the address in the object's own terms, by its program headers; of an
 * object that cannot be read (deleted, [vdso], not ELF), its offset.
 */
const struct obj *objmap_find(struct objmap *, uint64_t addr, uint64_t *link);
/* Objects so far, and the one with this id. */
unsigned objmap_nobj(const struct objmap *);
const struct obj *objmap_obj(const struct objmap *, unsigned id);

#endif
