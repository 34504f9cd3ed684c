/*
 * victims - runs the victims, natively and under trace, and says so in TAP
 *
 *	victims [-v] [-j jobs] [-t seconds] [-w folder] [-r trace]
 *	    [-m mode ...] [-c checker] sources programs [name ...]
 *
 * Each victim runs natively first: it must print "ok NAME" (with, perhaps, a
 * checksum behind it; or "skip ...") and end as the head of its source says
 * ("expect: exit N", "expect: signal N").  With -r it then runs under that
 * program in each mode, and its standard output and its end must be the same;
 * the stream must end with an E line that tells that end, and -c names a
 * program that must accept the stream.  "may-refuse: WHY" in the head: trace
 * may let the program go on natively, with one line on standard error and
 * status 125.
 *
 * One worker process per victim, which adopts what the victim leaves running
 * and waits for it, so that nobody's leavings are counted as another's.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "prog.h"

enum { OUT_MAX = 4096, TAIL = 96, NVICTIM_MAX = 1000 };

static const struct mode {
	const char *name;
	const char *args[5];	/* the last is NULL */
	bool is_whole;		/* the checker reads this kind */
	bool is_stored;		/* run twice, with a store */
	bool is_mute;		/* there is no stream */
} modes[] = {
	{ "all", { "-e", "all" }, .is_whole = true },
	{ "blocks", { "-e", "blocks" }, .is_whole = true },
	{ "counts", { "-e", "counts" }, .is_whole = true },
	{ "contexts", { "-e", "counts", "--contexts" }, .is_whole = true },
	{ "allocs", { "-e", "all", "--allocs" }, .is_whole = true },
	{ "nolink", { "-e", "all", "--debug=nolink" }, .is_whole = true },
	{ "tinycache", { "-e", "all", "--debug=tinycache" }, .is_whole = true },
	{ "watch", { "-e", "all", "--debug=watch" }, .is_whole = true },
	{ "nosuper", { "-e", "all", "--debug=nosuper" }, .is_whole = true },
	{ "cache", { "-e", "cache" }, .is_whole = false },
	{ "branches", { "-e", "branches" }, .is_whole = true },
	{ "rounds", { "-e", "branches", "--rep=each" }, .is_whole = true },
	{ "outside", { "-e", "all", "--from=0x1000" }, .is_whole = true },
	{ "sampled", { "-e", "all", "--every=197", "--for=61" },
	    .is_whole = true },
	{ "sampledcache", { "-e", "cache", "--every=197", "--for=61" },
	    .is_whole = false },
	{ "sampledcounts", { "-e", "counts", "--every=197", "--for=61" },
	    .is_whole = true },
	{ "sampledbranches", { "-e", "branches", "--every=197", "--for=61" },
	    .is_whole = true },
	{ "cachesmall", { "-e", "cache=2,64,2" }, .is_whole = false },
	{ "cachecontexts", { "-e", "cache", "--contexts" }, .is_whole = true },
	{ "long", { "-e", "all", "--debug=long" }, .is_whole = true },
	{ "stored", { "-e", "counts" }, .is_whole = true,
	    .is_stored = true },
	{ "storedall", { "-e", "all" }, .is_whole = true, .is_stored = true },
	{ "storedcache", { "-e", "cache" }, .is_stored = true },
	{ "storedbranches", { "-e", "branches" }, .is_stored = true },
	{ "storedrounds", { "-e", "branches", "--rep=each" },
	    .is_whole = true, .is_stored = true },
	{ "none", { "-e", "none" }, .is_mute = true },
};
enum { NMODE = sizeof modes / sizeof modes[0] };

/* How a run ended: its wait status, and what it wrote. */
struct result {
	int status;
	bool timed_out;
	double seconds;
	char out[OUT_MAX];
	char err[OUT_MAX];
};

struct victim {
	char name[64];
	int expect;		/* a wait status */
	bool may_refuse;
	pid_t worker;
	int report;		/* its lines, in a memory file */
	bool is_done, has_died;	/* the worker */
};

