/*
 * state - the stacks that are read, their names and places, and the options
 */
#include "pprof.h"

struct costnames *names;
struct places *places;
struct stacks *stacks;
int opt_instr, opt_inline = 1;
