/*
 * offsets - constants of C that the assembler needs
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
	NUMBER(SYS_ABORTED, SYS_ABORTED);
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
	NUMBER(LOOK_ONE_LINE, LOOK_FETCH | LOOK_LINE_SIZE(1));
	NUMBER(LOOK_TWO_LINES, LOOK_FETCH | LOOK_LINE_SIZE(2));
	NUMBER(LOOK_ROOM, LOOK_ROOM);
	NUMBER(ID_BITS, ID_BITS);
	NUMBER(PLACE_BITS, PLACE_BITS);
	NUMBER(PLACE_SECOND, PLACE_SECOND);
	NUMBER(T_DTAG, T_DTAG);
	NUMBER(LINE_STAMP, LINE_STAMP);
	NUMBER(HINT_TAG, HINT_TAG);
	NUMBER(TABLE_HINTS, TABLE_HINTS);
	MEMBER(TO_HINT, hint);
	NUMBER(T_ITAG, T_DTAG + (int)offsetof(struct line_table, itag));
	NUMBER(T_ICELL, T_DTAG + (int)offsetof(struct line_table, icell));
	NUMBER(T_LINES, T_DTAG + (int)offsetof(struct line_table, n));
	NUMBER(T_CELL, T_CELL);
	NUMBER(T_AGAIN, T_AGAIN);
	NUMBER(AGAIN_BITS, AGAIN_BITS);
	MEMBER(TO_PLACE, place);
	MEMBER(TO_P, p);
#define WORD(member) (T_CTX + (int)CTX_WORDS + \
    (int)offsetof(struct ctx_words, member))
#define MORE(member) (CTX_MORE + offsetof(struct ctx_frame_more, member))
	NUMBER(WORD_TOP, WORD(top));
	NUMBER(WORD_TOLD, WORD(told));
	NUMBER(FRAME_ARC, offsetof(struct ctx_frame, arc));
	NUMBER(FRAME_P, offsetof(struct ctx_frame, p));
	NUMBER(MORE_ARC, MORE(told_arc));
	NUMBER(MORE_P, MORE(told_p));
	NUMBER(RT_SETS, offsetof(struct rt, boot.sets));
	NUMBER(RT_PLACE, offsetof(struct rt, place));
	NUMBER(RT_LEAVE_CODE, offsetof(struct rt, boot.leave));
	NUMBER(TA_BUFEND, offsetof(struct tarea, bufend));
	NUMBER(TA_TF, offsetof(struct tarea, tf));
	NUMBER(TA_PENDING, offsetof(struct tarea, pending));
}
