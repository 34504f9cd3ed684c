/*
 * entries.h - where functions that are looked for begin
 *
 * An object file is read when its code is first mapped, and its functions are
 * known by their offset in it from then on.
 */
#ifndef ENTRIES_H
#define ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct entries_object;
struct sym;

struct entries {
	/* Call entries_found for each function of an object that is wanted. */
	void (*search)(struct sym *);
	struct entries_object *object;
	size_t n, cap;
};

/*
 * In search: one begins at this link-time address; what it is to the caller.
 * False: there is no code that could be mapped.
 */
bool entries_found(uint64_t addr, uint32_t what);
/*
 * Code of a file from offset `off' was mapped at [start, end): call each for
 * every function that begins there.
 */
void entries_mapped(struct entries *, uint64_t start, uint64_t end,
    uint64_t off, const char *path, void (*each)(uint64_t pc, uint32_t what));
/*
 * For a message that no function has this name: what follows it, with longer
 * names that end in it, as "; perhaps rs::work", or "". It reads the objects
 * again.
 */
const char *entries_perhaps(const struct entries *, const char *name);

#endif
