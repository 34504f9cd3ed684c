/*
 * ev.h - read event text, events(5)
 *
 *	struct evr *r = ev_open(in);
 *	struct ev e;
 *
 *	ev_accept(r, EV_ALL | EV_BLOCKS, "the order of executions");
 *	while ((c = ev_next(r, &e)) > 0)
 *		switch (c) {
 *		case EV_EXECS:	... e.rec up to e.end ...
 *		case 'B':	... ev_def(r, e.id)->block ...
 *		case 'T':	... e.num[0] ...
 *		}
 *	... write what there is; the end mark only if c == 0 ...
 *	return ev_close(r);	// says what was wrong, if so; 0 or 2
 *
 * Writing is in evw.h.
 */
#ifndef EV_H
#define EV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evr;
struct in;

/* ---- definitions (evdef.c) ---- */

/* A reference's address: not in the stream, constant, or a group's value. */
enum ev_where { EV_BARE, EV_FIXED, EV_GROUP };

struct ev_ref {
	uint64_t at;		/* EV_FIXED: address; EV_GROUP: distance */
	uint16_t size;		/* in bytes, of one round */
	bool locked;		/* atomic for other processors */
	uint8_t kind;		/* 'r', 'w' or 'm' */
	uint8_t where;		/* enum ev_where */
	uint8_t group;		/* EV_GROUP: the group whose value is added */
	uint8_t count;		/* 1 + the group that counts rounds, or 0 */
};

struct ev_insn {
	uint64_t addr;
	uint16_t ref;		/* index of its first reference in the block */
	uint16_t target;	/* flow C, J, L: index of its target */
	uint8_t len;
	uint8_t nref;
	uint8_t flow;		/* 'C' 'J' 'L' 'I' 'X' 'R' 'S', or 0 */
	uint8_t ngroups;	/* groups used so far, this instruction's too */
};

struct ev_block {
	uint32_t id;		/* the reader's number, see struct ev_def */
	uint16_t ninsn, nref;	/* a line has no room for more */
	uint8_t ngroups;
	bool kept;		/* see ev_lean */
	bool shown;		/* insn, ref and target are set */
	uint32_t number;	/* for the caller; 0 at first */
	uint64_t *value;	/* by group: ev_apply updates it, 0 at first */
	/* If not shown, other data is here: see ev_lean. */
	struct ev_insn *insn;
	struct ev_ref *ref;
	uint64_t *target;	/* of direct flows, in their order */
};

/*
 * What an id names. The reader numbers ids from 1 in the order of their
 * definitions: these numbers are meant wherever this interface says id.
 */
struct ev_def {
	struct ev_block *block;
	uint32_t id;		/* the stream's own, to pass it on */
	uint32_t n;		/* how many instructions; Q: which one */
	uint16_t k;		/* Q: the reference, from 1, or 0; Z: 'i' 'd' */
	uint8_t letter;		/* 'B', 'P', 'Q' or 'Z' */
	uint8_t ngroups;	/* fields of its execution lines */
	uint8_t group;		/* Q with one group: that group */
	bool stays;		/* Q: then its lines are in trace's table; its
				   value is not the block's */
};

/*
 * Kind cache: the value of a Q that stays is 16 times its address plus the
 * place (the way of its set) that the missing line takes. Of a reference to
 * two lines that is the first line; with EV_SECOND added, the second.
 */
#define EV_PLACES 8
#define EV_SECOND 8

/* Such a value's address. */
static inline uint64_t
ev_told_addr(uint64_t told)
{
	return (uint64_t)((int64_t)told >> 4);
}

/* Its place, with EV_SECOND if that is added. */
static inline unsigned
ev_told_place(uint64_t told)
{
	return told & 15;
}

/* Iterates over the instructions of a block, kept or not (see ev_lean). */
struct ev_each {
	struct ev_insn insn;	/* the current one */
	struct ev_ref *ref;	/* its references; the caller's room for 255 */
	uint64_t target;	/* of flow C, J, L */
	const uint8_t *code;	/* its bytes, if they are packed; or NULL */
	/* private */
	const struct ev_block *block;
	const uint8_t *at;	/* NULL: the block is kept */
	uint32_t n, nref, ntarget;
};
/*
 * Begin, before the first instruction; go to the next one. There are as many as
 * the block's ninsn: no call may follow the last one.
 */
void ev_each(struct ev_each *, const struct ev_block *, struct ev_ref *);
void ev_next_insn(struct ev_each *);

/* ---- the stream (evread.c) ---- */

enum {				/* kinds, H kind */
	EV_ALL = 1,
	EV_BLOCKS = 2,
	EV_COUNTS = 4,
	EV_CACHE = 8,
	EV_CALLS = 16,
	EV_BRANCHES = 32,
	EV_ROUNDS = 64		/* for ev_accept: see there */
};