static struct victim victims[NVICTIM_MAX];
static size_t nvictim;
static const char *srcdir, *bindir, *workdir = "/tmp", *tracer, *checker;
static bool mode_wanted[NMODE];
static unsigned limit = 300;
static bool verbose;
static int report;		/* in a worker: where its lines go */

__attribute__((format(printf, 1, 2)))
static void
say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdprintf(report, fmt, ap);
	va_end(ap);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Takes "KEY: VALUE" out of the comment at the head of a source. */
static void
head_value(const char *text, const char *key, char *buf, size_t size)
{
	char want[32];
	const char *p;
	size_t n;

	snprintf(want, sizeof want, "%s: ", key);
	p = strstr(text, want);
	buf[0] = '\0';
	if (p == NULL)
		return;
	p += strlen(want);
	n = strcspn(p, "\n");
	if (n >= size)
		n = size - 1;
	memcpy(buf, p, n);
	buf[n] = '\0';
}

static void
victim_read_head(struct victim *v, const char *path)
{
	char text[2048], expect[32], why[80];
	FILE *f = fopen(path, "re");
	size_t n;
	int value;

	if (f == NULL)
		die("%s:", path);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	head_value(text, "expect", expect, sizeof expect);
	head_value(text, "may-refuse", why, sizeof why);
	v->may_refuse = why[0] != '\0';
	if (expect[0] == '\0')
		return;
	if (sscanf(expect, "exit %d", &value) == 1)
		v->expect = value << 8;
	else if (sscanf(expect, "signal %d", &value) == 1)
		v->expect = value;
	else
		die("%s: expect: %s", path, expect);
}

static void
victim_add(const char *file)
{
	struct victim *v = &victims[nvictim];
	const char *dot = strrchr(file, '.');
	char path[PATH_MAX];

	if (dot == NULL || (strcmp(dot, ".c") != 0 && strcmp(dot, ".cc") != 0))
		return;
	if (nvictim == NVICTIM_MAX)
		die("more than %d victims", NVICTIM_MAX);
	snprintf(v->name, sizeof v->name, "%.*s", (int)(dot - file), file);
	snprintf(path, sizeof path, "%s/%s", srcdir, file);
	victim_read_head(v, path);
	nvictim++;
}

