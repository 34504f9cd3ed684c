/*
 * dataprof.h - whose data the misses are on
 *
 * main.c	options, the stream, what each line says of references
 * events.c	the events of O lines, and the columns that they become
 * alone.c	references alone, in kind cache
 * object.c	data objects: what costs are added up for
 * images.c	variables of the object files that are mapped
 * heap.c	the calls that allocate and free
 * order.c	kind counts: in the order of their numbers
 * blocks.c	memory that is allocated, by address
 * sites.c	where memory is allocated, and how much of it there is
 * total.c	how much there is in all
 * curve.c	and from time to time
 * stack.c	the functions whose frames are on the stacks
 * tally.c	costs by object and code
 * refs.c	what instructions refer to
 * hold.c	references that wait for the allocation that they are in
 * state.c	options
 * report.c	costs (costs(5)), or a table
 * heapout.c	collapsed stacks of what is allocated
 * links.c	names in chains of callers
 * massif.c	a file of Massif's
 *
 * A reference's address is looked for among thread-local variables, the stacks,
 * the allocations and the variables, in this order, and becomes a data object.
 * But memory that was allocated by pages comes last: loaders map objects there.
 */
#ifndef DATAPROF_H
#define DATAPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ev.h"
#include "sum.h"

struct func;
struct out;
struct simhead;

#define MOST_SAMPLES 1000	/* dp.samples is not more */
#define COLUMNS	62	/* of costs, at most: Dr, Dw and events of O lines */

enum by { BY_OBJECT, BY_TYPE, BY_PAGE };

struct dataprof {
	struct evr *events;
	struct objmap *map;
	enum by by;
	unsigned depth;		/* callers of an allocation that name it */
	bool walks;		/* kind all: lib/walk follows calls */
	bool frames;		/* a thread's frames are known */
	bool allocs;		/* the stream tells allocations */
	bool orders;		/* kind counts: order.c waits for numbers */
	bool massif;		/* samples of the curve are wanted */
	bool lines;		/* calls for memory are told by line */
	double threshold;	/* in percent: smaller branches are together */
	size_t samples;		/* at most, with the beginning and the peak */
	size_t detailed;	/* one of so many has a tree */
	uint64_t time;		/* instructions, or events of allocations */
	uint64_t image;		/* that, when the last exec was */
	const char *unit;	/* which of them */
	/* columns of costs */
	unsigned ncol, ndata;	/* those of fetches come last */
	const char *const *column;
};
extern struct dataprof dp;

/* ----------------------------------------------------------------- object.c */

enum data_class { DATA_STATIC, DATA_TLS, DATA_HEAP, DATA_MAP, DATA_STACK,
	DATA_CODE, DATA_OTHER };

struct data_object {
	enum data_class class;
	const char *name;
	const char *file;	/* the object file's path, or "" */
};

/* The number of an object, from 0; it may be new. Both strings are copied. */
uint32_t object_get(enum data_class, const char *file, const char *name);
const struct data_object *object_at(uint32_t);
uint32_t object_count(void);
/* How a class is named in costs: as an object file. */
const char *object_class(enum data_class);
/* The object of a function's code, or of its frames. */
uint32_t object_code(enum data_class, const struct func *);
/* By page: the object that a page of this class is. */
uint32_t object_page(enum data_class, uint64_t addr);

/*
 * What is at an address: the object, and the addresses around it that are the
 * same object's until their page changes; lo == hi: only this one, only now.
 */
struct data_place {
	uint32_t object;
	bool pages;		/* memory that was allocated by pages */
	bool nowhere;		/* see tally_find */
	uint64_t lo, hi;
};

#define PAGE		4096u

