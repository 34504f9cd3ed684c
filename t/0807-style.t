#!/bin/sh
# The tree's layout: scripts/style finds nothing, and finds what is put in.
. t/lib.sh

git rev-parse HEAD >/dev/null 2>&1 || skip_all "no git, so no list of files"
check "the layout of the tree" scripts/style
long=$(printf '%081d' 0 | tr 0 x)
printf 'int x; /* %s %s */\n' "$long" y >"$T/long.c"
status 1 "a line that is too long" scripts/style "$T/long.c"
printf '\tnop\t/* %s %s */\n' "$long" y >"$T/long.S"
status 1 "one of assembler" scripts/style "$T/long.S"
printf 'int x; \n' >"$T/blank.c"
status 1 "a blank at the end" scripts/style "$T/blank.c"
printf 'int x = PTHREAD_RECURSIVE_MUTEX_%s;\n' INITIALIZER_NP >"$T/glibc.c"
status 1 "a macro of glibc's" scripts/style "$T/glibc.c"
printf 'int x;' >"$T/end.c"
status 1 "no newline at the end" scripts/style "$T/end.c"
printf 'int x;\t/* y */\n' >"$T/good.c"
status 0 "a good one" scripts/style "$T/good.c"
for p in $(sed -n "s/^SCRIPTS[[:blank:]]*= *//p" Makefile); do
	if command -v shellcheck >/dev/null; then
		check "shellcheck has nothing to say of $p" \
		    shellcheck -s sh "$B/$p"
	else
		skip "shellcheck of $p" "no shellcheck"
	fi
done

done_testing
