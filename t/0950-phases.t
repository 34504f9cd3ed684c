#!/bin/sh
# scripts/phases: the D1 miss rate of a whole program from five of its intervals

. t/lib.sh

[ -x "$B/bbv" ] || skip_all "no bbv"
"$B/trace" --help 2>&1 | grep -q -e --after || skip_all "trace has no windows"

LIMIT=120
plan 4
${CC:-gcc} -O1 -o "$T/prog" scripts/phases.c
check "estimate" sh scripts/phases -i 100000 "$T/phases" "$T/prog" 16
same "five simpoints" 5 "$(wc -l <"$T/phases/simpoints")"
same "each was run" 5 "$(awk '$4 > $6' "$T/phases/found" | wc -l)"
awk '$1 == "error" { ok = $2 ~ /^[0-9.]+$/ && $2 < 5; print "# error " $2 " %" }
    END { exit !ok }' "$T/out"
ok "within five percent" $?
