#!/bin/sh
# trace -f: 500 children that are alive at the same time
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
LIMIT=300

cat >"$T/many.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(void)
{
	int i, p[2], n = 0, st;
	char c;

	if (pipe(p) < 0)
		return 1;
	for (i = 0; i < 500; i++)
		switch (fork()) {
		case -1:
			perror("fork");
			return 2;
		case 0:
			close(p[1]);
			_exit(read(p[0], &c, 1) == 0 ? i % 50 : 99);
		}
	close(p[1]);
	while (wait(&st) > 0)
		n += WEXITSTATUS(st);
	printf("%d\n", n);
	return 0;
}
EOF
gcc -O1 -w -o "$T/many" "$T/many.c"
check "500 children" "$B/trace" -f -o "$T/run.%p" "$T/many"
same "their statuses" 12250 "$(cat "$T/out")"
same "a stream each" 501 "$(tail -qn 1 "$T"/run.* | grep -c '^E exit')"
same "ten with each status, and the program" "49 10
1 11" "$(tail -qn 1 "$T"/run.* | cut -d' ' -f3 | sort | uniq -c |
	awk '{ n[$1]++ } END { for (i in n) print n[i], i }' | sort -rn)"
done_testing
