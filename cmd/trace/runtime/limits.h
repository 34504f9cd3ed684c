/*
 * limits.h - limits of the guest's memory, which count ours as well
 */
#ifndef LIMITS_H
#define LIMITS_H

#include <stdint.h>

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* Those of address space and of data, as they were before an exec. */
struct limits {
	struct limit of[NLIMIT];
};
#define LIMITS_NONE { { { ~0ull, ~0ull }, { ~0ull, ~0ull } } }

/* Raise what the guest has set by what our areas take, and so many more. */
void limits_move(unsigned more);
/*
 * The new image is to find the limits as the guest set them; and if there is
 * none, they are put back.
 */
void limits_for_exec(struct limits *was);
void limits_exec_failed(const struct limits *was);
/* A process that goes on without us gets the limits that the guest has set. */
void limits_give_back(void);
/* prlimit64, getrlimit, setrlimit. */
long limit_call(struct tarea *, uint64_t nr);

#pragma GCC visibility pop

#endif
