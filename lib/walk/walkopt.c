/*
 * walkopt - the options that a program sets for following calls
 */
#include "callwalk.h"

struct callwalk walk = {
	.ncol = 1, .firsttold = 1, .maxcontexts = 1000000,
	.collect = true, .maxframes = (size_t)1 << 20
};
