/* read-xray.h - inside of read-xray */
#ifndef READ_XRAY_H
#define READ_XRAY_H

#include <stddef.h>
#include <stdint.h>

struct out;

/* text.c */
void	put_text(struct out *, const void *text, size_t n);

/*
 * map.c.  A function of a log is a number.  The binary that wrote the log has
 * the addresses in its section xray_instr_map.
 */
void	map_add(const char *arg);		/* -m: BINARY, or N=BINARY */
void	map_begin(struct out *);		/* tell the objects: M lines */
void	map_name(struct out *, uint32_t id);	/* tell id's name, once: a G line */

extern int map_some;	/* are there maps? */

static inline void
map_use(struct out *o, uint32_t id)
{
	if (map_some)
		map_name(o, id);
}

#endif
