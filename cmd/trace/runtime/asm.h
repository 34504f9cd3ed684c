/*
 * asm - what the runtime's assembler files share
 *
 * T is the thread area's hot middle (shared.h), P the record pointer.  MARK
 * makes a label: those that end in _end, _insn, _check, _abort and _fault bound
 * ranges that the signal handler knows, see signal.c.
 */
#include "offsets.h"

#define T %r11
#define P %r8
#define SAVED(r) (TO_LOOK_SAVE + 8 * (r))(T)

	.macro MARK name
	.globl \name
	.hidden \name
\name:
	.endm
