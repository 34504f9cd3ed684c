/*
 * walkopt - what the program chose of how calls are followed
 */
#include "callwalk.h"

struct callwalk walk = {
	.ncol = 1, .firsttold = 1, .demangle = true, .maxcontexts = 1000000
};
