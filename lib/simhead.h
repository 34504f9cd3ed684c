/*
 * simhead.h - from H lines to the header of costs: what simulators keep
 *
 *	H cmd ./prog			cmd: ./prog
 *	H cpu v3			desc: CPU:              v3
 *	H desc D1 cache: 4096 B		desc: D1 cache: 4096 B
 *	E signal 2 99			desc: Interrupted:      by signal 2, ...
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

/* Keep an H line's value if it is one of these. */
void simhead_line(struct simhead *, const struct ev *);
/*
 * What a J line, or the E line, has to say of the run, or NULL: that it was
 * interrupted. The text is never freed.
 */
const char *simhead_end(const struct ev *);
/* Set the command, and append the descriptions. */
void simhead_put(const struct simhead *, struct cost_head *);

#endif
