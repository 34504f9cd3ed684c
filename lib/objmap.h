/*
 * objmap.h - which object is mapped where: run-time to link-time addresses
 *
 * Follows the M and U lines of an event stream, events(5). Look up a block's
 * addresses at its definition (its B line): it belongs to what is mapped then.
 */
#ifndef OBJMAP_H
#define OBJMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct objmap;

/* An object file. It is neither changed nor freed, even when unmapped. */
struct obj {
	const char *path;	/* from the stream, escapes resolved */
	unsigned id;		/* from 0, in the order of first mappings */
	bool readable;		/* an ELF file that could be read */
	struct objmap_seg *seg;	/* private: its loaded segments */
	unsigned nseg;
};

/* A map without objects; dies if libelf cannot be used. */
struct objmap *objmap_new(void);
/* Apply an M or U line. -1: it is malformed. */
int objmap_line(struct objmap *, const char *line, size_t len);
/*
 * The object mapped at a run-time address, or NULL if there is none (JIT).
 * *link becomes the link-time address, by the object's program headers; for an
 * object that cannot be read (deleted, [vdso], not ELF), the file offset.
 */
const struct obj *objmap_find(struct objmap *, uint64_t addr, uint64_t *link);
/* The number of objects so far, and the object with an id. */
unsigned objmap_nobj(const struct objmap *);
const struct obj *objmap_obj(const struct objmap *, unsigned id);

#endif
