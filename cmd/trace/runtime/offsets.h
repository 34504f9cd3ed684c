/*
 * offsets - the numbers of shared.h and struct tarea that assembler needs;
 * dispatch.c asserts that they agree
 */
#define T_BIAS 128
#define TO_EXITNO 32
#define TO_P 80
#define TO_PC 88
#define TO_ENTRY 96
#define TO_FLAGS 104
#define TO_STACK 112
#define TO_LOOK_RET 152
#define TO_LOOK_KIND 160
#define TO_LOOK_SAVE 1920
#define LOOK_IS_REP 3
#define TA_PENDING 448
