/*
 * evdef.h - the definitions of an event stream: B, P, Q and Z lines
 *
 * Inside lib only: evread.c reads lines and passes the definitions on to
 * evdef.c, which parses and keeps them.
 */
#ifndef EVDEF_H
#define EVDEF_H

#include "ev.h"
#include "mem.h"

#define EVDEF_MAXID	0xffffffU

/*
 * Definitions, at a multiple of the chunk's size. told has the values of those
 * that stay, and is NULL until there is one.
 */
#define EVDEF_CHUNK	4096
struct evdef_chunk {
	struct ev_def def[EVDEF_CHUNK];
	uint64_t *told;
};

/* A packed block's bytes begin where its parts are while they are shown. */
#define EVDEF_PARTS	(sizeof(struct ev_block) - \
    offsetof(struct ev_block, insn))

/* The packed form of a block that is not shown, which evdef_unpack reads. */
static inline uint8_t *
evdef_packed(const struct ev_block *b)
{
	return (uint8_t *)(uintptr_t)b + offsetof(struct ev_block, insn);
}

/* The bytes of an instruction, if its line has them. */
struct evdef_code {
	uint8_t byte[15];
	bool known;
};

struct evdef {
	struct evdef_chunk **chunk;	/* by number; NULL: none yet */
	uint32_t ndef;		/* definitions so far */
	/*
	 * By the stream's id, up to EVDEF_MAXID: the head of its records,
	 * ev_head(fields, number), or 0 for an undefined id. This is the only
	 * table with room for gaps between ids.
	 */
	uint32_t *head;
	struct touched headpages;
	char *arena;		/* the rest of the newest arena ... */
	size_t narena;		/* ... and its size */
	char *arenas;		/* all arenas; each begins with the next */
	/* of an error */
	const char *at;		/* the offending text */
	const char *why;
	/* the parts of the block being read */
	struct ev_insn *insn;
	struct ev_ref *ref;
	uint64_t *target;
	struct evdef_code *code;	/* by instruction, as far as ncode */
	size_t capinsn, capref, captarget, capcode;
	uint32_t ncode;
	uint32_t ninsn, nref, ntarget;
	unsigned ngroups;
	bool lean;		/* see ev_lean */
	bool calls;		/* see ev_lean_calls */
	bool writes;		/* see ev_modify_writes */
	struct ev_block *shown;	/* has the parts above as its own, or NULL */
	const struct ev_block *unpacked;	/* whose they are, or NULL */
	uint8_t hidden[EVDEF_PARTS];	/* what was in place of these */
	uint8_t *packed;
	size_t cappacked;
};

/* Begin without definitions; dies without memory. And free all of them. */
void evdef_open(struct evdef *);
void evdef_close(struct evdef *);
/* Find a definition by its number; by the stream's id. NULL: undefined. */
const struct ev_def *evdef_get(const struct evdef *, uint32_t number);
const struct ev_def *evdef_find(const struct evdef *, uint64_t id);

/*
 * Take a B, P, Q or Z line, NUL-terminated. Return its number, or 0 with the
 * reason in why and the offending text in at.
 */
uint32_t evdef_line(struct evdef *, const char *line);

/* Keep the parts of a block: ev_keep. */
void evdef_keep(struct evdef *, struct ev_block *);

/* evpack.c: pack the block being read into packed; returns the size */
size_t evdef_pack(struct evdef *);
/* Unpack a block's parts into insn, ref and target, unless they are there. */
void evdef_unpack(struct evdef *, const struct ev_block *);

/* Which groups a reference alone uses, as bits; returns how many. */
unsigned evdef_groups(const struct ev_def *, uint64_t used[4]);

#endif
