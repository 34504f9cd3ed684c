/*
 * kept.h - fragments kept on disk for the next run (--store)
 *
 * An ENTRY has all fragments of one image: a program, as it was executed under
 * one trace, with one kind and one set of options, on one processor, with its
 * memory laid out in one way (keptkey.c).  Without address randomisation a
 * program's memory is laid out in one way, and fragments, exits, map entries
 * are numbered and placed in the order in which they are made.  So an entry is
 * the arrays of the memory file, and some of ours, as they were at the end of a
 * run.  The next run begins with these places taken:
 *
 *	a run begins		the entry is mapped, code is copied to the
 *				memory file, aside, tables that the guest only
 *				reads are mapped over that, and our arrays are
 *				used where they are mapped
 *	code is mapped		is it what an OBJECT of the entry was made from:
 *				the same file, at the same place, and the same
 *				bytes in each page that was looked at?
 *	it is			all of the object's fragments are put into the
 *				table: it is INSTALLED.  Those of one object
 *				are linked with each other in the entry.
 *
 * Nothing leads to code of an object that is not installed.  Whatever is not
 * there is translated as ever, behind what is kept.  At the end of the run an
 * entry is written that has both, if enough was new.
 *
 * All that a translation depends on are the options, the processor, and the
 * bytes that code/mapbytes.c has read (code/pages.c): so one that is installed
 * is what would be made now.  A sum tells whether the file is as it was
 * written: if not, all of it is refused.  Beyond that only sizes are checked:
 * whoever can write a file with the right sum can write code into it as well.
 *
 * keptkey.c	which entry
 * keptobjects.c	objects: what is mapped, what is kept of it
 * keptgone.c	objects: what there was of those that are unmapped
 * keptbytes.c	has the program the bytes that they were made from?
 * keptinstall.c	install them, drop them
 * keptread.c	read an entry: is it one?
 * keptcopy.c	bring its parts to where they belong
 * kept.c	find an entry, take what it has
 * keptstay.c	what can be kept, and is it worth it?
 * keptpaths.c	find paths for the next run
 * keptsave.c	write an entry
 */
#ifndef KEPT_H
#define KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/parts.h"

/* Of a fragment. */
struct kept_index {
	uint32_t object;	/* + 1; 0: it is not to be installed */
	uint32_t def;		/* where its definition is */
};

/* What installs a fragment.  An object's lie together, by pc. */
struct kept_put {
	uint64_t pc;
	uint64_t lookup;	/* its word for indirect jumps; 0: none came */
#define LOOKUP_IS_SECOND (1ull << 63)	/* by the second one */
	uint32_t frag;
	uint32_t word;		/* in the table */
};

struct kept_object {
	uint64_t start, end, off;	/* the mapping */
	uint64_t dev, ino, size, sec, nsec;	/* the file; or 0 */
	uint32_t number;	/* index of its first page among all; */
	uint32_t npage;		/* how many */
	uint32_t put;		/* of its first fragment among all; */
	uint32_t nput;		/* how many */
	char path[192];
};

/* The parts of an entry, each at a page's begin, behind a page for the head. */
enum kept_part {
	PART_KEY, PART_OBJECTS, PART_NUMBERS, PART_CELLS, PART_INDEX, PART_PUTS,
	PART_FRAGS, PART_PIECES, PART_LINKS, PART_EXITS, PART_MAPS, PART_META0,
	PART_META1, PART_ZONE0, PART_ZONE1, PART_DEFS,
	PART_COUNTS, PART_TEXTS,	/* kind counts: for the shelf */
	PART_SUMS,		/* of the pages */
	NPART
};

struct kept_head {
	char magic[8];
	uint64_t sum;		/* of all that follows, and of the parts */
	uint64_t size;		/* of the file */
	uint32_t n[NPART];	/* elements */
	uint32_t ncounter;
	uint32_t nid;		/* ids below it are in the code; or 0 */
};
#define KEPT_MAGIC "qnstor3"

/* What is kept, as it was read. */
struct kept {
	bool on;		/* this image uses the store */
	bool shelved;		/* the shelf has it and will unmap it */
	char name[17];		/* the entry's */
	char *key;
	const struct kept_head *head;	/* the entry, mapped; NULL: none */
	const void *part[NPART];
	const struct kept_index *index;
	const struct kept_put *put;
	const struct kept_object *object;
	const uint64_t *number;	/* addresses of pages; their sums */
	const uint64_t *sum;
	uint32_t nfrag, nobject;
	bool *installed;	/* by object; [0] is not used */
};
extern struct kept kept;

/* kept.c: say that there are too many fragments for an entry. */
void kept_warn_full(void);

/* keptkey.c: the key of this image's entry. */
char *kept_key(void);

