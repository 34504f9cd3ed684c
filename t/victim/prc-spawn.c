/*
 * prc-spawn - posix_spawn with file actions and attributes, system, popen
 */
#include <fcntl.h>
#include <spawn.h>

#include "victim.h"

extern char **environ;

static void
with_actions(void)
{
	char *args[] = { "sh", "-c", "read x; echo got $x; exit 3", NULL };
	char text[32] = "";
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t set;
	int in[2], out[2];
	pid_t pid;

	CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, in[0], 0);
	posix_spawn_file_actions_adddup2(&fa, out[1], 1);
	posix_spawnattr_init(&attr);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	posix_spawnattr_setsigmask(&attr, &set);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
	    POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	CHECK(posix_spawn(&pid, "/bin/sh", &fa, &attr, args, environ) == 0);
	close(in[0]);
	close(out[1]);
	CHECK(write(in[1], "word\n", 5) == 5);
	CHECK(read(out[0], text, sizeof text - 1) == 9);
	CHECK(strcmp(text, "got word\n") == 0);
	reap(pid, 3);
	close(in[1]);
	close(out[0]);
	posix_spawn_file_actions_destroy(&fa);
}

int
main(void)
{
	char *args[] = { "x", NULL };
	char line[64];
	FILE *p;
	pid_t pid;

	for (int i = 0; i < 10; i++) {
		with_actions();
		SAME(posix_spawn(&pid, "/nowhere", NULL, NULL, args, environ),
		    ENOENT);
		SAME(posix_spawn(&pid, "/etc/passwd", NULL, NULL, args,
		    environ), EACCES);
		CHECK(system("exit 5") == 5 << 8);
		CHECK(system("kill -9 $$") == 9);
		p = popen("echo one; exit 2", "r");
		CHECK(p != NULL && fgets(line, sizeof line, p) != NULL);
		CHECK(strcmp(line, "one\n") == 0);
		CHECK(pclose(p) == 2 << 8);
	}
	return victim_ok();
}
