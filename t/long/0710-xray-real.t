#!/bin/sh
# real logs of clang's runtime, and LLVM's own reader as the judge of ours

. t/lib.sh

R="$B/read-xray"
F="$B/fmt-xray"
A="$B/account"
LIMIT=120

for p in clang++ llvm-xray; do
	command -v $p >/dev/null || skip_all "no $p"
done
X="-fxray-instrument -fxray-instruction-threshold=1"
# shellcheck disable=SC2086
clang++ -O0 $X -c -o "$T/events.o" t/fix/xray/events.cc 2>"$T/cc" &&
    clang++ -O2 $X -o "$T/prog" t/fix/xray/prog.cc "$T/events.o" -pthread 2>>"$T/cc" ||
    skip_all "clang++ cannot make a program with XRay: $(head -n 1 "$T/cc")"

# record NAME MODE OPTIONS COUNT: $T/NAME, and what the program says in $T/NAME.said
record() {
	mkdir "$T/run" || exit 99
	(cd "$T/run" && timeout 60 ../prog "$2" "$3" "$4" >"../$1.said" 2>../err) ||
	    echo "# $1: $(tail -n 1 "$T/err")"
	mv "$T"/run/xray-log.* "$T/$1"
	rm -r "$T/run"
}
# The same. On a busy machine clang's runtime has written a buffer twice, and
# another one not at all: llvm-xray counts that, and we do not.
log() {
	for again in 1 2 3 4 5; do
		record "$@"
		"$R" "$T/$1" 2>/dev/null |
		    grep -q '^R .* a buffer that comes twice' || break
		echo "# $1: a buffer comes twice, run $again"
	done
}

log simple simple func_duration_threshold_us=0 300
log threads threads func_duration_threshold_us=0 700
log small threads func_duration_threshold_us=0:buffer_size=4096:buffer_max=200 300
log args args func_duration_threshold_us=0 100
log recurse recurse func_duration_threshold_us=0 50
log tail tail func_duration_threshold_us=0 50
log throw throw func_duration_threshold_us=0 40
log events events func_duration_threshold_us=0 60
log ring threads func_duration_threshold_us=0:buffer_size=4096:buffer_max=6 3000
log usual simple func_duration_threshold_us=5 300

# The calls that the stream has, by name, as the program says them.
counted() {
	awk '$1 == "G" { id = $2; sub(/^G [^ ]* [^ ]* /, ""); sub(/\(.*/, ""); name[id] = $0 }
	$1 == "N" { n[$2]++ }
	END { for (id in n) print name[id], n[id] }' "$1" | sort
}

# calls LOG: entries and exits with the ticks, as xraydump has them
calls() {
	awk '/^T/ { tid = $2; pid = $3 + 0 }
	/^[NXV]/ { print pid, tid, $1, $2, $3 }' "$1" | while read -r p t l i k; do
		printf '%d %d %s %d %u\n' "$p" "$t" "$l" "0x$i" "0x$k"
	done
}

# sorted NAME: $T/NAME.yaml, llvm-xray's records in the order of time, in a
# form that it reads again
sorted() {
	llvm-xray convert -f yaml "$T/$1" 2>"$T/llvm" |
	    sed 's/^  version: .*/  version: 1/' >"$T/$1.yaml"
}

table() { # file: llvm-xray's table of it as ours
	llvm-xray account -d -k -f csv --sort=funcid "$1" 2>/dev/null | cut -d, -f1-8
}

