/*
 * offsets - constants of C that entry.S needs
 *
 * This file is only compiled to assembler.  make picks the lines "->NAME value"
 * out of that and writes them to offsets.h in the build folder.
 */
#include "runtime.h"

#define NUMBER(name, value) \
	__asm__ volatile("\n->" #name " %c0" : : "i"((long)(value)))
#define MEMBER(name, member) NUMBER(name, TO(member))

void offsets(void);

void
offsets(void)
{
	NUMBER(T_BIAS, T_BIAS);
	MEMBER(TO_EXITNO, exitno);
	MEMBER(TO_P_AT, p_at);
	MEMBER(TO_PC, pc);
	MEMBER(TO_ENTRY, entry);
	MEMBER(TO_FLAGS, rflags);
	MEMBER(TO_STACK, stack);
	MEMBER(TO_CALL_FLAGS, flags);
	MEMBER(TO_LOOK_RET, look_ret);
	MEMBER(TO_LOOK_KIND, look_kind);
	NUMBER(TO_LOOK_SAVE, TO_LOOK_SAVE);
	NUMBER(LOOK_IS_REP, LOOK_REP);
	NUMBER(TA_PENDING, offsetof(struct tarea, pending));
}
