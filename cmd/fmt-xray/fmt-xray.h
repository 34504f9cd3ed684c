/* fmt-xray.h - inside of fmt-xray */
#ifndef FMT_XRAY_H
#define FMT_XRAY_H

#include <stdint.h>

/*
 * map.c.  A log has numbers for functions; readers look for their names in
 * the binary that wrote it.  -m makes a file that looks like one: an ELF file
 * with an instrumentation map and symbols, without code.
 */
void	map_name(uint32_t id, const uint64_t *addr, const char *name);
void	map_write(const char *path);

#endif