for m in simple threads small args recurse tail throw events; do
	status 0 "$m: read" "$R" -m "$T/prog" -o "$T/$m.ev" "$T/$m"
	counted "$T/$m.ev" >"$T/got"
	sort "$T/$m.said" >"$T/want"
	samefile "$m: all calls, by name" "$T/want" "$T/got"
	"$TB/xraydump" "$T/$m" | grep ' [NXV] ' | sort >"$T/want"
	calls "$T/$m.ev" | sort >"$T/got"
	samefile "$m: exact ticks" "$T/want" "$T/got"
	sorted $m
	table "$T/$m.yaml" >"$T/want"
	"$A" -f csv -s funcid "$T/$m.ev" | cut -d, -f1-8 | awk -F, '
	NR == 1 { print; next }
	{
		printf "%d,%d", $1, $2
		for (i = 3; i < 9; i++)
			printf ",%.6e", $i
		print ""
	}' >"$T/got"
	samefile "$m: account as llvm-xray's" "$T/want" "$T/got"

	# and back into a log
	check "$m: written" "$F" -o "$T/$m.new" "$T/$m.ev"
	"$R" "$T/$m.new" 2>/dev/null | grep -v '^[FCG]' >"$T/got"
	grep -v '^[FCGM]' "$T/$m.ev" >"$T/want"
	samefile "$m: written and read: the same" "$T/want" "$T/got"
	check "$m: llvm-xray verifies it" llvm-xray fdr-dump -verify "$T/$m.new"
	mv "$T/out" "$T/got"
	if [ "$(grep -c '^L' "$T/$m.ev")" -eq 1 ]; then
		llvm-xray fdr-dump -verify "$T/$m" >"$T/want" 2>/dev/null
		samefile "$m: and finds all records of the original" "$T/want" "$T/got"
	fi
	llvm-xray convert -f yaml "$T/$m" >"$T/want" 2>/dev/null
	llvm-xray convert -f yaml "$T/$m.new" >"$T/got" 2>"$T/err"
	[ $? -eq 0 ] && [ "$(sort "$T/want" | cksum)" = "$(sort "$T/got" | cksum)" ]
	ok "$m: llvm-xray converts it to the same records" $?
	check "$m: llvm-xray makes a graph" llvm-xray graph -d -k -o /dev/null "$T/$m.new"
	check "$m: llvm-xray makes stacks" llvm-xray stack -k --all-stacks \
	    --stack-format=flame --aggregation-type=time "$T/$m.new"

	# one buffer a thread: llvm-xray's account is right without a detour
	check "$m: joined" "$F" -j -o "$T/$m.joined" "$T/$m.ev"
	same "$m: joined: llvm-xray counts the same" "$(table "$T/$m.yaml" | cut -d, -f1,2)" \
	    "$(llvm-xray convert -f yaml "$T/$m.joined" | sed 's/^  version: .*/  version: 1/' >"$T/j.yaml"
	    table "$T/j.yaml" | cut -d, -f1,2)"
done

# older versions, as LLVM's reader of today takes them
for v in 1 2 3 4; do
	check "version $v" "$F" -f $v -o "$T/v$v" "$T/small.ev"
	check "version $v: llvm-xray dumps it" llvm-xray fdr-dump -verify "$T/v$v"
	llvm-xray convert -f yaml "$T/v$v" 2>"$T/err" | grep -v 'version:' |
	    sed 's/, process: [0-9]*//' | sort >"$T/got"
	llvm-xray convert -f yaml "$T/small" | grep -v 'version:' |
	    sed 's/, process: [0-9]*//' | sort >"$T/want"
	samefile "version $v: llvm-xray converts it to the same records" "$T/want" "$T/got"
done
check "version 1 with events" "$F" -f 1 -o "$T/v1" "$T/events.ev"
check "version 1 with events: llvm-xray dumps it" llvm-xray fdr-dump -verify "$T/v1"
check "version 1 with arguments" "$F" -f 1 -o "$T/v1" "$T/args.ev"
check "version 1 with arguments: llvm-xray converts it" llvm-xray convert -f yaml "$T/v1"
same "version 1 with arguments: all of them" 100 "$(grep -c 'args: ' "$T/out")"

# turns without buffers, as no log has them; all threads begin at one tick, for
# account of LLVM 21 takes the ticks of whichever it reads first for the least
awk 'BEGIN {
	print "H quern-events 1\nH kind calls\nH pid 9"
	for (i = 0; i < 30000; i++) {
		t = 16 + 16 * int(i / 3)
		printf "T %d\nN 1 %x\nX 1 %x\n", 1 + i % 3, t, t + 5
	}
	print "E exit 0 60000"
}' | "$F" -F 1000 -o "$T/turns"
check "threads in turns: llvm-xray account" llvm-xray account -f csv "$T/turns"
same "threads in turns: llvm-xray account: all calls, 5 ticks each" \
    "1,30000,5.000000e-03,5.000000e-03,5.000000e-03,5.000000e-03,5.000000e-03,1.500000e+02" \
    "$(sed -n 2p "$T/out" | cut -d, -f1-8)"

# names for LLVM's tools
check "names: written" "$F" -j -m "$T/names" -o "$T/throw.new" "$T/throw.ev"
check "names: llvm-xray account" llvm-xray account -d -k -f csv -m "$T/names" "$T/throw.new"
same "names: llvm-xray shows them" '"between(int)" "catcher(int)" "jumper(int)" "lander(int)" "thrower(int)"' \
    "$(echo $(sed 1d "$T/out" | cut -d, -f10 | sort))"

# a full ring lost what came first
status 0 "ring: read" "$R" -o "$T/ring.ev" "$T/ring"
"$TB/xraydump" "$T/ring" | grep ' [NXV] ' | sort -u >"$T/want"
calls "$T/ring.ev" | sort >"$T/got"
samefile "ring: exact ticks" "$T/want" "$T/got"
same "ring: each thread's ticks ascend" "" "$(calls "$T/ring.ev" |
    awk '$2 in last && ($5 "" < last[$2] "") { print } { last[$2] = $5 }')"