/* Marks, J lines: which one num[0] is. */
enum ev_mark {
	EV_ON,			/* the program has it told from here on */
	EV_COLD,		/* the same; caches and stacks are empty */
	EV_OFF,			/* nothing follows until EV_ON or EV_COLD */
	EV_TOGGLE,		/* costs count no longer, or again */
	EV_DUMP,		/* text: why; costs so far are a part */
	EV_ZERO,		/* costs so far do not count */
	EV_WINDOW,		/* a window of this thread has ended */
	EV_INTERRUPTED		/* num[1]: by which signal */
};

/* Y lines of one number: system calls that never return, on x86-64. */
enum {
	EV_SIGRETURN = 15,		/* back from a signal handler */
	EV_EXIT = 60,			/* of the thread */
	EV_EXIT_GROUP = 231		/* of the process */
};

#define EV_EXECS '0'		/* ev_next: a batch of executions */

/* An O line in a batch, see ev_outcomes. */
struct ev_out {
	uint32_t at;		/* its execution's record is rec[at], or ... */
	uint16_t insn;		/* instruction, from 1 */
	uint16_t list;		/* see ev_list */
};
#define EV_OUT_BEFORE	UINT32_MAX	/* ... the thread's last one before */

/*
 * A line, or a batch of executions. Pointers hold until the next ev_next.
 *
 * num[] has a line's numbers in its order, nnum is how many they are; text is
 * what follows them, with \ooo resolved. Brackets: it may be missing.
 *
 *	H				text: key; and value
 *	M  n start end offset		text: path
 *	U  start end
 *	B P Q Z				id: what is defined
 *	T  tid [pid]
 *	W  id n				id, too
 *	R  id n rounds none		id, too
 *	X  id n missed			id, too: kind branches
 *	Y  nr [wall cpu]
 *	K  signo pc
 *	O  n label			text: list for ev_outcome; 0: missing
 *	O  0 0				the same, and id: see ev_standing
 *	J  mark [signo]			text: of EV_DUMP
 *	I  n
 *	D  n function size caller [state]	text begins with `+'
 *	D  n old function size caller [state]	with `*'
 *	D  n address			with `=' or `@'
 *	D  n address [size]		with `-'
 *	G  n start size			text: name
 *	G  n				ids: the blocks
 *	L  n addr line			text: file
 *	E  status n			text: how
 *
 * Kinds counts and cache. The numbers of states and arcs are, like those of
 * blocks, from 1 in the order of their definitions, not the stream's own.
 *
 *	S  id up level addr, or id same
 *	A  id from site target to [within]
 *	F  id state [site]		id, too: of a block
 *	V  arc calls ir [dr dw]
 *	N  arc place [call]
 *	X  n
 *
 * Kind calls:
 *
 *	N X V  id tick
 *	A  value
 *	D  [tick [type]]		text, which may hold NULs
 *	G  id [addr]			text: name
 *	F  version type flags hz size reserved	text: file
 *	J  tick
 *	L  sec usec			both with a sign
 *	R  offset length		text: why
 *	S  cpu tick
 */
struct ev {
	const char *line;	/* unchanged; EV_EXECS: all lines, or NULL */
	size_t len;		/* without the newline; EV_EXECS: with all */
	uint64_t num[6];
	unsigned nnum;
	uint32_t id;
	const char *text;
	size_t textlen;		/* not set for H, E */
	const char *value;	/* H */
	const uint32_t *ids;	/* G n = id ... */
	size_t nids;
	const uint64_t *rec;	/* EV_EXECS: records ... */
	const uint64_t *end;	/* ... up to here */
	const struct ev_out *out;	/* its O lines, in order */
	unsigned nout;
};

/*
 * A record of a batch, in 64-bit words: a head, the differences, and, if the
 * head has EV_MORE, how many more times the same happens: at most EV_MOST.
 */
#define EV_MORE ((uint64_t)1 << 32)
#define EV_MOST ((uint64_t)0xffffffff)

/* The head of a record of an id that has so many groups. */
static inline uint32_t
ev_head(unsigned ngroups, uint32_t id)
{
	return ngroups << 24 | id;
}

/* The id that a head has. */
static inline uint32_t
ev_id(uint64_t head)
{
	return head & 0xffffff;
}

/* How many groups it says that there are: their values follow. */
static inline unsigned
ev_ngroups(uint64_t head)
{
	return head >> 24 & 0xff;
}

/* How many more times the record happens. */
static inline uint64_t
ev_more(const uint64_t *rec)
{
	return *rec & EV_MORE ? rec[1 + ev_ngroups(*rec)] : 0;
}

/* Where the next record begins. */
static inline const uint64_t *
ev_skip(const uint64_t *rec)
{
	return rec + 1 + ev_ngroups(*rec) + (*rec >> 32 & 1);
}

/* Read from an input, which the caller closes after the reader. */
struct evr *ev_open(struct in *);
/*
 * Accept only these kinds: in a stream of another kind, the error says that it
 * does not tell `why`. To be called before ev_next. With EV_ROUNDS added, so
 * do streams of version 1 that lack the rounds of repeated instructions: of all
 * kinds but all and calls.
 */
