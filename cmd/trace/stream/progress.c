/*
 * progress - a line a second: instructions so far, and how many a second
 *
 * Kinds counts and cache have counters, which are summed up. For the others
 * the first eight million words of records are counted in full, so a small
 * run's figure is exact. Of what a thread hands over later the first sixteenth
 * is counted and stands for all of it, since counting all would take time.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meter.h"
#include "stream/parts.h"
#include "stream/stream.h"
#include "prog.h"

#define COUNTED	(8u << 20)	/* words of records that are counted in full */
#define SHARE	16		/* of those after them one word in so many */

bool progress_on;
static bool estimated;
static uint64_t done;		/* instructions */

/* Is the program's descriptor the terminal that our standard error is? */
static bool
is_there(int fd)
{
	struct stat ours, theirs;
	char name[64];

	snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)guest.pid, fd);
	return fstat(STDERR_FILENO, &ours) == 0 && stat(name, &theirs) == 0 &&
	    S_ISCHR(theirs.st_mode) && theirs.st_rdev == ours.st_rdev;
}

/* One of many traces would write over the others' lines. */
void
progress_start(void)
{
	if (!opt->kind->tells || opt->adopted)
		return;
	progress_on = opt->verbose || (isatty(STDERR_FILENO) == 1 &&
	    !is_there(1) && (opt->pid == 0 || !is_there(2)));
	if (opt->verbose)
		meter_always();
}

void
progress_records(const uint32_t *a, const uint32_t *b)
{
	static uint64_t words;
	const uint32_t *p = a, *end = b;
	uint64_t n = 0;

	words += (uint64_t)(b - a);
	if (words > COUNTED)
		end = a + ((b - a) / SHARE + 1);
	while (p < b && p < end) {
		uint32_t head = ONCE(*p);

		n += id_length[record_id(head)];
		p += 1 + 2 * record_nvalues(head);
	}
	if (p < b) {
		n = (uint64_t)((double)n * (double)(b - a) / (double)(p - a));
		estimated = true;
	}
	done += n;
}

void
progress_counted(uint64_t n)
{
	done += n;
}

void
progress_line(uint64_t more)
{
	double n = (double)(done + more) / 1e6;

	meter_line("%s%.0f M instructions, %.1f M a second",
	    estimated ? "about " : "", n, n / (double)meter_seconds());
}

void
progress_end(void)
{
	meter_end();
	if (opt->verbose && progress_on)
		warn("%s%llu instructions", estimated ? "about " : "",
		    (unsigned long long)done);
}
