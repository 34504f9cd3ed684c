/*
 * base.h - what every layer of trace may use
 *
 * options.c	the command line's choices, const once it has been read
 * process.c	the program's process, and how it ended
 * numbers.c	its threads' and children's numbers
 * area.c	the memory file that we share with it
 * bell.c	waking the serving thread
 * rivals.c	whether others want the processors
 * memfile.c	memory files, whatever the limit of a file's size
 * aside.c	writing to one while the caller goes on
 * trust.c	the end of a run whose guest has written over that memory
 * recursive.c	locks that their holder may take again
 */
#ifndef BASE_H
#define BASE_H

#include <sys/types.h>
#include <pthread.h>
#include <time.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot.h"
#include "record.h"

/* Exit status of a run that failed by trace's own fault, not the program's. */
#define STATUS_TROUBLE 125
/* That of a child's trace to its parent's: its stream, or command, failed. */
#define STATUS_COMMAND 124

/* -------------------------------------------------------------------- kinds */

struct xlate;

/* Which references a kind records. */
enum refs {
	REFS_NONE,
	REFS_STACK,		/* only the stack addresses of calls, returns */
	REFS_ALL
};

/*
 * What a block's first instructions do, with --contexts: data reads and writes,
 * but of those instructions that count theirs when they happen; and how many of
 * the instructions are repeated and write nothing.
 */
enum { DO_READ, DO_WRITE, DO_REPEAT, NDO };

/*
 * A kind of events: what the stream has, and what a fragment does for it.  The
 * rows are in xlate/kinds.c; a function that is NULL has nothing to do.
 */
struct kind {
	const char *name;	/* of -e and H kind; NULL: not for -e */
	const char *help;	/* how -e spells its parameters, or NULL */
	enum refs refs;
	bool tells;		/* blocks have definitions and ids */
	bool records;		/* each execution is a record, in order */
	bool paths;		/* hot blocks are made along their paths */
	bool alone;		/* each reference is a record of its own */
	bool counters;		/* executions are counted, by id */
	bool intervals;		/* counts are written after each interval */
	bool outside;		/* the kind of code outside of windows */
	bool late;		/* an exit uses registers that are at home */
	bool learns;		/* a predictor learns the branches */
	/* Before instruction x->i: record its references. */
	void (*refer)(struct xlate *);
	/* The address of element e of a gather is in register s, 0: none. */
	void (*element)(struct xlate *, unsigned e, int s);
	/* Code before and behind a repeated string instruction. */
	void (*rep_before)(struct xlate *);
	void (*rep_after)(struct xlate *);
	/* At exit e: record or count what ran. */
	void (*tell)(struct xlate *, unsigned e);
	/* Instead: store which exit it was, if it is indirect. */
	void (*note)(struct xlate *, unsigned e);
	/* The out of line parts of all these; behind the exits. */
	void (*cold)(struct xlate *);
	void (*behind)(struct xlate *);
};

