/*
 * cache.h - the code cache: fragments by guest pc, and the links between them
 *
 * frag.c	makes fragments, on request and ahead; drops them
 * ahead.c	which will be wanted
 * store.c	holds all fragments
 * table.c	the table by which the guest finds them
 * link.c	patches direct exits to jump to fragments
 * flush.c	drops all fragments at once
 * rest.c	with --contexts: threads leave their calls alone meanwhile
 * drop.c	drops a fragment, or those of a page that is written
 * lookup.c	words by which indirect jumps find fragments
 * kept*.c	take fragments from the store, see kept.h, and put them there
 * paths.c	holds the paths of blocks that run often; search.c finds them
 * recent.c	what ran often lately, by counters
 * targets.c	where indirect exits mostly led
 * dump.c	prints fragments, for --debug=dump
 */
#ifndef CACHE_H
#define CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "code/code.h"

/* Most fragments made for one miss, including the one that was missed. */
#define MAX_AHEAD 2u

/* Call this once, before all others. */
void cache_start(void);
/* True until --after is over. */
bool cache_skipping(void);
/* Begin a new image: no fragments, no paths; kept_begin() may follow. */
void cache_new(void);
/* Wait until all that they write is there, before the image runs. */
void cache_ready(void);
/*
 * The entry of the fragment for pc, made if there is none; 0: no code there.
 * Exit `exitno` is linked to it, unless that is ~0.  frag_ahead will then make
 * the fragments that it leads to.
 */
uint64_t frag_request(app_pc pc, uint64_t exitno, unsigned mode,
    uint32_t owner);
/* An arc has led to pc, where perhaps there is a fragment for the owner. */
void frag_called(uint32_t arc, app_pc pc, uint32_t owner);
/* Make one fragment ahead of requests; false: there is none to make. */
bool frag_ahead(void);
/* The same of a landing that is due before the next request. */
bool frag_landing(void);
/* The code at pc differs from what was translated: drop that fragment. */
void frag_stale(app_pc pc, unsigned mode, uint32_t owner);
/* Code at pc is entered and compared often: perhaps watch its page. */
void frag_sample(app_pc pc);
/* With --contexts: the indirect jump of exit `exitno' often calls. */
void frag_jumps(uint64_t exitno);
/* Trust no page any more. */
void frag_compare(void);
/*
 * Drop the fragments made of pages that are about to be written, and let the
 * writes go on; false: there are none.
 */
bool frag_written(void);
/* The owner's own indirect jumps to pc need no look, see PLAIN_JUMP. */
void frag_plain(app_pc pc, uint32_t owner);
/* Make the fragment for pc anew, if there is one. */
void frag_again(app_pc pc);
/* Drop the fragments whose code is in [start, end). */
void frag_kill(uint64_t start, uint64_t end);
/*
 * Report all counters, so that they can be used again.  With --contexts threads
 * rest meanwhile; false: one did not, whose calls may then be told wrong.
 * calls: the thread that asks is in the midst of none, so tell what they took.
 */
bool frag_renew(bool calls);
/*
 * With --contexts: from rest_begin to the rest_end that belongs to it, a thread
 * that has left the cache, or comes back from a call, rests.
 */
void rest_begin(void);
void rest_end(void);
/* --after is over: from here on fragments report what they execute. */
void frag_window(void);
/* Make each thread look at the control words before it goes on. */
void frag_all_out(void);
/* Let all threads go on natively, from their next exits. */
void frag_letgo(void);

/* What --store cannot be used for, of this run's options; NULL: all is well. */
const char *kept_hindrance(void);
/* --store: open the folder.  If it cannot be used, a warning says why. */
void kept_start(void);
/*
 * Begin an image: its mappings are known, and it has not run.  open_theirs
 * opens a descriptor of ours in the program, and returns the program's.
 */
void kept_begin(int (*open_theirs)(int fd));
/*
 * Mappings in [start, end) have changed: note what is made of them, before
 * frag_kill and maps_changed.
 */
void kept_leaving(uint64_t start, uint64_t end);
/* Mappings in [start, end) have changed: install what the store has of them. */
void kept_mapped(uint64_t start, uint64_t end);
/*
 * May the program go on before kept_mapped()?  Where fragments have definitions
 * it may not: a fragment that is in the table jumps to others of its object,
 * linked in the entry, whose definitions are not known yet.
 */
bool kept_can_wait(void);
/*
 * Counts are about to be told: if an entry may be written, see first what has
 * run often.
 */
void kept_look(void);
/* No thread runs any more: write an entry, if it is worth it. */
void kept_save(void);
/*
 * Kind counts: add to the lines of def_lines, or to NULL, those of blocks that
 * the store has defined.
 */
char *kept_lines(uint64_t start, uint64_t end, char *text);

/* Is a block known that came often? */
bool search_pending(void);
/* Search a path for the next such block: the pc to make anew, or 0. */
app_pc search_next(void);
/*
 * At the end of a run whose executions are counted: find the path from the
 * block at pc, and those from where it was left, by the counts of the whole
 * run (recent_end).  Nothing is done if too few came to pc outside of paths
 * found before.  found() is called with each pc that needs a fragment: that of
 * a path, or where the program left one for the midst of a block.
 */
void search_whole(app_pc pc, void (*found)(app_pc pc));
/*
 * Where executions are counted, look now and then for what ran often; returns
 * in how many ns to call it again, at most as given.
 */
long recent_look(long most);
/*
 * Where an entry may be written, note now and then where indirect exits lead;
 * to be called often.
 */
void kept_notice(void);

#endif
