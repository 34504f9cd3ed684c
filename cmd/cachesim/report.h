/*
 * report.h - what report.c tells of a run
 */
#ifndef REPORT_H
#define REPORT_H

#include "cachesim.h"

/* Call this first; each: count rounds of repeated instructions. */
void report_init(const struct insns *, bool each);
/* A cache in words, as Cachegrind describes it. */
const char *report_cache(int cache, const struct geometry *);
/* How often an id was executed: struct simulator's count. */
uint64_t report_count(uint32_t id);
/* Add an instruction's costs to n: struct simulator's add. */
void report_add(const struct insns_at *, int64_t *n);
/* The summary on standard error, once costs are known. */
void report_summary(const struct simrun *);

#endif
