/*
 * code - the program's code: what is mapped, and what its blocks are
 *
 * decode.c	bytes to one struct insn; classify.c, operands.c, template.c
 * maps.c	what is mapped executable, and the bytes there
 * window.c	functions that begin and end windows (--from, --to)
 * block.c	a superblock's instructions
 * groups.c	which references of a block share a recorded address
 * text.c	a block as the stream's writer takes it
 */
#ifndef CODE_H
#define CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "code/decode.h"

/* --------------------------------------------------------------------- maps */

/*
 * Look again at [start, end): what was mapped there may have changed.  Returns
 * M and U lines that say so, to be freed, or NULL.
 */
char *maps_changed(uint64_t start, uint64_t end);
/* All of a new image, likewise. */
char *maps_start(void);
/* The image is gone (exec): nothing is mapped any more. */
void maps_forget(void);
/* The bytes at pc can change without a system call that says so. */
bool maps_volatile(app_pc pc);
/* Up to n bytes of code at pc, as long as they are executable. */
unsigned maps_code(app_pc pc, uint8_t *buf, unsigned n);

/* ------------------------------------------------------------------ windows */

/* A function, by name or 0x address; WINDOWS_FROM or WINDOWS_TO. */
void window_add(const char *fn, unsigned which);
/* Code of a file, from offset `off`, is at [start, end) / no more. */
void window_mapped(uint64_t start, uint64_t end, uint64_t off,
    const char *path);
void window_unmapped(uint64_t start, uint64_t end);
/* In this mode a window begins or ends at pc. */
bool window_at(app_pc pc, unsigned mode);
/* From here on: before --after is over there are no windows. */
void window_enable(bool);
/*
 * Say which functions were never there.  False: of --from, or of --to, there
 * was none, so what is told is not what was asked for.
 */
bool window_tell(void);

/* ------------------------------------------------------------------- blocks */

/* A way that a block takes over branches, jumps, calls and returns. */
struct path {
	uint8_t ninsn;		/* it ends behind as many, at most */
	uint64_t taken;		/* bit k: the conditional branch k is */
};

struct piece {
	app_pc start, end;
};
#define MAX_PIECES 48u
#define MAX_CALLS 15u		/* inside a block */

struct block {
	struct insn in[MAX_INSN];
	uint8_t taken[MAX_INSN];	/* conditional branches: on at their target */
	unsigned n;
	app_pc pc;
	app_pc next;		/* behind the last instruction */
	bool is_volatile;	/* its bytes are compared at each entry */
	enum exit_kind end;	/* why it ends, where no branch says so */
	unsigned npiece;	/* of code, where it does not go straight on; else 0 */
	struct piece piece[MAX_PIECES];
	uint8_t code[COLD_INSN * 15];	/* of a straight one */
};
/* By mode, enum mode.  -1: no code at pc at all. */
int block_collect(struct block *, app_pc pc, unsigned mode);
/* Along a path; -1: it cannot be, or does not pay. */
int block_follow(struct block *, app_pc pc, const struct path *);

/* ------------------------------------------------------------------- groups */

struct refgroup {
	uint8_t group;		/* or NOGROUP */
	uint8_t first;		/* records the group */
	uint8_t plain;		/* the base register's value is recorded */
	uint8_t count;		/* group of the count of a repeated one, or NOCOUNT */
	int64_t dist;		/* reference minus the group's value */
};
#define NOGROUP 0xff
#define NOCOUNT 0xff
struct groups {
	struct refgroup ref[MAX_INSN][3];
	uint8_t used[MAX_INSN + 1];	/* groups used by the first i instructions */
	uint8_t gather[MAX_INSN];	/* first of the groups of a gather */
	unsigned n;
};
/* For a kind of events; shortens a block that would need too many groups. */
void groups_find(struct groups *, struct block *, const struct kind *);

/* A block's items, packed for lib's writer; returns how many bytes. */
#define TEXT_MOST (MAX_INSN * (EVPACK_INSN + 16 * EVPACK_REF))
size_t text_pack(uint8_t *, const struct block *, const struct groups *,
    const struct kind *);

#endif
