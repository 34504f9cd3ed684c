/*
 * trace - run a program and write what it did as event text
 *
 *	$ trace -o run.ev ./copy in out
 *	$ head -4 run.ev
 *	H quern-events 2
 *	H cmd ./copy in out
 *	H arch x86_64
 *	H kind all
 *
 * This file has the order of a run.  trace ends as the program ended: with the
 * same status or by the same signal.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

#define TIMED_LEAST 64u		/* fragments, to tell how long others took */

/* The program is started first, for the stream needs its number. */
static bool
is_early(void)
{
	return opt->follow || output_has_pid();
}

/* Begin the stream: in a file, or in a pipe to the command of -o. */
static void
begin_stream(char **argv)
{
	const char *name = follow_name(opt->out);
	int fd = opt->out_fd;

	if (name != NULL && name[0] == '|' && opt->kind->tells)
		fd = command_start(name + 1, argv);
	format_start(argv, name, fd);
}

/* Wait for the program's end.  gone: it was let go, and lives on. */
static void
reap(bool gone)
{
	int st;
	pid_t p;

	if (opt->leaves && gone)
		guest.seen = true;
	if ((opt->adopted || opt->pid != 0) && !guest.seen)
		guest_status(guest.pid, adopt_status());
	while (!guest.seen) {
		p = waitpid(guest.pid, &st, __WALL);
		if (p < 0 && errno != EINTR)
			die("waiting for the program:");
		if (p == guest.pid && (WIFEXITED(st) || WIFSIGNALED(st)))
			guest_status(p, st);
	}
	signals_ended();
}

/* Whether the runtime ended the program; it has printed why. */
static bool
panicked(void)
{
	return WIFEXITED(guest.status) && !exec_let_go &&
	    WEXITSTATUS(guest.status) == STATUS_TROUBLE &&
	    ONCE(area.ctl->ended) == ENDED_NOT && !ONCE(area.ctl->polling);
}

/* How long making fragments took, if enough of them were timed to tell. */
static void
print_time(void)
{
	const struct stats *s = &stats;
	double us;

	if (s->timed_fragments < TIMED_LEAST)
		return;
	us = (double)s->timed_ns / 1e3 / (double)s->timed_fragments;
	warn("%.1f ms translating, %.2f us a fragment",
	    us * (double)s->fragments / 1e3, us);
}

static void
print_stats(void)
{
	struct stats *s = &stats;

	warn("%llu fragments, %llu instructions in them, %llu bytes of code "
	    "for %llu", (unsigned long long)s->fragments,
	    (unsigned long long)s->insns, (unsigned long long)s->codebytes,
	    (unsigned long long)s->guestbytes);
	warn("%llu requests, %llu exits linked, %llu flushes",
	    (unsigned long long)s->requests, (unsigned long long)s->links,
	    (unsigned long long)s->flushes);
	print_time();
	warn("%llu indirect transfers took the long way, by the runtime",
	    (unsigned long long)(s->missed + area_missed()));
	if (s->again != 0)
		warn("%llu fragments made again, for indirect jumps to them",
		    (unsigned long long)s->again);
	if (s->watched != 0)
		warn("%llu pages of code watched, %llu writes into them",
		    (unsigned long long)s->watched,
		    (unsigned long long)s->written);
	if (opt->store != NULL)
		warn("%llu fragments from the store",
		    (unsigned long long)s->kept);
	warn("%llu executions told", (unsigned long long)s->records);
}

/* Die by the program's signal, without a core dump of our own. */
static _Noreturn void
die_of(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	_exit(128 + sig);
}

/*
 * Where we fail, the program goes on natively, and we end when it does, for
 * whoever started us waits for it.  Not if we still trace it: it would stop.
 */
static void
outlive(void)
{
	siginfo_t si;

	control_end();
	if (guest.seen || area.ctl == NULL || guest_is_traced())
		return;
	area_abandon();
	watch_abandon();
	while (waitid(P_PID, (id_t)guest.pid, &si, WEXITED | WNOWAIT) < 0 &&
	    errno == EINTR)
		;
}

/* The program was let go before it ran. */
static _Noreturn void
run_natively(const char *name)
{
	warn("%s: 32-bit programs cannot be traced: it runs natively, without "
	    "a stream", name);
	signals_take();
	reap(false);
	exit(STATUS_TROUBLE);
}

/*
 * The process that is there already: adopted, attached to, or of an image
 * before; or, if that is to be early, a new one. Returns its arguments.
 */
static char **
get_process(char **argv)
{
	if (opt->adopt != NULL) {
		follow_adopted(opt->adopt);
		argv = adopt(opt->adopt);
		if (argv == NULL)
			exit(0);
	} else if (opt->pid != 0) {
		attach(opt->pid);
		argv = process_command();
	} else if (opt->image != NULL) {
		argv = follow_next_image(opt->image);
	} else if (is_early()) {
		launch(argv);
	}
	return argv;
}

