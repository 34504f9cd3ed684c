/*
 * boot.h - how the runtime begins in a process, and how it leaves
 *
 * A part of shared.h.  trace writes a struct boot over the start of the
 * runtime's data: the segments of the memory file, and the guest's state.
 */
#ifndef BOOT_H
#define BOOT_H

#include <stdint.h>

/* Threads leave the code cache for good, when they can; and at once. */
enum letgo { LETGO_NOT, LETGO_SOON, LETGO_NOW };

/* CPUID of a model, for the emulation. */
struct cpuidrow {
	uint32_t leaf, subleaf;		/* subleaf ~0: any */
	uint32_t eax, ebx, ecx, edx;
};
#define NCPUID 64u

/* Segments of the memory file, filled by trace, read by the runtime's start. */
enum segment_number {
	SEG_CONTROL, SEG_TABLE, SEG_IBL, SEG_META, SEG_BUFFERS, SEG_ZONE0,
	SEG_ZONE1, SEG_COUNTERS, SEG_ARCS, NSEG
};

struct segment {
	uint64_t off;		/* in the memory file */
	uint64_t size;
	uint64_t addr;		/* in the guest; 0: where the kernel likes */
};

/* Parts of the META segment, by offset in it. */
struct metaparts {
	uint64_t frags[2];	/* struct fragmeta[], by zone */
	uint64_t maps;		/* bytes: map entries and pcs, by fragment */
	uint64_t exits;		/* struct exitkept[] */
	uint64_t calls;		/* struct exitcall[], with --contexts */
	uint64_t cpuids;	/* struct cpuidrow[NCPUID] */
};

/* The state of a guest's thread that is about to go on. */
struct guest_state {
	uint64_t gpr[16];
	uint64_t pc;
	uint64_t rflags;
	uint64_t fsbase, gsbase;
	uint64_t sigmask;
	uint64_t restart;	/* 1: first make the call in gpr, up to pc */
	uint64_t window;	/* its window, see WINDOW_OPEN; or 0 */
	uint64_t due;		/* --every: instructions until it ends, or the
				 * next one begins */
	uint64_t rseq;		/* its struct rseq, or 0, and the signature */
	uint64_t rseqsig;
};

/*
 * Attached processes: each thread but the first begins in the runtime at the
 * top of JOIN_SIZE bytes of stack, with its state at their start.
 */
#define JOIN_SIZE 16384u

/*
 * Of the META segment, a part that is mapped from an entry of the store, see
 * cache/kept.h, instead of the memory file: from its offset in the segment on.
 */
struct stored {
	uint64_t at, size;
	uint64_t off;		/* in the entry */
};
#define NSTORED 4u

/* As prlimit64(2) has it: the soft and the hard one. */
struct limit {
	uint64_t cur, max;
};

/* What the guest has set a limit to that counts our memory as well. */
struct set_limit {
	uint64_t is;		/* 1; 0: the kernel has what it wants */
	struct limit to;
};
enum { LIMIT_AS, LIMIT_DATA, NLIMIT };

/* What the runtime is started with: at the start of its data. */
#define NSEQUENCE 64u		/* restartable sequences, of an attached one */
struct boot {
	int32_t fd;		/* the memory file; closed by the runtime */
	uint32_t flags;
	struct segment seg[NSEG];
	struct metaparts meta;
	struct stored stored[NSTORED];
	uint32_t nstored;
	int32_t storedfd;	/* the entry, or -1; closed by the runtime */
	int32_t uffd;		/* of which trace has a copy, likewise; or -1 */
	uint64_t countbytes;	/* a thread's cells, counters, frames; or 0 */
	uint64_t ncount;	/* its counters */
	uint64_t sets, ways;	/* kind cache: of each thread's table; else 0 */
	uint64_t lineshift;	/* log2 of a line's bytes */
	uint64_t every, span;	/* see struct options */
	uint32_t leave[2];	/* heads of records: a line of code, of data,
				 * leaves the table */
	uint32_t alloc;		/* head of records of --allocs; 0: none */
	uint32_t frame;		/* and with --contexts: an arc entered, and its
				 * place; or 0, and how many frames were left */
	struct guest_state at;	/* the guest's, at its first instruction */
	uint64_t minframe;	/* bytes of the least alternate stack */
	uint64_t filled;	/* bytes that guest/relocate.c has mapped */
	struct set_limit limit[NLIMIT];	/* see runtime/limits.c */
	uint64_t blank;		/* T_SIZE unwritten bytes of the memory file, */
	uint64_t blankoff;	/* from this offset on */
	uint64_t addrbits;	/* of an address: 48, or 57 */
	uint64_t sequence[NSEQUENCE];	/* each its struct rseq_cs, or 0 */
	uint64_t rseqsig;	/* the signature of all of them */
	/* set by the runtime, for guest/detach.c, which takes threads out */
	uint64_t sysinsn;	/* behind the system call that is the guest's */
	uint64_t act;		/* the guest's actions by signal, four words */
	/* offsets in struct tarea */
	uint32_t pc, rflags, df, altstack, syncblocked;
};
/*
 * BOOT_HELD: this child waits to be taken over; `at` is its state.
 * BOOT_FREE_P: REG_P is the guest's, like any other register.
 * BOOT_NOTRAP: the program ignores SIGTRAP, but the kernel does not any more.
 * BOOT_ALLOCS: --allocs tells allocations, and where threads have their data.
 */
enum { BOOT_FOLLOW = 1, BOOT_COUNTS = 2, BOOT_CACHE = 4, BOOT_HELD = 8,
	BOOT_ATTACHED = 16, BOOT_RSEQ = 32, BOOT_CONTEXTS = 64,
	BOOT_TIMES = 128, BOOT_FREE_P = 256, BOOT_BRANCHES = 512,
	BOOT_ALLOCS = 1024, BOOT_NOTRAP = 2048 };

#endif
