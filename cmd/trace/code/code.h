/*
 * code.h - the program's code: what is mapped, and what its blocks are
 *
 * decode.c	bytes become one struct insn; classify.c, operands.c, template.c
 * lacks.c	extensions that it does not know
 * maps.c	keeps up with the mappings of code, by these four:
 * mapread.c	reads them from the kernel
 * maplist.c	what is mapped executable
 * mapbytes.c	the bytes there, and other words
 * constants.c	words that cannot change
 * watch.c	pages that are trusted until they are written
 * pages.c	the pages of code that were looked at (--store)
 * window.c	functions that begin and end windows (--from, --to)
 * allocs.c	functions that allocate and free memory (--allocs)
 * entries.c	where functions that these two look for begin, by object file
 * funcs.c	where functions begin (--contexts)
 * block.c	the instructions of a superblock
 * stub.c	behind it: stubs of linkage, and words that cannot change
 * follow.c	the same along a frequent path
 * flags.c	where the arithmetic flags are not looked at
 * groups.c	which references of a block share a recorded address
 * text.c	a block, packed for the stream's writer
 */
#ifndef CODE_H
#define CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#include "base/base.h"
#include "code/decode.h"
#include "meta.h"

/* --------------------------------------------------------------------- maps */

/*
 * Read the mappings in [start, end) again.  Returns lines of what has changed,
 * to be freed, or NULL: U lines, then M lines.
 */
char *maps_changed(uint64_t start, uint64_t end);
/* The same for all of a new image. */
char *maps_start(void);
/* The image is gone (exec): forget all mappings. */
void maps_forget(void);
/*
 * The image is gone, or as good as: until it is forgotten there is no code but
 * in pages that were noted (pages_start), and no data.
 */
void maps_gone(void);
/*
 * Is there code at pc that no call has told of?  A stack grows by itself, and
 * with READ_IMPLIES_EXEC the kernel lets execute what can be read.  True:
 * maps_changed is to be called for that range.
 */
bool maps_missed(app_pc pc, uint64_t *start, uint64_t *end);
/* Whether the bytes at pc can change without a system call. */
bool maps_volatile(app_pc pc);
/* Whether an object file that readers can open has the bytes at pc. */
bool maps_in_file(app_pc pc);
/* The mapping at `at', if it is private memory without a file. */
bool maps_private(uint64_t at, uint64_t *start, uint64_t *end);
/* Whether an M line says what is mapped at pc. */
bool maps_named(app_pc pc);
/* Read a word of the program's data, as it is now; false: nothing is there. */
bool maps_data(uint64_t at, uint64_t *word);
/* Read up to n bytes of code at pc, as far as they are executable. */
unsigned maps_code(app_pc pc, uint8_t *buf, unsigned n);
/*
 * The word at an address.  False: it may change without a system call, or
 * nobody knows; else maps_changed is called as it is for code.
 */
bool maps_word(uint64_t at, uint64_t *word);
struct maps_entry {
	uint64_t start, end, off;
	uint64_t dev, ino;	/* the file's, or 0 */
	const char *path;
	bool is_volatile;	/* writable, or shared */
};
/* Mapping i, from 0, of those that are executable; false: there are fewer. */
bool maps_entry(size_t i, struct maps_entry *);

/* -------------------------------------------------------------------- pages */

/* From here on note the pages that are read; there are none yet. */
void pages_start(void);
/* What is read at `at' of code that cannot change. */
void pages_note(uint64_t at, const uint8_t *bytes);
/* The bytes of the page at `at'; NULL: it was not read. */
const uint8_t *pages_find(uint64_t at);
/* Code there came, went, or changed. */
void pages_forget(uint64_t start, uint64_t end);

/* -------------------------------------------------------------------- watch */

