#!/bin/sh
# trace: where address space randomisation cannot be switched off, as in a
# container whose filter forbids personality(2), that is said, once
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
personality=135
forbid() {
	"$TB/forbid" $personality "$@"
}
[ -z "$noise" ] || skip_all "it cannot be switched off here"
forbid true || skip_all "no filters of system calls"
plan 13

says="trace: address space randomisation stays on, as with --aslr: \
Operation not permitted"

tell() {	# TEXT COMMAND...: sets said
	text=$1
	shift
	status 0 "$text" "$@"
	said=$(cat "$T/err")
}

tell "usually" "$B/trace" -e counts -o "$T/ev" true
same "usually nothing is said" "" "$said"
tell "where it is forbidden" forbid "$B/trace" -e counts -o "$T/ev" true
same "where it is forbidden that is said" "$says" "$said"
check "the stream is whole" "$B/icount" -o /dev/null "$T/ev"
tell "with --aslr" forbid "$B/trace" --aslr -e counts -o "$T/ev" true
same "with --aslr nothing is said" "" "$said"
tell "with children, and images of their own" forbid "$B/trace" -f --exec=new \
    -e counts -o "|'$B/icount' -o /dev/null" \
    sh -c "sh -c true; sh -c true; exec true"
same "with children, and images of their own, it is said once" "$says" "$said"
tell "with a store" forbid "$B/trace" --store="$T/store" -e counts \
    -o "$T/ev" true
same "with a store, that is not used" "$says
trace: --store: with --aslr all addresses are others each time: it is not used" \
    "$said"
if setarch -R true 2>/dev/null; then
	tell "where it is off already" setarch -R "$TB/forbid" $personality \
	    "$B/trace" -e counts -o "$T/ev" true
	same "where it is off already nothing is said" "" "$said"
else
	skip "where it is off already" "no setarch"
	skip "where it is off already nothing is said" "no setarch"
fi
