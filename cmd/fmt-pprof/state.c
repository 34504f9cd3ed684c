/*
 * state - the stacks, their names and places, and the options
 */
#include "pprof.h"

struct costnames *names;
struct places *places;
struct stacks *stacks;
bool opt_instr, opt_inline = true;