static int
by_name(const void *a, const void *b)
{
	const struct victim *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool
is_victim(const char *name)
{
	for (size_t i = 0; i < nvictim; i++)
		if (strcmp(victims[i].name, name) == 0)
			return true;
	return false;
}

static void
victims_find(char **names)
{
	struct dirent *e;
	DIR *d = opendir(srcdir);

	if (d == NULL)
		die("%s:", srcdir);
	while ((e = readdir(d)) != NULL) {
		size_t stem = strcspn(e->d_name, ".");
		bool wanted = *names == NULL;

		for (char **n = names; *n != NULL; n++)
			if (strlen(*n) == stem &&
			    strncmp(*n, e->d_name, stem) == 0)
				wanted = true;
		if (wanted)
			victim_add(e->d_name);
	}
	closedir(d);
	for (; *names != NULL; names++)
		if (!is_victim(*names))
			die("%s: no source of this name in %s", *names, srcdir);
	qsort(victims, nvictim, sizeof victims[0], by_name);
}

/* In the child: everything as a program started by hand would have it. */
static _Noreturn void
become(char *const argv[], int out, int err)
{
	static char path[] = "PATH=/usr/bin:/bin", locale[] = "LC_ALL=C";
	static char *env[] = { path, locale, NULL };
	struct rlimit no_core = { 0, 0 };
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);

	setsid();
	setrlimit(RLIMIT_CORE, &no_core);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, 0);
	dup2(out, 1);
	dup2(err, 2);
	close_range(3, ~0u, 0);
	if (chdir(workdir) < 0)
		_exit(125);
	execve(argv[0], argv, env);
	dprintf(2, "victims: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Waits for pid until then; false when it has not ended. */
static bool
wait_until(pid_t pid, int *status, double then)
{
	struct timespec ms = { 0, 20000000 };
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	while (waitpid(pid, status, WNOHANG) == 0) {
		if (now() > then)
			return false;
		sigtimedwait(&chld, NULL, &ms);
	}
	return true;
}

static void
kill_children(void)
{
	char path[64], line[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	if (f == NULL)
		return;
	n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	line[n] = '\0';
	for (char *p = strtok(line, " "); p != NULL; p = strtok(NULL, " "))
		kill(atoi(p), SIGKILL);
}

/* What the program left running came to us: it ends now, or is ended. */
static bool
leavings_end(double seconds)
{
	double then = now() + seconds;
	bool in_time = true;
	int status;

	for (;;) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return in_time;
		if (pid != 0)
			continue;
		if (now() > then) {
			in_time = false;
			kill_children();
		}
		usleep(2000);
	}
}

static void
slurp(int fd, char *buf)
{
	ssize_t n = pread(fd, buf, OUT_MAX - 1, 0);

	buf[n < 0 ? 0 : n] = '\0';
	close(fd);
}

static void
run(char *const argv[], struct result *r)
{
	int out = memfd_create("out", MFD_CLOEXEC);
	int err = memfd_create("err", MFD_CLOEXEC);
	double start = now();
	pid_t pid = fork();

	if (pid < 0 || out < 0 || err < 0)
		die("fork:");
	if (pid == 0)
		become(argv, out, err);
	r->timed_out = !wait_until(pid, &r->status, start + limit);
	if (r->timed_out) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		waitpid(pid, &r->status, 0);
	}
	r->seconds = now() - start;
	if (!leavings_end(r->timed_out ? 0 : limit))
		r->timed_out = true;
	slurp(out, r->out);
	slurp(err, r->err);
}

static const char *
ending(int status, char *buf, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(buf, size, "signal %d", WTERMSIG(status));
	else
		snprintf(buf, size, "exit %d", WEXITSTATUS(status));
	return buf;
}

/* As it would be without the core-dump bit. */
static int
plain_status(int status)
{
	return WIFSIGNALED(status) ? WTERMSIG(status) : status;
}

