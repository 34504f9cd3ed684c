/*
 * options - the command line's choices
 *
 * cmdline.c fills them in before anything else runs; all other files see them
 * as const.
 */
#include <string.h>

#include "base/base.h"
#include "ctl.h"

static struct options set = {
	.cpu = CPU_NATIVE, .sets = 64, .lineshift = 6, .ways = 8, .vdso = true,
	.exec = EXEC_SAME, .out_fd = -1
};
const struct options *const opt = &set;
struct stats stats;

struct options *
options_set(void)
{
	return &set;
}

bool
output_is_command(void)
{
	return set.out != NULL && set.out[0] == '|';
}

bool
output_has_pid(void)
{
	return set.out != NULL && strstr(set.out, "%p") != NULL;
}

bool
opt_steals_p(void)
{
	return set.kind->records || set.kind->alone || set.kind->learns ||
	    set.interval != 0 || set.during != 0 || set.after != 0 ||
	    set.windows != 0 || set.allocs || set.contexts != 0;
}

bool
opt_makes_paths(void)
{
	return set.kind->paths && set.interval == 0 && set.during == 0 &&
	    set.contexts == 0 && !(set.windows & ~WINDOWS_REQUESTS) &&
	    !(set.debug & DEBUG_NOSUPER);
}
