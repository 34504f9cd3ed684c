/*
 * prc-bigargs - an exec with a megabyte of arguments and environment, whose
 * stack starts far down
 */
#include "victim.h"

enum { N = 8000, LEN = 60 };

int
main(int argc, char **argv, char **envp)
{
	static char *args[N + 2], *env[N + 1];

	if (argc > 1) {
		SAME(argc, N + 1);
		for (int i = 0; i < N; i++) {
			SAME(strlen(argv[i + 1]), LEN);
			SAME(atoi(argv[i + 1]), i);
			SAME(strlen(envp[i]), LEN);
			SAME(atoi(envp[i] + 2), i);
		}
		CHECK(envp[N] == NULL);
		return victim_ok();
	}
	args[0] = argv[0];
	for (int i = 0; i < N; i++) {
		CHECK(asprintf(&args[i + 1], "%-*d", LEN, i) > 0);
		CHECK(asprintf(&env[i], "E=%-*d", LEN - 2, i) > 0);
	}
	execve(argv[0], args, env);
	CHECK(!"exec");
}
