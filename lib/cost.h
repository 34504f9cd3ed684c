/*
 * cost.h - the cost text (costs(5)): names, reading, writing, summing
 *
 * Costs are the Callgrind format; Cachegrind's files are read and written
 * as well.  Everything is one struct cost at a time: the reader fills it, the
 * table (costsum) adds it up and gives it back in canonical order, the writer
 * writes it.  Counts are signed 64-bit numbers, exact; overflow is told.
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
 * Strings live as long as it does.  Name 0 is the empty one.  A function is known by
 * its object, its file and its name, each the number of a string; and by ctx,
 * which is 0 unless functions of one name are told apart: contexts of one
 * function, or functions whose file is not known.  In a file such ones have
 * different numbers, fn=(1) f and fn=(2) f.  A ctx has one name.
 */
struct costnames;
struct costfn { uint32_t ob, fl, fn, ctx; };

struct costnames *costnames_new(void);
uint32_t costnames_add(struct costnames *, const char *, size_t len);
uint32_t costnames_str(struct costnames *, const char *);
const char *costnames_get(const struct costnames *, uint32_t);
uint32_t costnames_count(const struct costnames *);
void costnames_free(struct costnames *);
uint32_t costfn_add(struct costnames *, struct costfn);
struct costfn costfn_get(const struct costnames *, uint32_t);
uint32_t costfn_count(const struct costnames *);

/* The comment before the end mark of each part but the last. */
#define COST_MORE	"# another part follows"

/* a part's header; all strings are those of the costnames, or live for ever */
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

void costhead_init(struct cost_head *);
/* "Ir Dr Dw": -1 if there is none, one twice, or too many */
int costhead_events(struct cost_head *, struct costnames *, const char *);
void costhead_desc(struct cost_head *, const char *);	/* keeps the pointer */
int costhead_find(const struct cost_head *, const char *ev);	/* or -1 */
/* map[i]: where got's event i is in want; -1: they have not the same events */
int costhead_map(const struct cost_head *want, const struct cost_head *got,
    size_t *map);
bool costhead_key(const char *);		/* is it one of the format's keys? */
/* takes "key: value" in; returns what is wrong with it, or NULL */
const char *costhead_set(struct cost_head *, struct costnames *,
    const char *key, const char *value);
void costhead_done(struct cost_head *);		/* after the last key */

/* one record */
struct cost_pos { uint64_t addr, bb; uint32_t line; };

enum cost_kind {
	COST_END,	/* costr_next: the whole input was read, end mark and all */
	COST_PART,	/* costr_next: a part begins, its header is in r->head */
	COST_SELF,	/* n[] was spent at fn, file, pos */
	COST_CALL,	/* fn called callee there count[0] times: n[] inclusive */
	COST_JUMP,	/* executed count[0] times, followed count[1] times */
	COST_FN		/* if each_fn: costs of fn may follow, of its file */
};

struct cost {
	enum cost_kind kind;
	uint32_t fn;		/* function */
	uint32_t file;		/* name of the line's file: fn's own or another */
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
	bool each_fn;		/* set it to be told each fn=, as COST_FN */
	bool by_id;		/* set it to have ctx from the numbers of fn= */
	bool truncated;		/* partial: the end mark was missing */
	/* after COST_END, of all parts: self costs; summary: lines, if all had */
	int64_t total[COST_EVMAX], summary[COST_EVMAX];
	bool has_summary;
	struct costread *d;
};

struct costr *costr_open(const char *name, struct costnames *);
/* Before the first record: take a file that is cut, with a warning. */
void costr_partial(struct costr *);
enum cost_kind costr_next(struct costr *, struct cost *);
_Noreturn void costr_die(struct costr *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void costr_close(struct costr *);
/* Cachegrind's files: go on with other names, those in use and c's taken over. */
void costr_rename(struct costr *, struct costnames *, struct cost *c);

/*
 * costwrite.c: writes what it is given in the order given.  The header's
 * summary: is written when the totals are known before, else at the end.
 * No costw_end, no end mark: so a program that fails just stops writing.
 */
enum {
	COSTW_PLAIN = 1,	/* names in full, not (1) */
	COSTW_RELATIVE = 2,	/* positions as +N -N * */
	COSTW_SHORT = 4		/* leave out trailing zeros */
};

struct costw *costw_begin(struct out *, struct costnames *,
    const struct cost_head *, unsigned flags);
/* What the self costs of this part will add up to; before the first put. */
void costw_total(struct costw *, const int64_t *total);
void costw_put(struct costw *, const struct cost *);
void costw_part(struct costw *, const struct cost_head *);
void costw_end(struct costw *);
void costw_rename(struct costw *, struct costnames *);	/* as costr_rename */

/*
 * costtext.c: a text without its newline, control characters as \ooo; and
 * back, in place: s[len] is the end, the new length is returned.
 */
void cost_put_text(struct out *, const char *s);
size_t cost_undo_text(char *s, size_t len);

/*
 * costset.c: caches, predictor and processor, as desc: lines tell them.  Taken
 * from each part of files that are compared or added; the first that has not
 * those of the others is warned of, in one line, or is trouble if strict.
 */
enum { COST_NSETTING = 5 };
#define COST_SEVERAL	"several"	/* in place of values that differ */

struct costset {
	size_t n;			/* parts so far */
	const char *value[COST_NSETTING], *file[COST_NSETTING];
	size_t told[COST_NSETTING];	/* by so many parts */
	bool differs[COST_NSETTING];
	bool warned;
};

void costset_add(struct costset *, const struct costr *, bool strict);
/* Which setting does a line tell, and its value; or -1. */
int costset_of(const char *desc, const char **value);
/* the line of a setting */
const char *costset_desc(struct costnames *, int setting, const char *value);
/* To a header, those that all parts told. */
void costset_put(const struct costset *, struct costnames *, struct cost_head *);

/* For simulators: positions: instr; link-time addresses in an object's file. */
void costw_object(struct costw *, const char *path);
void costw_addr(struct costw *, uint64_t addr, const int64_t *n);
/* Tell the reader at once, who may look for its names, that it will come. */
void costw_announce(struct costw *, const char *path);

/*
 * costsum.c: a table of records; equal ones are added up.  Once sorted it
 * gives them back in canonical order: functions by object, file, name;
 * records by file (fn's own first), line, address; a line's own cost, then
 * its calls, then its jumps.
 */
struct costsum *costsum_new(struct costnames *, unsigned positions, size_t nev);
void costsum_put(struct costsum *, const struct cost *);
void costsum_positions(struct costsum *, unsigned more);
void costsum_sort(struct costsum *);
bool costsum_next(struct costsum *, struct cost *);	/* false: at the end, rewound */
const int64_t *costsum_total(struct costsum *);
/* The next round is the last: it frees what it gives out. */
void costsum_last(struct costsum *);
size_t costsum_bytes(const struct costsum *);
void costsum_free(struct costsum *);
/* canonical order of records of sorted tables that share names: <0 0 >0 */
int cost_cmp(const struct costnames *, const struct cost *, const struct cost *);

#endif
