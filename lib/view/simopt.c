/*
 * simopt - the options that all simulators have
 */
#include "simopt.h"

#include <stddef.h>
#include <string.h>

#include "util.h"

void
simopt_take(struct simopt *s, int c)
{
	switch (c) {
	case 'h':
		prog_help(s->help);
	case 'o':
		s->output = optarg;
		break;
	case 't':
		s->through = true;
		break;
	case 'v':
		s->verbose = true;
		break;
	case SIMOPT_VERSION:
		prog_version();
	default:
		prog_usage(s->synopsis);
	}
}

const char *
simopt_file(const struct simopt *s, int argc, char **argv)
{
	if (argc - optind > 1)
		prog_usage(s->synopsis);
	return argv[optind];
}

bool
simopt_choice(const char *option, const char *first, const char *second)
{
	if (strcmp(optarg, first) == 0)
		return false;
	if (strcmp(optarg, second) != 0)
		die("--%s=%s: neither %s nor %s", option, optarg, first,
		    second);
	return true;
}
