/*
 * parts.h - what the files of the code cache share; not for other folders
 */
#ifndef CACHE_PARTS_H
#define CACHE_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "code/code.h"

/* ------------------------------------------------------------------ store.c */

#define NODEF ~0u		/* fragmeta.block: it has no definition */
/* Most counters that a fragment needs, with those of its shorter versions. */
#define COUNTERS_MOST (2 * (MAX_EXIT + MAX_INSN))

/* What a fragment is found by: tab_key, and its owner above that. */
__extension__ typedef unsigned __int128 frag_key;

struct frag {
	app_pc pc;
	uint64_t entry;		/* guest address; prologue << ENTRY_BITS */
	uint32_t owner;		/* see context/context.h; or 0 */
	uint32_t firstarc;	/* list of arcs that lead to it, or 0 */
	uint32_t piece;		/* the first of its pieces of code; or, if
				 * npiece is 0, the bytes of the only one */
	uint32_t meta;		/* index in its zone's fragmeta */
	uint32_t exit;		/* its first exit */
	uint32_t firstin;	/* list of exits linked to it: the first, + 1 */
	int16_t called;		/* its entry for calls, from its entry on */
	uint8_t npiece, nexit;
	uint8_t zone;
	uint8_t mode;
	bool dead;
	bool remade : 1;	/* dead, for one with a lookup entry */
	bool stands_in : 1;	/* for one of the store's, see frag_again */
	bool on_path : 1;	/* its block follows a path */
	bool plain : 1;		/* see PLAIN_JUMP */
};
_Static_assert(sizeof(struct frag) == 48 && MAX_PIECES <= UINT8_MAX,
    "there are many");
extern struct frag *frags;
extern uint32_t nfrag;

/* Make room for frags[nfrag], and clear it. */
struct frag *store_new(void);
/* Note the pieces of code that a fragment is made of. */
void store_pieces(struct frag *, const struct block *);
/*
 * Begin with n fragments, in a file from off on, and their pieces, which stay
 * where they are; false: it cannot be.  All pieces are copied to `to'.
 */
bool store_take(int fd, off_t off, uint32_t n, const struct code_piece *,
    uint32_t npieces);
uint32_t store_npieces(void);
/* Piece i of a fragment's code; false: it has not so many. */
bool store_piece(const struct frag *, uint32_t i, struct code_piece *);
void store_copy_pieces(struct code_piece *to);
/* How many bytes of code it was made of. */
uint64_t store_bytes(const struct frag *);
/* Is some of its code in [start, end)? */
bool store_covers(const struct frag *, uint64_t start, uint64_t end);
/* Is there room for one more fragment, in all that it needs? */
bool store_room(unsigned zone);
/* Is there room for it in an entry that the next run can still read? */
bool store_room_kept(unsigned zone);
/* The zone for code at pc: the one that is nearer. */
unsigned zone_for(app_pc pc);
/* Forget all fragments. */
void store_reset(void);

/* A fragment's key in the table; that of the target of one of its exits. */
frag_key key_of(const struct frag *);
frag_key key_of_exit(const struct frag *, app_pc target);
/* The key of code at pc, for this mode and owner (0: none). */
frag_key key_for(app_pc pc, unsigned mode, uint32_t owner);
/* Publish how many fragments of a zone, how many exits, the guest may read. */
void store_publish(unsigned zone, uint32_t n);
void store_publish_exits(uint32_t n);

/* ------------------------------------------------------------------ table.c */

/* Begin an image, with an empty table. */
void table_new(void);
/* Make it large enough for n fragments. */
void table_fit(uint32_t n);
/* Put fragment f into the table that the guest reads; say that it is gone. */
void table_put(uint32_t f);
void table_drop(uint32_t f);
/*
 * Put a fragment of the store's there, whose pc has no live one, by the word
 * that it would have; table_fit() comes first.
 */
