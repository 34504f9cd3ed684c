/*
 * flags - where the program does not look at the arithmetic flags
 *
 * Code that a fragment adds where it leaves may change the flags if the program
 * writes all of them, from there on, before it reads any.  To find that out the
 * next instructions are decoded, over direct jumps and calls, until one
 * decides.  It is `no' where the code can change without a system call.
 *
 * An answer is kept until one for a pc with the same low bits takes its place:
 * to find it again costs less than to find its place in a table of all.
 */
#include <string.h>

#include "code/code.h"
#include "mem.h"

#define MOST_INSN 16u
#define MOST_JUMPS 2u
#define NANSWERS 8192u

static uint64_t answers[NANSWERS];	/* pc * 2, and 1 for `yes'; or 0 */
static bool any;		/* of them may not be 0 */

/* What one instruction says. */
enum answer { DEAD, ALIVE, GO_ON };

static enum answer
ask(const struct insn *in, uint32_t *live)
{
	if (in->special >= SP_EMULATE || (in->fread & *live) != 0)
		return ALIVE;
	if (in->flow != FLOW_NONE && in->flow != FLOW_JUMP &&
	    in->flow != FLOW_CALL)
		return ALIVE;	/* a system call keeps them, in r11 */
	*live &= ~in->fkill;
	return *live == 0 ? DEAD : GO_ON;
}

static bool
look(app_pc pc)
{
	uint8_t code[MOST_INSN * MAX_LEN];
	uint32_t live = ARITH_FLAGS;
	unsigned n, jumps = 0, at = 0, got = maps_code(pc, code, sizeof code);
	enum answer a;
	struct insn in;

	for (n = 0; n < MOST_INSN; n++) {
		if (at >= got ||
		    decode_again(&in, pc + at, code + at, got - at) < 0)
			return false;
		a = ask(&in, &live);
		if (a != GO_ON)
			return a == DEAD;
		at += in.len;
		if (in.flow == FLOW_NONE)
			continue;
		if (jumps++ == MOST_JUMPS || maps_volatile(in.target))
			return false;
		pc = in.target;
		at = 0;
		got = maps_code(pc, code, sizeof code);
	}
	return false;
}

static uint64_t *
answer_of(app_pc pc)
{
	if (!any)
		xtouch_all(answers, sizeof answers);
	any = true;
	return &answers[pc % NANSWERS];
}

static void
keep(app_pc pc, bool dead)
{
	*answer_of(pc) = pc << 1 | dead;
}

bool
flags_dead(app_pc pc)
{
	uint64_t kept = *answer_of(pc);
	bool dead;

	if (maps_volatile(pc))
		return false;
	if (kept >> 1 == pc && kept != 0)
		return kept & 1;
	dead = look(pc);
	keep(pc, dead);
	return dead;
}

void
flags_note_dead(app_pc pc)
{
	keep(pc, true);
}

void
flags_forget(void)
{
	if (any)
		memset(answers, 0, sizeof answers);
}
