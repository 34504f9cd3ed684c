/*
 * prc-name - names: the command name of the process and its threads is the
 * program's, can be set, and is what /proc shows
 */
#include <pthread.h>
#include <sys/prctl.h>

#include "victim.h"

static void
same_file(const char *path, const char *want)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");

	CHECK(f != NULL && fgets(got, sizeof got, f) != NULL);
	fclose(f);
	got[strcspn(got, "\n")] = '\0';
	CHECK(strcmp(got, want) == 0);
}

static void *
thread(void *arg)
{
	char path[64], name[16];

	pthread_setname_np(pthread_self(), "other");
	snprintf(path, sizeof path, "/proc/self/task/%d/comm", gettid());
	same_file(path, "other");
	pthread_getname_np(pthread_self(), name, sizeof name);
	CHECK(strcmp(name, "other") == 0);
	return arg;
}

int
main(int argc, char **argv)
{
	char name[32];
	pthread_t t;

	(void)argc;
	same_file("/proc/self/comm", VICTIM);
	CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, VICTIM) == 0);
	CHECK(prctl(PR_SET_NAME, "quite-long-name-here") == 0);
	same_file("/proc/self/comm", "quite-long-name");
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	same_file("/proc/self/comm", "quite-long-name");
	same_file("/proc/self/cmdline", argv[0]);
	CHECK(strcmp(program_invocation_name, argv[0]) == 0);
	return victim_ok();
}
