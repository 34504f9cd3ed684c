/*
 * trace - what the parts of our side share
 *
 * main.c sets the options and waits for the end; launch.c starts a process
 * and puts the runtime into it; serve.c answers the guest's threads from the
 * main thread; format.c writes the stream in a thread of its own.
 */
#ifndef TRACE_H
#define TRACE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/decode.h"
#include "xlate/emit.h"
#include "shared.h"

enum kind { KIND_ALL, KIND_BLOCKS, KIND_CACHE, KIND_COUNTS, KIND_NONE,
	KIND_SKIP,	/* none, but instructions are counted down: for --after */
	KIND_OUT };	/* none, until a function begins a window */
enum cpu { CPU_NATIVE, CPU_V2, CPU_V3, CPU_V4 };
enum debug { DEBUG_NOLINK = 1, DEBUG_TINY = 2, DEBUG_NOSUPER = 4,
	DEBUG_LONG = 8 };

struct options {
	enum kind kind;
	enum cpu cpu;
	uint64_t interval;
	uint64_t after, during;	/* the window, in instructions; 0: no bound */
	enum kind window;	/* kind inside of it */
	uint64_t last;		/* keep so many bytes of records; 0: tell all */
	unsigned sets, ways;	/* kind cache: of its table */
	unsigned lineshift;	/* log2 of a line's bytes */
	unsigned debug;		/* bits of enum debug */
	int vdso;		/* 0: hidden from the program */
	int aslr;
	int verbose;
	int follow;
	pid_t pid;		/* attach to this process; or 0 */
	const char *adopt;	/* which process, see adopt.c; or NULL */
	const char *out;	/* a file, or NULL */
	int out_fd;		/* or this descriptor, where it is >= 0 */
	const char *guest_out;	/* where the program's own output goes, or NULL */
};
extern struct options opt;

/* What -v tells at the end. */
struct stats {
	uint64_t fragments, insns, guestbytes, codebytes, flushes, requests;
	uint64_t translate_ns, records;
	int refused;		/* the program was let go: no end mark */
};
extern struct stats stats;

/* area.c: the memory file, and our mapping of it */
/* An array that grows: so many bytes of it are in use, so many have pages. */
struct grown {
	const uint8_t *base;
	uint64_t size, used, made;
};
enum { GROW_ZONE0, GROW_ZONE1, GROW_FRAGS0, GROW_FRAGS1, GROW_MAPS, GROW_PCS,
	GROW_EXITS, NGROW };

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
	uint32_t *tabfrag;	/* fragment of each table entry */
	uint64_t blob;		/* guest address of the runtime */
	uint64_t miss;		/* what an empty lookup word leads to */
	uint8_t *bufs;
	uint32_t nmap, nexit, npc;	/* used */
	uint32_t maxmap, maxexit, maxpc, maxfrag;
};
extern struct area area;
/* Sizes and offsets; each step of `shrink` halves what can be halved. */
void area_sizes(unsigned shrink);
#define AREA_BLOB (256u << 10)	/* behind the segments: the runtime */
/* Map a new memory file, given by descriptor, as area_sizes laid it out. */
void area_open(int fd);
void area_close(void);
/* What has grown gets pages, some in advance: for when there is time. */
void area_grow(void);
/* Bytes of zone z used by fragments so far. */
extern uint32_t zone_used[2];

/* launch.c */
struct process {
	pid_t pid;
	pid_t tid;		/* the thread that remote calls are made in */
	int mem;		/* /proc/PID/mem */
	int pidfd;
};
extern struct process guest;
/* Start argv; returns when it is stopped before its first instruction. */
void launch(char *const argv[]);
/* At that stop: a 32-bit program; it has been let go natively. */
bool launch_is_foreign(void);
/* Put the runtime into a process at that stop; then it runs on. */
void launch_inject(void);
/* A thread asks to exec: 0, the new image will be taken over; 1: it will not. */
int launch_exec(uint64_t path, pid_t tid, uint64_t dirfd, uint64_t flags);
void launch_exec_failed(pid_t tid);
/* 1: the file would give the program other rights. */
int launch_is_setid(uint64_t path, uint64_t dirfd);
/* Look whether the exec under way has happened. */
void launch_exec_poll(void);
extern volatile int exec_pending;

/* follow.c: a process of trace's for each child of the program */
void follow_options(int argc, char *const argv[]);
/* Have the child followed; 1: it is not. */
int follow_child(pid_t, int shares);
/* 1: the process that ended was one of these. */
int follow_ended(pid_t);
/* Send it to all of these. */
void follow_signal(int);
/* Until they all have. */
void follow_wait(void);

/* adopt.c: a process that is not our child */
/* By the argument of --adopt: seize it; its command line, or NULL: nothing to follow */
char **adopt(const char *spec);
/* The runtime into it. */
void adopt_inject(void);
/* As wait(2) has it, once it has ended. */
int adopt_status(void);
/* Of guest.pid. */
char **process_command(void);

/* attach.c: a process that runs already */
void attach(pid_t);
void attach_inject(void);
/* detach.c: it was let go; nothing of ours shall be left in it. */
void detach(void);

/* main.c: the process ended thus */
void guest_status(pid_t, int st);

/* blob.S */
extern const uint8_t runtime_blob[], runtime_blob_end[];

/* maps.c: the guest's mappings, and its code as bytes */
void maps_start(void);
/* Look again at [start, end): what was mapped there may have changed. */
void maps_changed(uint64_t start, uint64_t end);
/* 1: the bytes at pc can change without a system call that says so. */
int maps_volatile(app_pc pc);
/* Up to n bytes of code at pc, as long as they are executable. */
unsigned maps_code(app_pc pc, uint8_t *buf, unsigned n);
void maps_forget(void);

