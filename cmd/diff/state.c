/*
 * state - the two profiles, the options, and where results go
 */
#include "diff.h"

struct diff diff = { .threshold = 0.1, .by = BY_FUNCTION | BY_LINE | BY_CALL };
struct out *out;
