/*
 * replay - run a fuzz target on the files and folders named
 *
 * So that the corpus is part of every test run, under any compiler.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mem.h"
#include "prog.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len);

static unsigned nfile;

/* Plain bytes: in_open would take gzip apart. */
static void
file(const char *name)
{
	FILE *f = fopen(name, "rb");
	unsigned char *data = NULL, *exact;
	size_t len = 0, cap = 0, n;

	if (f == NULL)
		die("%s: open:", name);
	do {
		data = xgrow(data, &cap, len + 4096, 1);
		n = fread(data + len, 1, cap - len, f);
		len += n;
	} while (n > 0);
	if (ferror(f))
		die("%s: read:", name);
	fclose(f);
	/* of exactly this size, so that a sanitizer sees what is behind it */
	exact = xmalloc(len);
	memcpy(exact, data, len);
	free(data);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	nfile++;
}

static void
walk(const char *name)
{
	struct stat st;
	struct dirent *e;
	char *path;
	DIR *dir;

	if (stat(name, &st) < 0)
		die("%s: stat:", name);
	if (!S_ISDIR(st.st_mode)) {
		file(name);
		return;
	}
	dir = opendir(name);
	if (dir == NULL)
		die("%s: open:", name);
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		path = xmalloc(strlen(name) + strlen(e->d_name) + 2);
		sprintf(path, "%s/%s", name, e->d_name);
		walk(path);
		free(path);
	}
	closedir(dir);
}

int
main(int argc, char **argv)
{
	int i;

	prog_init(argv[0]);
	for (i = 1; i < argc; i++)
		walk(argv[i]);
	if (nfile == 0)
		die("no input");
	printf("%u inputs\n", nfile);
	return 0;
}
