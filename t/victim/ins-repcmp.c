/*
 * ins-repcmp - compares and scans that end early, at the first, a middle, the
 * last place, or not at all; in both directions; flags after a count of zero
 */
#include "victim.h"

static unsigned char a[1024] __attribute__((aligned(64)));
static unsigned char b[1024] __attribute__((aligned(64)));

/* Compares up to n elements that differ first at `at`; what was left. */
#define CMPS(insn, type)						\
	do {								\
		type *s = (type *)a + 20, *d = (type *)b + 20;		\
		uint64_t n = 30;					\
		unsigned char equal;					\
		memset(a, 7, sizeof a);					\
		memset(b, 7, sizeof b);					\
		if (at < 30)						\
			s[at] = 8;					\
		__asm__ volatile("repe " insn "; sete %3" : "+S"(s),	\
		    "+D"(d), "+c"(n), "=q"(equal) : : "memory", "cc");	\
		SAME(n, at < 30 ? 29 - at : 0);				\
		SAME(s - (type *)a, 20 + (at < 30 ? at + 1 : 30));	\
		SAME(d - (type *)b, s - (type *)a);			\
		SAME(equal, at >= 30);					\
		/* Downwards, as long as they differ. */		\
		memset(b, 9, sizeof b);					\
		s = (type *)a + 60;					\
		d = (type *)b + 60;					\
		n = 30;							\
		if (at < 30)						\
			d[-(intptr_t)at] = s[-(intptr_t)at];		\
		__asm__ volatile("std; repne " insn "; cld; sete %3"	\
		    : "+S"(s), "+D"(d), "+c"(n), "=q"(equal)		\
		    : : "memory", "cc");				\
		SAME(n, at < 30 ? 29 - at : 0);				\
		SAME((type *)a + 60 - s, at < 30 ? at + 1 : 30);	\
		SAME(equal, at < 30);					\
	} while (0)

#define SCAS(insn, type, value)						\
	do {								\
		type *d = (type *)a;					\
		uint64_t n = 30;					\
		unsigned char found;					\
		memset(a, 1, sizeof a);					\
		if (at < 30)						\
			d[at] = (type)(value);				\
		__asm__ volatile("repne " insn "; sete %2" : "+D"(d),	\
		    "+c"(n), "=q"(found) : "a"(value) : "memory", "cc"); \
		SAME(n, at < 30 ? 29 - at : 0);				\
		SAME(d - (type *)a, at < 30 ? at + 1 : 30);		\
		SAME(found, at < 30);					\
	} while (0)

static void
zero_count(void)
{
	unsigned char *s = (unsigned char *)8, *d = s;
	uint64_t n = 0, flags;

	/* Nothing is read, no flag is changed, no register either. */
	__asm__ volatile("cmp $1, %2; pushf; repe cmpsb; repne scasb; pushf;"
	    "pop %3; xor %3, (%%rsp); pop %3"
	    : "+S"(s), "+D"(d), "+c"(n), "=r"(flags) : "a"(0)
	    : "memory", "cc");
	SAME(flags, 0);
	CHECK(s == (unsigned char *)8 && d == s && n == 0);
}

int
main(void)
{
	static const uint64_t places[] = { 0, 1, 2, 13, 28, 29, 30 };

	for (int round = 0; round < 20; round++)
		for (size_t i = 0; i < NELEM(places); i++) {
			uint64_t at = places[i];

			CMPS("cmpsb", uint8_t);
			CMPS("cmpsw", uint16_t);
			CMPS("cmpsl", uint32_t);
			CMPS("cmpsq", uint64_t);
			SCAS("scasb", uint8_t, 0x55);
			SCAS("scasw", uint16_t, 0x5566);
			SCAS("scasl", uint32_t, 0x55667788);
			SCAS("scasq", uint64_t, 0x1122334455667788);
			zero_count();
		}
	return victim_ok();
}
