/*
 * prc-filterdiv - a filter that kills for futex by what no other code is for:
 * a shift by more than a word has bits, and a division by zero
 */
#include <time.h>

#include "victim.h"
#include "filter.h"

int
main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 6),
		BPF_STMT(BPF_LD | BPF_IMM, 1), BPF_STMT(BPF_LDX | BPF_IMM, 33),
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_X, 0),	/* 2 */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 2),
		BPF_STMT(BPF_LDX | BPF_IMM, 0),
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	char text[64];
	struct tm tm;
	time_t at = 1;

	CHECK(put_filter(code, NELEM(code)) == 0);
	usleep(20000);		/* trace sleeps, and has to be woken */
	CHECK(gmtime_r(&at, &tm) != NULL);
	CHECK(strftime(text, sizeof text, "%A %d %B", &tm) > 0);
	for (int i = 0; i < 100; i++)
		snprintf(text, sizeof text, "%.*f", i % 20, i * 0.37);
	return victim_ok();
}
