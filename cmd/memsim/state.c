/*
 * state - the machine under way: its cores, the access, tallies
 */
#include "memsim.h"

struct core *core;
unsigned ncore;
struct core *cpu;
const struct machine *machine;
bool many_cores;
struct tally tally[MOST_PARTS];
uint64_t memory_written;
struct access now;