/* Where the page of an address begins. */
static inline uint64_t
page_start(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

/*
 * Epochs count changes of what is where. A page has changed when something on
 * it, or on a page that shares its number here, was allocated or freed.
 */
#define EPOCH_PAGES	1024
struct epoch {
	uint64_t now;
	uint64_t all;		/* the last change of everything */
	uint64_t code;		/* the last one of object files, from 1 */
	uint64_t page[EPOCH_PAGES];	/* the last one of a page */
};
extern struct epoch epoch;

/* Is what was found at an address in this epoch still there? */
static inline bool
epoch_holds(uint64_t then, uint64_t addr)
{
	return then >= epoch.all &&
	    then >= epoch.page[addr / PAGE % EPOCH_PAGES];
}

void epoch_change(void);	/* of everything */
/* Of the pages that [start, end) touches. */
void epoch_change_pages(uint64_t start, uint64_t end);

/* ----------------------------------------------------------------- images.c */

/* M and U lines. */
void images_line(const struct ev *, char letter);
/* An exec: no thread has told its pointer. */
void images_exec(void);
/*
 * The variable at a run-time address, or what else of an object file; false:
 * none is mapped there. size: the bytes of the reference; of a union's members
 * one may have it.
 */
bool images_find(uint64_t addr, unsigned size, struct data_place *);
/*
 * This thread's pointer is base, since event `number'; its thread-local
 * variables lie below.
 */
void images_thread(unsigned thread, uint64_t base, uint64_t number);
/* Event `number' unmaps these addresses: what threads had there is gone. */
void images_unmapped(uint64_t start, uint64_t end, uint64_t number);
/* The same among the thread-local variables of all threads. */
bool images_local(uint64_t addr, unsigned size, struct data_place *);
/* Cut the place to the addresses around this one that have neither. */
void images_cut(uint64_t addr, struct data_place *);
/*
 * Of [lo, hi], the addresses just below hi that are no thread-local variables:
 * the first one; hi + 1: hi is one itself.
 */
uint64_t images_below(uint64_t lo, uint64_t hi);

/* ------------------------------------------------------------------- heap.c */

/* What a call has made: the memory, 0 if there is none, and its object. */
struct heap_made {
	uint64_t start, size;
	uint32_t object;
};
/* A D line. true: the thread's last call is over, and made this. */
bool heap_line(const struct ev *, unsigned thread, struct heap_made *);
/* An exec: all memory is gone, and no call returns. */
void heap_exec(void);
/* Has the thread called for memory that is not there yet? */
bool heap_open(unsigned thread);

/* ------------------------------------------------------------------ order.c */

/*
 * As block_add and block_free below, when it is their turn; and an event that
 * changes nothing.
 */
void order_add(uint64_t start, uint64_t size, uint64_t number, uint32_t site);
void order_free(uint64_t start, uint64_t size, uint64_t number);
void order_nothing(uint64_t number);
/* An exec, or the end: nothing waits any longer; numbers begin with 1 again. */
void order_end(void);

/* ----------------------------------------------------------------- blocks.c */

/* Event `number', a call at the site, made this block. */
void block_add(uint64_t start, uint64_t size, uint64_t number, uint32_t site);
/*
 * With size 0, the block at start is free. Else these bytes are, up to the end
 * of the last page, of all mappings there, and of a block at start that is not
 * one.
 */
void block_free(uint64_t start, uint64_t size, uint64_t number);
/* Where the last page of so many bytes ends. */
uint64_t block_pages_end(uint64_t start, uint64_t size);
/* An exec: there are no blocks. */
void block_exec(void);
/*
 * The block at an address; false: there is none. small: of allocations below a
 * page's size or so; else of the larger ones.
 */
bool block_find(uint64_t addr, bool small, struct data_place *);
/*
 * The object of the C library's words about a block, just before it; false:
 * that is not what is at this address.
 */
bool block_header(uint64_t addr, uint32_t *object);
/* Did a block ever lie on this page? */
bool block_page(uint64_t addr);

/* ------------------------------------------------------------------ links.c */

/* A function in a chain of callers. */
struct chain_link {
	const char *name;	/* perhaps with file and line */
	const struct func *fn;	/* the function, or what it is inlined into */
	uint64_t addr;		/* link-time: of the line, or its beginning */
	uint32_t num;		/* from 0; by name and function */
};
/*
 * The links of a chain of n functions, the first of which was called for
 * memory; caller: the return address.  Returns how many; they stay until the
 * next call.
 */
unsigned links_of(const struct func *const *chain, unsigned n, uint64_t caller,
    const struct chain_link ***);
/* Are file and line in its name? */
bool link_has_line(const struct chain_link *);

/* ------------------------------------------------------------------ sites.c */

/* Where memory is allocated. */
struct site {
	uint32_t object;
	const struct chain_link **chain; /* who was called, by whom ... */
	unsigned nchain;
	bool maps;		/* its blocks are mappings, whole pages */
	uint64_t number, bytes;	/* allocations so far */
	uint64_t live, peak;	/* bytes */
	uint64_t left;		/* bytes never freed that an exec ended */
	uint64_t top;		/* live when there was the most in all; */
	uint64_t topped;	/* that was this one of those so far */
	uint64_t nfreed, life;	/* of those, the sum of their times */
};
/*
 * The number, from 0, of the site of a thread's call for memory; caller: the
 * return address, state: of kind cache or counts, or 0.
 */
uint32_t site_of_call(unsigned thread, uint64_t function, uint64_t caller,
    uint32_t state);
size_t site_count(void);
const struct site *site_get(size_t);
/* A call at the site made n bytes. */
void site_allocates(uint32_t, uint64_t n);
/* There are n bytes more, or less, of the site. */
void site_grows(uint32_t, uint64_t n);
void site_shrinks(uint32_t, uint64_t n);
/* One of its allocations is free, after this time. */
void site_frees(uint32_t, uint64_t life);
/* An exec: what was not freed will never be. */
void site_exec(void);
/* The object of the C library's words before its blocks; false: it has none. */
bool site_header(uint32_t, uint32_t *object);
/* Bytes of all sites, never freed, and at most at one time. */
uint64_t site_unfreed(void);
uint64_t site_peak(void);
/*
 * Of a site: bytes when there was the most but for mappings (total.c), or never
 * freed, or all; or how many allocations.
 */
enum figure { FIGURE_TOP, FIGURE_LEFT, FIGURE_BYTES, FIGURE_NUMBER };
uint64_t site_figure(size_t, enum figure);

/* ------------------------------------------------------------------ total.c */

/* Memory that is allocated, but for mappings, in bytes. */
struct sample_part {
	uint32_t site;
	uint64_t bytes;
};
struct sample {
	uint64_t time;		/* bytes allocated and freed, with `extra' */
	uint64_t bytes;
	uint64_t extra;		/* what the allocator adds to them */
	struct sample_part *part;	/* by site, or NULL */
	size_t nparts;
};
/* A block of n bytes, or a part of one; true: with `extra' that is the most. */
bool total_grows(uint64_t n);
void total_shrinks(uint64_t n);
/* An exec: there is none. */
void total_exec(void);
/* Without parts: now, and when there was the most. */
const struct sample *total_now(void);
const struct sample *total_most(void);

/* ------------------------------------------------------------------ curve.c */

/* After each change, with dp.massif: take a sample now and then. */
void curve_look(void);
/* Samples up to the end, in the order of time. */
const struct sample *curve_samples(size_t *n);

/* ------------------------------------------------------------------ stack.c */

/*
 * Begin, once the kind of the stream is known. Kind all: `part', which may be
 * NULL, is called for instructions [from, to) of what runs when the frames are
 * theirs.
 */
void stack_begin(void (*part)(uint32_t from, uint32_t to));
/* S, A, N, X lines; and what lib/walk wants. */
void stack_line(const struct ev *, char letter);
/* An exec: all frames are left. */
void stack_exec(void);
/* Kind all: follow a batch. */
void stack_batch(const struct ev *);
/*
 * The same of a record of one round.  false: `part' was not called, and the
 * frames are those of all its instructions.
 */
bool stack_round(const uint64_t *rec);
/*
 * Follow rounds that leave the frames as they are; `part' is not called: their
 * references are counted elsewhere.
 */
void stack_rounds(const uint64_t *rec);
/* The address, on the stack, of a call's or return's reference. */
void stack_saw(unsigned thread, uint64_t sp);
/*
 * The frames at an address on the thread's stack; false: it is not there. code:
 * the function that refers to it.
 */
bool stack_find(unsigned thread, uint64_t addr, const struct func *code,
    struct data_place *);
/*
 * Kind all: where stack_find finds the frame of the function whose code it is,
 * and images_local nothing: addr - lo < size; and where it finds nothing: below
 * `far'. It holds until a thread calls or returns, or everything changes
 * (epoch.all).
 */
struct stack_own {
	uint64_t lo, size, far;
};
struct stack_own stack_own(unsigned thread);
/*
 * The function that was called for memory and its callers, innermost first, at
 * most dp.depth of these; caller: the return address, state: of kind cache or
 * counts, or 0.  Returns how many; they stay until the next call.
 */
unsigned stack_chain(unsigned thread, uint64_t function, uint64_t caller,
    uint32_t state, const struct func ***);

/* ------------------------------------------------------------------ tally.c */

/* A place in the code. */
struct data_code {
	const struct func *fn;
	uint64_t addr;		/* link-time */
};
/*
 * Its number, from 0, by its run-time address. Code without an object gets one
 * each time: other code may be there at another time.
 */
uint32_t tally_code(uint64_t addr);
/* Such code, made at run time, is of this function. */
void tally_code_named(uint32_t, const struct func *);
extern uint32_t tally_named;	/* how often that was called, from 1 */
/* Before the report: no more functions are named. */
void tally_names_end(void);
const struct data_code *tally_code_at(uint32_t);

struct tally_row {
	uint32_t code, object;
	uint64_t refs;
	int64_t *cost;		/* columns */
	int64_t count[2];	/* reads, writes: not in cost and refs yet */
};
extern struct tally_row *tally_rows;
/* Costs of an object by code: a number, good for ever. */
size_t tally_row(uint32_t code, uint32_t object);
/* Add costs, by column, and references to a row. */
void tally_add(size_t row, const int64_t *cost, uint64_t refs);
/* With columns Dr and Dw: n reads or writes. */
static inline void
tally_refs(size_t row, bool writes, uint64_t n)
{
	sum_add(&tally_rows[row].count[writes], (int64_t)n);
}

/* How many rows there are; one of them, with all counts in its costs. */
size_t tally_count(void);
struct tally_row tally_get(size_t);
/*
 * The row of what a thread's code refers to, `size' bytes at an address;
 * TALLY_HOLD, with may_hold: that will be known when the allocation that it is
 * in has been made (hold.c). nowhere: no call allocated this, and its lo and hi
 * hold for those of a thread that are on no stack while it has no call open;
 * for others they are as lo == hi.
 */
#define TALLY_HOLD SIZE_MAX
size_t tally_find(unsigned thread, uint64_t addr, unsigned size, uint32_t code,
    bool may_hold, struct data_place *);
/* The row of what code refers to in the frame of its own function. */
size_t tally_own(uint32_t code);

/* ------------------------------------------------------------------- refs.c */

/* An instruction of a block: what it found last. */
struct insn_cache {
	uint64_t lo, hi, epoch;
	size_t row;
	uint32_t code;		/* 1 + its number; 0: not known yet */
	uint32_t own;		/* 1 + the row of its own frame, or 0 */
	uint32_t named;		/* tally_named, when that was found */
	bool nowhere;		/* lo and hi are those of such a place */
};
/* That of an instruction, counted from 0; good as long as the block. */
struct insn_cache *insn_cache(const struct ev_block *, uint32_t insn);
/* Of all instructions of a block; NULL: none has referred to anything. */
const struct insn_cache *insn_caches(uint32_t block);
/* The row of the instruction's fetches. */
size_t insn_code_row(const struct insn_cache *);
/* Add costs of n references by an instruction to what is at the address. */
void refer(struct insn_cache *, const struct ev_ref *, uint64_t addr,
    const int64_t *cost, uint64_t n);
/* By its groups' values, where a reference is; false: it did not happen. */
static inline bool
ref_address(const uint64_t *value, const struct ev_ref *r, uint64_t *addr)
{
	uint64_t base = r->where == EV_GROUP ? value[r->group] : 0;

	*addr = r->at + base;
	return r->where != EV_BARE && (base != 0 || r->where != EV_GROUP) &&
	    (r->count == 0 || value[r->count - 1] != 0);
}

/* Kind all: a block is defined. */
void refs_define(const struct ev_block *);
/* The values of its groups, now. */
uint64_t *refs_values(const struct ev_block *);
/*
 * Kind all: count the references of a record's executions, each to frames of
 * its time. A round that follows another one and neither calls nor returns is
 * like all behind it.
 */
void refs_rounds(const struct ev_def *, const uint64_t *rec);
/* stack_begin's `part': count instructions [from, to) of what runs. */
void refs_count(uint32_t from, uint32_t to);

/* ----------------------------------------------------------------- events.c */

/* What an event says of its reference. */
enum side { SIDE_ANY, SIDE_READ, SIDE_WRITE, SIDE_FETCH, NSIDE, SIDE_NONE };

/* The list of an O line: for each side its costs, and the most of one event. */
struct event_list {
	bool kept;		/* it stays; else until the next events_parse */
	unsigned nside;		/* how many sides have events: any[] */
	bool any[NSIDE];
	uint64_t most[NSIDE];
	int64_t cost[NSIDE][COLUMNS];
};
/* The events of an H outcomes line. */
void events_add(const char *list);
bool events_any(void);		/* has there been any? */
/* Behind the H lines: set the columns; refs: with Dr and Dw. */
void events_columns(bool refs);
/* The list of an O line; NULL: it is malformed. */
const struct event_list *events_parse(const char *text);

/* ------------------------------------------------------------------ alone.c */

/* An id is defined: each has room, whether or not it is a reference alone. */
void alone_define(uint32_t id);
/* Executions of kind cache. */
void alone_batch(const struct ev *);
/* The reference that a Q line names, but for that of a fetch. */
const struct ev_ref *alone_ref(const struct ev_def *);
/* Where the one that was executed last was. */
uint64_t alone_last(const struct ev_def *);
/* An O line with @id: the reference has these events from now on. */
void alone_standing(uint32_t id, const struct event_list *);
/* The end: all that was found is added to its rows. */
void alone_end(void);

/* ------------------------------------------------------------------- hold.c */

/* Can another reference of the thread be held? */
bool hold_room(unsigned thread);
/* Hold `refs' references with these costs, `size' bytes each at an address. */
void hold_put(unsigned thread, uint64_t addr, unsigned size, uint32_t code,
    const int64_t *cost, uint64_t refs);
/* The thread's call is over: what was held is the new memory's, or not. */
void hold_settle(unsigned thread, const struct heap_made *);
/* The same for all threads, at the end. */
void hold_end(void);

/* ---------------------------------------------------------------- heapout.c */

/* Write this figure of all sites but mappings: a line for each stack. */
void heap_stacks(struct out *, enum figure);

/* ----------------------------------------------------------------- massif.c */

/* Write the samples, and who had the memory; cmd: of the program, or NULL. */
void massif_write(struct out *, const char *cmd);

/* ----------------------------------------------------------------- report.c */

enum form { FORM_COSTS, FORM_TABLE, FORM_STACKS, FORM_MASSIF };

struct report {
	const struct simhead *head;
	const char *late;	/* a description, or NULL */
	bool whole;
	enum form form;
	enum figure figure;	/* of FORM_STACKS */
	bool verbose;
	uint64_t rows;		/* of the table; 0: all */
	const char *events;	/* its columns, a list; NULL: the main ones */
};
/* Write all of it; nothing may be added afterwards. */
void report(struct out *, const struct report *);

#endif
