/*
 * prc-environ - arguments, environment and auxiliary vector are where the
 * kernel puts them, in order and unchanged, and nothing was added
 */
#include <elf.h>
#include <link.h>

#include "victim.h"

extern char **environ;

static void
check_stack(int argc, char **argv)
{
	char **env = argv + argc + 1;
	ElfW(auxv_t) *aux;
	char *end = argv[0];

	SAME(((uintptr_t *)argv)[-1], argc);
	CHECK(argv[argc] == NULL && env == environ);
	for (int i = 0; i < argc; i++) {
		CHECK(argv[i] == end);
		end += strlen(end) + 1;
	}
	for (; *env != NULL; env++) {
		CHECK(*env == end);
		CHECK(strncmp(*env, "LD_PRELOAD", 10) != 0);
		end += strlen(end) + 1;
	}
	for (aux = (ElfW(auxv_t) *)(env + 1); aux->a_type != AT_NULL; aux++)
		if (aux->a_type == AT_EXECFN)
			CHECK((char *)aux->a_un.a_val == end);
}

int
main(int argc, char **argv)
{
	char *args[] = { argv[0], "a", "", "b c", NULL };
	char *env[] = { "X=1", "EMPTY=", "Y=two words", NULL };

	check_stack(argc, argv);
	if (argc == 1) {
		execve(argv[0], args, env);
		CHECK(!"exec");
	}
	SAME(argc, 4);
	for (int i = 0; i < 4; i++)
		CHECK(strcmp(argv[i], args[i]) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(strcmp(environ[i], env[i]) == 0);
	CHECK(environ[3] == NULL);
	return victim_ok();
}
