/*
 * trust - the guest has written over what it shares with us
 *
 * It can write the whole memory file, by accident or not.  A thread that finds
 * an impossible value there reports it here and goes on without it; the serving
 * thread then ends the run.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "util.h"

#define PATIENCE_MS 20000u	/* how long the guest may make us wait */

volatile int trust_lost;

void
trust_lose(const char *what)
{
	if (__atomic_exchange_n(&trust_lost, 1, __ATOMIC_SEQ_CST))
		return;
	warn("the program has written over memory that is trace's (%s)%s; "
	    "the stream ends here", what,
	    opt->leaves || guest_ended ? "" : " and is killed");
	bell_ring();
}

/* It is stopped, or a debugger holds it: nothing can be expected of it. */
static bool
is_stopped(void)
{
	char name[64], text[512], *p;
	ssize_t n = 0;
	int fd;

	snprintf(name, sizeof name, "/proc/%d/stat", (int)guest.pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof text - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	return p != NULL && p[1] != '\0' && (p[2] == 'T' || p[2] == 't');
}

bool
trust_wait(struct patience *p, const char *what)
{
	uint64_t now, step;

	if (guest_ended || trust_lost)
		return false;
	now = clock_ns() / 1000000;
	/* a long time between two calls was not spent waiting for the guest */
	step = p->last == 0 ? 0 : now - p->last;
	p->last = now;
	p->waited += step < 100 ? step : 100;
	if (p->waited < PATIENCE_MS)
		return true;
	if (is_stopped()) {
		p->waited = 0;
		return true;
	}
	trust_lose(what);
	return false;
}
