/*
 * prc-fexec - a program that exists only in a memory file is run by fexecve,
 * and by execveat with an empty path
 */
#include <fcntl.h>
#include <sys/sendfile.h>

#include "victim.h"

int
main(int argc, char **argv)
{
	char *args[] = { "self", argc == 1 ? "1" : "2", NULL };
	char *env[] = { NULL };
	int file, mem;

	if (argc == 2 && argv[1][0] == '2')
		return victim_ok();
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	mem = memfd_create("program", MFD_CLOEXEC);
	CHECK(file >= 0 && mem >= 0);
	while (sendfile(mem, file, NULL, 1 << 20) > 0)
		;
	if (argc == 1)
		fexecve(mem, args, env);
	else
		syscall(SYS_execveat, mem, "", args, env, AT_EMPTY_PATH);
	CHECK(!"exec");
}
