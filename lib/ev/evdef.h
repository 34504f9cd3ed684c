/*
 * evdef.h - the definitions of an event stream
 *
 * Inside lib only: evread.c reads lines, this keeps what B, P, Q and Z say.
 */
#ifndef EVDEF_H
#define EVDEF_H

#include "ev.h"

#define EVDEF_MAXID	0xffffffU

struct evdef {
	struct ev_def **chunk;	/* by number, 4096 each; NULL: none yet */
	uint32_t ndef;		/* numbers so far */
	/*
	 * By the stream's id, up to EVDEF_MAXID: the head of its records,
	 * fields << 24 | number, or 0 where there is none. Ids with gaps
	 * between cost no memory but here.
	 */
	uint32_t *head;
	char *arena;		/* what is left of a piece of memory */
	size_t narena;
	char *arenas;		/* all pieces; each begins with the next */
	/* the block being read */
	const char *at;		/* in its text */
	const char *why;	/* what was wrong */
	struct ev_insn *insn;
	struct ev_ref *ref;
	uint64_t *target;
	size_t capinsn, capref, captarget;
	uint32_t ninsn, nref, ntarget;
	unsigned ngroups;
	/* lean: what is above is the parts of this one, or NULL */
	int lean;
	struct ev_block *shown;
	uint8_t *packed;
	size_t cappacked;
};

void evdef_open(struct evdef *);
void evdef_close(struct evdef *);
/* By number; by the stream's id. NULL: there is none. */
const struct ev_def *evdef_get(const struct evdef *, uint32_t number);
const struct ev_def *evdef_find(const struct evdef *, uint64_t id);

/*
 * Take a B, P, Q or Z line, NUL-terminated. Return its number, or 0 with the
 * reason in why and the offending text in at.
 */
uint32_t evdef_line(struct evdef *, const char *line);

/* The parts of a block are to stay. */
void evdef_keep(struct evdef *, struct ev_block *);

/* evpack.c: the block being read, packed: bytes from packed on */
size_t evdef_pack(struct evdef *);
/* The other way: what is being read is that block. */
void evdef_unpack(struct evdef *, const struct ev_block *);

/* The groups of a reference alone, as bits; returns how many. */
unsigned evdef_groups(const struct ev_def *, uint64_t used[4]);

#endif
