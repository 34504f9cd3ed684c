/*
 * smc-dlopen - a library is opened, used and closed fifty times, and another
 * one with other code at the same place between
 */
#include <dlfcn.h>
#include <limits.h>

#include "victim.h"

static int
ask(const char *dir, const char *name, int x)
{
	char path[PATH_MAX];
	int (*f)(int), ret;
	int *constructed;
	void *lib;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	CHECK(lib != NULL);
	*(void **)&f = dlsym(lib, "plug_value");
	constructed = dlsym(lib, "plug_constructed");
	CHECK(f != NULL && constructed != NULL && *constructed == 1);
	ret = f(x);
	CHECK(f(x + 1) == ret + 1);
	CHECK(dlclose(lib) == 0);
	CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
	return ret;
}

int
main(int argc, char **argv)
{
	char dir[PATH_MAX];

	(void)argc;
	snprintf(dir, sizeof dir, "%s", argv[0]);
	*strrchr(dir, '/') = '\0';
	for (int i = 0; i < 50; i++) {
		SAME(ask(dir, "plug-1.so", i), 1000 + i);
		SAME(ask(dir, "plug-2.so", i), 2000 + i);
	}
	return victim_ok();
}
