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

#include <stddef.h>
#include <stdint.h>

struct evr;
struct in;

/* ---- definitions (evdef.c) ---- */

enum ev_where { EV_BARE, EV_FIXED, EV_GROUP };	/* an address: untold, ... */

struct ev_ref {
	uint64_t at;		/* EV_FIXED: address; EV_GROUP: distance */
	uint32_t size;		/* bytes, of one round */
	uint8_t kind;		/* 'r', 'w' or 'm' */
	uint8_t where;		/* enum ev_where */
	uint8_t group;		/* EV_GROUP: its value is the base */
	uint8_t count;		/* 1 + the group with the count, or 0 */
};

struct ev_insn {
	uint64_t addr;
	uint16_t ref;		/* its first reference in the block's */
	uint16_t target;	/* flow C, J, L: its place in the block's */
	uint8_t len;
	uint8_t nref;
	uint8_t flow;		/* 'C' 'J' 'L' 'I' 'X' 'R' 'S', or 0 */
	uint8_t ngroups;	/* groups used up to here, this one included */
};

struct ev_block {
	uint32_t id;		/* as ev_id has it */
	uint32_t ninsn;
	struct ev_insn *insn;
	struct ev_ref *ref;
	uint64_t *target;	/* of direct flows, in their order */
	uint64_t *value;	/* of groups: kept by ev_apply, 0 at first */
	uint32_t nref;
	uint8_t ngroups;
	uint8_t kept;		/* see ev_lean */
	void *user;		/* the reader's caller's own; NULL at first */
	uint8_t packed[];	/* private */
};

/*
 * What an id names. The reader numbers ids from 1 in the order of their
 * definitions: these numbers are meant wherever this interface says id.
 */
struct ev_def {
	struct ev_block *block;
	uint32_t id;		/* the stream's own, for who passes it on */
	uint32_t n;		/* instructions: Q: the one of its reference */
	uint16_t k;		/* Q: the reference, from 1, or 0; Z: 'i', 'd' */
	uint8_t letter;		/* 'B', 'P', 'Q' or 'Z' */
	uint8_t ngroups;	/* fields of its execution lines */
	uint8_t group;		/* Q with one group: that one */
	uint8_t stays;		/* Q: its lines are in the table then */
	uint64_t told;		/* Q that stays: its value, kept by ev_apply */
};

/*
 * Kind cache: the value of a Q that stays is 16 times its address, and the
 * place where its line, or the first of two, enters; EV_SECOND added: where
 * the second does.
 */
#define EV_PLACES 8
#define EV_SECOND 8

static inline uint64_t
ev_told_addr(uint64_t told)
{
	return (uint64_t)((int64_t)told >> 4);
}

static inline unsigned
ev_told_place(uint64_t told)
{
	return told & 15;
}

/* The instructions of a block one after the other, of a lean reader, too. */
struct ev_each {
	struct ev_insn insn;	/* this one */
	struct ev_ref *ref;	/* its references: the caller's, 255 of them */
	uint64_t target;	/* of flow C, J, L */
	/* private */
	const struct ev_block *block;
	const uint8_t *at;	/* NULL: the block is kept */
	uint32_t n, nref, ntarget;
};
void ev_each(struct ev_each *, const struct ev_block *, struct ev_ref *);
void ev_next_insn(struct ev_each *);	/* the first, at first */

/* ---- the stream (evread.c) ---- */

enum {				/* kinds, H kind */
	EV_ALL = 1,
	EV_BLOCKS = 2,
	EV_COUNTS = 4,
	EV_CACHE = 8,
	EV_CALLS = 16
};

#define EV_EXECS '0'		/* ev_next: a batch of executions */

/*
 * A line, or a batch of executions. Pointers hold until the next ev_next.
 *
 * Numbers in num[], in the line's order: M n start end offset; U start end;
 * T tid [pid]; Y nr; K signo pc; O n; I n; W id n; N X V id tick; A value;
 * D [tick [type]]; G id [addr]; F version type flags hz size reserved;
 * J tick; L sec usec, both with a sign; R offset length; S cpu tick;
 * E status n. nnum tells how many there are. B P Q W also have id.
 * Text, with \ooo resolved: H key (then value); M path; O the list as it
 * stands, for ev_outcome; D text, in which NULs may be; F file; G name;
 * R why; E how.
 */
