/*
 * evw.h - write event text, events(5)
 *
 * Three kinds of writers use this:
 *
 *   one that runs a program and has executions as records in memory:
 *	evw_open, evw_line("H ..."), evw_block, evw_prefix, evw_ref,
 *	evw_records, evw_count, evw_total, evw_end
 *   one that makes up a stream from values that it knows:
 *	the same, with small arrays of records
 *   a filter that passes on what it read:
 *	evw_raw (definitions and all other lines), evw_exec or evw_text,
 *	evw_end
 *
 * Lines come out in the order of the calls. A line equal to the one before is
 * not written but counted, and `*n` appended to that one; if n has more than 8
 * digits, several such lines are written.
 */
#ifndef EVW_H
#define EVW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVW_MAXID	0xffffffU	/* the largest id */
#define EVW_MAXGROUPS	255		/* groups of a block */
#define EVW_MAXLINE	65536		/* bytes of a line */

#define EVW_HEADER	"H quern-events 2"	/* the first line */

struct evw;
struct out;

/* evwline.c: opening, other lines, the end */

/* Write to out, which the caller closes after the writer's end. */
struct evw *evw_open(struct out *out);
/*
 * Take the address space of the tables of ids now, not with the first id: where
 * it is limited, this ends the program.
 */
void evw_reserve(struct evw *w);
/*
 * Begin a new stream, to out. The definitions stay registered, but no line of
 * them is written yet, and the count of executions is 0 again.
 */
void evw_again(struct evw *, struct out *out);
/* Write one line, given without its newline, at most EVW_MAXLINE bytes. */
void evw_line(struct evw *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Write one line of len bytes, likewise without its newline. */
void evw_raw(struct evw *, const char *line, size_t len);
/* Pass on text of executions as it was read: whole lines, n executions. */
void evw_text(struct evw *, const char *text, size_t len, uint64_t n);
/* evtext.c: `H cmd` with the arguments, escaped, cut to a line's length. */
void evw_cmd(struct evw *, char *const argv[]);
/* Escape text into dst (4 * strlen(text) + 1 bytes); if arg, blanks too. */
char *evw_escape(char *dst, const char *text, bool arg);
/* Write the buffer to out, and flush out. */
void evw_flush(struct evw *);
/* How many executions were written so far. */
uint64_t evw_executions(const struct evw *);
/* Add the n executions of a W line that evw_raw passed on. */
void evw_told(struct evw *, uint64_t n);
/* Write the end mark, with how ("exit" or "signal") and status; flush. */
void evw_end(struct evw *, const char *how, int status);

/*
 * evwids.c: definitions
 *
 * These only register a definition. One thread may register while another
 * writes records. The text of items is not copied and must stay valid. The B,
 * P, Q or Z line is written before the first line that uses the id, its
 * block's B line first. Returns -1 for an id out of range or defined before,
 * an undefined block, impossible counts.
 */
int evw_block(struct evw *, uint32_t id, const char *items, unsigned ngroups,
    unsigned ninsn);
/* The same with items packed as in evpack.h. */
int evw_block_packed(struct evw *, uint32_t id, const uint8_t *packed,
    unsigned ngroups, unsigned ninsn);
/*
 * Have noted called when the B line of a packed block has been written, so that
 * it can write a line about the block. Call this before the block's first
 * execution; note is not 0, and noted is the same for all blocks.
 */
void evw_note(struct evw *, uint32_t id, uint32_t note, void (*noted)(struct
    evw *, uint32_t id, uint32_t note));
/* Register the first n instructions of a block, with their ngroups groups. */
int evw_prefix(struct evw *, uint32_t id, uint32_t block, unsigned n,
    unsigned ngroups);
/* Is an id registered? */
bool evw_known(const struct evw *, uint32_t id);
/* The packed items of an id's block; NULL: it has none. */
const uint8_t *evw_packed(const struct evw *, uint32_t id);
/* Is the line that defines an id in the text? */
bool evw_written(const struct evw *, uint32_t id);
/* Write the line that defines an id, unless it is in the text. */
void evw_define(struct evw *, uint32_t id);
/*
 * Write the B line of a block that is not registered, with n bytes of items as
 * text. Its executions are written by evw_exec.
 */
void evw_define_block(struct evw *, uint32_t id, const char *items, size_t n);
/* Write the P line of a prefix that is not registered, likewise. */
void evw_define_prefix(struct evw *, uint32_t id, uint32_t block, unsigned n);

struct evw_ref {
	unsigned n;		/* the instruction, from 1 */
	unsigned k;		/* its reference, from 1; 0: its fetch */
	unsigned ngroups;	/* of it, or of all that take turns with it */
	uint8_t group[16];	/* in ascending order */
	bool stays;		/* after it, its lines are in the table: it has
				   no groups but its own value, see ev.h */
};
/* Register a reference, or a fetch, that is written by itself (Q line). */
int evw_ref(struct evw *, uint32_t id, uint32_t block, struct evw_ref ref);
/* The same of one that stays: reference k of instruction n. */
int evw_ref_stays(struct evw *, uint32_t id, uint32_t block, unsigned n,
    unsigned k);
/* The reference that evw_ref registered; one that stays has no groups. */
struct evw_ref evw_ref_of(struct evw *, uint32_t id);
/*
 * Register that a line of code (which is 'i') or data ('d') leaves the table
 * (Z line). A record has one value, the line's address.
 */
int evw_leave(struct evw *, uint32_t id, char which);

/*
 * Register a record of n values that is no execution. evw_records calls write
 * for each such record, to write its lines; values are 4-byte aligned.
 */
int evw_special(struct evw *, uint32_t id, unsigned n, void (*write)(struct
    evw *, const uint32_t *values));

/*
 * evwrite.c: executions
 *
 * Records lie back to back from `from` on, 4-byte aligned:
 *
 *	u32  ngroups << 24 | id
 *	u64  ngroups values, absolute, not aligned to 8
 *
 * Stops at `to` or at a header 0, and returns where. Stops also at an invalid
 * record: its id is undefined, it has another number of groups than was
 * registered, or it is longer than what is left; evw_error then says what is
 * wrong, and is NULL otherwise.
 */
const uint32_t *evw_records(struct evw *, const uint32_t *from,
    const uint32_t *to);
/* What was wrong with the record at which evw_records stopped, or NULL. */
const char *evw_error(const struct evw *);

/*
 * These write lines about an id, its definition first if need be, and return -1
 * if the id is not registered.
 */

/* n executions in unknown order (kind counts). */
int evw_count(struct evw *, uint32_t id, uint64_t n);
/* n executions as a W line (kind cache). */
int evw_total(struct evw *, uint32_t id, uint64_t n);
/* An R line: the rounds of a block's instruction n, from 1, see events(5). */
int evw_rounds(struct evw *, uint32_t id, unsigned n, uint64_t rounds,
    uint64_t none);
/* An X line: how often its branch n, from 1, was mispredicted. */
int evw_missed(struct evw *, uint32_t id, unsigned n, uint64_t missed);

/*
 * For filters: one execution and `more` repeats of it, by its differences.
 * The id need not be registered: evw_raw has passed its definition on.
 */
void evw_exec(struct evw *, uint32_t id, unsigned ngroups,
    const uint64_t *diff, uint64_t more);
/*
 * Write one execution whose line was read: len bytes, without the newline and
 * without a `*'.
 */
void evw_exec_line(struct evw *, uint32_t id, unsigned ngroups,
    const uint64_t *diff, const char *line, size_t len);

#endif