/* The time of the monotonic clock, in ns. */
static inline uint64_t
clock_ns(void)
{
	struct timespec t = { 0, 0 };

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------------ options */

enum cpu { CPU_NATIVE, CPU_V2, CPU_V3, CPU_V4 };
/* At an exec: let go; go on in the same stream; begin another. */
enum exec { EXEC_NO, EXEC_SAME, EXEC_NEW };
enum debug { DEBUG_NOLINK = 1, DEBUG_TINY = 2, DEBUG_NOSUPER = 4,
	DEBUG_LONG = 8, DEBUG_FEWCOUNTS = 16, DEBUG_FEWIDS = 32,
	DEBUG_WATCH = 64, DEBUG_FEWCALLS = 128, DEBUG_HIDE = 256,
	DEBUG_DUMP = 512 };

struct options {
	const struct kind *kind;
	enum cpu cpu;
	uint64_t interval;
	uint64_t after, during;	/* the window, in instructions; 0: no bound */
	uint64_t every, span;	/* windows of `span' instructions, from the
				 * beginning of one to that of the next; or 0 */
	uint64_t first;		/* instructions before the first of them */
	double seconds;		/* let go after this time; 0: never */
	unsigned windows;	/* WINDOWS_* of --from, --to, requests */
	bool off;		/* --client-requests=off: at the start */
	bool allocs;		/* tell allocations and frees */
	bool times;		/* tell how long system calls took */
	uint64_t contexts;	/* at most so many of them; 0: none are told */
	bool each;		/* --rep=each: Valgrind's rounds and tests */
	bool writes;		/* calls write what they modify */
	uint64_t last;		/* keep so many bytes of records; 0: all */
	unsigned sets, ways;	/* kind cache: the shape of its table */
	unsigned lineshift;	/* log2 of a line's bytes */
	unsigned debug;		/* bits of enum debug */
	uint64_t dump_pc;	/* DEBUG_DUMP: only this fragment; 0: all */
	bool vdso;		/* false: hide it from the program */
	bool aslr;		/* addresses are random, and stay so */
	bool relocates;		/* they would be random: images are moved */
	bool verbose;
	bool follow;
	enum exec exec;
	pid_t pid;		/* attach to this process; or 0 */
	bool leaves;		/* we were attached, to it or to a parent of
				 * it: when we end it goes on */
	const char *adopt;	/* which process, see guest/adopt.c; or NULL */
	const char *image;	/* the same, see guest/follow.c; or NULL */
	bool adopted;		/* the process is not our child */
	const char *out;	/* the stream's file, "|COMMAND", or NULL */
	int out_fd;		/* its descriptor instead, or -1 */
	const char *guest_out;	/* the program's standard output, or NULL */
	const char *store;	/* the folder of --store, or NULL */
	uint64_t store_max;	/* its bytes, at most */
	const char *log;	/* where client requests print, or NULL */
	const char *control;	/* the FIFO that commands come by, or NULL */
	bool clear_env;		/* give the program only these variables: */
	const char *keep_env;	/* "NAME,NAME=VALUE,...", or NULL */
};
extern const struct options *const opt;

/* How a message ends that says that the program goes on natively. */
static inline const char *
stream_ends(void)
{
	return opt->kind->tells ? ", the stream ends here" : "";
}

/* Is a message due that is told once?  From now on it is not. */
static inline bool
is_first(bool *told)
{
	bool first = !*told;

	*told = true;
	return first;
}

/* Do fragments need REG_P for themselves?  Else the guest has it. */
bool opt_steals_p(void);
/*
 * Are blocks that run often made along their paths?  Not where an execution's
 * length would show, at the end of a window or interval, nor with contexts.
 */
bool opt_makes_paths(void);
/* Does -o give a command, not a file? */
bool output_is_command(void);
/* Does -o have %p, the process's number, in it? */
bool output_has_pid(void);
/*
 * variables.c: die if a name that an option gives has a %q{VAR} that expand
 * would die of, or none that may stand there; NULL: no name.
 */
void variables_check(const char *option, const char *name);
/* The same options, for the command line to set before anything else runs. */
struct options *options_set(void);

/* What -v shows at the end. */
struct stats {
	uint64_t fragments, insns, guestbytes, codebytes, flushes, requests;
	uint64_t records;
	uint64_t timed_ns, timed_fragments;	/* of some, see frag.c */
	uint64_t watched, written;	/* pages watched; writes into them */
	uint64_t kept;		/* fragments that the store had */
	uint64_t links;		/* exits linked to a fragment, each time */
	uint64_t again;		/* fragments made for lookup words, too */
	uint64_t missed;	/* area_missed() of earlier images */
	uint64_t windows;	/* that --every began in these */
	bool refused;		/* the program was let go: no end mark */
	bool refused_exec;	/* the same, unless its exec fails */
	bool full;		/* because ids ran out: the file is kept */
};
extern struct stats stats;

/* ------------------------------------------------------------------ process */

struct process {
	pid_t pid;
	pid_t tid;		/* its thread that makes remote calls */
	int mem;		/* /proc/PID/mem */
	int pidfd;
	int uffd;		/* tells its faults on watched pages; or -1 */
	bool seen;		/* it ended, as `status` says */
	int status;		/* as wait(2) has it */
};
extern struct process guest;
/*
 * Called once the process has ended while it was stopped for us; it does not
 * come back.
 */
extern void (*guest_gone)(void);
/*
 * The process cannot be reached.  If it has been killed, the run ends as it did
 * (guest_gone); else die with this message.
 */
_Noreturn void guest_lost(const char *doing);
/* Note how the process ended; does nothing for any other process. */
void guest_status(pid_t, int st);
/*
 * Read a file of /proc/PID as text, as far as there is room; how many bytes
 * that are.
 */
size_t guest_file(const char *name, char *text, size_t size);
/*
 * Open a file of /proc/PID instead of the descriptor *fd, which is closed if it
 * is one; false: *fd is -1, and errno says why.
 */
bool guest_reopen(int *fd, const char *name, int flags);
/* The same as guest_file of any file, by its path. */
size_t file_text(const char *path, char *text, size_t size);
/*
 * Read a field of a thread's or the process's status into `value', cut to size;
 * false: it has none.
 */
bool task_field(pid_t tid, const char *name, char *value, size_t size);
/* In the text of stat, a thread's or the process's: its state, a letter. */
const char *guest_state(const char *stat);
/* Set by the thread that watches the program's process, once it is gone. */
extern _Atomic bool guest_ended;
/*
 * Our number of what the program knows as its thread tid, or as its child; -1:
 * it has none such.
 */
pid_t guest_thread(pid_t tid);
pid_t guest_child(pid_t pid);
/* The same by what the child calls itself, perhaps in another namespace. */
pid_t guest_child_itself(pid_t pid);
/* The number by which the program knows its own process; 0: it is gone. */
pid_t guest_own_number(void);
/*
 * Make our numbers of those by which the program knows a process, its own or
 * one that shares its memory, and a thread of that.  false: there is none.
 */
bool guest_task(pid_t *pid, pid_t *tid);
/*
 * Was the slot's thread killed, alone: a process that shares the program's
 * memory, or by a filter?
 */
struct slot;
bool slot_is_dead(const struct slot *);
/*
 * The letter that /proc has for the state of a process or thread, by our
 * number; 0: there is none.
 */
char task_state(pid_t);
/* Has it ended, or is it ending, and only its name left? */
bool task_is_dead(pid_t);
/* Is it a thread of the kernel's, as io_uring makes them in a process? */
bool task_is_kernels(pid_t);

/* ------------------------------------------------------------------- memory */

/* An array that gets its pages as it grows; all in bytes. */
struct grown {
	const uint8_t *base;
	uint64_t size;		/* of the address range */
	uint64_t used, made;	/* used so far; those that have pages */
	uint64_t step;		/* pages that it got last */
};
enum { GROW_ZONE0, GROW_ZONE1, GROW_FRAGS0, GROW_FRAGS1, GROW_MAPS,
	GROW_EXITS, GROW_CALLS, NGROW };

/* The memory file between the guest and us, as we have it mapped. */
struct area {
	struct grown grown[NGROW];
	int fd;
	uint8_t *seg[NSEG];
	struct boot boot;
	struct control *ctl;
	uint32_t *tab;		/* tables of all sizes, see find.h */
	uint32_t *tabowner;	/* of their entries; NULL without --contexts */
	uint64_t *ibl;
	struct fragmeta *frags[2];
	uint8_t *maps;
	struct exitkept *exits;
	struct exitcall *calls;	/* of exits; NULL without --contexts */
	uint64_t blob;		/* guest address of the runtime */
	uint64_t miss;		/* what an empty lookup word leads to */
	uint64_t called;	/* and an arc without code */
	uint64_t returned;	/* and a frame without a landing */
	struct ctx_arc *arcs;	/* the guest makes some of these, too */
	struct ctx_state *states;
	struct ctx_heads *heads;
	uint8_t *bufs;
	uint32_t nmap, nexit;	/* used; nmap: bytes */
	uint32_t maxmap, maxexit, maxfrag, maxcount;
	uint32_t zone_used[2];	/* bytes of each zone that fragments use */
	uint64_t remaining;	/* of --for, where executions are counted */
	/* copies of what we wrote to *ctl, where the guest could change it */
	uint32_t alive, letgo, gen, nrange, tabmask, nfrag[2];
};
extern struct area area;
/*
 * Kind cache: set the ids that say that a line of code, of data, left; and with
 * --contexts that of records about frames.
 */
void area_ids(uint32_t code, uint32_t data, uint32_t frame);
/* Set the id of records of --allocs. */
void area_alloc_id(uint32_t id);
/* Are instructions, reads and writes counted for calling contexts? */
static inline bool
counts_refs(void)
{
	return opt->kind->alone && opt->contexts != 0;
}
/* Do calls cost each round of a repeated instruction? */
static inline bool
counts_each(void)
{
	return opt->each && opt->contexts != 0;
}
/* Choose sizes and offsets; each step of shrink halves what can be halved. */
void area_sizes(unsigned shrink);
/* Behind the segments: the runtime's bytes, then T_SIZE that nobody writes. */
#define AREA_BLANK (256u << 10)
#define AREA_BLOB (AREA_BLANK + T_SIZE)
/*
 * Map a new memory file, given by descriptor, as area_sizes laid it out;
 * skip: instructions before the first that is recorded, or 0.
 */
void area_open(int fd, uint64_t skip);
/* Whoever waits for us in the program goes on natively, as if we had died. */
void area_abandon(void);
/* It has been called: what is written over there tells nothing any more. */
extern _Atomic bool area_abandoned;
/* Unmap and close it, and let the threads go on natively. */
void area_close(void);
/* No slot from this one on has ever been a thread's. */
unsigned area_slots(void);
/* Indirect transfers of this image that no lookup word led on, so far. */
uint64_t area_missed(void);
/* Let the threads go on natively. */
void area_letgo(enum letgo);
/* They do: by our word, or by their own after we refused to go on. */
bool area_is_left(void);
/* Whether what only we write is still as we wrote it. */
bool area_is_intact(void);
/* Give pages to what has grown, some in advance; called when there is time. */
void area_grow(void);

/*
 * The guest may change the memory file at any time: read a word of it once,
 * into a variable, and check that.
 */
#define ONCE(x) (*(const volatile __typeof__(x) *)&(x))

/* -------------------------------------------------------------------- trust */

/*
 * The guest has written over what it shares with us, and the run is over: print
 * that, the first time.
 */
void trust_lose(const char *what);
extern _Atomic bool trust_lost;
struct patience {
	uint64_t last, waited;	/* ms; 0 at first */
};
/*
 * Called again and again while the guest makes us wait; false: it has had time
 * enough, which trust_lose is told with `what', or the run is over. A process
 * that is stopped has all the time it wants.
 */
bool trust_wait(struct patience *, const char *what);

/* ------------------------------------------------------------------ memfile */

/*
 * ftruncate() and pwrite() for the memory file FD, whatever RLIMIT_FSIZE is, as
 * long as it may be raised: else -1 and EFBIG.
 */
int memfile_size(int fd, uint64_t size);
ssize_t memfile_write(int fd, const void *buf, size_t n, uint64_t at);
/*
 * Allow files of SIZE bytes until memfile_lower() has been called as often.
 * Only the serving thread may call either.
 */
void memfile_lift(uint64_t size);
void memfile_lower(void);

/* -------------------------------------------------------------------- aside */

/* The bytes of n buffers, which stay as they are, to an offset of the file. */
struct iovec;
struct aside_part {
	const struct iovec *v;
	unsigned n;
	uint64_t at;
};

/* Zeroed, it is of nothing. */
struct aside {
	pthread_t thread;
	bool begun, has_thread;
	int error;		/* errno, or 0 */
	int fd;
	const struct aside_part *part;
	unsigned nparts;
};

/* Begin to write n parts, which stay as well, to the memory file. */
void aside_begin(struct aside *, int fd, const struct aside_part *, unsigned n);
/* Wait for their end, if any began; false: not all is written, see errno. */
bool aside_end(struct aside *);

/* --------------------------------------------------------------------- bell */

/* Wake the serving thread; async-signal-safe. */
void bell_ring(void);
/* Wake it if it sleeps. */
void bell_ring_sleeper(void);

/* ---------------------------------------------------------------- recursive */

/*
 * A lock that its holder may take again; all zero at first.  It is made when it
 * is first taken: there is no portable initializer of such locks; musl has
 * none.
 */
struct recursive {
	pthread_mutex_t lock;
	bool is_made;
};
void recursive_lock(struct recursive *);
void recursive_unlock(struct recursive *);

/* ------------------------------------------------------------------- rivals */

/*
 * Do other tasks want the processors that the program and this thread use?
 * True also where the kernel does not tell.  A few milliseconds since the last
 * look are judged; the first call only begins them.
 */
bool rivals_seen(void);
/* The time since the last look says nothing: begin anew. */
void rivals_forget(void);

#endif
