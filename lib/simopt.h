/*
 * simopt.h - the options that all simulators have
 *
 * cachesim and branchsim read a stream and write costs, or pass the stream on.
 * A simulator handles its own options in the switch, and the others here:
 *
 *	while ((c = getopt_long(argc, argv, SIMOPT_SHORT, longopts,
 *	    NULL)) != -1)
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
#include <stdbool.h>

struct simopt {
	const char *synopsis, *help;	/* the program's */
	const char *output;
	bool through, verbose;
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

/* Handle option c. Exits after --help and --version, and on a wrong option. */
void simopt_take(struct simopt *, int c);
/* The file to read, or NULL. */
const char *simopt_file(const struct simopt *, int argc, char **argv);
/* Is the option's argument the second of two words? Dies if it is neither. */
bool simopt_choice(const char *option, const char *first, const char *second);

#endif
