/*
 * state - what the command line and the stream's head say, and the epoch
 */
#include "dataprof.h"

struct dataprof dp = { .depth = 6 };
uint64_t epoch = 1;
