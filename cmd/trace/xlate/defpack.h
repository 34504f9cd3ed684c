/*
 * defpack.h - definitions as the store keeps them, for defkept.c
 */
#ifndef DEFPACK_H
#define DEFPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evpack.h"
#include "evw.h"
#include "xlate/xlate.h"

/*
 * A packed definition: this, then its ids, if they are in the code; counters of
 * ids and of rounds or mispredictions, if there are any; references with ids of
 * their own; items.
 */
struct packed {
	uint16_t npacked, nref;
	uint8_t n, ngroups, nid, ncnt, nround;
	uint8_t on_path;	/* its code is not straight */
	uint8_t pad[2];
};
struct packed_number {
	uint32_t c;		/* a counter; or an id */
	uint16_t n;		/* of the first n instructions; or of the nth */
	uint16_t used;		/* an id's groups; 1: of mispredictions */
};
struct packed_ref {
	uint32_t id;
	struct evw_ref r;
};
/* The parts of one. */
struct unpacked {
	struct packed p;
	struct packed_number id[MAX_INSN + 1], cnt[MAX_INSN + 1],
	    round[2 * MAX_INSN];
	struct packed_ref ref[REFS_PACKED];
};
_Static_assert(2 * MAX_INSN < 256, "nround");
_Static_assert(sizeof(struct unpacked) + TEXT_MOST <= DEF_PACKED_MOST, "room");

/* Write u, and then its items, to a place; how many bytes that are. */
size_t pack(const struct unpacked *, const uint8_t *items, uint8_t *to);
/* Read what n bytes begin with; *from: its items. false: it is not believed. */
bool unpack(struct unpacked *, const uint8_t **from, size_t n,
    uint32_t ncounter);
/* The ids from first up to end are those in the store's code. */
void unpack_ids(uint32_t first, uint32_t end);
/* Is it one of them, and nobody's yet? */
bool unpack_is_free(uint32_t id);

#endif
