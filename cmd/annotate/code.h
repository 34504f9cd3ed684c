/*
 * code.h - instructions of an object file, disassembled
 */
#ifndef CODE_H
#define CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym.h"

struct object_code;

/* NULL: the file cannot be read, or is not an x86-64 object with code. */
struct object_code *code_open(const char *path, bool intel);
/* Its symbols and lines, which are its own. */
struct sym *code_sym(struct object_code *);
/*
 * Disassembles the instruction at a link-time address, with the name of its
 * target.  Returns its length, or 0 if no valid instruction is there.
 */
size_t code_insn(struct object_code *, uint64_t addr, char *text, size_t size);
/* the i-th code segment; false: there are only i */
bool code_part(struct object_code *, size_t i, uint64_t *addr, uint64_t *len);

#endif
