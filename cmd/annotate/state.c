/*
 * state - the options, the profile, and where the report goes
 */
#include "annotate.h"

struct annotate_opts opt = { .percs = true, .annotate = true, .context = 8 };
struct out *out;
struct prof prof;
