/*
 * pprof.h - inside fmt-pprof
 *
 *	main.c	options; stacks to samples
 *	state.c	what all of them see
 *	where.c	objects, functions and places, each once
 *	pack.c	messages to compressed bytes
 */
#ifndef PPROF_H
#define PPROF_H

#include <stddef.h>
#include <stdint.h>

struct costnames;
struct out;
struct places;
struct stacks;

/* ---- state.c ---- */

extern struct costnames *names;
extern struct places *places;
extern struct stacks *stacks;
extern int opt_instr, opt_inline;

/* ---- where.c ---- */

/* Ids are from 1, in the order of first use. */
void where_init(void);
/* Objects that are told before others: the program first. */
void where_object(uint32_t ob);
/* A place in a function of the stacks; its id. */
uint64_t where_location(uint32_t node, uint64_t addr, uint32_t file,
    uint32_t line);
size_t where_nlocation(void);
/* All objects, functions and places, as messages. */
void where_pack(void);

/* ---- pack.c ---- */

void pack_open(struct out *);
/* A string's place in the table. */
int64_t pack_string(const char *);
/* A message with some of the profile's fields. */
struct PprofProfile;
void pack_message(const struct PprofProfile *);
/* The strings, and the end. */
void pack_close(void);

#endif
