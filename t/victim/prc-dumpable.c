/*
 * prc-dumpable - PR_SET_DUMPABLE 0: nobody may look into the process; it loads
 * and runs code never seen before, execs, and is dumpable again after that
 */
#include <dlfcn.h>
#include <sys/prctl.h>

#include "victim.h"

int
main(int argc, char **argv)
{
	char text[64];
	double (*cosine)(double);
	void *lib;

	if (argc > 1) {
		SAME(prctl(PR_GET_DUMPABLE), 1);
		return victim_ok();
	}
	CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
	SAME(prctl(PR_GET_DUMPABLE), 0);
	lib = dlopen("libm.so.6", RTLD_NOW);
	CHECK(lib != NULL);
	*(void **)&cosine = dlsym(lib, "cos");
	snprintf(text, sizeof text, "%.6f", cosine(1));
	CHECK(strcmp(text, "0.540302") == 0);
	SAME(prctl(PR_GET_DUMPABLE), 0);
	execl(argv[0], argv[0], "again", (char *)NULL);
	CHECK(!"exec");
}
