/*
 * options - the options of the command line
 */
#include "bbv.h"

struct bbv_options opt = { .interval = 100000000, .mav_shift = 6 };
