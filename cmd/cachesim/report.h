/*
 * report.h - what report.c needs to know
 */
#ifndef REPORT_H
#define REPORT_H

#include "cachesim.h"
#include "simhead.h"

struct out;
struct objmap;
struct outcomes;

struct report {
	struct evr *events;
	struct objmap *map;
	struct outcomes *told;	/* by stages before this one */
	struct simhead head;	/* of the stream */
	struct geometry geometry[NCACHE];
	int each;		/* count rounds of repeated instructions */
	int whole;		/* the stream was: write the end mark */
};

/* A cache in words, as Cachegrind describes it. */
const char *report_cache(const struct report *, int cache);
/* The reader may get ready for costs of this object. */
void report_object(struct out *o, const struct report *, const char *path);
/* Write all costs to o, or only sum them up where o is NULL. */
void report_costs(struct out *o, const struct report *);
/* The summary on standard error, after report_costs. */
void report_summary(void);

#endif