/* A new image, whose faults this userfaultfd tells; -1: none are told. */
void watch_start(int fd);
/* Watch nothing any more, and let go of all pages. */
void watch_end(void);
/* Let go of all pages, from any thread: nobody looks at them any more. */
void watch_abandon(void);
/* Up to where code at pc is trusted until it is written; 0: it is not. */
app_pc watch_limit(app_pc pc);
/* Compared code: which entries are samples of its page? */
enum sampling { SAMPLE_FAST, SAMPLE_SLOW, SAMPLE_NONE };
enum sampling watch_sampling(app_pc pc);
/* One such sample: a page that is watched from now on, or 0. */
app_pc watch_sample(app_pc pc);
/* A write into a page that was watched, by thread tid, which waits. */
struct watch_write {
	uint64_t page;
	pid_t tid;
	bool known;		/* the page was watched until now */
};
/* Does a write wait? */
bool watch_pending(void);
/* The next one; false: there is none. */
bool watch_take(struct watch_write *);
/* Let it go on; the page is no longer protected. */
void watch_release(const struct watch_write *);
/*
 * Watch no page in [start, end), and let userfaultfd not know the mappings
 * there; false: it cannot leave a part of them.
 */
bool watch_leave(uint64_t start, uint64_t end);
/* Mappings in [start, end) have changed. */
void watch_changed(uint64_t start, uint64_t end);

/* ------------------------------------------------------------------ windows */

/* Add a function, by name or 0x address; which: WINDOWS_FROM or WINDOWS_TO. */
void window_add(const char *fn, unsigned which);
/* Code of a file from offset `off` was mapped at [start, end); or unmapped. */
void window_mapped(uint64_t start, uint64_t end, uint64_t off,
    const char *path);
void window_unmapped(uint64_t start, uint64_t end);
/* Whether a window begins or ends at pc for code of this mode. */
bool window_at(app_pc pc, unsigned mode);
/* Switch windows on or off: there are none before --after is over. */
void window_enable(bool);
/*
 * Print which functions were never mapped.  False: all of --from, or all of
 * --to, were missing, so the stream is not what was asked for.
 */
bool window_tell(void);

/* ------------------------------------------------------------------- allocs */

/*
 * --alloc-fn=NAME:argument, --free-fn: one more function.  op: ALLOC_NEW or
 * ALLOC_FREE.
 */
void allocs_add(const char *option, const char *arg, enum alloc_op op);
/* As for windows. */
void allocs_mapped(uint64_t start, uint64_t end, uint64_t off,
    const char *path);
void allocs_unmapped(uint64_t start, uint64_t end);
/* Does such a function begin at pc? */
bool allocs_at(app_pc pc, struct alloc_args *);
/* Print which functions of allocs_add were never mapped, and if all were. */
void allocs_tell(void);

/* --------------------------------------------------------------- functions */

/* With --contexts: begin. */
void funcs_start(void);
/* Take in U and M lines, as the stream has them. */
void funcs_mapped(const char *lines);
/*
 * Does a function begin at pc?  *limit becomes the first address behind pc
 * where another one may.
 */
bool funcs_begins(app_pc pc, app_pc *limit);
/*
 * Is getting from one address to the other, by no call or return, a call?  It
 * is if a function begins there, or another section is entered.
 */
bool funcs_is_call(app_pc from, app_pc to);
/* Is pc in a stub of linkage, which is no function of its own? */
bool funcs_is_stub(app_pc pc);

/* ------------------------------------------------------------------- blocks */

#define MAX_GUESSES 8u
/* A path that a block follows over branches and other transfers. */
struct path {
	uint8_t ninsn;		/* at most so many instructions */
	uint8_t nto;
	app_pc to[MAX_GUESSES];	/* where each indirect transfer leads, but a
				 * return from a call on the path; 0: by its
				 * word */
	uint64_t taken;		/* bit k: conditional branch k is taken */
};

struct code_piece {
	app_pc start, end;
};
#define MAX_PIECES 48u
#define MAX_CALLS 15u		/* inside a block */