void table_add(uint32_t f, app_pc pc, uint32_t word);
/* Put f there, perhaps again: no other that lives has its key. */
void table_again(uint32_t f);
uint32_t table_word_of(uint32_t f);
/* The index of the live fragment for a key, + 1, or 0. */
uint32_t table_find(frag_key);
/* The owner's indirect jumps from its own code to fragment f need no look. */
void table_plain(uint32_t f);
/* Empty the table. */
void table_clear(void);

/* ------------------------------------------------------------------ ahead.c */

/* A fragment that is not there yet. */
struct wanted {
	app_pc pc;
	unsigned mode;
	uint32_t owner;
};

/* Fragment f is new, and ends with a call that returns to pc, unless 0. */
void ahead_call(const struct frag *f, app_pc pc);
/* The fragments from first on were made for a request. */
void ahead_begin(uint32_t first);
/* Is there a fragment to make even if there are requests? */
bool ahead_is_due(void);
/* The next such one; false: there is none. */
bool ahead_due(struct wanted *);
/* Is there a fragment to make while there are no requests? */
bool ahead_any(void);
/* The next such one; false: there is none. */
bool ahead_next(struct wanted *);

/* ----------------------------------------------------------------- lookup.c */

/* No thread is in the cache: begin to write that no word leads anywhere. */
void lookup_begin(void);
/* Wait until lookup_begin has written all words. */
void lookup_end(void);
/* Have no word lead anywhere, while threads use them. */
void lookup_empty(void);
/* What a word is by which indirect jumps find a fragment. */
uint64_t lookup_of(const struct frag *);
/*
 * Which of two words finds it, or will?  Where the first one leads elsewhere it
 * is the second: of two with the same first word, the later one has taken it.
 */
enum lookup_by { LOOKUP_NONE, LOOKUP_FIRST, LOOKUP_SECOND };
enum lookup_by lookup_state(const struct frag *);
/* A pc's first word will be put soon. */
void lookup_fetch(app_pc pc);
/* Have a word lead from pc to an entry: the second if the first is taken. */
void lookup_put(app_pc pc, uint64_t to, bool second);
/* f is dead: take it out of the words; no thread puts it there again. */
void lookup_drop(const struct frag *f);

/* ------------------------------------------------------------------- drop.c */

/* Drop fragment f. */
void frag_drop(uint32_t f);
/* Note that fragment f is made of code in this block's pages. */
void written_note(uint32_t f, const struct block *);
/* All fragments are gone. */
void written_forget(void);
/*
 * Let all writes go on whose fragments no thread can enter any more; false:
 * there were none.
 */
bool written_release(void);

/* ------------------------------------------------------------------- link.c */

/* Of an exit.  Its target is in area.exits. */
struct link {
	int16_t jmp, stub;	/* its rel32 and its stub, from the entry of */
	uint32_t from;		/* its fragment; jmp 0: it has none */
	uint32_t next;		/* list of exits with the same target, + 1;
				 * or that it rests, see link.c */
	uint32_t to;		/* fragment that it is linked to, + 1; or 0 */
};

struct xlate;
/* Link the exits of a new fragment, whose code is at `code` of its zone. */
void link_exits(const struct frag *, const struct xlate *, uint32_t code);
/* Begin with n exits, whose links are in a file from off on. */
bool link_take(int fd, off_t off, uint32_t n);
/* All links, for the store, once all are cut: none is in any list. */
struct link *link_cut_all(void);
/* Link exit e to fragment f, if it can be linked. */
void link_exit(uint32_t e, uint32_t f);
/* Link exit e back to its stub. */
void link_cut(uint32_t e);
/* Can exit e be linked, and is not yet? */
bool link_open(uint32_t e);
/* The key of exit e's target. */
frag_key link_key(uint32_t e);
/* Fragment f is new: link the exits that wait for it. */
void link_waiting(uint32_t f);
/* Does any exit wait? */
bool link_any_waits(void);
/* Fragment f is gone: exits that were linked to it wait for its key. */
void link_lost(uint32_t f);
/* f was dropped and is used again: those of its exits that rest go on. */
void link_revived(const struct frag *f);
/* All fragments are gone: no exit has a link or waits. */
void link_reset(void);
/* Make the landing of frames that jumps push; where it is. */
uint64_t link_more(void);

