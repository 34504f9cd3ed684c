/*
 * control - what somebody asks for from outside, while the program runs
 *
 *	trace --client-requests --control=ctl -o '|...' ./server &
 *	echo dump after the first hour >ctl
 *
 * The FIFO is ours, and a thread reads it.  It keeps one command at a time, for
 * the serving thread, which looks for it at least ten times a second; so the
 * thread need not touch the area, which an exec replaces.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "mem.h"
#include "prog.h"
#include "shown.h"
#include "trace.h"

static const char *fifo;	/* its name, NULL: there is none any more */
static struct stat made;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t taken = PTHREAD_COND_INITIALIZER;
static char command[PIPE_BUF + 1];
static _Atomic bool pending;

/* Wait until there is room, and hand the line over. */
static void
hand_over(const char *line)
{
	pthread_mutex_lock(&lock);
	while (pending)
		pthread_cond_wait(&taken, &lock);
	strcpy(command, line);
	pending = true;
	pthread_mutex_unlock(&lock);
}

/* What has been read, up to a newline that may not be there yet. */
struct input {
	char text[PIPE_BUF + 1];
	size_t n;
	bool skip;		/* the rest of a line that was too long */
};

/* Hand over the lines that are whole, and keep the rest. */
static void
take_lines(struct input *in)
{
	char *s = in->text, *end = s + in->n, *nl;

	while ((nl = memchr(s, '\n', (size_t)(end - s))) != NULL) {
		*nl = '\0';
		if (*s != '\0' && !in->skip)
			hand_over(s);
		in->skip = false;
		s = nl + 1;
	}
	in->n = (size_t)(end - s);
	memmove(in->text, s, in->n);
}

/*
 * What is longer than a writer can write at once is no command.  This reads
 * without a stream of stdio, which exit(3) would wait for.
 */
static void *
listen_to(void *arg)
{
	static struct input in;
	int fd = (int)(intptr_t)arg;
	ssize_t n;

	for (;;) {
		n = read(fd, in.text + in.n, sizeof in.text - in.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		in.n += (size_t)n;
		take_lines(&in);
		if (in.n == sizeof in.text) {
			in.skip = true;
			in.n = 0;
		}
	}
}

/* One that nobody reads is left from a trace that was killed. */
static bool
make_fifo(const char *name)
{
	struct stat st;
	int fd;

	if (mkfifo(name, 0600) == 0)
		return true;
	if (errno != EEXIST || lstat(name, &st) < 0 || !S_ISFIFO(st.st_mode))
		return false;
	fd = open(name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || errno != ENXIO) {
		errno = EEXIST;
		return false;
	}
	unlink(name);
	return mkfifo(name, 0600) == 0;
}

void
control_start(const char *name)
{
	pthread_t t;
	int fd;

	if (!make_fifo(name)) {
		warn("--control: %s:", name);
		return;
	}
	/* open for writing too, so that it never comes to an end */
	fd = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {		/* umask(2) may forbid it */
		warn("--control: %s:", name);
		unlink(name);
		return;
	}
	if (fstat(fd, &made) < 0 || !S_ISFIFO(made.st_mode) ||
	    made.st_uid != geteuid()) {
		warn("--control: %s: not the FIFO that was made", name);
		close(fd);
		return;
	}
	fifo = name;
	if (pthread_create(&t, NULL, listen_to, (void *)(intptr_t)fd) != 0)
		die("thread:");
	pthread_detach(t);
}

void
control_end(void)
{
	struct stat st;

	if (fifo != NULL && lstat(fifo, &st) == 0 && st.st_dev == made.st_dev &&
	    st.st_ino == made.st_ino)
		unlink(fifo);
	fifo = NULL;
}

/* ----------------------------------------------------------------- commands */

static FILE *
open_new(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (f == NULL && fd >= 0) {
		close(fd);
		unlink(name);
	}
	return f;
}

/* Whoever waits for the answer sees it when it is whole. */
static void
answer(const char *name, bool native)
{
	char *tmp = xmalloc(strlen(name) + 24);
	unsigned i, n = 0;
	FILE *f;

	for (i = 0; i < NSLOT; i++)
		n += ONCE(area.ctl->slot[i].used) == SLOT_TAKEN;
	sprintf(tmp, "%s.tmp.%d", name, (int)getpid());
	f = open_new(tmp);
	if (f == NULL) {
		warn("--control: %s:", tmp);
	} else {
		fprintf(f, "telling: %s\nthreads: %u\n",
		    ONCE(area.ctl->off) || native ? "no" : "yes", n);
		if (fclose(f) != 0 || rename(tmp, name) < 0) {
			warn("--control: %s:", name);
			unlink(tmp);
		}
	}
	free(tmp);
}

/* Does the line begin with the word?  Then into rest what follows. */
static bool
is_word(const char *line, const char *word, const char **rest)
{
	size_t n = strlen(word);

	if (strncmp(line, word, n) != 0 || (line[n] != ' ' && line[n] != '\0'))
		return false;
	*rest = line + n + strspn(line + n, " ");
	return true;
}

static void
obey(const char *line, bool native)
{
	static const struct { const char *word; enum mark mark; } marks[] = {
		{ "on", MARK_COLD }, { "off", MARK_OFF }, { "dump", MARK_DUMP },
		{ "zero", MARK_ZERO }
	};
	const char *rest;
	char shown[256];

	for (unsigned i = 0; i < 4; i++)
		if (is_word(line, marks[i].word, &rest) &&
		    (*rest == '\0' || marks[i].mark == MARK_DUMP)) {
			if (native)
				warn("--control: %s: the process executed a "
				    "program that runs natively",
				    marks[i].word);
			else
				client_outside(marks[i].mark, rest);
			return;
		}
	if (is_word(line, "status", &rest) && *rest == '/') {
		answer(rest, native);
		return;
	}
	shown[shown_copy(shown, sizeof shown - 1, line, strlen(line))] = '\0';
	warn("--control: `%s': on, off, dump [TEXT], zero or status /FILE",
	    shown);
}

bool
control_pending(void)
{
	return pending;
}

void
control_do(bool native)
{
	char line[sizeof command];

	pthread_mutex_lock(&lock);
	strcpy(line, command);
	pending = false;
	pthread_cond_signal(&taken);
	pthread_mutex_unlock(&lock);
	obey(line, native);
}
