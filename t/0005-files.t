#!/bin/sh
# Files that an input names: a FIFO is not waited for, a device not opened.
# Errors of reading are no ends.

. t/lib.sh

LIMIT=20
mkfifo "$T/fifo"
# Whoever opens the FIFO wakes this writer.
{ echo opened; } >"$T/fifo" &
writer=$!
trap 'kill $writer 2>/dev/null; rm -rf "$T"' EXIT

cat >"$T/costs" <<-END
	# callgrind format
	positions: instr line
	events: Ir
	ob=$T/fifo
	fl=$T/fifo
	fn=f
	0x1000 1 10
	fi=/dev/zero
	0x1001 1 10
	fi=/dev/tty
	0x1002 1 10
	fi=$T
	0x1003 1 10
	ob=/dev/zero
	fn=g
	0x1004 1 10

	totals: 50
END
check "annotate" "$B/annotate" "$T/costs"
same "annotate: the sources are not there" 4 "$(sed -n \
    '/^Unannotated because/,/^$/s/^- //p' "$T/out" | wc -l)"
check "annotate --html" "$B/annotate" --html="$T/page" "$T/costs"
run "$B/annotate" --asm "$T/costs"
same "annotate --asm" 0 $?
mkdir "$T/in" && mkfifo "$T/in/s.c"
sed "s,^fl=.*,fl=s.c," "$T/costs" >"$T/relative"
check "annotate -I" "$B/annotate" -I "$T/in" "$T/relative"
sed '/^positions/s/ line//; s/^\(0x[0-9]* \)1 /\1/; /^fl=/d; /^fi=/d' \
    "$T/costs" >"$T/addresses"
for p in fmt-cachegrind fmt-callgrind fmt-folded fmt-pprof; do
	run "$B/$p" "$T/addresses"
	same "$p" 0 $?
done

printf '%s\n' "H quern-events 1" "H kind all" \
    "M 1 1000 3000 0 $T/fifo" "M 2 3000 4000 0 /dev/zero" \
    "B 1 >1000 3 2" 1 "B 2 >3000 3" 2 "E exit 0 2" >"$T/ev"
for p in plain "plain -s" cachesim branchsim callgraph "bbv --pc-out-file=$T/pc"; do
	run "$B"/$p "$T/ev"
	same "${p%=*}" 0 $?
done
status 2 "read-xray -m" "$B/read-xray" -m "$T/fifo" "$T/ev"
check "nobody opened the FIFO" kill -0 $writer

# what an object file names: the file of its split DWARF, its debug file
echo 'int main(void) { return 0; }' >"$T/m.c"
if (cd "$T" && ${CC:-gcc} -g -gsplit-dwarf -c m.c && ${CC:-gcc} -o m m.o &&
    rm m.dwo && mkfifo m.dwo); then
	"$B/trace" -o "$T/m.ev" "$T/m"
	check "split DWARF" "$B/plain" -s "$T/m.ev"
	check "split DWARF: the line" grep -q 'm\.c:1: main' "$T/out"
else
	skip "split DWARF" "no compiler for it"
fi
if (cd "$T" && ${CC:-gcc} -g -o d m.c && objcopy --only-keep-debug d d.debug &&
    strip -g d && objcopy --add-gnu-debuglink=d.debug d && rm d.debug &&
    mkfifo d.debug); then
	"$B/trace" -o "$T/d.ev" "$T/d"
	check "a debug file" "$B/plain" -s "$T/d.ev"
	check "a debug file: the function" grep -q '/d: main$' "$T/out"
else
	skip "a debug file" "no compiler or objcopy"
fi