/* collect.c: a superblock's instructions */
struct piece {
	app_pc start, end;
};
#define MAX_PIECES 48u
struct block {
	struct insn in[MAX_INSN];
	uint8_t taken[MAX_INSN];	/* conditional branches: on at their target */
	unsigned n;
	app_pc pc;
	app_pc next;		/* behind the last instruction */
	int is_volatile;	/* its bytes are compared at each entry */
	enum exit_kind end;	/* why it ends, where no branch says so */
	unsigned npiece;	/* of code, where it does not go straight on; else 0 */
	struct piece piece[MAX_PIECES];
	uint8_t code[COLD_INSN * 15];	/* of a straight one */
};
/* By mode, enum mode.  -1: no code at pc at all. */
int block_collect(struct block *, app_pc pc, unsigned mode);
/* Along a path; -1: it cannot be, or does not pay. */
struct path;
int block_follow(struct block *, app_pc pc, const struct path *);

/* hot.c: where blocks go on over branches that are taken */
struct path {
	uint8_t ninsn;		/* it ends behind as many, at most */
	uint64_t taken;		/* bit k: the conditional branch k is */
};
/* The path for the fragment at pc, or NULL. */
const struct path *hot_path(app_pc pc);
void hot_forget(app_pc pc);
void hot_forget_all(void);
void hot_forget_some(uint32_t id);
/* In the formatter: look at some of these records. */
void hot_sample(const uint32_t *a, const uint32_t *b);
/* In the serving thread: there is something to do; do one piece of it. */
int hot_pending(void);
int hot_work(void);
int hot_wanted(void);

/* window.c: functions that begin and end windows */
void window_add(const char *fn, unsigned which);	/* WINDOWS_FROM or _TO */
/* WINDOWS_* bits of what was added. */
unsigned window_bits(void);
/* Code of a file, from offset `off`, is at [start, end) / no more. */
void window_mapped(uint64_t start, uint64_t end, uint64_t off,
    const char *path);
void window_unmapped(uint64_t start, uint64_t end);
/* 1: in this mode a window begins or ends at pc. */
int window_at(app_pc pc, unsigned mode);
/* Say which functions were never there. */
void window_tell(void);

/* groups.c: which references share a recorded address */
struct refgroup {
	uint8_t group;		/* or NOGROUP */
	uint8_t first;		/* records the group */
	uint8_t plain;		/* the base register's value is recorded */
	uint8_t count;		/* group of the count of a repeated one, or NOGROUP */
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
/* Shortens the block where it would need too many groups. */
void groups_find(struct groups *, struct block *);

/* text.c: a block's items, packed; returns how many bytes */
#define TEXT_MOST (MAX_INSN * (EVPACK_INSN + 16 * EVPACK_REF))
size_t text_pack(uint8_t *, const struct block *, const struct groups *);

/* frag.c: fragments by guest pc, links, ids */
void frag_start(void);
/* Entry of the fragment for pc, translated if need be; 0: no code there. */
uint64_t frag_get(app_pc pc, unsigned mode);
/* The same, and link exit `exitno` (or ~0); what is near follows, below. */
uint64_t frag_request(app_pc pc, uint64_t exitno, unsigned mode);
/* One fragment that the guest has not asked for; 0: none is wanted. */
int frag_ahead(void);
/* The code at pc is not what was translated: forget that fragment. */
void frag_stale(app_pc pc, unsigned mode);
/* The fragment for pc, if there is one, is made anew. */
void frag_again(app_pc pc);
/* Forget what covers [start, end). */
void frag_kill(uint64_t start, uint64_t end);
/*
 * For a thread stopped inside a block, given by its definition's number, after
 * n of its instructions: the id that tells them (0: none) and in *sizes, 16
 * bits each, bytes of its record, offset of a repeated one's count, 32: of the
 * block's.
 */
uint32_t def_partial(uint32_t def, unsigned n, unsigned rep, uint64_t *sizes);
/* The id that tells that a line of code ('i') or data ('d') leaves. */
uint32_t def_leave_id(char which);
void frag_reset(void);
void frag_flush(void);
/* --after is over: from here on fragments tell what they do. */
void frag_window(void);
/* All threads are to go on natively, at their next exits. */
void frag_letgo(void);
#define AHEAD 2u		/* fragments made for one miss, with its own, at most */

/* serve.c */
/* Until the program ended; 1: it was let go, and we are done. */
int serve(void);
/* Wait until the slot's thread is outside of the cache. */
void serve_quiesce(struct slot *);
void serve_wake(void);
/* From a signal's handler: let the program go. */
void serve_stop(void);

/* format.c */
void format_start(char *const argv[]);
/* Lines from our side, in order with what was queued before. */
void format_text(char *lines);
/* 1: the window's instructions have all been written. */
extern volatile int format_full;
extern volatile int format_lost;	/* errno of a write that failed, or 0 */
void format_begin(void);
/* Before format_begin: lines to write first. */
void format_replace(char *lines);
void format_drain(void);
uint32_t format_extent(uint32_t from, uint32_t end);
/* `H I1`, `H D1`, `H LL` of this machine. */
void format_caches(void);
/* Of each counter: its id, and the instructions that it tells; how many. */
extern uint32_t format_countid[COUNT_IDS];
extern uint8_t format_ninsn[1u << 24];
extern uint32_t format_ncount;
void format_end(const char *how, int status, int whole);
struct evw;
extern struct evw *format_writer;

/* cpu.c */
void cpu_model(enum cpu);
int cpu_parse(const char *name, enum cpu *);
/* The auxiliary vector of a program that sees the model. */
void cpu_auxv(uint64_t (*auxv)[2], unsigned n);

/* Status of a run that trace itself could not do. */
#define STATUS_TROUBLE 125

#endif
