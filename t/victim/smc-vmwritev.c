/*
 * smc-vmwritev - a program changes its own code by process_vm_writev: in pages
 * that can be written and executed, and in such that can be written at that time
 */
#include <sys/uio.h>

#include "victim.h"

static int
change(unsigned char *code, int n)
{
	struct iovec from = { &n, 4 }, to = { code + 1, 4 };

	return process_vm_writev(n % 2 ? getpid() : gettid(), &from, 1, &to, 1,
	    0) == 4;
}

int
main(void)
{
	unsigned char *p = map_pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	unsigned char *q = map_pages(1, PROT_READ | PROT_WRITE);

	memcpy(p, "\xb8\x00\x00\x00\x00\xc3", 6);
	memcpy(q, p, 6);
	if (!change(p, 0))
		victim_skip("process_vm_writev is not allowed");
	for (int i = 0; i < 100; i++) {
		CHECK(change(p, i));
		SAME(((int (*)(void))p)(), i);
		CHECK(mprotect(q, PAGE, PROT_READ | PROT_WRITE) == 0);
		CHECK(change(q, i));
		CHECK(mprotect(q, PAGE, PROT_READ | PROT_EXEC) == 0);
		CHECK(!change(q, i));
		SAME(((int (*)(void))q)(), i);
	}
	return victim_ok();
}
