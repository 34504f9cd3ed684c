/*
 * prc-filterwaits - filters that permit futex and sched_yield, permit them by
 * their arguments, and kill for them, one behind the other; each time code runs
 * that has not run before
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <regex.h>
#include <sys/prctl.h>
#include <time.h>

#include "victim.h"

#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define ARG(n) (16 + 8 * (n))
#define IF(how, k, yes, no) BPF_JUMP(BPF_JMP | (how) | BPF_K, k, yes, no)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define ALLOW RETURN(SECCOMP_RET_ALLOW)
#define KILL RETURN(SECCOMP_RET_KILL_PROCESS)

static void
install(struct sock_filter *f, size_t n)
{
	struct sock_fprog p = { (unsigned short)n, f };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) != 0)
		victim_skip("no filters");
}

#define INSTALL(...) do { \
	struct sock_filter f[] = { __VA_ARGS__ }; \
	install(f, NELEM(f)); \
} while (0)

/* Behind the first loads: is it a call of ours, and futex? */
static void
permit_by_operation(void)
{
	INSTALL(LOAD(4), IF(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0), KILL,
	    LOAD(0), IF(BPF_JEQ, SYS_futex, 0, 6),
	    LOAD(ARG(1) + 4), IF(BPF_JEQ, 0, 0, 3),
	    LOAD(ARG(1)), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~384u),
	    IF(BPF_JGT, 10, 0, 1), KILL, ALLOW);
}

/* The same in a roundabout way, by all kinds of instructions. */
static void
permit_roundabout(void)
{
	INSTALL(LOAD(0), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LDX | BPF_MEM, 3),
	    BPF_STMT(BPF_LD | BPF_IMM, 1),
	    BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
	    BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 1),
	    BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 5),
	    BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 5),
	    BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4),
	    BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
	    BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_MISC | BPF_TXA, 0),
	    IF(BPF_JSET, 0x80000000, 1, 0), ALLOW, KILL);
}

/* Whether it kills depends on the word: we may not find out. */
static void
kill_by_word(void)
{
	INSTALL(LOAD(0), IF(BPF_JEQ, SYS_futex, 0, 3), LOAD(ARG(0)),
	    IF(BPF_JEQ, 0, 1, 0), KILL, ALLOW);
}

static void
kill_yields(void)
{
	INSTALL(LOAD(0), IF(BPF_JEQ, SYS_sched_yield, 0, 1), KILL, ALLOW);
}

static void
kill_both(void)
{
	INSTALL(LOAD(0), IF(BPF_JEQ, SYS_futex, 1, 0),
	    IF(BPF_JEQ, SYS_sched_yield, 0, 1), KILL, ALLOW);
}

static int
by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
run(int i)
{
	int v[] = { 3, 1, 2 };
	char text[64];
	static struct tm tm;
	regex_t r;
	time_t at = 1;

	switch (i) {
	case 0:
		snprintf(text, sizeof text, "%.3f %g", 1.5, 1e100);
		SAME(strtod(text, NULL) == 1.5, 1);
		break;
	case 1:
		qsort(v, NELEM(v), sizeof *v, by_value);
		SAME(v[0], 1);
		break;
	case 2:
		CHECK(regcomp(&r, "^a(b|c)*[d-f]+$", REG_EXTENDED) == 0);
		CHECK(regexec(&r, "abcbcdef", 0, NULL, 0) == 0);
		break;
	case 3:
		CHECK(gmtime_r(&at, &tm) != NULL && tm.tm_year == 70);
		break;
	case 4:
		CHECK(strftime(text, sizeof text, "%A %d %B", &tm) < 64);
		break;
	default:
		CHECK(strstr("a long enough text to look in", "look") != NULL);
		break;
	}
}

int
main(void)
{
	static void (*const filters[])(void) = { permit_by_operation,
	    permit_roundabout, kill_by_word, kill_yields, kill_both };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	INSTALL(ALLOW);
	for (int i = 0; i < (int)NELEM(filters); i++) {
		run(i);
		filters[i]();
	}
	run(5);
	return victim_ok();
}
