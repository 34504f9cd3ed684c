#!/bin/sh
# A program that lies to trace, or writes over the memory that they share: one
# line, status 125, no stream; trace neither crashes nor hangs, nor does for
# it what the program could not.
. t/lib.sh
. t/trust.sh

[ -x "$B/trace" ] || skip_all "no trace"
check "programs that lie" build_lies
line="trace: the program has written over memory that is trace's"

# found OPTIONS what: it is noticed, and the run is over
found() {
	lies "$1" "$T/hostile" "$2"
	same "$2 ($1)" "status 125, 1 line, " \
	    "status $?, $(grep -c "^$line" "$T/err") line, $(
	    grep -v "^$line" "$T/err"; ls "$T/lie.ev" 2>/dev/null)"
}
for what in text slot counts far backwards two odd type nobody full head tail \
    buf records letgo wait alive numbers; do
	found "-e all" $what
done
for what in text slot counts head tail letgo wait; do
	found "-e counts" $what
	found "-e branches" $what
done
for what in text slot far full buf records; do
	found "-e cache" $what
done
for what in far full buf; do
	found "--last=64k" $what
done

# useless WHAT SAID [ARG]: nothing comes of it, the run is whole
useless() {
	lies "-e all" "$T/hostile" "$1" $3
	r=$?
	same "$1 $3" "status 3, $2, " "status $r, $(cat "$T/err"), $(is_sane $r)"
}
for what in gap requests owner all-want mapped pointer truncate; do
	useless $what ""
done
for what in thread ended; do
	for kind in counts branches; do
		lies "-e $kind" "$T/hostile" $what
		r=$?
		same "$what ($kind)" "status 3, , " \
		    "status $r, $(cat "$T/err"), $(is_sane $r)"
	done
done
for what in requests owner; do
	lies "-e counts --contexts" "$T/hostile" $what
	same "$what (contexts)" "" "$(is_sane $?)"
done
sleep 60 &
other=$!
useless child "" $other
useless exec "" $other
check "which another process did not notice" kill $other
wait $other 2>/dev/null
useless ptrace "attach: Operation not permitted
seize: Operation not permitted"

# one that runs already goes on without trace
"$T/hostile" type >"$T/after" 2>&1 &
other=$!
n=0
until [ "$(readlink "/proc/$other/exe")" = "$T/hostile" ] || [ $n -ge 200 ]; do
	sleep 0.05
	n=$((n + 1))
done
status 125 "type, attached" "$B/trace" -o "$T/lie.ev" -p $other
same "one line" "$line (an entry of its queue); the stream ends here" \
    "$(cat "$T/err")"
wait $other
same "the program goes on" "3 after 12" "$? $(cat "$T/after")"

# what only harms the program
for what in unmap protect move punch table; do
	lies "-e all" "$T/hostile" $what
	same "$what" "" "$(is_sane $?)"
done

# all that is mapped, at random
for how in "-e all" "-e counts" "-e cache" "-e branches" "--last=64k"; do
	for seed in 1 2 3 4 5; do
		lies "$how" "$T/scribble" $seed
		bad=$(is_sane $?)
		grep -q began "$T/err" || bad="$bad: nothing was found"
		same "random bytes, seed $seed ($how)" "" "$bad"
	done
done
done_testing