/* ------------------------------------------------------------------ flush.c */

/* Wait until no thread is in a fragment, and drop all fragments. */
void flush(void);
/* Begin without fragments: no thread is in one, or the image is new. */
void flush_new(void);

/* ------------------------------------------------------------------ paths.c */

/*
 * Paths of fragments go by the pc of their first instruction. Is one known? Put
 * one, a copy, in place of any other.
 */
bool path_known(app_pc pc);
void path_put(app_pc pc, const struct path *);
/* The path for the fragment at pc, or NULL. */
const struct path *path_of(app_pc pc);
/* Forget that of pc; of all. */
void path_forget(app_pc pc);
void path_forget_all(void);

/* ----------------------------------------------------------------- recent.c */

/* Is a counter of a hot block known?  The next one. */
bool recent_pending(void);
uint32_t recent_next(void);
/* How many executions it counted lately; the older the less they weigh. */
uint32_t recent_count(uint32_t counter);
/* How many it has counted in all, at most 1 << 30. */
uint32_t recent_total(uint32_t counter);
/* Take in what has been counted until now. */
void recent_end(void);
/* Where its indirect exit mostly led; 0: nowhere, or it is not known. */
app_pc recent_follower(uint32_t counter);
/* All fragments are gone, and perhaps all counters. */
void recent_reset(void);

/* ---------------------------------------------------------------- targets.c */

/* What is seen of where an indirect exit leads. */
struct votes {
	app_pc to;		/* its most frequent target, perhaps: the one
				 * that remains if each other target takes one
				 * of its votes away */
	uint8_t seen, votes;
};
#define VOTES_MOST 16u		/* are asked for */

/* Where at least five of eight led, if there are as many as `least'; or 0. */
app_pc votes_most(const struct votes *, unsigned least);
/* Is it time to note where all indirect exits lead?  Then call the second. */
bool targets_due(void);
void targets_look(void);
/*
 * From now on, until targets_sample_none, where this indirect exit leads is
 * sampled: its targets have votes.  Nothing is done if too many exits are, or
 * one with the same cell.
 */
void targets_sample(uint32_t exit, struct votes *);
void targets_sample_none(void);
bool targets_any_sampled(void);
/* Call this now and then to take a sample, of one thread's targets. */
void targets_read_sampled(void);
/* All fragments are gone, and with them their exits. */
void targets_reset(void);
/* The run is over: take in the last targets, and which exits have them. */
void targets_end(void);
/*
 * Where the indirect exit with this counter mostly led; 0: it is not known.
 * *flow: how many executions come to the exit; it becomes an estimate of how
 * many went to that target.
 */
app_pc targets_follower(uint32_t counter, uint64_t *flow);

/* ------------------------------------------------------------------- kept.c */

/*
 * Kind counts: is fragment f one of the store's, whose definition is only text,
 * so that no path can be searched for from it?  The pc of the live one that has
 * this counter and follows no path, or 0.
 */
bool kept_is_shelved(uint32_t f);
app_pc kept_pc(uint32_t counter);

/*
 * Call this for each fragment of the store's in the table that may have code in
 * [start, end); how many fragments are the store's.
 */
typedef void (*kill_function)(uint32_t f, uint64_t start, uint64_t end);
uint32_t kept_kill(uint64_t start, uint64_t end, kill_function);
/* The cache was flushed: this run has no more to do with the store. */
void kept_close(void);

/* ------------------------------------------------------------------- rest.c */

/*
 * Wait until all threads rest, once rest_begin and a flush have been; false:
 * one has not for a second, as if it is stopped, or waits for another whose
 * request is not granted meanwhile.
 */
bool rest_all(void);
/*
 * Wait a moment for the slot's thread to leave the cache, or to rest; one that
 * was killed has done so after a thousand steps at most.
 */
void rest_step(struct slot *, unsigned *polls);

/* ------------------------------------------------------------------- dump.c */

/* Print it on standard error, if --debug=dump asks for its pc. */
void dump_fragment(const struct xlate *, unsigned zone);

#endif
