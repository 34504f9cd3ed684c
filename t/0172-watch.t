#!/bin/sh
# Code made at run time that runs often: its pages are watched where the kernel
# lets us, and it is compared at each entry elsewhere.  In both ways each change
# is seen: by the program, by the kernel, and when trace goes or dies.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

# watched OPTION...: how often hot's pages were watched
watched() {
	"$B/trace" -v --stdout="$T/said" "$@" 2>&1 |
	    sed -n 's/^trace: \([0-9]*\) pages of code watched.*/\1/p'
}

cc -O1 -w -pthread -o "$T/hot" t/src/hot.c || exit 99
"$T/hot" 2 40 >"$T/native" 9>"$T/pid"
same "natively" "ready 0 wrong" "$(tr '\n' ' ' <"$T/native" | sed 's/ $//')"
n=$(watched -e none "$T/hot" 1 40 9>"$T/pid")
can=${n:-0}
samefile "nothing recorded" "$T/native" "$T/said"

for kind in all counts cache; do
	check "$kind: runs" "$B/trace" -e $kind -o "$T/run.ev" \
	    --stdout="$T/said" "$T/hot" 3 60 9>"$T/pid"
	samefile "$kind: the program's output" "$T/native" "$T/said"
done

# ---------------------------------------------- each page watched at once

names=
for v in t/victim/smc-*; do
	v=${v##*/}
	names="$names ${v%.*}"
done
victims() { # COMMAND...: run the victims by it
	"$@" "$TB/victims" -w "$T" -r "$B/trace" -m watch t/victim \
	    "$TB/victim" $names
}
LIMIT=300
check "victims whose code changes" victims env
# trace's own signals come without what they were sent with
check "the same where no signal can be queued" victims prlimit --sigpending=0
LIMIT=60
# counts are those of single steps, as t/0112-exact.t has it
env -i "$B/trace" -e counts -o "$T/a.ev" "$TB/victim/exact-smc" >"$T/out"
env -i "$B/trace" -e counts --debug=watch -o "$T/b.ev" \
    "$TB/victim/exact-smc" >"$T/out"
same "counts are the same" "$("$TB/evcount" "$T/a.ev")" \
    "$("$TB/evcount" "$T/b.ev")"

# ------------------------------------------------------------- it is used

if [ "$can" -gt 0 ]; then
	check "pages are watched, and again after a write" test "$can" -gt 2
	same "not those that are mapped twice" "" \
	    "$(watched -e none "$TB/victim/smc-dual")"
	# 25,600 functions: compared, each is 9 fragments
	cc -O1 -w -o "$T/loaded" t/src/loaded.c || exit 99
	"$B/trace" -v -e none "$T/loaded" >"$T/said" 2>"$T/err"
	same "loaded code runs" done "$(cat "$T/said")"
	n=$(sed -n 's/^trace: \([0-9]*\) fragments, .*/\1/p' "$T/err")
	echo "# $n fragments"
	check "most of it is not compared" test "$n" -lt 60000
	# what compared before its page was watched is made anew when it runs
	# often; it is no reason to watch the next page
	same "nor what was made of a page before" 121 \
	    "$("$B/trace" -v -e none "$T/loaded" first 2>&1 |
	    sed -n 's/^trace: \([0-9]*\) pages of code watched.*/\1/p')"
	# what was written before an exec says nothing of the new program
	"$B/trace" -v -e none "$T/loaded" written >"$T/said" 2>"$T/err"
	same "loaded code runs behind an exec" done "$(cat "$T/said")"
	n=$(sed -n 's/^trace: \([0-9]*\) fragments, .*/\1/p' "$T/err")
	echo "# $n fragments"
	check "most of it is not compared either" test "$n" -lt 60000
else
	skip "pages are watched" "userfaultfd(2) is not permitted"
fi

# ------------------------------------------------------------- it is left

check "let go after so many instructions" "$B/trace" -e counts --for=3000000 \
    -o "$T/run.ev" --stdout="$T/said" "$T/hot" 3 300 9>"$T/pid"
samefile "what it said then" "$T/native" "$T/said"
same "trace is killed: the program goes on" "signal 9, gone" \
    "$("$TB/ends" -d 300000 9 trace "$B/trace" -e counts -o "$T/run.ev" \
    --stdout="$T/said" "$T/hot" 2 200000 2>"$T/err")"
samefile "and ends as it should" "$T/native" "$T/said"
check "its children, too" "$B/trace" -f -o "$T/%p.ev" \
    "$TB/victim/smc-hotcalls"
check "behind exec" "$B/trace" -o "$T/run.ev" --stdout="$T/said" \
    sh -c 'exec "$0" 2 40' "$T/hot" 9>"$T/pid"
samefile "what it said there" "$T/native" "$T/said"

rm "$T/said"
"$T/hot" 2 100000000 >"$T/said" 9>"$T/pid" &
pid=$!
i=0
while ! grep -q ready "$T/said" && [ $i -lt 400 ]; do
	sleep 0.05
	i=$((i + 1))
done
if "$B/trace" -p $pid --for=20000000 -o "$T/run.ev" 2>"$T/err"; then
	kill -TERM $pid
	wait $pid
	ok "attached, and let go: the program's status" $?
	samefile "what it said then" "$T/native" "$T/said"
else
	kill -TERM $pid
	skip "attached" "$(head -n 1 "$T/err")"
fi

# ------------------------------------------------- who may not be told

if chmod 755 "$T" "$T/hot" && setpriv --reuid=65534 --regid=65534 \
    --clear-groups "$B/trace" -e none true 2>/dev/null; then
	other() {
		setpriv --reuid=65534 --regid=65534 --clear-groups "$B/trace" \
		    -e none "$T/hot" 2 40 9>"$T/pid"
	}
	check "as another user, who may not watch" other
else
	skip "without the right" "setpriv cannot change the user"
fi
done_testing
