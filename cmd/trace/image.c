/*
 * image - put a program's image under the runtime; replace it at an exec
 *
 * At the stop behind an exec the process has one thread, and no state but what
 * the kernel gave it.  There the runtime takes it over, before its first
 * instruction.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/cache.h"
#include "code/code.h"
#include "context/context.h"
#include "guest/guest.h"
#include "stream/stream.h"
#include "mem.h"
#include "prog.h"
#include "trace.h"
#include "xlate/xlate.h"

bool exec_pending, exec_let_go;
static pid_t exec_tid, refused_tid = -1;

/* Has maps_changed told that a mapping is gone?  That comes first. */
static bool
has_unmapped(const char *text)
{
	return text[0] == 'U';
}

/*
 * Contexts are told with an address of their functions: those of an object that
 * goes before another one comes to its place.
 */
static void
tell_maps(char *text)
{
	bool now = opt->contexts != 0 && has_unmapped(text);

	if (opt->contexts != 0)
		context_maps(text);
	names_mapped(text);
	if (now)
		format_text_now(text);
	else
		format_text(text);
}

/* The store has not been asked what it has of this yet. */
static struct code_range changed;

/* For the store: open our file in the program, which has been stopped. */
static const struct start *stopped;

static int
open_theirs(int fd)
{
	return inject_open(stopped, fd);
}

/* Put the runtime into the process and its mappings into the stream; run it. */
static void
begin_image(const struct start *s)
{
	char *text;

	stopped = s;
	inject(s, cache_skipping() ? opt->after : 0);
	watch_start(guest.uffd);
	cache_new();
	names_image();
	text = maps_start();
	if (text != NULL)
		tell_maps(text);
	if (s->old == 0)
		kept_begin(open_theirs);
	cache_ready();
	inject_run();
}

void
image_first(void)
{
	struct start s;

	if (opt->adopt != NULL)
		adopt_at(&s);
	else if (opt->pid != 0)
		attach_at(&s);
	else
		launch_at(&s);
	begin_image(&s);
	if (opt->adopt != NULL)
		adopt_done();
	else if (opt->pid != 0)
		attach_others();
}

static void
tell_change(uint64_t start, uint64_t end, char *text)
{
	char *blocks = has_unmapped(text) ?
	    kept_lines(start, end, def_lines(start, end)) : NULL;

	if (blocks != NULL)
		format_text(blocks);
	tell_maps(text);
}

void
image_changed(uint64_t start, uint64_t end)
{
	char *text;

	if (start >= end)
		return;
	kept_leaving(start, end);
	frag_kill(start, end);
	watch_changed(start, end);
	text = maps_changed(start, end);
	if (text != NULL)
		tell_change(start, end, text);
	changed.start = start;
	changed.end = end;
	if (!kept_can_wait())
		image_settle();
}

bool
image_is_unsettled(void)
{
	return changed.start < changed.end;
}

void
image_settle(void)
{
	struct code_range r = changed;

	changed.start = changed.end = 0;
	if (r.start < r.end)
		kept_mapped(r.start, r.end);
}

bool
image_missed(uint64_t pc)
{
	uint64_t start, end;

	if (!maps_missed(pc, &start, &end))
		return false;
	image_changed(start, end);
	image_settle();
	return true;
}

/* --------------------------------------------------------------------- exec */

/* The stream ends with this thread's exec, unless that fails. */
static void
refuse_exec(pid_t tid)
{
	refused_tid = tid;
	stats.refused_exec = true;
}

/* It has, so the stream goes on. */
static void
allow_exec(pid_t tid)
{
	if (tid >= 0 && tid == refused_tid)
		stats.refused_exec = false;
}

/* Has the exec of another thread ended this one, or taken its number? */
static bool
is_gone(pid_t tid)
{
	return tid == guest.pid || task_is_dead(tid);
}

