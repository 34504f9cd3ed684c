/*
 * fmt-xray.h - what the parts of fmt-xray share
 */
#ifndef FMT_XRAY_H
#define FMT_XRAY_H

#include <stdint.h>

/*
 * map.c.  A log has numbers for functions; readers take their names from the
 * binary that wrote it.  -m writes a file that looks like that binary: an ELF
 * file with an instrumentation map and symbols, without code.
 */
/* The function with this id, from 1; addr NULL: its address is not known. */
void	map_name(uint32_t id, const uint64_t *addr, const char *name);
/* Write the file with all of them; dies if it cannot. */
void	map_write(const char *path);

#endif
