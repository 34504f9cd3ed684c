#!/bin/sh
# A process in its parent's memory is killed in the code cache, and the parent
# goes on until that is full: nobody waits for who is dead.  More of them die
# than there can be threads, some while they hand over what they did: what they
# had is free again.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
for kind in all counts cache; do
	status 0 "kind $kind" timeout 10 "$B/trace" -e $kind \
	    --debug=tinycache -o "$T/run.ev" "$TB/victim/prc-sharedkill"
	same "it went on" "ok prc-sharedkill" "$(cat "$T/out")"
done
status 0 "with contexts" timeout 10 "$B/trace" -e counts --contexts \
    --debug=tinycache -o "$T/run.ev" "$TB/victim/prc-sharedkill"
for kind in none all counts cache; do
	status 0 "many, kind $kind" "$B/trace" -e $kind -o "$T/run.ev" \
	    "$TB/victim/prc-shared"
	same "all have died, kind $kind" "ok prc-shared" "$(cat "$T/out")"
done
status 0 "many, with contexts" "$B/trace" -e counts --contexts \
    -o "$T/run.ev" "$TB/victim/prc-shared"
check "whose calls can be read" "$B/callgraph" -o "$T/costs" "$T/run.ev"
if unshare -Urpf true 2>"$T/err"; then
	status 0 "in a PID namespace" timeout 15 "$B/trace" -f -e counts \
	    --debug=tinycache -o "$T/ns.%p" unshare -Urpf \
	    "$TB/victim/prc-sharedkill"
	same "it went on there" "ok prc-sharedkill" "$(cat "$T/out")"
else
	skip "no PID namespaces: $(cat "$T/err")"
fi
done_testing
