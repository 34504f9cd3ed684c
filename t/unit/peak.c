/*
 * peak - the most memory that a command has resident
 *
 *	peak COMMAND [ARGUMENT]... >KB
 *
 * The command's own output goes to /dev/null. The status is the command's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct rusage r;
	int status, fd;
	pid_t pid;

	if (argc < 2)
		return 99;
	pid = fork();
	if (pid == 0) {
		fd = open("/dev/null", O_WRONLY);
		if (fd >= 0)
			dup2(fd, 1);
		execv(argv[1], argv + 1);
		_exit(99);
	}
	if (pid < 0 || wait4(pid, &status, 0, &r) != pid)
		return 99;
	printf("%ld\n", r.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
