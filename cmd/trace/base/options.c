/*
 * options - the command line's choices
 *
 * cmdline.c fills them in before anything else runs; all other files see them
 * as const.
 */
#include "base/base.h"

static struct options set = {
	.cpu = CPU_NATIVE, .sets = 64, .lineshift = 6, .ways = 8, .vdso = true,
	.out_fd = -1
};
const struct options *const opt = &set;
struct stats stats;

struct options *
options_set(void)
{
	return &set;
}
