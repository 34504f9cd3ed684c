#!/bin/sh
# --cpu: a process that goes on natively, and a child of vfork, whose dynamic
# loader took the processor for a smaller one

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
cd "$T" || exit 99
cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status = -1;
	volatile int n = 0;
	if (argc > 1) {
		/* functions that are bound when they are first called */
		if (vfork() == 0) {
			if (strtol(argv[1], NULL, 10) + getppid() > 0)
				_exit(5);
			_exit(6);
		}
		wait(&status);
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	while (n < 300000)
		n++;
	printf("%d %s\n", atoi("7"), strpbrk("ab", "b"));
	return 0;
}
END
$CC -O1 -Wl,-z,lazy -o prog prog.c || skip_all "no compiler"

for cpu in v2 v3 v4 native; do
	if ! "$B/trace" --cpu=$cpu -e counts -o ev true 2>err &&
	    grep -q 'this processor is not of level' err; then
		skip "--cpu=$cpu" "the processor is of a lower level"
		continue
	fi
	status 5 "$cpu: a child of vfork" "$B/trace" --cpu=$cpu -e counts \
	    -o ev ./prog 1
	for n in 1000 30000 200000; do
		check "$cpu: let go after $n" "$B/trace" --cpu=$cpu -e counts \
		    --for=$n -o ev ./prog
		same "goes on" "7 b" "$(cat out)"
	done
done

done_testing
