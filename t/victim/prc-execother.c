/*
 * prc-execother - exec of another program, by a shell script with "#!", which
 * execs a program in turn: the end is that one's
 * expect: exit 6
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "victim.h"

int
main(void)
{
	char path[] = "/tmp/victim.XXXXXX", text[200];
	int fd = mkstemp(path), n;

	CHECK(fd >= 0);
	n = snprintf(text, sizeof text, "#!/bin/sh -e\nrm \"$0\"\n"
	    "test \"$1\" = arg\nexec /bin/sh -c 'echo ok " VICTIM
	    "; exit 6'\n");
	CHECK(write(fd, text, (size_t)n) == n);
	CHECK(fchmod(fd, 0700) == 0);
	close(fd);
	execl(path, "script", "arg", (char *)NULL);
	CHECK(!"exec");
}
