/*
 * state - what was asked for, the profile, and where the report goes
 */
#include "annotate.h"

struct opts opt = { .percs = true, .annotate = true, .context = 8 };
struct out *out;
struct prof prof;
