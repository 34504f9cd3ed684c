/*
 * smc-syscall - the kernel writes the code: read, recv, process_vm_writev and
 * pread into a page that is writable and executable and has been run
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include "victim.h"

int
main(void)
{
	unsigned char *p = map_pages(2, PROT_READ | PROT_WRITE | PROT_EXEC);
	unsigned char *start = p + PAGE - 3;	/* across the border */
	unsigned char code[6] = { 0xb8, 0, 0, 0, 0, 0xc3 };
	int (*f)(void) = (int (*)(void))start;
	int fd[2], sock[2], mem;

	mem = memfd_create("code", 0);
	CHECK(pipe(fd) == 0 && mem >= 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sock) == 0);
	memcpy(start, code, sizeof code);
	SAME(f(), 0);
	for (int i = 1; i < 800; i++) {
		struct iovec from = { code, 6 }, to = { start, 6 };

		memcpy(code + 1, &i, 4);
		switch (i % 4) {
		case 0:
			CHECK(write(fd[1], code, 6) == 6);
			CHECK(read(fd[0], start, 6) == 6);
			break;
		case 1:
			CHECK(send(sock[0], code, 6, 0) == 6);
			CHECK(recv(sock[1], start, 6, 0) == 6);
			break;
		case 2:
			CHECK(process_vm_writev(getpid(), &from, 1, &to, 1,
			    0) == 6);
			break;
		case 3:
			CHECK(pwrite(mem, code, 6, 0) == 6);
			CHECK(pread(mem, start, 6, 0) == 6);
			break;
		}
		SAME(f(), i);
		SAME(f(), i);
	}
	return victim_ok();
}
