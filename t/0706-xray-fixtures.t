#!/bin/sh
# real logs of clang 14's runtime, kept with what they tell: for machines
# without clang, and so that a change is seen

. t/lib.sh

R="$B/read-xray"
D=t/fix/xray

for m in simple threads args tail throw events typed ring blocked basic; do
	gzip -dc $D/$m.log.gz >"$T/$m"
	gzip -dc $D/$m.ev.gz >"$T/want"
	case $m in
	typed) s=2 ;;	# its writer cut the end of its buffer
	*) s=0 ;;
	esac
	status $s "$m" "$R" "$T/$m"
	sed "s|$T/||" "$T/out" >"$T/got"
	samefile "$m: what it tells" "$T/want" "$T/got"
	[ $m = typed ] && continue
	awk '/^T/ { tid = $2; pid = $3 }
	/^[NXV]/ { print pid, tid, $1, $2, $3 }' "$T/got" | while read -r p t l i k; do
		printf '%d %d %s %d %u\n' "$p" "$t" "$l" "0x$i" "0x$k"
	done | sort >"$T/calls"
	"$TB/xraydump" "$T/$m" | grep ' [NXV] ' | sort -u >"$T/want"
	samefile "$m: exact ticks by another decoder" "$T/want" "$T/calls"
	check "$m: as a log" "$B/fmt-xray" -o "$T/new" "$T/got"
	"$R" "$T/new" 2>/dev/null | grep -v '^[FCR]' >"$T/got2"
	[ $m = basic ] && sed '/^L/d' "$T/got2" | awk '/^T/ { t = $2 } /^[NXV]/ { print t, $0 }' |
	    sort >"$T/got3" && grep -v '^[FCR]' "$T/got" |
	    awk '/^T/ { t = $2 } /^[NXV]/ { print t, $0 }' | sort >"$T/want" &&
	    samefile "$m: as a log: the same" "$T/want" "$T/got3" && continue
	grep -v '^[FCR]' "$T/got" >"$T/want"
	samefile "$m: as a log: the same" "$T/want" "$T/got2"
done

same "a buffer that comes twice is told" \
    "read-xray: $T/blocked: offset 8576: a buffer that comes twice (such buffers: 1, and as many are missing)" \
    "$("$R" "$T/blocked" 2>&1 >/dev/null | head -n 1)"
"$R" "$T/throw" >"$T/throw.ev" 2>"$T/err"
same "exceptions and longjmp leave frames" \
    "read-xray: $T/throw: exits without their entries: 0, entries without their exits: 60, not left at the end: 0" \
    "$(cat "$T/err")"

done_testing
