/*
 * func.h - the function of an address, and the options for it
 *
 *	func_map(map);
 *	func_place(addr, &at);
 *	... at.fn->name ...
 *
 * A function is an ELF symbol of an object. Code without a symbol becomes a
 * function named by its address whenever something leads to it. A stub of
 * linkage (.plt and such) is a function to skip.
 *
 * A run-time address is one of the event stream; a link-time address is one
 * of the object's own.
 */
#ifndef FUNC_H
#define FUNC_H

#include <stdbool.h>
#include <stdint.h>

struct codename;
struct objmap;
struct func_place;

struct func {
	const char *name;
	uint32_t stem;		/* length of the name without `.cold' */
	uint64_t start;		/* link-time */
	uint32_t ob;		/* 1 + the object's number; 0: none */
	uint32_t num;		/* from 0 */
	uint32_t recs;		/* separate levels of recursion */
	uint32_t callers;	/* separate callers */
	bool skip;		/* its cost goes to its caller */
	bool pop;		/* when it jumps, it returns first */
	bool setjmp;		/* longjmp may come back after its call */
	bool resume;		/* _Unwind_Resume: it ends its caller */
	bool gap;		/* of func_place_or_gap: not one function */
	/* the options that name it, for its entry or exit */
	bool toggle, before, after, zero;
	const struct func_place *places;	/* of func_same_place */
	struct codename *code;	/* of func_named, or NULL */
};

struct func_place {
	struct func *fn;
	uint64_t slide;		/* run-time - link-time address */
	int32_t section;	/* a number for each section of each object */
	bool entry;		/* the address of a function's symbol */
	const struct func_place *next;	/* of the function */
};

/*
 * Settings, to be made before the first func_place. The map is that of all
 * lookups; it may change, but not be replaced: an object's number is the map's.
 */
void func_map(struct objmap *);
void func_demangle(bool);	/* names as in the source; true at first */
void func_join(bool);		/* f.cold is f; false at first */
void func_skip_plt(bool);	/* stubs are skipped; true at first */

enum func_rule { RULE_SKIP, RULE_POP, RULE_TOGGLE, RULE_BEFORE, RULE_AFTER,
    RULE_ZERO, RULE_RECS, RULE_CALLERS };

/*
 * Apply a rule to the functions that match: * and ? are wild cards, NULL is
 * all functions. Rules come before the first call of func_place.
 */
void func_rule(enum func_rule, const char *pattern, uint32_t n);
/* Was there no function that this pattern matches? */
bool func_rule_idle(enum func_rule, const char *pattern);

/*
 * Find the place of a run-time address. Return the run-time address where the
 * function, or code without a symbol, ends: up to there no function begins.
 * Takes some 100 ns, but reads the symbols of an object first.
 */
uint64_t func_place(uint64_t addr, struct func_place *);
/*
 * The same, but code without a symbol has a function that stands for all such
 * code of its section, as long as no rule could tell them apart: most of it is
 * never entered as a function. func_in_gap makes the function of an address;
 * others are returned as they are.
 */
uint64_t func_place_or_gap(uint64_t addr, struct func_place *);
const struct func_place *func_in_gap(const struct func_place *, uint64_t addr);
/* Is it in a stub that is skipped? */
bool func_is_stub(uint64_t addr);
/* Return a permanent copy. */
const struct func_place *func_same_place(const struct func_place *);
/* Are they parts of one function? Compilers split off cold parts. */
bool func_same(const struct func *, const struct func *);
/*
 * Code made at run time was replaced in [start, end): what is there from now on
 * are other functions.
 */
void func_replaced(uint64_t start, uint64_t end);
/* The name of such a function, once it is known; the first one stays. */
void func_named(struct func *, struct codename *);
/*
 * Make a function that obeys the rules but that func_place does not find. start
 * is link-time, ob as in struct func; the name is not copied.
 */
struct func *func_new(uint32_t ob, uint64_t start, const char *name);
const char *func_object(uint32_t ob);	/* its path */
/*
 * The name of a function that was made here and is known to switch stacks, as
 * schedulers of coroutines do; or NULL.
 */
const char *func_switch(void);

#endif
