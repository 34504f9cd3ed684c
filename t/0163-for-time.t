#!/bin/sh
# trace --for-time: after that time the program goes on natively

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}

cat >"$T/prog.c" <<'EOF'
#include <stdlib.h>
#include <unistd.h>
/* count to the argument, say so, or until the file goes; end with 7 */
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;

	for (volatile long i = 0; i < n; i++)
		;
	if (argc > 2 && write(1, "counted\n", 8) != 8)
		return 1;
	while (argc > 2 && access(argv[2], F_OK) == 0)
		;
	return 7;
}
EOF
$CC -O1 -o "$T/prog" "$T/prog.c" || skip_all "no compiler"

# a thousand million rounds take seconds under trace, and more than this time
for kind in all blocks counts cache; do
	status 7 "$kind: the program goes on" "$B/trace" -e $kind \
	    --for-time=0.1 -o "$T/ev" "$T/prog" 1000000000
	check "$kind: the stream is whole" \
	    sh -c 'tail -n 1 "$1" | grep -q "^E exit 7 "' - "$T/ev"
done
run "$B/icount" "$T/ev"
check "it has not all of it" test "$(sed -n 's/^totals: //p' "$T/out")" -lt \
    3000000000
blocked() {
	perl -MPOSIX -e '
		sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGALRM)) or exit 99;
		exec @ARGV or exit 99' "$B/trace" -e counts \
	    --for-time=0.1 -o "$T/ev" "$T/prog" 1000000000
}
status 7 "a parent that blocks SIGALRM" blocked
run "$B/icount" "$T/ev"
check "it has not all of it, either" test \
    "$(sed -n 's/^totals: //p' "$T/out")" -lt 3000000000
status 7 "a program that ends before" "$B/trace" -e counts --for-time=1000 \
    -o "$T/ev" "$T/prog" 1000

: >"$T/hold"
"$T/prog" 0 "$T/hold" >"$T/said" &
pid=$!
n=0
while [ ! -s "$T/said" ] && [ $n -lt 400 ]; do
	sleep 0.05
	n=$((n + 1))
done
if "$B/trace" -e none -o "$T/ev" --for-time=0.1 -p $pid 2>"$T/err"; then
	for kind in all counts; do
		check "$kind: attached, trace ends by itself" "$B/trace" -e $kind \
		    --for-time=0.2 -o "$T/ev" -p $pid
		same "with a whole stream" "E exit 0" \
		    "$(tail -n 1 "$T/ev" | cut -d' ' -f1-3)"
	done
	check "the process goes on" kill -0 $pid
else
	skip "attached" "$(head -n 1 "$T/err")"
fi
rm "$T/hold"
wait $pid
same "to its own end" 7 $?

for bad in 0 -1 x 1x '' nan 1e20; do
	status 125 "--for-time=$bad" "$B/trace" --for-time=$bad /bin/true
done

done_testing
