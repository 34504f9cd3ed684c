/*
 * cost.h - the cost text (costs(5)): names, reading, writing, summing
 *
 * Costs are the Callgrind format; Cachegrind's files are read and written
 * as well.  All work is done on one struct cost at a time: the reader fills it,
 * the table (costsum) adds it up and returns it in canonical order, the writer
 * writes it.  Counts are signed 64-bit numbers, exact; overflow is an error.
 *
 *	struct costnames *nm = costnames_new();
 *	struct costr *r = costr_open(name, nm);
 *	struct cost c;
 *	while (costr_next(r, &c))
 *		if (c.kind == COST_SELF) ...	(r->head: the part's header)
 *	costr_close(r);
 */
#ifndef COST_H
#define COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

enum {
	COST_EVMAX = 200,	/* events in one file */
	/* positions, always written in this order */
	COST_INSTR = 1, COST_BB = 2, COST_LINE = 4
};

/*
 * costname.c: each string and each function once, for all files of a run.
 * Strings live as long as the table.  Name 0 is the empty string.  A function
 * is identified by its object, its file and its name, each the number of a
 * string, and by ctx.  ctx is 0 unless functions of one name differ: contexts
 * of one function, or functions whose file is not known.  In a file these have
 * different numbers, fn=(1) f and fn=(2) f.  All functions of a ctx have one
 * name.
 */
struct costnames;
struct costfn { uint32_t ob, fl, fn, ctx; };

/* A table that has only the empty string. */
struct costnames *costnames_new(void);
/* The number of a string, which is copied if it is new. */
uint32_t costnames_add(struct costnames *, const char *, size_t len);
uint32_t costnames_str(struct costnames *, const char *);
/* The string with this number. */
const char *costnames_get(const struct costnames *, uint32_t);
/* How many strings there are: all numbers are below. */
uint32_t costnames_count(const struct costnames *);
void costnames_free(struct costnames *);
/* The number of a function, which may be new; and the other way round. */
uint32_t costfn_add(struct costnames *, struct costfn);
struct costfn costfn_get(const struct costnames *, uint32_t);

/* The comment before the end mark of each part but the last. */
#define COST_MORE	"# another part follows"
/* A description that its writer did not know before the costs. */
#define COST_LATE	"# desc: "

/* A part's header; its strings belong to the costnames, or are never freed. */
struct cost_event {
	const char *name;
	const char *formula;	/* "Ir + 10 Dr": a derived event; or NULL */
	const char *longname;	/* or NULL */
};

struct cost_head {
	enum { COST_CALLGRIND, COST_CACHEGRIND } format;
	unsigned positions;		/* COST_INSTR | COST_BB | COST_LINE */
	size_t nev;			/* recorded events: columns */
	struct cost_event ev[COST_EVMAX];
	size_t nderived;		/* "event:" lines that have a formula */
	struct cost_event *derived;
	size_t ndesc;
	const char **desc;		/* what follows "desc: " */
	const char *cmd, *creator, *pid, *part, *thread;	/* or NULL */
	bool is_diff;			/* a difference: counts may be < 0 */
};

/* A header with nothing in it. */
void costhead_init(struct cost_head *);
/* Set events from "Ir Dr Dw": -1 if there is none, one twice, or too many. */
int costhead_events(struct cost_head *, struct costnames *, const char *);
void costhead_desc(struct cost_head *, const char *);	/* keeps the pointer */
int costhead_find(const struct cost_head *, const char *ev);	/* or -1 */
/* map[i]: the index in want of got's event i; -1: their events differ */
int costhead_map(const struct cost_head *want, const struct cost_head *got,
    size_t *map);
bool costhead_key(const char *);	/* is it one of the format's keys? */
/* Set what "key: value" says; returns what is wrong with it, or NULL. */
const char *costhead_set(struct cost_head *, struct costnames *,
    const char *key, const char *value);
/* After the last key: sort out which events are derived. */
void costhead_done(struct cost_head *);

/*
 * costderived.c: a profile's events, recorded ones and behind them those that
 * formulas derive from them.  Begin with zeros.
 */
