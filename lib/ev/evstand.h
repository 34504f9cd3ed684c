/*
 * evstand.h - standing outcomes, `O @id' lines; inside lib only
 *
 * A caller that does not know them gets what they stand for: a batch of
 * executions ends behind each one that has events, and an O line follows.
 */
#ifndef EVSTAND_H
#define EVSTAND_H

#include "ev.h"

/* What stands for an id: a line "O n events", or NULL. */
struct evstand_line {
	char *line;
	uint32_t len, n;
	uint32_t events;	/* where they begin in it */
};

struct evstand {
	bool known;		/* the caller takes them as they are */
	struct evstand_line *line;	/* by the reader's id */
	size_t cap;
	uint32_t n;		/* ids that have one */
	/* a batch of which the caller has only a part so far */
	const uint64_t *rec, *end;
	uint64_t rounds;	/* of rec that are left, if it has several */
	uint32_t last;		/* id whose O line comes next, or 0 */
	uint64_t one[1 + 256];	/* a round of rec */
};

/* Free what it holds; it begins as zeros. */
void evstand_close(struct evstand *);
/* From here on an id has these events, of its instruction n; "": none. */
void evstand_set(struct evstand *, uint32_t id, uint32_t n,
    const char *events);
/* A batch was read: it is to be told in parts. */
void evstand_begin(struct evstand *, const struct ev *);

/* Is anything of a batch left? */
static inline bool
evstand_left(const struct evstand *s)
{
	return s->rec < s->end || s->last != 0;
}

/* The next part: executions, the last one of *id; or an O line of *id. */
int evstand_next(struct evstand *, struct ev *, uint32_t *id);

#endif