struct block {
	struct insn in[MAX_INSN];
	bool taken[MAX_INSN];	/* a branch that the block goes on behind; or a
				 * return that surely leads there */
	unsigned n;
	app_pc pc;
	app_pc next;		/* behind the last instruction */
	bool path;		/* it goes along a path */
	bool is_volatile;	/* its bytes can change without a call */
	bool is_compared;	/* so they are compared at each entry */
	enum exit_kind end;	/* why it ends, where no branch says so */
	unsigned stub;		/* --contexts: 1 + the call or jump to a stub
				 * that the block ends with; or 0 */
	unsigned npiece;	/* pieces of code, and words that say where it
				 * goes on, if there are several; else 0 */
	struct code_piece piece[MAX_PIECES];
	uint8_t code[COLD_INSN * MAX_LEN];	/* where there is no path */
};
/*
 * The instruction by which its first n lead on: where a stub ends the block,
 * the call or jump that led there.
 */
static inline const struct insn *
block_site(const struct block *b, unsigned n)
{
	return &b->in[(b->stub != 0 && n == b->n ? b->stub : n) - 1];
}

/* Where the call returns to by which the block ends; 0: it ends by none. */
app_pc block_landing(const struct block *);

/*
 * --rep=each: is it a comparison that goes round until its condition fails or
 * its count is used up?  Then it is executed once more, with a count of 0.
 */
static inline bool
block_tests(const struct insn *in)
{
	return opt->each && in->special == SP_REPCMP;
}

/* Is it repeated while what it compares differs?  The last prefix counts. */
static inline bool
block_repne(const struct insn *in)
{
	bool differs = false;
	unsigned k;

	for (k = 0; k < in->prefixlen; k++)
		if (in->bytes[k] == 0xf2 || in->bytes[k] == 0xf3)
			differs = in->bytes[k] == 0xf2;
	return differs;
}

/* Decode the instruction at pc, or a client request, of n bytes at most. */
int block_decode(struct insn *, app_pc pc, const uint8_t *, unsigned n);
/* Collect the block at pc for an enum mode.  -1: there is no code at pc. */
int block_collect(struct block *, app_pc pc, unsigned mode);
/*
 * Where a jump or call by a word beside the code, as those of stubs of linkage
 * are, leads now; false: it goes by none.
 */
bool block_word(const struct insn *, app_pc *target);
/*
 * Can a path go on behind this indirect transfer?  Not where a return may be
 * that of a function of --allocs, nor where it is a branch to be learnt.
 */
bool block_passes(const struct insn *);
/* The same along a path; -1: the path cannot be followed. */
int block_follow(struct block *, app_pc pc, const struct path *);

/* -------------------------------------------------------------------- flags */

/* Does the program, from pc on, write all arithmetic flags, then read any? */
bool flags_dead(app_pc pc);
/* A block at pc does so. */
void flags_note_dead(app_pc pc);
/* Mappings have changed: forget what was found. */
void flags_forget(void);

/* ------------------------------------------------------------------- groups */

struct refgroup {
	uint8_t group;		/* or NOGROUP */
	bool first;		/* the group's value is recorded here */
	bool plain;		/* that value is the base register itself */
	uint8_t count;		/* repeated: the count's group; or NOCOUNT */
	int64_t dist;		/* the address minus the group's value */
	/*
	 * The reference before, in the block, is at an address that differs by
	 * a constant: the difference of their `off'.
	 */
	bool akin;
	int64_t off;
};
#define NOGROUP 0xff
#define NOCOUNT 0xff
struct groups {
	struct refgroup ref[MAX_INSN][3];
	uint8_t used[MAX_INSN + 1];	/* groups of the first i instructions */
	uint8_t gather[MAX_INSN];	/* first of the groups of a gather */
	unsigned n;
};
/* Find the groups of a block; shortens one that would need too many. */
void groups_find(struct groups *, struct block *, const struct kind *);

/*
 * Pack a block's items for lib's writer; returns how many bytes. made: the
 * bytes of some of its code are among them.
 */
#define TEXT_MOST (MAX_INSN * (EVPACK_INSN + 16 * EVPACK_REF))
size_t text_pack(uint8_t *, const struct block *, const struct groups *,
    const struct kind *, bool *made);

/*
 * Take the constants in the told bytes of what was packed from an old text of
 * the same length: programs that patch them often get no new id each time.
 */
void text_keep_constants(const struct block *, uint8_t *packed,
    const uint8_t *old);

#endif