/* Extensions that the decoder does not know: the program uses others. */
static void
hide_extensions(void)
{
	uint32_t eax, edx;

	decode_lacks(&eax, &edx);
	if (opt->debug & DEBUG_HIDE)
		eax = edx = ~0u;
	cpu_hide(eax, edx);
}

/* Start or stop the program, begin its stream, and run it under the runtime. */
static void
begin(char **argv)
{
	if (opt->leaves)
		signals_take();
	argv = get_process(argv);
	format_last = names_tell;
	begin_stream(argv);
	if (opt->kind->alone)
		area_ids(def_leave_id('i'), def_leave_id('d'),
		    counts_refs() ? def_frame_id() : 0);
	if (opt->allocs && (opt->kind->records || opt->kind->alone))
		area_alloc_id(def_alloc_id());
	if (opt->contexts != 0)
		context_start();
	cache_start();
	hide_extensions();
	kept_start();
	if (opt->adopt == NULL && opt->pid == 0 && opt->image == NULL) {
		if (!is_early())
			launch(argv);
		if (launch_is_foreign())
			run_natively(argv[0]);
	}
	progress_start();	/* before ids are told it */
	image_first();
	if (!opt->leaves)
		signals_take();
	if (opt->seconds > 0)
		signals_clock();
	format_begin();
	if (opt->control != NULL)
		control_start(follow_name(opt->control));
}

static bool stays;		/* something of ours, in what was let go */

/* What our parent sees: the program's end, or that something has failed. */
static int
status(bool whole)
{
	if (command_failed() || (opt->adopted && format_lost &&
	    format_lost != EPIPE))
		return opt->adopted ? STATUS_COMMAND : STATUS_TROUBLE;
	if (format_lost == EPIPE && !output_is_command())
		die_sigpipe();
	if (!whole || stays || (format_lost && format_lost != EPIPE))
		return STATUS_TROUBLE;
	if (opt->adopted || opt->pid != 0)
		return 0;
	if (WIFSIGNALED(guest.status))
		die_of(WTERMSIG(guest.status));
	return WEXITSTATUS(guest.status);
}

/* A short run may have no window: with -f those of other processes do. */
static void
tell_no_window(void)
{
	if (opt->every != 0 && !opt->follow &&
	    stats.windows + ONCE(area.ctl->nwindow) == 0)
		warn("--every: the program ended before the first window; "
		    "--after=0 begins with one");
}

/* Write all that is left, and the end mark if the stream is whole: is it? */
static bool
end_stream(void)
{
	bool whole;

	format_drain();
	/* with -f another process may have had the window's function */
	allocs_tell();
	tell_no_window();
	whole = (window_tell() || opt->follow) && !stats.refused &&
	    !stats.refused_exec && !trust_lost;
	format_interrupted(signals_stopped == SIGALRM ? 0 : signals_stopped);
	if (WIFSIGNALED(guest.status))
		format_end("signal", WTERMSIG(guest.status), whole &&
		    !format_lost);
	else
		format_end("exit", WEXITSTATUS(guest.status), whole &&
		    !format_lost);
	progress_end();
	return whole;
}

/* All that is left to do once the stream has ended; returns our status. */
static int
leave(bool whole)
{
	if (opt->verbose)
		print_stats();
	command_wait();
	if (opt->leaves)
		signals_interrupt();
	follow_wait(&signals_stopped);
	return status(whole);
}

/* The process ended while it was stopped for us: at its start, or an exec. */
static void
ended_early(void)
{
	control_end();
	client_end();
	watch_end();
	reap(false);
	exit(leave(stream_writer == NULL || end_stream()));
}

int
main(int argc, char *argv[])
{
	char **program;
	bool whole, gone, letgo;

	launch_init();
	prog_init(argv[0]);
	die_status = STATUS_TROUBLE;
	program = cmdline(argc, argv);
	if (opt->adopted)
		die_status = STATUS_COMMAND;
	guest_gone = ended_early;
	begin(program);
	atexit(outlive);
	gone = serve();
	control_end();
	client_end();
	if (!area_is_intact())
		trust_lose("its control words");
	letgo = area.letgo != LETGO_NOT;
	if (!trust_lost)	/* else it leaves once we have ended */
		area_letgo(LETGO_NOW);
	watch_end();
	if (gone && opt->leaves && !trust_lost)
		stays = !detach();
	if (signals_stopped)
		follow_signal(signals_stopped);
	reap(gone);
	if (!letgo && panicked())
		stats.refused = true;
	kept_look();
	whole = end_stream();
	kept_save();
	return leave(whole);
}
