#!/bin/sh
# Every victim under trace: output and end as natively, and a whole stream that
# says so.  In one mode here, in all of them in t/long.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
set -- -m all
[ -z "${ALL_MODES:-}" ] || set --
"$TB/victims" -w "$T" -r "$B/trace" "$@" t/victim "$TB/victim"