struct cost_derived {
	size_t nrec, nev;		/* recorded ones; all */
	struct cost_event ev[COST_EVMAX];
	int64_t factor[COST_EVMAX][COST_EVMAX];	/* by event, recorded event */
	int64_t all[COST_EVMAX];	/* what costderived_counts returns */
};

/*
 * Add the events of a header: recorded ones of the first, derived ones that are
 * not there yet.  A formula that is none is left out, with a warning.
 */
void costderived_add(struct cost_derived *, const struct cost_head *);
/* Add one event; its factors, zeros, or NULL: there are too many. */
int64_t *costderived_event(struct cost_derived *, const struct cost_event *);
/* The number of an event, or -1. */
int costderived_find(const struct cost_derived *, const char *name, size_t len);
/*
 * A record's counts n, by recorded event, and behind them the derived events'.
 * Valid until the next call. Dies if one is beyond 64 bits.
 */
const int64_t *costderived_counts(struct cost_derived *, const int64_t *n);

/* one record */
struct cost_pos { uint64_t addr, bb; uint32_t line; };

enum cost_kind {
	COST_END,	/* costr_next: the input was read to its end mark */
	COST_PART,	/* costr_next: a part begins, r->head is its header */
	COST_ENDED,	/* if each_end: a part was whole, another will follow */
	COST_SELF,	/* n[] was spent at fn, file, pos */
	COST_CALL,	/* fn called callee count[0] times; n[] is inclusive */
	COST_JUMP,	/* executed count[0] times, followed count[1] times */
	COST_FN		/* if each_fn: costs of fn may follow, of its file */
};

struct cost {
	enum cost_kind kind;
	uint32_t fn;		/* function */
	uint32_t file;		/* the line's file: fn's own or another */
	struct cost_pos pos;
	uint32_t callee;	/* CALL, JUMP: the function it goes to */
	uint32_t tofile;	/* JUMP: the target line's file */
	struct cost_pos to;	/* CALL, JUMP: where to */
	bool cond;		/* JUMP: a conditional one */
	int64_t count[2];
	int64_t *n;		/* SELF, CALL: a count for each event */
};

/* costread.c */
struct costr {
	struct cost_head head;
	const char *name;
	struct costnames *nm;
	bool partial;		/* costr_partial */
	bool each_fn;		/* set it to get each fn=, as COST_FN */
	bool each_end;		/* set it to get COST_ENDED */
	bool by_id;		/* set it to make ctx of the numbers of fn= */
	bool truncated;		/* partial: the end mark was missing */
	/* after COST_END, sums over all parts: self costs; summary: lines; by
	   the events of the first part */
	int64_t total[COST_EVMAX], summary[COST_EVMAX];
	bool has_summary;	/* all parts had one */
	/* what "# desc: " lines behind the header said; see costr_late */
	const char **late;
	size_t nlate, caplate;
	struct costread *d;
};

/* Open a file, NULL or "-": standard input; its names go into the table. */
struct costr *costr_open(const char *name, struct costnames *);
/* Before the first record: accept a truncated file, with a warning. */
void costr_partial(struct costr *);
/*
 * Read the next record into *c, where its counts are good until the next call.
 * What is malformed is an error: it dies with the file's name and line.
 */
enum cost_kind costr_next(struct costr *, struct cost *c);
/*
 * Behind a part: add to its header what was described behind it, because the
 * writer did not know it before.
 */