static void
show_lines(const char *what, const char *text)
{
	int shown = 0;

	while (*text != '\0' && shown++ < 8) {
		size_t n = strcspn(text, "\n");

		say("#   %s: %.*s\n", what, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void
failed(const struct victim *v, const char *mode, const char *what,
    const struct result *r)
{
	char buf[32];

	say("not ok - %s %s\n", v->name, mode);
	say("#   %s; %s%s, %.2f s\n", what, ending(r->status, buf, sizeof buf),
	    r->timed_out ? " (time is up)" : "", r->seconds);
	show_lines("out", r->out);
	show_lines("err", r->err);
}

static void
passed(const struct victim *v, const char *mode, const struct result *r)
{
	say("ok - %s %s\n", v->name, mode);
	if (verbose)
		say("#   %.3f s\n", r->seconds);
}

static bool
is_skip(const struct result *r)
{
	return strncmp(r->out, "skip ", 5) == 0;
}

static bool
run_native(const struct victim *v, struct result *r)
{
	char path[PATH_MAX], want[80];
	char *argv[] = { path, NULL };
	size_t n;

	snprintf(path, sizeof path, "%s/%s", bindir, v->name);
	snprintf(want, sizeof want, "ok %s", v->name);
	n = strlen(want);
	run(argv, r);
	if (!r->timed_out && is_skip(r) && r->status == 0) {
		say("ok # SKIP %.*s\n", (int)strcspn(r->out + 5, "\n"),
		    r->out + 5);
		return true;
	}
	if (r->timed_out || strncmp(r->out, want, n) != 0 ||
	    (r->out[n] != '\n' && r->out[n] != ' ') ||
	    plain_status(r->status) != v->expect) {
		failed(v, "native", "natively wrong", r);
		return false;
	}
	if (tracer == NULL)
		passed(v, "native", r);
	return true;
}

/* Does the stream end with an E line that tells this status? */
static bool
stream_ends(const char *path, int status)
{
	char tail[TAIL + 1], want[64], how[32];
	char *line;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t end;
	ssize_t n;

	if (fd < 0)
		return false;
	end = lseek(fd, 0, SEEK_END);
	n = pread(fd, tail, TAIL, end > TAIL ? end - TAIL : 0);
	close(fd);
	if (n < 2 || tail[n - 1] != '\n')
		return false;
	tail[n - 1] = '\0';
	line = strrchr(tail, '\n');
	line = line == NULL ? tail : line + 1;
	snprintf(want, sizeof want, "E %s ", ending(status, how, sizeof how));
	return strncmp(line, want, strlen(want)) == 0;
}

static bool
stream_accepted(const char *path, struct result *r)
{
	char *argv[] = { (char *)checker, (char *)path, NULL };

	if (checker == NULL)
		return true;
	run(argv, r);
	return !r->timed_out && r->status == 0;
}

/* Refused as it should be: in one line, and the program did not suffer. */
static bool
refused(const struct victim *v, const struct result *r,
    const struct result *native)
{
	const char *end = strchr(r->err, '\n');

	return v->may_refuse && r->status == 125 << 8 &&
	    strcmp(r->out, native->out) == 0 &&
	    strncmp(r->err, "trace: ", 7) == 0 && end != NULL &&
	    end[1] == '\0';
}

static void
remove_store(const char *folder)
{
	char path[PATH_MAX + 256];
	struct dirent *d;
	DIR *f = opendir(folder);

	while (f != NULL && (d = readdir(f)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
		unlink(path);
	}
	if (f != NULL)
		closedir(f);
	rmdir(folder);
}

static void
run_traced(const struct victim *v, const struct mode *m,
    const struct result *native)
{
	char path[PATH_MAX], stream[PATH_MAX], store[PATH_MAX];
	char *argv[12];
	struct result r;
	char o[] = "-o", option[PATH_MAX + 16];
	int n = 0;

	snprintf(path, sizeof path, "%s/%s", bindir, v->name);
	snprintf(stream, sizeof stream, "%s/%s.%s.ev", workdir, v->name,
	    m->name);
	snprintf(store, sizeof store, "%s/%s.store", workdir, v->name);
	snprintf(option, sizeof option, "--store=%s", store);
	argv[n++] = (char *)tracer;
	for (int i = 0; m->args[i] != NULL; i++)
		argv[n++] = (char *)m->args[i];
	if (m->is_stored)
		argv[n++] = option;
	argv[n++] = o;
	argv[n++] = stream;
	argv[n++] = path;
	argv[n] = NULL;
	if (m->is_stored)
		run(argv, &r);
	run(argv, &r);
	if (r.timed_out)
		failed(v, m->name, "not in time", &r);
	else if (refused(v, &r, native))
		passed(v, m->name, &r);
	else if (plain_status(r.status) != plain_status(native->status))
		failed(v, m->name, "another end", &r);
	else if (strcmp(r.out, native->out) != 0)
		failed(v, m->name, "another output", &r);
	else if (!m->is_mute && !stream_ends(stream, r.status))
		failed(v, m->name, "no right E line", &r);
	else if (m->is_whole && !stream_accepted(stream, &r))
		failed(v, m->name, "the stream is not accepted", &r);
	else
		passed(v, m->name, &r);
	unlink(stream);
	if (m->is_stored)
		remove_store(store);
}

/* Why the victim is not run in this mode, or NULL. */
static const char *
left_out(const struct victim *v, const struct mode *m)
{
	if (strstr(m->name, "contexts") != NULL &&
	    strcmp(v->name, "prc-aslimit") == 0)
		return "frames need more address space than it may have";
	return NULL;
}

static _Noreturn void
work(const struct victim *v)
{
	struct result native;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	report = v->report;
	if (run_native(v, &native) && tracer != NULL && !is_skip(&native))
		for (int i = 0; i < NMODE; i++) {
			if (!mode_wanted[i])
				continue;
			if (left_out(v, &modes[i]) != NULL)
				say("ok - %s %s # skip %s\n", v->name,
				    modes[i].name, left_out(v, &modes[i]));
			else
				run_traced(v, &modes[i], &native);
		}
	_exit(0);
}

/* A worker's lines, with numbers; false if one says "not ok". */
static bool
print_report(struct victim *v, unsigned *number)
{
	char line[1024];
	FILE *f = fdopen(v->report, "r");
	bool good = true, any = false;

	if (f == NULL)
		die("report:");
	rewind(f);
	while (fgets(line, sizeof line, f) != NULL) {
		char *rest = line + strcspn(line, "-#");

		if (line[0] == '#') {
			fputs(line, stdout);
			continue;
		}
		any = true;
		if (line[0] == 'n')
			good = false;
		printf("%s %u %s", line[0] == 'n' ? "not ok" : "ok",
		    ++*number, rest);
	}
	fclose(f);
	if (!any || v->has_died) {
		printf("not ok %u - %s: its worker died\n", ++*number,
		    v->name);
		good = false;
	}
	fflush(stdout);
	return good;
}

static void
start(struct victim *v)
{
	v->report = memfd_create("report", MFD_CLOEXEC);
	if (v->report < 0)
		die("memfd_create:");
	v->worker = fork();
	if (v->worker < 0)
		die("fork:");
	if (v->worker == 0)
		work(v);
}

static void
worker_ended(pid_t pid, int status)
{
	for (size_t i = 0; i < nvictim; i++)
		if (victims[i].worker == pid) {
			victims[i].is_done = true;
			victims[i].has_died = status != 0;
		}
}

/* The path of what victims shall find from another folder. */
static const char *
absolute(const char *path)
{
	const char *whole = realpath(path, NULL);

	if (whole == NULL)
		die("%s:", path);
	return whole;
}

static bool
run_all(unsigned jobs)
{
	size_t started = 0, printed = 0;
	unsigned running = 0, number = 0;
	bool good = true;

	while (printed < nvictim) {
		int status;

		while (started < nvictim && running < jobs) {
			start(&victims[started++]);
			running++;
		}
		if (running > 0) {
			pid_t pid = waitpid(-1, &status, 0);

			worker_ended(pid, status);
			running--;
		}
		while (printed < started && victims[printed].is_done)
			good &= print_report(&victims[printed++], &number);
	}
	printf("1..%u\n", number);
	return good;
}

static void
want_mode(const char *name)
{
	for (int i = 0; i < NMODE; i++)
		if (strcmp(modes[i].name, name) == 0) {
			mode_wanted[i] = true;
			return;
		}
	die("no mode %s", name);
}

int
main(int argc, char **argv)
{
	unsigned jobs = 2;
	bool any_mode = false;
	sigset_t chld;
	int c;

	prog_init(argv[0]);
	while ((c = getopt(argc, argv, "c:j:m:r:t:vw:")) != -1) {
		switch (c) {
		case 'c':
			checker = absolute(optarg);
			break;
		case 'j':
			jobs = (unsigned)num_arg("jobs", optarg, 1, 64);
			break;
		case 'm':
			want_mode(optarg);
			any_mode = true;
			break;
		case 'r':
			tracer = absolute(optarg);
			break;
		case 't':
			limit = (unsigned)num_arg("seconds", optarg, 1, 3600);
			break;
		case 'v':
			verbose = true;
			break;
		case 'w':
			workdir = absolute(optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind < 2)
		die("usage: victims [options] sources programs [name ...]");
	srcdir = argv[optind];
	bindir = absolute(argv[optind + 1]);
	for (int i = 0; i < NMODE && !any_mode; i++)
		mode_wanted[i] = true;
	victims_find(argv + optind + 2);
	if (nvictim == 0)
		die("no victims");
	/* For sigtimedwait: blocked, not ignored. */
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	return run_all(jobs) ? 0 : 1;
}
