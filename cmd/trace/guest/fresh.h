/*
 * fresh.h - a new image at the stop behind exec, as the kernel has made it
 */
#ifndef FRESH_H
#define FRESH_H

#include <linux/prctl.h>
#include <sys/user.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MMAP_AREA 0x680000000000ull	/* no program is as high, at random */
#define FRESH_PAD 8192u			/* bytes that are random, at most */

/* A program that is linked for one place, or one for any; the rest of it. */
enum { FIXED, PROGRAM, LOADER, VDSO, STACK, NGROUP };

/* Mappings that belong together; both 0: there are none. */
struct group {
	uint64_t start, end;
};

/* A mapping. */
struct piece {
	uint64_t start, end;
	unsigned group;
};

/* What the kernel has put on the stack below the strings. */
struct low {
	uint64_t *word;		/* argc, argv, envp, auxv, random bytes */
	size_t n;
	size_t auxv, nauxv;	/* where it begins; words with AT_NULL */
	uint64_t sp, end;
	uint64_t up;		/* random bytes between the end and strings */
};

struct fresh {
	struct group group[NGROUP];
	struct piece *piece;	/* by address */
	size_t n, cap;
	struct prctl_mm_map mm;	/* without auxv */
	struct low low;
	struct user_regs_struct r;
	uint64_t align;		/* of the program's file, in bytes */
	bool movable;		/* it may lie anywhere */
};

/* Read it from guest.tid; false: errno says what is missing. */
bool fresh_read(struct fresh *);
/* Free what it holds. */
void fresh_free(struct fresh *);
/* The value of an entry of the auxiliary vector; NULL: there is none. */
uint64_t *fresh_auxv_entry(const struct fresh *, uint64_t type);

#define FRESH_AUXV 64u
/*
 * Read the auxiliary vector, which lies behind argc, argv and envp at sp: its
 * address, and how many entries it has before AT_NULL, FRESH_AUXV at most.
 */
unsigned fresh_auxv(uint64_t sp, uint64_t *at, uint64_t (*entry)[2]);

#endif
