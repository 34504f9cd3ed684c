/*
 * rivals - do other tasks want the processors that the program and we use?
 *
 * The kernel tells how long a task that could run has waited for a processor,
 * in ns (/proc/PID/schedstat).  Where the program's first thread and this one
 * wait much, there are rivals, or a group's limit of CPU time is used up.  A
 * look costs some 10 us, so there is one in LOOK_NS.
 */
#include <stdlib.h>

#include "base/base.h"

#define LOOK_NS 4000000u	/* from one look to the next */
#define SHARE 8u		/* of the time since then that is much */

static uint64_t looked;		/* when, in ns; 0: a look is to come first */
static uint64_t had_waited;	/* at that time */

/* How long a task has run, and waited for a processor; false: not told. */
static bool
read_times(const char *text, uint64_t *ran, uint64_t *waited)
{
	char *end;

	*ran = strtoull(text, &end, 10);
	if (end == text || *end != ' ')
		return false;
	*waited = strtoull(end, NULL, 10);
	return true;
}

/* How long both have waited; false: the kernel does not keep these times. */
static bool
all_waited(uint64_t *waited)
{
	char text[96];
	uint64_t ran, ours, theirs;

	if (file_text("/proc/thread-self/schedstat", text, sizeof text) == 0 ||
	    !read_times(text, &ran, &ours) || ran == 0 ||
	    guest_file("schedstat", text, sizeof text) == 0 ||
	    !read_times(text, &ran, &theirs))
		return false;
	*waited = ours + theirs;
	return true;
}

void
rivals_forget(void)
{
	looked = 0;
}

bool
rivals_seen(void)
{
	uint64_t now = clock_ns(), took = now - looked, waited;
	bool much;

	if (looked != 0 && took < LOOK_NS)
		return false;
	if (!all_waited(&waited))
		return true;
	much = looked != 0 && waited - had_waited > took / SHARE;
	looked = now;
	had_waited = waited;
	return much;
}
