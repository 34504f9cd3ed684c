/*
 * launch - start a program
 *
 * The child execs the program itself, so the kernel does all the loading.  At
 * the stop after exec it has one thread, and only the state that the kernel
 * gave it.  There inject.c puts the runtime into it, before its first
 * instruction.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expand.h"
#include "guest/fresh.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "mem.h"
#include "prog.h"

/* -------------------------------------------------------------------- start */

/* Edit the auxiliary vector behind sp; returns AT_MINSIGSTKSZ. */
static uint64_t
edit_auxv(uint64_t sp)
{
	uint64_t v[FRESH_AUXV][2], at, minframe = 0;
	unsigned i, n = fresh_auxv(sp, &at, v);

	for (i = 0; i < n; i++)
		if (v[i][0] == AT_MINSIGSTKSZ)
			minframe = v[i][1];
	cpu_auxv(v, n);
	guest_write(at, v, 16ul * n);
	return minframe;
}

bool
launch_is_foreign(void)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, guest.pid, 0L, &r) < 0)
		guest_lost("ptrace");
	if (inject_is_64bit(&r))
		return false;
	ptrace(PTRACE_DETACH, guest.pid, 0L, 0L);
	return true;
}

/* Where addresses cannot be fixed, say so once, not in each child's trace. */
static void
fix_addresses(struct start *s)
{
	const char *why;

	if (!opt->relocates || opt->aslr)
		return;
	why = relocate(&s->filled);
	if (why == NULL)
		return;
	if (!opt->adopted && opt->image == NULL)
		warn("address space randomisation stays on, as with --aslr: %s",
		    why);
	options_set()->aslr = true;
}

void
launch_at(struct start *s)
{
	struct user_regs_struct r;

	memset(s, 0, sizeof *s);
	guest.tid = guest.pid;
	guest_open();
	s->flags = inject_flags();
	fix_addresses(s);
	if (ptrace(PTRACE_GETREGS, guest.pid, 0L, &r) < 0)
		guest_lost("ptrace");
	inject_state(&s->at, &r);
	if (ptrace(PTRACE_GETSIGMASK, guest.pid, 8L, &s->at.sigmask) < 0)
		s->at.sigmask = 0;
	s->minframe = edit_auxv(r.rsp);
	s->trap = r.rip;
	s->scratch = (r.rsp - 512) & ~15ull;
	inject_file(s);
}

/* Has this folder of PATH a file of this name; the file itself, into st? */
static bool
has_file(const char *dir, size_t n, const char *file, struct stat *st)
{
	char name[4096];

	return (size_t)snprintf(name, sizeof name, "%.*s/%s", (int)n, dir,
	    file) < sizeof name && stat(name, st) == 0;
}

/* Has it our programs under their bare names? */
static bool
is_ours(const char *dir, size_t n, const struct stat *self)
{
	struct stat st;

	return *dir == '/' && has_file(dir, n, "trace", &st) &&
	    st.st_dev == self->st_dev && st.st_ino == self->st_ino &&
	    has_file(dir, n, "diff", &st);
}

/*
 * The PATH that the program gets: without folders that have our programs under
 * their bare names, for others have a `diff` and a `merge` too.  NULL: it is
 * right.
 */
static char *
clean_path(void)
{
	char *path = getenv("PATH"), *dir, *end, *new, *to;
	struct stat self;

	if (path == NULL || stat("/proc/self/exe", &self) < 0)
		return NULL;
	to = new = xmalloc(strlen(path) + 2);
	for (dir = path; ; dir = end + 1) {
		end = strchrnul(dir, ':');
		if (!is_ours(dir, (size_t)(end - dir), &self)) {
			to = mempcpy(to, dir, (size_t)(end - dir));
			*to++ = ':';
		}
		if (*end == '\0')
			break;
	}
	to -= to > new;
	*to = '\0';
	if (strlen(new) != strlen(path))
		return new;
	free(new);
	return NULL;
}

/*
 * The program's environment for --clear-env: of each name in the list, in its
 * order, the value given there, or ours.
 */
static char **
stated_env(const char *list)
{
	size_t n = strlen(list), count = 0;
	char **env = xcalloc(n + 2, sizeof *env), *name, *save = NULL;
	char *copy = xstrdup(list);
	const char *value;

	for (name = strtok_r(copy, ",", &save); name != NULL;
	    name = strtok_r(NULL, ",", &save)) {
		if (strchr(name, '=') != NULL) {
			env[count++] = name;
			continue;
		}
		value = getenv(name);
		if (value == NULL)
			continue;
		n = strlen(name) + strlen(value) + 2;
		env[count] = xmalloc(n);
		snprintf(env[count++], n, "%s=%s", name, value);
	}
	return env;
}

bool
launch_can_fix(void)
{
	int was = personality(0xffffffff);

	if (was >= 0 && (was & ADDR_NO_RANDOMIZE) != 0)
		return true;
	if (was < 0 || personality((unsigned long)was | ADDR_NO_RANDOMIZE) < 0)
		return false;
	personality((unsigned long)was);
	return true;
}

/* What the child is to do, and what it could not. */
struct birth {
	char *const *argv;
	char **env;
	int out;		/* its standard output; or -1: as it is */
	pid_t parent;		/* us */
	volatile int error;	/* errno: of ptrace, or else of exec */
	volatile bool unseized;
	volatile pid_t shares;	/* our memory: it has not execed, nor ended */
};