struct ev {
	const char *line;	/* as it stands; of EV_EXECS all lines */
	size_t len;		/* without the newline; EV_EXECS: with all */
	uint64_t num[6];
	unsigned nnum;
	uint32_t id;
	const char *text;
	size_t textlen;		/* not of H, E */
	const char *value;	/* H */
	const uint64_t *rec;	/* EV_EXECS: records ... */
	const uint64_t *end;	/* ... up to here */
};

/*
 * A record of a batch, in 64-bit words: a head, the differences, and, if
 * EV_MORE is set, how many more times all of this happens: at most EV_MOST.
 */
#define EV_MORE ((uint64_t)1 << 32)
#define EV_MOST ((uint64_t)0xffffffff)

static inline uint32_t
ev_id(uint64_t head)
{
	return head & 0xffffff;
}

static inline unsigned
ev_ngroups(uint64_t head)
{
	return head >> 24 & 0xff;
}

static inline uint64_t
ev_more(const uint64_t *rec)
{
	return *rec & EV_MORE ? rec[1 + ev_ngroups(*rec)] : 0;
}

static inline const uint64_t *
ev_skip(const uint64_t *rec)
{
	return rec + 1 + ev_ngroups(*rec) + (*rec >> 32 & 1);
}

/* The input stays the caller's. */
struct evr *ev_open(struct in *);
/* Streams of other kinds are an error: it needs `why`. Before ev_next. */
void ev_accept(struct evr *, unsigned kinds, const char *why);
/* The letter of a line, or EV_EXECS; 0: whole and at its end; -1: trouble. */
int ev_next(struct evr *, struct ev *);
/* Trouble that the caller found in the line just read: ends the stream. */
int ev_bad(struct evr *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Say what was wrong, if so; frees. 0 if the stream was whole, and all that
 * belongs to it could be opened (in_lacked); else 2.
 */
int ev_close(struct evr *);
/* The same in silence. */
void ev_free(struct evr *);
/* What was wrong, "name:line: ...", or NULL. */
const char *ev_error(const struct evr *);

/*
 * Before ev_next: a block's insn, ref and target are wanted no longer than its
 * definition, or that of a part of it, is the line just read; then they are
 * NULL. A sixth of the memory is enough for what ev_each makes of it. And who
 * wants values sets value to where they are, before an execution: it is NULL.
 */
void ev_lean(struct evr *);
/* They are to stay. */
void ev_keep(struct evr *, struct ev_block *);
/* The definition of an id, or NULL. It does not move. */
const struct ev_def *ev_def(const struct evr *, uint32_t id);
/* The kind of the stream, known once ev_next gave anything but 'H'. */
unsigned ev_kind(const struct evr *);
/* Kind cache: its table's sets and ways, and the size of a line. */
void ev_filter(const struct evr *, uint64_t *sets, uint64_t *linesize,
    uint64_t *ways);
/* Executions read so far. */
uint64_t ev_executions(const struct evr *);
/*
 * The thread that runs: 0, 1, ... in order of appearance, never reused. After
 * an F line all are new ones.
 */
unsigned ev_thread(const struct evr *);
/* That thread's last execution (no reference alone): what O is about. */
const struct ev_def *ev_last(const struct evr *);
/* The next of an O line's events; 0 when there is none, -1 malformed. */
int ev_outcome(const char **list, char name[32], uint64_t *n);
/* 1 to 16 digits; moves *s behind them; -1 if there are none, or too many. */
int ev_hex(const char **s, uint64_t *n);

/* ---- one after the other (evwalk.c) ---- */

/* Add a record's differences to its block's values: one round. */
void ev_apply(const struct ev_def *, const uint64_t *diff);

/* The references of an execution, as they happened. */
struct ev_walk {
	const struct ev_block *block;
	uint32_t insn;		/* of the event, from 0 */
	uint8_t kind;		/* 'i' (a fetch), 'r', 'w', 'm' */
	uint32_t ref;		/* of the event, in the block's */
	uint32_t size;
	uint64_t addr;
	/* private */
	uint32_t end, first, last;
	uint64_t round, rounds;
	int alone;
	uint64_t told;		/* Q that stays: its address */
	int stays;
};
void ev_walk(struct ev_walk *, const struct ev_def *);
int ev_step(struct ev_walk *);	/* to the next event; 0: no more */

#endif
