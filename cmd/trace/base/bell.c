/*
 * bell - wake the serving thread, which sleeps on a word of shared memory
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "ctl.h"

void
bell_ring(void)
{
	__atomic_fetch_add(&area.ctl->bell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &area.ctl->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void
bell_ring_sleeper(void)
{
	if (__atomic_load_n(&area.ctl->serving_sleeps, __ATOMIC_SEQ_CST))
		bell_ring();
}