/*
 * The program inherits what we did.  We ourselves have SIGPIPE as all programs
 * of quern, have to see our children end, and may take SIGUSR1 (--last).
 */
static const int ours[] = { SIGPIPE, SIGCHLD, SIGUSR1 };
static struct sigaction inherited[3];
static sigset_t ignored;	/* by us, when we began */

void
launch_init(void)
{
	struct sigaction a;

	for (unsigned i = 0; i < 3; i++)
		sigaction(ours[i], NULL, &inherited[i]);
	signal(SIGCHLD, SIG_DFL);
	for (int s = 1; s < NSIG; s++)
		if (sigaction(s, NULL, &a) == 0 && a.sa_handler == SIG_IGN)
			sigaddset(&ignored, s);
}

void
launch_ignore(void)
{
	for (int s = 1; s < NSIG; s++)
		if (sigismember(&ignored, s) == 1)
			signal(s, SIG_IGN);
}

/* Has init become the child's parent, and so what traces it? */
static bool
is_orphan(const struct birth *b)
{
	pid_t parent = getppid();

	/* a filter may forbid to ask for either */
	return parent >= 0 && b->parent >= 0 && parent != b->parent;
}

static int
child(void *birth)
{
	struct birth *b = birth;

	for (unsigned i = 0; i < 3; i++)
		sigaction(ours[i], &inherited[i], NULL);
	if (b->out >= 0)
		dup2(b->out, 1);
	if (opt->out_fd > 2)
		close(opt->out_fd);
	if (!opt->aslr)
		personality((unsigned long)personality(0xffffffff) |
		    ADDR_NO_RANDOMIZE);
	b->unseized = ptrace(PTRACE_TRACEME, 0, 0L, 0L) < 0;
	if (is_orphan(b))	/* it would stop for ever */
		return 1;
	if (!b->unseized)
		execvpe(b->argv[0], b->argv, b->env);
	b->error = errno;
	return 1;
}

static int
open_output(void)
{
	const char *name;
	int fd;

	if (opt->guest_out == NULL)
		return opt->out_fd >= 0 ? 2 : -1;
	name = expand(opt->guest_out, NULL, false);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		die("%s:", name);
	return fd;
}

/*
 * Wait until the child has execed or ended; its status.  A SIGSTOP before that
 * is lost, also one for the child alone, and so is a SIGTRAP.
 */
static int
wait_for_exec(const struct birth *b)
{
	int st;

	for (;;) {
		if (waitpid(guest.pid, &st, 0) < 0)
			die("waiting for the program:");
		if (!WIFSTOPPED(st) || (!b->shares && WSTOPSIG(st) == SIGTRAP))
			return st;
		/* behind the exec: by the signal of one that has failed */
		ptrace(PTRACE_CONT, guest.pid, 0L,
		    b->shares ? 0L : (long)WSTOPSIG(st));
	}
}

#define CHILD_STACK (8u << 20)	/* execvpe copies argv for a script */

/*
 * Make the child, which has execed then, or ended.  It has our memory until it
 * execs: to copy our tables of pages, and the pages that either changes then,
 * takes 0.2 ms.  Unlike vfork's parent we can let it go on when it is stopped.
 */
static void
bear(struct birth *b)
{
	sigset_t all, was;
	char *stack = mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	int st;

	if (stack == MAP_FAILED)
		die("memory:");
	sigfillset(&all);
	sigdelset(&all, SIGTRAP);	/* by which it stops behind the exec */
	sigprocmask(SIG_SETMASK, &all, &was);
	b->shares = 1;
	b->parent = getpid();
	guest.pid = clone(child, stack + CHILD_STACK, CLONE_VM | CLONE_PIDFD |
	    CLONE_CHILD_CLEARTID | SIGCHLD, b, &guest.pidfd, NULL, &b->shares);
	if (guest.pid < 0)
		die("fork:");
	st = wait_for_exec(b);
	munmap(stack, CHILD_STACK);
	if (WIFSTOPPED(st) &&
	    ptrace(PTRACE_SETSIGMASK, guest.pid, 8L, &was) < 0)
		die("ptrace:");
	sigprocmask(SIG_SETMASK, &was, NULL);
	if (!WIFSTOPPED(st) && b->error == 0)
		die("the program ended before its first instruction");
}

void
launch(char *const argv[])
{
	struct birth b = { .argv = argv, .env = environ };
	char *path = clean_path(), *was = NULL;

	b.out = open_output();
	if (path != NULL) {
		was = xstrdup(getenv("PATH"));
		setenv("PATH", path, 1);
		b.env = environ;
	}
	/* PATH is ours, also if the program gets none */
	if (opt->clear_env)
		b.env = stated_env(opt->keep_env != NULL ? opt->keep_env : "");
	guest.mem = -1;
	bear(&b);
	if (b.error != 0) {
		errno = b.error;
		if (b.unseized)
			die("ptrace:");
		warn("%s:", argv[0]);
		exit(b.error == ENOENT ? 127 : 126);
	}
	if (was != NULL)
		setenv("PATH", was, 1);
	free(path);
	free(was);
	if (b.out > 2)
		close(b.out);
	/* until the runtime is in: should we fail, it shall not run without */
	ptrace(PTRACE_SETOPTIONS, guest.pid, 0L, PTRACE_O_EXITKILL);
	guest_is_in_proc();
	rights_tell(argv[0]);
}