# an object that was changed after the input that its addresses come from
said="names, lines and instructions may be wrong"
if (cd "$T" && ${CC:-gcc} -g -o o m.c) && "$B/trace" -o "$T/o.ev" "$T/o" &&
    "$B/callgraph" "$T/o.ev" >"$T/o.costs"; then
	"$B/fmt-callgrind" --dump-instr=yes -o "$T/o.out" "$T/o.costs"
	for p in "icount $T/o.ev" "callgraph $T/o.ev" "mix $T/o.ev" \
	    "plain -s $T/o.ev" "fmt-cachegrind $T/o.costs" \
	    "fmt-callgrind $T/o.costs" "fmt-pprof $T/o.costs" \
	    "annotate --asm $T/o.out"; do
		touch -r "${p##* }" "$T/o"
		run "$B"/$p
		same "${p%% *}: an object as old as its input" "" \
		    "$(grep changed "$T/err")"
		touch -d "now + 1 minute" "$T/o"
		run "$B"/$p
		same "${p%% *}: a newer one" "${p%% *}: $T/o: changed after \
${p##* } was written: $said" "$(grep changed "$T/err")"
	done
	from_pipe() { cat "$T/o.ev" | "$B/icount"; }
	check "a pipe" from_pipe
	same "has no time" "" "$(cat "$T/err")"
	"$B/memsim" --describe --machine=server2023 >"$T/machine"
	touch -d "now - 1 minute" "$T/machine"
	touch "$T/o.ev"
	touch -r "$T/o.ev" "$T/o"
	check "a machine is no such input" "$B/memsim" \
	    --machine="$T/machine" "$T/o.ev"
	same "nothing is said of its time" "" "$(cat "$T/err")"
	touch -d "now + 1 minute" "$T/o"
	check "standard input" "$B/icount" <"$T/o.ev"
	same "has one" "icount: $T/o: changed after stdin was written: $said" \
	    "$(cat "$T/err")"
else
	skip "an object that was changed" "no compiler"
fi

# a FIFO that is the input itself is opened once
"$TB/mkxray" >"$T/log" <<-'END'
	head 5 1 3 1000 16384 0
	ext
	newbuf 1
	wall 1 1
	pid 1
	cpu 0 16
	enter 1 1
	exit 1 1
END
once() { # cmd... : with a FIFO that has $T/data
	mkfifo "$T/once"
	(trap '' PIPE; cat "$T/data" >"$T/once"; echo $? >"$T/wrote") 2>/dev/null &
	timeout 20 "$@" "$T/once"
	got=$?
	wait $!
	rm "$T/once"
	return $got
}
cp "$T/log" "$T/data"
check "read-xray of a FIFO" once "$B/read-xray"
same "its writer was not cut off" 0 "$(cat "$T/wrote")"
cp "$T/costs" "$T/data"
check "merge of a FIFO" once "$B/merge"
same "its writer was not cut off" 0 "$(cat "$T/wrote")"

# /proc/self/mem: a regular file of no bytes, which fails to be read
eio="read: Input/output error"
for p in account annotate bbv branchsim cachesim callgraph fmt-cachegrind \
    fmt-callgrind fmt-folded fmt-pprof fmt-svg fmt-xray merge plain \
    "plain -s" "plain -r" read-xray "simpoint -k 1 -loadFVFile" \
    "diff $T/costs"; do
	status 2 "$p: an error of reading" "$B"/$p /proc/self/mem
	same "$p: its message" "${p%% *}: /proc/self/mem: $eio" "$(cat "$T/err")"
done
sed 's,^fl=.*,fl=/proc/self/mem,' "$T/costs" >"$T/unread"
status 2 "annotate: a source that fails" "$B/annotate" "$T/unread"
same "its message" "annotate: /proc/self/mem: $eio" "$(cat "$T/err")"
check "what can be told is" grep -q '^-- Annotation summary' "$T/out"
status 2 "annotate --html: likewise" "$B/annotate" --html="$T/page" "$T/unread"
same "its message" "annotate: /proc/self/mem: $eio" "$(cat "$T/err")"
check "what can be told is" grep -q '</html>' "$T/page"

# nowhere to write, for those that write: t/0001-lib.t has the ways
for p in --help --version; do
	for b in "$B"/*; do
		want=2
		[ "${b##*/}" = trace ] && want=125
		closed() { "$b" $p >&-; }
		status $want "${b##*/} $p >&-" closed
	done
done
kill $writer 2>/dev/null
wait $writer 2>/dev/null

done_testing
