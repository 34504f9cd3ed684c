/*
 * flags - where the program does not look at the arithmetic flags
 *
 * Code that a fragment adds where it leaves may change the flags if the program
 * writes all of them, from there on, before it reads any.  To find that out the
 * next instructions are decoded, over direct jumps and calls, until one
 * decides; each answer is kept.  It is `no' where the code can change without a
 * system call.
 */
#include <htslib/khash.h>

#include "code/code.h"
#include "util.h"

#define MOST_INSN 16u
#define MOST_JUMPS 2u

KHASH_MAP_INIT_INT64(dead, bool)

static khash_t(dead) *answers;

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
	uint8_t code[MOST_INSN * 15];
	uint32_t live = ARITH_FLAGS;
	unsigned n, jumps = 0, at = 0, got = maps_code(pc, code, sizeof code);
	enum answer a;
	struct insn in;

	for (n = 0; n < MOST_INSN; n++) {
		if (at >= got || decode_again(&in, pc + at, code + at,
		    got - at > 15 ? 15 : got - at) < 0)
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

/* The place of an answer; *made: it is new, and `no'. */
static bool *
answer(app_pc pc, bool *made)
{
	khint_t k;
	int new;

	if (answers == NULL)
		answers = kh_init(dead);
	k = kh_put(dead, answers, pc, &new);
	if (new < 0)
		die("flags:");
	*made = new != 0;
	if (*made)
		kh_val(answers, k) = false;
	return &kh_val(answers, k);
}

bool
flags_dead(app_pc pc)
{
	bool made, *a;

	if (maps_volatile(pc))
		return false;
	a = answer(pc, &made);
	if (made)
		*a = look(pc);
	return *a;
}

void
flags_note_dead(app_pc pc)
{
	bool made;

	*answer(pc, &made) = true;
}

void
flags_forget(void)
{
	if (answers != NULL)
		kh_clear(dead, answers);
}
