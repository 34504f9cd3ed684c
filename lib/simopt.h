/*
 * simopt.h - the options that simulators have in common
 *
 * cachesim and branchsim take a stream and give costs, or pass the stream on.
 * Their own options come first in the switch, these are the default:
 *
 *	while ((c = getopt_long(argc, argv, SIMOPT_SHORT, longopts, NULL)) != -1)
 *		switch (c) {
 *		case OPT_OWN:
 *			...
 *		default:
 *			simopt_take(&opt, c);
 *		}
 *	name = simopt_file(&opt, argc, argv);
 */
#ifndef SIMOPT_H
#define SIMOPT_H

#include <getopt.h>

struct simopt {
	const char *synopsis, *help;	/* the program's */
	const char *output;
	int through, verbose;
};

#define SIMOPT_SHORT	"ho:tv"
#define SIMOPT_VERSION	255	/* own long options are larger */
#define SIMOPT_LONG						\
	{ "help", no_argument, NULL, 'h' },			\
	{ "output", required_argument, NULL, 'o' },		\
	{ "through", no_argument, NULL, 't' },			\
	{ "verbose", no_argument, NULL, 'v' },			\
	{ "version", no_argument, NULL, SIMOPT_VERSION },	\
	{ NULL, 0, NULL, 0 }

/* Does not return where there is nothing to do, or something is wrong. */
void simopt_take(struct simopt *, int c);
/* The file to read, or NULL. */
const char *simopt_file(const struct simopt *, int argc, char **argv);
/* 0 or 1, as the option's argument is the first or second of two words. */
int simopt_choice(const char *option, const char *first, const char *second);

#endif
