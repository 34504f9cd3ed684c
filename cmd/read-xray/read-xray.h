/*
 * read-xray.h - what the parts of read-xray share
 */
#ifndef READ_XRAY_H
#define READ_XRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/* text.c: write n bytes of a line's text, escaped as in events(5) */
void	put_text(struct out *, const void *text, size_t n);

/*
 * map.c.  A log numbers its functions.  The binary that wrote the log has their
 * addresses in its section xray_instr_map.
 */
void	map_add(const char *arg);		/* -m: BINARY, or N=BINARY */
void	map_begin(struct out *);		/* write M lines: the objects */
void	map_name(struct out *, uint32_t id);	/* write id's G line, once */

extern bool has_maps;	/* map_add was called */

/* The same, before an id is used; if there are names at all. */
static inline void
map_use(struct out *o, uint32_t id)
{
	if (has_maps)
		map_name(o, id);
}

#endif
