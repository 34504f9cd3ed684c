/*
 * simhead.h - what simulators pass on of a run: from H lines to costs' headers
 *
 *	H cmd ./prog			cmd: ./prog
 *	H cpu v3			desc: CPU:              v3
 *	H desc D1 cache: 4096 B		desc: D1 cache: 4096 B
 */
#ifndef SIMHEAD_H
#define SIMHEAD_H

#include <stddef.h>

struct cost_head;
struct ev;

struct simhead {
	const char *cmd;	/* or NULL */
	const char **desc;
	size_t ndesc;
};

/* An H line: kept if it is one of these. */
void simhead_line(struct simhead *, const struct ev *);
/* The command, and descriptions behind those that are there. */
void simhead_put(const struct simhead *, struct cost_head *);

#endif
