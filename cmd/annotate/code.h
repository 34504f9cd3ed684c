/*
 * code.h - instructions of an object file, disassembled
 */
#ifndef CODE_H
#define CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym.h"

struct code;

/* NULL: it cannot be read, or is no object of this machine. */
struct code *code_open(const char *path, bool intel);
struct sym *code_sym(struct code *);
/*
 * The instruction at a link-time address as text, with the name of what it
 * jumps to or refers to: its length, or 0 where there is none.
 */
size_t code_insn(struct code *, uint64_t addr, char *text, size_t size);
/* the i-th piece of code; false: there is none */
bool code_part(struct code *, size_t i, uint64_t *addr, uint64_t *len);
void code_close(struct code *);

#endif
