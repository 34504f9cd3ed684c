/*
 * kept.h - fragments kept on disk for the next run (--store)
 *
 * An ENTRY has all fragments of one image: a program, as it was executed under
 * one trace, with one kind and one set of options, on one processor, with its
 * memory laid out in one way (keptkey.c).  Without address randomisation a
 * program's memory is laid out in one way, and fragments, exits, map entries
 * are numbered and placed in the order in which they are made.  So an entry is
 * the arrays of the memory file, and some of ours, as they were at the end of a
 * run, with all links cut.  The next run begins with these places taken, and
 * puts there what it needs, when it needs it:
 *
 *	a run begins		space for all of the entry is set aside, nothing
 *				is read but tables: fragment by pc, objects
 *	code is mapped		is it what an OBJECT of the entry was made from:
 *				the same file, at the same place, and the same
 *				bytes in each page that was looked at?
 *	the guest asks for pc	the CHUNK with pc's fragment is read, CHUNK
 *				fragments that were made one after another
 *	pc, of such an object	is put into the table and linked with what is
 *				there: it is INSTALLED; so are those that were
 *				made after it, while the guest goes on
 *
 * Whatever is not there is translated as ever, behind what is kept.  At the end
 * of the run an entry is written that has both, if enough was new.
 *
 * All that a translation depends on are the options, the processor, and the
 * bytes that code/maps.c has read (code/pages.c): so one that is installed is
 * what would be made now.  Sums tell whether the file is as it was written;
 * what the sums let through is within bounds or is not believed.
 *
 * keptkey.c	which entry
 * keptobjects.c	objects: what is mapped, what is kept of it
 * kept.c	begin, read chunks, install
 * keptsave.c	write an entry
 */
#ifndef KEPT_H
#define KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "cache/parts.h"

#define CHUNK 256u

/* How far each array was used when a chunk began, or at the end. */
struct kept_mark {
	uint32_t zone[2];	/* bytes */
	uint32_t meta[2];
	uint32_t map, exit, piece;
	uint64_t def;		/* bytes of definitions */
	uint64_t off;		/* of the chunk in the file */
	uint64_t sum;
};

/* Of a fragment, in a table that is read at once. */
struct kept_index {
	uint64_t pc;
	uint32_t object;	/* + 1; 0: it is not to be installed */
	uint32_t def;		/* its definition, in those of its chunk */
};

/* Of an exit. */
struct kept_link {
	uint32_t jmp, stub;	/* as struct link */
	uint32_t to;		/* fragment + 1 that it leads to, or 0 */
	uint32_t next;		/* when read: see kept.waiting */
};

struct kept_object {
	uint64_t start, end, off;	/* the mapping */
	uint64_t dev, ino, size, sec, nsec;	/* the file; or 0 */
	uint64_t pages;		/* in the file: where they are, */
	uint32_t number;	/* the first one's index among all; */
	uint32_t npage;		/* how many */
	uint64_t sum;		/* their sum */
	char path[192];
};

/* The parts that are read at once; they end the file. */
enum kept_part {
	PART_KEY, PART_MARKS, PART_INDEX, PART_HASH, PART_META0, PART_META1,
	PART_OBJECTS, PART_NUMBERS, PART_CELLS, NPART
};

struct kept_head {
	char magic[8];
	uint64_t sum;		/* of all that follows, parts included */
	uint64_t size;		/* of the file */
	uint64_t parts;		/* where they are in it */
	uint32_t n[NPART];	/* elements */
	uint32_t nfrag, mask;	/* of the hash table */
	uint32_t ncounter;
	uint32_t nid;		/* ids below it are in the code; or 0 */
};
#define KEPT_MAGIC "qnstore5"

/* What is kept, as it was read. */
struct kept {
	bool on;		/* this image uses the store */
	bool damaged;		/* some of the entry is not as it was written */
	char name[17];		/* the entry's */
	char *key;
	int fd;			/* the entry; -1: none */
	struct kept_head head;
	void *part[NPART];
	const struct kept_mark *mark;
	const struct kept_index *index;
	const uint32_t *hash;	/* fragment + 1, by pc */
	const struct kept_object *object;
	const uint64_t *number;	/* addresses of pages */
	uint32_t nfrag, nexit, nobject, nchunk;
	bool *loaded;		/* by chunk */
	bool *broken;		/* it is not as it was written */
	uint8_t **def;		/* by chunk: definitions, see def_pack */
	bool *installed;	/* by fragment */
	bool *defined;		/* its definition has been made */
	struct kept_link *link;	/* by exit */
	uint32_t *waiting;	/* by fragment: the first exit, + 1, of those
				 * installed that lead there, or 0 */
};
extern struct kept kept;

/* keptkey.c: the key of this image's entry. */
char *kept_key(void);

/* keptobjects.c: what is mapped now, as it will be kept. */
struct kept_live {
	struct kept_object is;
	uint32_t stored;	/* its equal in the entry, + 1, or 0 */
};
void objects_begin(void);
void objects_changed(uint64_t start, uint64_t end);
/* May fragments of this object (from 1) be installed? */
bool object_is_there(uint32_t object);
/* The object that is mapped and has the address; NULL: none that is kept. */
struct kept_live *object_at(uint64_t pc);
struct kept_live *object_live(uint32_t i);	/* NULL: no more */
/* May what is kept of an object that is not mapped be kept on? */
bool object_can_stay(uint32_t object);

/* kept.c: read a chunk to its place; false: it is not what was written. */
bool kept_load(uint32_t chunk);
/* What a chunk consists of, between these marks. */
#define CHUNK_PARTS 8
void kept_vector(struct iovec v[CHUNK_PARTS], uint32_t first, uint32_t end,
    const struct kept_mark *, const struct kept_mark *behind, uint8_t *def);
/* The definition of fragment i, as it is kept; n: its bytes; NULL: none. */
const uint8_t *kept_def(uint32_t i, size_t *n);
uint32_t kept_hash(uint64_t pc);
/* How far the arrays are used now. */
struct kept_mark kept_now(void);
/* Where chunk k of this run begins. */
const struct kept_mark *kept_mark_of(uint32_t k);
size_t kept_part_size(unsigned part);

#endif
