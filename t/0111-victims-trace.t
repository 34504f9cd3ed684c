#!/bin/sh
# Every victim under trace, in every mode: output and end as natively, and a
# whole stream that says so.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
"$TB/victims" -w "$T" -r "$B/trace" t/victim "$TB/victim"