/* keptobjects.c: what is mapped now, as it will be kept. */
struct kept_live {
	struct kept_object is;
	uint32_t stored;	/* its equal in the entry, + 1, or 0 */
};
/* Begin an image: list its objects, and install what the entry has of them. */
void objects_begin(void);
/* The same of mappings in [start, end), which have changed. */
void objects_changed(uint64_t start, uint64_t end);
/* The object that is mapped and has the address; NULL: none that is kept. */
struct kept_live *object_at(uint64_t pc);
/* Object i of those that are mapped, from 0; NULL: there are fewer. */
struct kept_live *object_live(uint32_t i);
/* Are they one mapping of one file? */
bool object_is_same(const struct kept_object *, const struct kept_object *);
/* Is nothing mapped in its place, nor its file elsewhere? */
bool object_is_free(const struct kept_object *);

/* Pages that fragments were made from, and their sums. */
struct kept_pages {
	uint64_t *number, *sum;	/* addresses */
	size_t n, capnumber, capsum;
};

/*
 * keptgone.c: an object that was unmapped, and what there was of it then.  Its
 * puts are by fragment, and have no words.
 */
struct kept_gone {
	struct kept_object is;
	struct kept_put *put;
	size_t capput;
	struct kept_pages pages;
};
/*
 * Mappings in [start, end) have changed, and nothing made of them was dropped
 * yet: note what there is of objects of which nothing may be left.
 */
void gone_note(uint64_t start, uint64_t end);
/* Object i of those, from 0; NULL: there are fewer. */
const struct kept_gone *gone_object(uint32_t i);
/* Can it be kept, if nothing is mapped in its place? */
bool gone_can_stay(uint32_t i);
/* May what is kept of an object that was not mapped be kept on? */
bool object_can_stay(uint32_t object);
/* Forget all of them. */
void gone_forget(void);

/* keptbytes.c: begin an image. */
void bytes_begin(void);
/* Has a mapping the bytes that an object of the entry was made from? */
bool bytes_are_same(const struct kept_object *, const struct maps_entry *);
/* Add a page to those. */
void bytes_add(struct kept_pages *, uint64_t number, uint64_t sum);
/*
 * Add the pages of an object that the entry's object `stored' has; or, if that
 * is 0, those that were looked at in this run or have been compared in it.
 */
void bytes_list(struct kept_pages *, struct kept_object *, uint32_t stored);

/*
 * keptcopy.c: map the parts of the entry at fd to their places, or copy them
 * there in the background; false: not all of them can be.
 */
bool kept_put_parts(int fd);
/* Wait until all that kept_put_parts copies is there. */
void kept_ready(void);
/* Undo kept_put_parts, which was in vain. */
void kept_take_back(void);
/* Where a part begins in the entry's file. */
off_t kept_offset(unsigned part);

/*
 * keptinstall.c: put all fragments of an object (from 1) into the table that
 * are not there, or others in their place.
 */
void kept_install(uint32_t object);
/* The number of a fragment's definition. */
uint32_t kept_block_of(const struct frag *f);
/* The packed definition of fragment i, in at most *n bytes; NULL: none. */
const uint8_t *kept_def(uint32_t i, size_t *n);
/*
 * Put what the entry's counters count on the shelf (stream/shelf.c).  It stays
 * there until the next image begins, even if the entry is closed.
 */
void kept_shelve(uint32_t firstid);
/* Take it from the shelf. */
void kept_unshelve(void);
/* The same as kept_def, of what is on the shelf. */
const uint8_t *kept_shelved(uint32_t i, size_t *n);

/*
 * keptstay.c: to write an entry is worth it if of so many fragments one is new,
 * and so many are; or if it is time for fewer.
 */
#define KEPT_SHARE 64u
#define KEPT_LEAST 16u
bool kept_is_time(void);
/* Was fragment i put into the table? */
bool kept_is_installed(uint32_t i);
/* Is the definition that it has that of the entry? */
bool kept_is_packed(uint32_t i);
/* Can it be kept: its code, and its definition? */
bool kept_can_stay(uint32_t i);
/* Is it to be kept, if its object is? */
bool kept_is_wanted(uint32_t i);
/* What installs its word for indirect jumps, see kept_put. */
uint64_t kept_lookup(const struct frag *);
/* Are there enough, if all of what is new is worth keeping? */
bool kept_may_pay(void);

/*
 * keptpaths.c: no thread runs any more.  Make fragments that ran often anew
 * along their paths.
 */
void kept_follow(void);

/*
 * keptread.c: map the file and find its parts; false: it is not this image's.
 * If *sure is false the file's sum is added up.  Behind the call *sure says
 * whether the sum is right.
 */
bool kept_open(int fd, bool *sure);
/*
 * Is there room for parts of these sizes, as many counters and ids, and for as
 * much that is new?
 */
bool kept_fits(const uint32_t n[NPART], uint32_t ncounter, uint32_t nid);
/* Map the pages of so many bytes by one call; else each costs a fault. */
void kept_map(const void *, size_t);
/* The first place at `at' or behind it where a part can begin. */
uint64_t kept_align(uint64_t at);
/* The bytes of a part with n elements. */
size_t kept_part_size(unsigned part, uint32_t n);

#endif