bool
exec_asked(uint64_t path, pid_t tid, uint64_t dirfd)
{
	static bool told;
	const char *by;

	tid = guest_thread(tid);
	if (tid < 0)
		return false;
	if (opt->exec == EXEC_NO) {
		exec_let_go = true;
		return false;
	}
	by = rights_of(path, dirfd);
	if (by != NULL) {
		warn("process %d: exec of %s: it runs natively%s",
		    (int)guest.pid, by, stream_ends());
		refuse_exec(tid);
		return false;
	}
	if (ptrace(PTRACE_SEIZE, tid, 0L, PTRACE_O_TRACEEXEC) < 0) {
		if (exec_pending && is_gone(tid))
			return false;
		if (is_first(&told))	/* execvp(3) tries many folders */
			warn("process %d: exec while another process traces "
			    "it: the new program runs natively, the stream "
			    "ends there:", (int)guest.pid);
		refuse_exec(tid);
		return false;
	}
	exec_tid = tid;
	exec_pending = true;
	return true;
}

void
exec_filtered(pid_t tid)
{
	static bool told;

	if (is_first(&told))
		warn("exec behind a seccomp filter: the new program runs "
		    "natively, the stream ends there");
	refuse_exec(guest_thread(tid));
}

/* Wait for the thread's next stop or end, which is near; false: none came. */
static bool
wait_shortly(pid_t tid, int *st)
{
	struct patience p = { 0, 0 };
	unsigned polls = 0;
	pid_t r;

	while ((r = waitpid(tid, st, __WALL | WNOHANG)) == 0) {
		if (polls++ < 1000)
			sched_yield();
		else if (trust_wait(&p, "an exec that is none"))
			usleep(100);
		else
			return false;
	}
	return r > 0;
}

void
exec_failed(pid_t tid)
{
	int st, n;

	exec_let_go = false;
	tid = guest_thread(tid);
	allow_exec(tid);
	if (!exec_pending || tid < 0 ||
	    ptrace(PTRACE_INTERRUPT, tid, 0L, 0L) < 0)
		return;
	if (tid == exec_tid)
		exec_pending = false;
	for (n = 0; n < 1000; n++) {
		if (!wait_shortly(tid, &st) || !WIFSTOPPED(st))
			return;
		if (st >> 16 == PTRACE_EVENT_STOP)
			break;
		ptrace(PTRACE_CONT, tid, 0L, (long)WSTOPSIG(st));
	}
	ptrace(PTRACE_DETACH, tid, 0L, 0L);
}

/*
 * The new image runs under a new runtime.  At the event the process is still
 * inside execve: let it get to the end of that call first.
 */
static void
take_over(void)
{
	struct start s;

	exec_pending = stats.refused_exec = false;
	guest.tid = guest.pid;
	ptrace(PTRACE_SYSCALL, guest.pid, 0L, 0L);
	guest_wait_stop(SIGTRAP);
	if (launch_is_foreign()) {
		warn("process %d: exec of a 32-bit program: it runs natively%s",
		    (int)guest.pid, stream_ends());
		stats.refused = true;
		return;
	}
	if (!area_is_intact())
		trust_lose("its control words");
	kept_look();
	format_drain();
	kept_save();
	if (opt->exec == EXEC_NEW) {
		format_end("exit", 0, !trust_lost && !format_lost);
		command_wait();
		control_end();
		follow_image();
	}
	if (opt->contexts != 0) {
		context_image();
		context_maps("U 0 ffffffffffffffff\n");
	}
	maps_forget();
	area_close();
	format_replace(xstrdup("U 0 ffffffffffffffff\n"));
	launch_at(&s);
	begin_image(&s);
	format_begin();
}

void
exec_poll(void)
{
	int st;
	pid_t pid = waitpid(-1, &st, __WALL | WNOHANG);

	if (pid <= 0 || follow_ended(pid, st) || command_ended(pid, st))
		return;
	if (!WIFSTOPPED(st)) {
		guest_status(pid, st);
		return;
	}
	if (st >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8) && pid == guest.pid)
		take_over();
	else
		ptrace(is_group_stop(st) ? PTRACE_LISTEN : PTRACE_CONT, pid,
		    0L, st >> 16 != 0 ? 0L : (long)WSTOPSIG(st));
}
