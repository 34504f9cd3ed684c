/*
 * options - what the command line chose
 */
#include "bbv.h"

struct options opt = { .interval = 100000000, .mav_shift = 6 };
