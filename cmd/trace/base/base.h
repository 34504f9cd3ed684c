/*
 * base - what every layer of trace may use
 *
 * options.c	the command line's choices, const once it was read
 * process.c	the program's process, and how it ended
 * area.c	the memory file that we share with it
 * bell.c	waking the serving thread
 * trust.c	what the guest must not do to it
 */
#ifndef BASE_H
#define BASE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared.h"

/* Status of a run that trace itself could not do. */
#define STATUS_TROUBLE 125

/* -------------------------------------------------------------------- kinds */

struct xlate;

/* Which references a kind tells. */
enum refs {
	REFS_NONE,
	REFS_STACK,		/* where calls and returns are on the stack */
	REFS_ALL
};

/*
 * A kind of events: what is told, and what a fragment does for it.  The rows
 * are in xlate/kinds.c; a function that is NULL has nothing to do.
 */
struct kind {
	const char *name;	/* of -e and H kind; NULL: cannot be asked for */
	const char *help;	/* how -e spells its parameters, or NULL */
	enum refs refs;
	bool tells;		/* blocks have definitions and ids */
	bool records;		/* each execution is a record, in their order */
	bool alone;		/* each reference is a record of its own */
	bool counters;		/* executions are counted, by id */
	bool intervals;		/* and told at the end of each interval */
	bool outside;		/* of code outside of windows */
	bool late;		/* an exit uses registers that are at home */
	/* Before instruction x->i: record its references. */
	void (*refer)(struct xlate *);
	/* The address of element e of a gather is in register s, 0: none. */
	void (*element)(struct xlate *, unsigned e, int s);
	/* Before and behind a repeated string instruction. */
	void (*rep_before)(struct xlate *);
	void (*rep_after)(struct xlate *);
	/* At exit e: tell what ran. */
	void (*tell)(struct xlate *, unsigned e);
	/* Out of line parts of all these. */
	void (*cold)(struct xlate *);
};

/* ------------------------------------------------------------------ options */

enum cpu { CPU_NATIVE, CPU_V2, CPU_V3, CPU_V4 };
enum debug { DEBUG_NOLINK = 1, DEBUG_TINY = 2, DEBUG_NOSUPER = 4,
	DEBUG_LONG = 8, DEBUG_FEWCOUNTS = 16, DEBUG_FEWIDS = 32,
	DEBUG_DUMP = 64 };

struct options {
	const struct kind *kind;
	enum cpu cpu;
	uint64_t interval;
	uint64_t after, during;	/* the window, in instructions; 0: no bound */
	unsigned windows;	/* WINDOWS_* of --from and --to */
	uint64_t last;		/* keep so many bytes of records; 0: tell all */
	unsigned sets, ways;	/* kind cache: of its table */
	unsigned lineshift;	/* log2 of a line's bytes */
	unsigned debug;		/* bits of enum debug */
	uint64_t dump_pc;	/* DEBUG_DUMP: of this fragment; 0: of all */
	bool vdso;		/* false: hidden from the program */
	bool aslr;
	bool verbose;
	bool follow;
	pid_t pid;		/* attach to this process; or 0 */
	const char *adopt;	/* which process, see adopt.c; or NULL */
	const char *out;	/* a file, or NULL */
	int out_fd;		/* or this descriptor, where it is >= 0 */
	const char *guest_out;	/* where the program's own output goes, or NULL */
};
extern const struct options *const opt;
/* The same, to be set: before anything else runs. */
struct options *options_set(void);

/* What -v tells at the end. */
struct stats {
	uint64_t fragments, insns, guestbytes, codebytes, flushes, requests;
	uint64_t translate_ns, records;
	bool refused;		/* the program was let go: no end mark */
	bool full;		/* for there were no more ids: a file is kept */
};
extern struct stats stats;

/* ------------------------------------------------------------------ process */

struct process {
	pid_t pid;
	pid_t tid;		/* the thread that remote calls are made in */
	int mem;		/* /proc/PID/mem */
	int pidfd;
	bool seen;		/* it ended, as `status` says */
	int status;		/* as wait(2) has it */
};
extern struct process guest;
/* The process ended thus; others than the program's are ignored. */
void guest_status(pid_t, int st);
/* 1: the program's process is gone, told by a thread that watches it. */
extern volatile int guest_ended;
/* It is a thread of the process. */
bool guest_has_thread(pid_t tid);

/* ------------------------------------------------------------------- memory */

/* An array that grows: so many bytes of it are in use, so many have pages. */
struct grown {
	const uint8_t *base;
	uint64_t size, used, made;
};
enum { GROW_ZONE0, GROW_ZONE1, GROW_FRAGS0, GROW_FRAGS1, GROW_MAPS, GROW_PCS,
	GROW_EXITS, NGROW };

/* The memory file between the guest and us, as we have it mapped. */
struct area {
	struct grown grown[NGROW];
	int fd;
	uint8_t *seg[NSEG];
	struct boot boot;
	struct control *ctl;
	struct tabent *tab;
	uint64_t *ibl;
	struct fragmeta *frags[2];
	struct mapent *maps;
	int32_t *pcs;
	struct exitmeta *exits;
	uint32_t *tabfrag;	/* of each table entry: its fragment + 1, or 0 */
	uint64_t blob;		/* guest address of the runtime */
	uint64_t miss;		/* what an empty lookup word leads to */
	uint8_t *bufs;
	uint32_t nmap, nexit, npc;	/* used */
	uint32_t maxmap, maxexit, maxpc, maxfrag, maxcount;
	uint32_t zone_used[2];	/* bytes of each zone that fragments use */
	/* what we have told the guest in *ctl, where it could change it */
	uint32_t alive, letgo, gen, nrange, tabmask, nfrag[2];
};
extern struct area area;
/* Kind cache: the ids of a line of code, of data, that leaves its table. */
void area_leave_ids(uint32_t code, uint32_t data);
/* Sizes and offsets; each step of `shrink` halves what can be halved. */
void area_sizes(unsigned shrink);
#define AREA_BLOB (256u << 10)	/* behind the segments: the runtime */
/*
 * Map a new memory file, given by descriptor, as area_sizes laid it out;
 * skip: instructions to go until something is told, or 0.
 */
void area_open(int fd, uint64_t skip);
void area_close(void);
/* Threads shall go on natively: 1: soon, 2: now. */
void area_letgo(uint32_t);
/* They do: we said so, or they where we said that we cannot go on. */
bool area_is_left(void);
/* What only we write is as we wrote it. */
bool area_is_intact(void);
/* What has grown gets pages, some in advance: for when there is time. */
void area_grow(void);

/*
 * What lies in the memory file may change at any time: it is read once, into
 * a variable, which is checked.
 */
#define ONCE(x) (*(const volatile __typeof__(x) *)&(x))

/* -------------------------------------------------------------------- trust */

/*
 * The guest has written over what it shares with us: the run is over.  Says
 * so, once.
 */
void trust_lose(const char *what);
extern volatile int trust_lost;
/* While the guest makes us wait: false, it has had time enough, or it is over. */
struct patience {
	uint64_t last, waited;	/* ms */
};
bool trust_wait(struct patience *, const char *what);

/* --------------------------------------------------------------------- bell */

/* Wake the serving thread; async-signal-safe. */
void bell_ring(void);
/* Ring it if that thread sleeps. */
void bell_ring_sleeper(void);

#endif
