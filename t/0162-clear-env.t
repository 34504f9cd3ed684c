#!/bin/sh
# trace --clear-env: the program's environment is what was stated, and its
# counts do not depend on ours; and what else it inherits

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
R="$B/trace -e none -o $T/ev"
unset NONE

env_of() { # option...: what the program has, in its order
	FIRST=1 SECOND='a b' $R "$@" /usr/bin/env >"$T/env" 2>&1
	tr '\n' '|' <"$T/env"
}
same "nothing" "" "$(env_of --clear-env)"
same "nothing but" "SECOND=a b|FIRST=1|" \
    "$(env_of --clear-env=SECOND,NONE,FIRST)"
same "a value" "LC_ALL=C|X=|E=a=b|" "$(env_of --clear-env=LC_ALL=C,X=,E=a=b)"
check "ours is left alone without it" \
    test "$(env_of | grep -c 'FIRST=1|')" -eq 1
mkdir "$T/bin"
printf '#!/bin/sh\necho found\n' >"$T/bin/findme"
chmod +x "$T/bin/findme"
find_it() { PATH=$T/bin:$PATH $R --clear-env findme; }
check "the program is found by our PATH" find_it
same "and runs" found "$(cat "$T/out")"
status 127 "a program that is not found" $R --clear-env "$T/bin/none"
status 125 "not with -p" $R --clear-env -p $$
same "is told" "trace: --clear-env: a process that runs has its environment" \
    "$(cat "$T/err")"
for bad in =x A=1,=x; do
	status 125 "--clear-env=$bad" $R --clear-env=$bad /bin/true
done

# PATH: without folders that have our diff, by whatever name; else as it is
path_of() { # PATH
	PATH=$1 $R /bin/sh -c 'echo "$PATH"'
}
mkdir "$T/links" "$T/own"
ln -s "$B/trace" "$B/diff" "$B/merge" "$T/links"
ln -s "$B/trace" "$T/own"
ln -s "$B" "$T/folder"
same "PATH without our folder" "/usr/bin:/bin:/a" \
    "$(path_of "$B:/usr/bin:$B/:/bin:$T/links:/a:$T/folder")"
for p in "/usr/bin::/bin" "/usr/bin:/bin:" "$T/own:/bin" ":/bin" ""; do
	same "PATH='$p' is left alone" "$p" "$(path_of "$p")"
done

# LC_ALL, TZ and the length of the environment change what sort does and where
# its stack lies
insns() { # option...
	"$B/trace" -e counts -o "$T/ev" --vdso=no "$@" /usr/bin/sort "$T/lines" \
	    >"$T/sorted" && awk '/^I/ { n += $2 } END { print n }' "$T/ev"
}
seq 500 >"$T/lines"
one=$(insns --clear-env=LC_ALL=C)
two=$(LC_ALL=C.UTF-8 LONG=$(seq 1000 | tr '\n' ' ') TZ=Asia/Tokyo \
    insns --clear-env=LC_ALL=C)
same "the same count in another environment" "$one" "$two"
check "which changes it otherwise" \
    test "$one" != "$(LC_ALL=C.UTF-8 TZ=Asia/Tokyo LONG=$(seq 99 | tr '\n' ' ') insns)"

# an exec'd and a followed child have it as well
same "a child has it, too" "A=1" "$("$B/trace" -f -e none -o "$T/ev.%p" \
    --clear-env=A=1 /bin/sh -c '/usr/bin/env; :' | grep -v '^PWD=')"

# a parent that ignores signals, as systemd does SIGPIPE
ignoring() { # signal command...
	perl -e '$SIG{shift @ARGV} = "IGNORE"; exec @ARGV or exit 99' "$@"
}
for s in PIPE CHLD; do
	ignored="$(ignoring $s grep SigIgn /proc/self/status)"
	same "SIG$s ignored: the program inherits that" "$ignored" \
	    "$(ignoring $s $R grep SigIgn /proc/self/status)"
	status 5 "SIG$s ignored: its status" ignoring $s "$B/trace" -f -e none \
	    sh -c '/bin/true; exit 5'
	status 5 "and with a command" ignoring $s "$B/trace" -e counts \
	    -o '|cat >/dev/null' sh -c 'exit 5'
done

# one that blocks signals
blocking() { # command...
	perl -MPOSIX -e '
		my $all = POSIX::SigSet->new;
		$all->fillset;
		sigprocmask(SIG_BLOCK, $all) or exit 99;
		exec @ARGV or exit 99' "$@"
}
same "signals blocked: the program inherits that" \
    "$(blocking grep SigBlk /proc/self/status)" \
    "$(blocking $R grep SigBlk /proc/self/status)"

done_testing