void costr_late(struct costr *, struct cost_head *);
/* Die of an error that the caller found, with the file's name and line. */
_Noreturn void costr_die(struct costr *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * After COST_END: n gets r->total or r->summary by the events of a header that
 * has all of the file's.
 */
void costr_sums(const struct costr *, const struct cost_head *,
    const int64_t *sums, int64_t *n);
/* After COST_END: the events and their sums, two lines on standard error. */
void costr_report(const struct costr *, const struct cost_head *);
/* Close and free it; names stay in their table. */
void costr_close(struct costr *);
/*
 * Cachegrind's files: go on with another table of names, into which the names
 * that the reader and c use are copied.
 */
void costr_rename(struct costr *, struct costnames *, struct cost *c);

/*
 * costwrite.c: writes records in the order given.  summary: goes into the
 * header if the totals are known in advance, else to the end.  Only costw_end
 * writes the end mark: a program that fails just stops writing.
 */
enum {
	COSTW_PLAIN = 1,	/* names in full, not (1) */
	COSTW_RELATIVE = 2,	/* positions as +N -N * */
	COSTW_SHORT = 4		/* leave out trailing zeros */
};

/* Write the header of the first part, which must stay; flags: COSTW_. */
struct costw *costw_begin(struct out *, struct costnames *,
    const struct cost_head *, unsigned flags);
/* Announce the sum of the part's self costs, before its first costw_put. */
void costw_total(struct costw *, const int64_t *total);
/* Write a record: COST_SELF, COST_CALL or COST_JUMP. */
void costw_put(struct costw *, const struct cost *);
/* End the part and begin another, which has this header. */
void costw_part(struct costw *, const struct cost_head *);
/* Behind a part's last costw_put: it is to be read now; costw_part follows. */
void costw_more(struct costw *);
/* A description that was not known when the header was written: "# desc: " */
void costw_late(struct costw *, const char *desc);
/* End the last part, with its end mark; frees. */
void costw_end(struct costw *);
void costw_rename(struct costw *, struct costnames *);	/* as costr_rename */

/*
 * costtext.c: write a text without a newline, control characters as \ooo; and
 * undo that in place: s[len] is the end, returns the new length.
 */
void cost_put_text(struct out *, const char *s);
size_t cost_undo_text(char *s, size_t len);

/*
 * costset.c: the settings of a simulation: caches, predictor and processor,
 * from desc: lines.  They are collected from each part of files that are
 * compared or added; the first part that differs is reported in one line, as a
 * warning, or as an error if strict.
 */
enum { COST_NSETTING = 5 };
#define COST_SEVERAL	"several"	/* in place of values that differ */

struct costset {
	size_t n;			/* parts so far */
	const char *value[COST_NSETTING], *file[COST_NSETTING];
	size_t told[COST_NSETTING];	/* how many parts have it */
	bool differs[COST_NSETTING];
	bool warned;
};

/* Collect the settings of a part whose header has been read. */
void costset_add(struct costset *, const struct costr *, bool strict);
/* The setting that a desc: line gives, and its value; or -1. */
int costset_of(const char *desc, const char **value);
/* The desc: line of a setting. */
const char *costset_desc(struct costnames *, int setting, const char *value);
/* Add the settings that all parts have to a header. */
void costset_put(const struct costset *, struct costnames *,
    struct cost_head *);

/*
 * For simulators, positions: instr: costs by object and link-time address. What
 * costw_addr writes next is of this object's unknown function, ...
 */
void costw_object(struct costw *, const char *path);
/* ... or of this function, which has no object; ... */
void costw_function(struct costw *, const char *file, const char *name);
/* ... and of this line, for positions that have lines. */
void costw_line(struct costw *, const char *file, uint32_t line);
/* Write the costs n of an address, by event. */
void costw_addr(struct costw *, uint64_t addr, const int64_t *n);
/* Name an object in advance, and flush: the reader may load its symbols now. */
void costw_announce(struct costw *, const char *path);

/*
 * costsum.c: a table of records; equal ones are added up.  Once sorted it
 * returns them in canonical order: functions by object, file, name; records by
 * file (fn's own first), line, address; a line's own cost, then its calls, then
 * its jumps.
 */
struct costsum *costsum_new(struct costnames *, unsigned positions, size_t nev);
/* Add a record: its counts are copied. */
void costsum_put(struct costsum *, const struct cost *);
/* From here on records have these positions, too; those so far have them 0. */
void costsum_positions(struct costsum *, unsigned more);
/* Sort: no costsum_put may follow. */
void costsum_sort(struct costsum *);
/* The next record; false: the end, and the next call gives the first again. */
bool costsum_next(struct costsum *, struct cost *);
/* The sum of all self costs, by event. */
const int64_t *costsum_total(struct costsum *);
/* Free each record once it was returned: no second round is possible. */
void costsum_last(struct costsum *);
void costsum_free(struct costsum *);
/* Compare in canonical order records of tables that share names: <0 0 >0. */
int cost_cmp(const struct costnames *, const struct cost *,
    const struct cost *);

#endif