check "ring: account" "$A" "$T/ring.ev"
check "short calls left out: read" "$R" "$T/usual"

# a thread that holds its buffer when the log is written: the runtime writes
# another one twice, and LLVM counts its calls twice
log blocked blocked func_duration_threshold_us=0:buffer_size=4096:buffer_max=12 200
check "blocked: read" "$R" -o "$T/blocked.ev" "$T/blocked"
"$TB/xraydump" "$T/blocked" | grep ' [NXV] ' | sort -u >"$T/want"
calls "$T/blocked.ev" | sort >"$T/got"
samefile "blocked: each call once" "$T/want" "$T/got"

# typed events: LLVM 14 cuts the end of the buffer, and cannot read that
log typed typed func_duration_threshold_us=0 40
"$R" -k -o "$T/typed.ev" "$T/typed" 2>"$T/err"
ok "typed events: read" $?
n=$(grep -c '^D [0-9a-f]*:[0-9a-f]* ' "$T/typed.ev")
if [ -s "$T/err" ]; then
	grep -q '^R' "$T/typed.ev"
	ok "typed events: what is cut is told" $?
	[ "$n" -ge 10 ] && [ "$n" -lt 40 ]
	ok "typed events: the others are there" $?
else
	same "typed events: all are there" 40 "$n"
fi
same "typed events: the third" "$(printf 'D :2a C%.0s' 1)CC" \
    "$(grep -m3 '^D' "$T/typed.ev" | sed -n '3s/ [0-9a-f]*:/ :/p')"
check "typed events: written" "$F" -o "$T/typed.new" "$T/typed.ev"
check "typed events: llvm-xray reads what is left" llvm-xray fdr-dump -verify "$T/typed.new"
same "typed events: llvm-xray finds them" "$n" "$(llvm-xray fdr-dump "$T/typed.new" | grep -ac '^<Typed Event')"

# basic logs: only the environment makes them
mkdir "$T/run"
(cd "$T/run" && XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic \
xray_naive_log_func_duration_threshold_us=0" timeout 60 ../prog threads basic 500 >../basic.said 2>../err)
mv "$T"/run/xray-log.* "$T/basic" && rm -r "$T/run"
check "basic: read" "$R" -m "$T/prog" -o "$T/basic.ev" "$T/basic"
"$TB/xraydump" "$T/basic" | sort >"$T/want"
calls "$T/basic.ev" | sort >"$T/got"
samefile "basic: exact ticks" "$T/want" "$T/got"
sorted basic
table "$T/basic.yaml" >"$T/want"
"$A" -f csv -s funcid "$T/basic.ev" | cut -d, -f1,2 >"$T/got"
cut -d, -f1,2 "$T/want" >"$T/want2"
samefile "basic: account as llvm-xray's" "$T/want2" "$T/got"
check "basic: as FDR" "$F" -o "$T/basic.new" "$T/basic.ev"
check "basic: as FDR: llvm-xray verifies it" llvm-xray fdr-dump -verify "$T/basic.new"
"$R" "$T/basic.new" >"$T/out"
calls "$T/out" | sort >"$T/got"
calls "$T/basic.ev" | sort >"$T/want"
samefile "basic: as FDR: the same calls" "$T/want" "$T/got"

# its older versions, which LLVM's reader takes too: their records lack the
# process, whose bytes are padding
for v in 1 2 3; do
	{ printf "\\00$v"; tail -c +2 "$T/basic"; } >"$T/basic$v"
	check "basic $v: read" "$R" -o "$T/basic$v.ev" "$T/basic$v"
	llvm-xray convert -f yaml "$T/basic$v" 2>/dev/null |
	    sed -n 's/.*func-id: \([0-9]*\),.* thread: \([0-9]*\),.* kind: function-\([a-z-]*\), tsc: \([0-9]*\).*/\2 \3 \1 \4/p' |
	    sed 's/ enter / N /; s/ exit / X /; s/ tail-exit / V /' | sort >"$T/want"
	calls "$T/basic$v.ev" | cut -d' ' -f2- | sort >"$T/got"
	samefile "basic $v: llvm-xray's records" "$T/want" "$T/got"
done

# damage of a real log
head -c 3000 "$T/simple" >"$T/cut"
status 2 "cut" "$R" -o "$T/cut.ev" "$T/cut"
same "cut: one message" 1 "$(wc -l <"$T/err" | tr -d ' ')"
check "cut: mended, llvm-xray reads it" sh -c "'$R' -k '$T/cut' | '$F' -o '$T/mended' && llvm-xray fdr-dump -verify '$T/mended'"
check "every prefix and bit" "$TB/xraybreak" "$T/events"

done_testing
