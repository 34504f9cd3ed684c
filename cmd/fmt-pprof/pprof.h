/*
 * pprof.h - what the parts of fmt-pprof share
 *
 *	main.c	options; makes samples of stacks
 *	state.c	the stacks and the options
 *	where.c	objects, functions and locations, each once
 *	order.c	the order of samples
 *	pack.c	compresses messages
 */
#ifndef PPROF_H
#define PPROF_H

#include <stdbool.h>
#include <stdint.h>

struct costnames;
struct out;
struct places;
struct stacks;

/* ---- state.c ---- */

extern struct costnames *names;
extern struct places *places;
extern struct stacks *stacks;
extern bool opt_instr, opt_inline;

/* ---- where.c ---- */

/* Ids are from 1, in the order of first use. */
void where_init(void);
/* Give an object the next id: the program must have the first one. */
void where_object(uint32_t ob);
/* The id of a location in a function of the stacks. */
uint64_t where_location(uint32_t node, uint64_t addr, uint32_t file,
    uint32_t line);
/* The id of a location's function, inlined in the one before; 0: no more. */
uint32_t where_function(uint64_t location, uint32_t i);
/* Pack all objects, functions and locations. */
void where_pack(void);

/* ---- order.c ---- */

/* Add a visit, a caller before its callees; site: the call's location. */
void order_visit(uint32_t visit, uint32_t up, uint64_t site);
/* The visit has a sample at a location. */
void order_add(uint32_t visit, uint64_t location);
/* The point of that sample. */
uint32_t order_at(uint32_t visit, uint64_t location);
/* Tell all points in order, each with all visits that have samples there. */
void order_each(void (*tell)(uint32_t point, uint32_t visit));

/* ---- pack.c ---- */

/* Begin; what is packed goes to out, compressed. */
void pack_open(struct out *);
/* A string's index in the profile's table. */
int64_t pack_string(const char *);
/* Pack a message with some of the profile's fields. */
struct PprofProfile;
void pack_message(const struct PprofProfile *);
/* Pack the table of strings, and end. */
void pack_close(void);

#endif