void ev_accept(struct evr *, unsigned kinds, const char *why);
/* The letter of a line, or EV_EXECS; 0: end of a whole stream; -1: error. */
int ev_next(struct evr *, struct ev *);
/* Report an error that the caller found in the last line: ends the stream. */
int ev_bad(struct evr *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Print the error, if there was one; frees. Returns 0 if the stream was whole
 * and every file that belongs to it could be opened (in_lacked); else 2.
 */
int ev_close(struct evr *);
/* Free without a message. */
void ev_free(struct evr *);
/* The error, "name:line: ...", or NULL. */
const char *ev_error(const struct evr *);

/*
 * To be called before ev_next, to save memory: a block's insn, ref and target
 * are set, and it is shown, only while the last line defines the block or a
 * part of it. Later, ev_each gives the instructions from a packed form, a sixth
 * of the size. value is NULL; a caller that wants values sets it to an array
 * of its own before the first execution.
 */
void ev_lean(struct evr *);
/*
 * The same, and a block keeps only the references of calls and returns and
 * those of an instruction that is the first to use a group; and no targets.
 * Others are not even there while the block is shown.
 */
void ev_lean_calls(struct evr *);
/*
 * To be called before ev_next: a line of standing outcomes, `O @id events', is
 * returned as an O line with id and no numbers. By default these lines are not
 * returned, but an O line behind each execution that has such events.
 */
void ev_standing(struct evr *);
/*
 * In kinds all and blocks: O lines may come inside of a batch, and then are no
 * lines. Those with a label, and others, are lines as before. For streams that
 * have such lines: their executions are copied.
 */
void ev_outcomes(struct evr *);
#define EV_LISTS	2048
/* The text of such a line's list; it stays. */
const char *ev_list(const struct evr *, unsigned list);
/* Of such a line in the last batch: the records up to its own one. */
static inline const uint64_t *
ev_out_end(const struct ev *e, const struct ev_out *o)
{
	return o->at == EV_OUT_BEFORE ? e->rec : ev_skip(e->rec + o->at);
}

/* The definition of its execution. */
const struct ev_def *ev_out_def(const struct evr *, const struct ev *,
    const struct ev_out *);
/* As ev_bad, of such a line. */
void ev_bad_out(struct evr *, const struct ev *, const struct ev_out *,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* To be called before ev_next: modifications are writes, as in Callgrind. */
void ev_modify_writes(struct evr *);
/* Keep insn, ref and target of this block. */
void ev_keep(struct evr *, struct ev_block *);
/* The definition of an id, or NULL. It does not move. */
const struct ev_def *ev_def(const struct evr *, uint32_t id);
/* The kind of the stream, known once ev_next returned anything but 'H'. */
unsigned ev_kind(const struct evr *);
/*
 * The bytes of an instruction of the block that the last line, a B line,
 * defines, or NULL: the line does not have them.
 */
const uint8_t *ev_code(const struct evr *, uint32_t insn);
/* Kind cache: the sets and ways of trace's table, and the size of a line. */
void ev_filter(const struct evr *, uint64_t *sets, uint64_t *linesize,
    uint64_t *ways);
/* Has it `H contexts'? Known when the kind is. */
bool ev_contexts(const struct evr *);
/*
 * The number of the running thread: 0, 1, ... in order of appearance, never
 * reused. After an F line all threads are new.
 */
unsigned ev_thread(const struct evr *);
/*
 * What O lines refer to, the thread's last execution: in kind cache perhaps a
 * reference alone.
 */
const struct ev_def *ev_last(const struct evr *);
uint32_t ev_last_id(const struct evr *);	/* its number; 0: none */
/* Read the next event of an O line's list; 0: no more, -1: malformed. */
int ev_outcome(const char **list, char name[32], uint64_t *n);
/* Read 1 to 16 digits and move *s behind them; -1: none, or too many. */
int ev_hex(const char **s, uint64_t *n);

/* ---- one reference at a time (evwalk.c) ---- */

/* Add a record's differences to its block's values: one execution. */
void ev_apply(const struct ev_def *, const uint64_t *diff);
/* The value of a Q that stays, which is not its block's. */
uint64_t *ev_told(const struct ev_def *);

/* Iterates over the fetches and references of an execution, in order. */
struct ev_walk {
	const struct ev_block *block;
	uint32_t insn;		/* the current event's, from 0 */
	uint8_t kind;		/* 'i' (a fetch), 'r', 'w', 'm' */
	uint32_t ref;		/* index in the block's references */
	uint32_t size;
	uint64_t addr;
	/* private */
	uint32_t end, first, last;
	uint64_t round, rounds;
	bool alone;
	uint64_t told;		/* Q that stays: its address */
	bool stays;
};
/* Begin, with the values that the block has now; no event is current yet. */
void ev_walk(struct ev_walk *, const struct ev_def *);
bool ev_step(struct ev_walk *);	/* to the next event; false: no more */

#endif
