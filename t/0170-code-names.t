#!/bin/sh
# names of code made at run time: a small JIT writes them, trace tells them,
# and all that reads the stream shows them
. t/lib.sh

J=$TB/jit
maps=
trap 'rm -rf "$T" $maps' EXIT

# traced KIND WHAT...: the stream $T/j.ev; the JIT's maps go away
traced() {
	kind=$1
	shift
	status 0 "$kind, jit $*" "$B/trace" -e $kind -o "$T/j.ev" \
	    --stdout="$T/pid" "$J" "$@"
	samefile "  nothing else is said" /dev/null "$T/err"
	maps="$maps /tmp/perf-$(head -1 "$T/pid").map $(sed 1d "$T/pid")"
	# the stream has to do without them
	rm -rf /tmp/perf-"$(head -1 "$T/pid")".map "$T"/jit-*.dump
	rm -f $(sed 1d "$T/pid")
}

# fn NAME FILE: its lines in a Cachegrind file
fn() {
	# no escapes are replaced in what is in the environment
	fn="fn=$1" awk '/^fl=/ { fl = $0; on = 0 }
	    /^fn=/ { on = $0 == ENVIRON["fn"]; if (on) print fl }
	    /^[0-9]/ && on' "$2" |
	    tr '\n' ' '
}

# the numbers of instructions follow from the rounds: see t/unit/jit.c
for kind in all blocks counts cache; do
	traced $kind map
	"$B/icount" "$T/j.ev" | "$B/fmt-cachegrind" >"$T/j.out"
	same "  a function" "fl=??? 0 2002 " "$(fn first "$T/j.out")"
	same "  a later one at its address" "fl=??? 0 1005 " \
	    "$(fn 'second one' "$T/j.out")"
	same "  the first one elsewhere" "fl=??? 0 2002 " \
	    "$(fn moved "$T/j.out")"
	same "  any bytes" "fl=??? 0 103 " \
	    "$(fn "$(printf 'third\\\303\274')" "$T/j.out")"

	traced $kind dump "$T"
	"$B/icount" "$T/j.ev" | "$B/fmt-cachegrind" >"$T/d.out"
	same "  jitdump, and the same one moved" \
	    "fl=/src/in put.js 10 2 11 4002 " "$(fn first "$T/d.out")"
	same "  one that replaced it" "fl=/src/in put.js 10 1 11 1004 " \
	    "$(fn 'second one' "$T/d.out")"
	same "  all costs are there" "$(sed -n 's/^summary: //p' "$T/d.out")" \
	    "$("$B/icount" "$T/j.ev" | awk '/^totals:/ { n += $2 }
	    END { print n }')"
done

# V8's files are taken from the names of functions
traced counts v8 "$T"
"$B/icount" "$T/j.ev" | "$B/fmt-cachegrind" >"$T/d.out"
same "  lines" "fl=/src/in put.js 10 1 11 1004 " \
    "$(fn 'JS:*second one /src/in put.js:10:1' "$T/d.out")"

# passed on, and kept
traced all dump "$T"
"$B/icount" "$T/j.ev" | "$B/fmt-cachegrind" >"$T/d.out"
"$B/cachesim" -t "$T/j.ev" | "$B/branchsim" -t | gzip >"$T/k.ev.gz"
grep '^[GL]' "$T/j.ev" >"$T/want"
gunzip -c "$T/k.ev.gz" | grep '^[GL]' >"$T/got"
samefile "-t passes names on" "$T/want" "$T/got"
for sim in cachesim branchsim memsim; do
	"$B/$sim" "$T/j.ev" | "$B/fmt-cachegrind" >"$T/s.out"
	case $(fn 'second one' "$T/s.out") in
	"fl=/src/in put.js 10 1 "*"11 1004 "*) ok "$sim has the lines" 0 ;;
	*) ok "$sim has the lines" 1 ;;
	esac
done
for sim in mix reuse; do
	"$B/$sim" --functions=1000 "$T/j.ev" >"$T/s.out"
	check "$sim has the names" grep -q '^function .* second one$' \
	    "$T/s.out"
done
"$B/dataprof" "$T/j.ev" >"$T/s.out"
check "dataprof has them: who refers to data" grep -q '^fn=.* second one$' \
    "$T/s.out"
"$B/cachesim" -t "$T/j.ev" | "$B/dataprof" >"$T/s.out"
check "and code that was fetched" grep -q '^cfn=.* code of first$' \
    "$T/s.out"
"$B/icount" "$T/j.ev" >"$T/j.cost"
"$B/fmt-callgrind" "$T/j.cost" | grep -A1 -A2 'fn=(.*) second one' |
    tail -2 >"$T/got"
printf '10 1\n11 1004\n' >"$T/want"
samefile "fmt-callgrind" "$T/want" "$T/got"
check "fmt-callgrind, with addresses" "$B/fmt-callgrind" --dump-instr=yes \
    "$T/j.cost"
"$B/fmt-folded" "$T/j.cost" | grep 'second one' >"$T/got"
echo 'second one 1005' >"$T/want"
samefile "fmt-folded" "$T/want" "$T/got"
"$B/fmt-folded" --inline=yes "$T/j.cost" | grep 'second one' >"$T/got"
samefile "fmt-folded, of inlined calls too" "$T/want" "$T/got"
check "fmt-pprof" "$B/fmt-pprof" -o "$T/j.pb" "$T/j.cost"
gunzip -c "$T/j.pb" 2>/dev/null >"$T/pb" || cp "$T/j.pb" "$T/pb"
check "  has the name" grep -aq 'second one' "$T/pb"
check "  and the file" grep -aq '/src/in put.js' "$T/pb"
check "merge" "$B/merge" -o "$T/m.cost" "$T/j.cost" "$T/j.cost"
same "  sums up" "10 2 11 2008 " "$("$B/fmt-cachegrind" "$T/m.cost" \
    >"$T/m.out"; fn 'second one' "$T/m.out" | cut -d' ' -f3-)"

# the source, if it is there
printf '%s\n' 1 2 3 4 5 6 7 8 9 'function f() {' 'loop }' >"$T/in.js"
sed "s|/src/in put.js|$T/in.js|" "$T/d.out" >"$T/e.out"
"$B/annotate" --threshold=0 "$T/e.out" >"$T/e.txt"
check "annotate shows the line" grep -q '5,108 .*loop }' "$T/e.txt"
"$B/annotate" --lines=100000 --threshold=0 "$T/e.out" >"$T/e.txt"
check "annotate --lines has it" grep -Eq '5,108 .*in.js:11' "$T/e.txt"
"$B/annotate" --html="$T/e.html" --threshold=0 "$T/e.out" \
    >/dev/null
check "the page has the function" grep -q 'second one' "$T/e.html"
check "  and its source" grep -q 'loop }' "$T/e.html"

# who calls it
for kind in blocks "counts --contexts"; do
	traced "$kind" map
	"$B/callgraph" "$T/j.ev" >"$T/c.cost"
	"$B/fmt-folded" "$T/c.cost" 2>/dev/null |
	    sed -n 's/.*;main;//p' | grep -E '^(first|moved|second one) ' |
	    sort >"$T/got"
	printf '%s\n' 'first 2002' 'moved 2002' 'second one 1005' >"$T/want"
	# for contexts one address is one function
	[ "$kind" = blocks ] ||
		printf '%s\n' 'first 3007' 'moved 2002' >"$T/want"
	samefile "callgraph, $kind" "$T/want" "$T/got"
done
traced blocks dump "$T"
"$B/callgraph" "$T/j.ev" >"$T/c.cost"
"$B/fmt-callgrind" --compress-strings=no "$T/c.cost" |
    grep -A2 '^fn=second one' | tail -2 >"$T/got"
printf '10 1\n11 1004\n' >"$T/want"
samefile "callgraph: lines" "$T/want" "$T/got"

# an exec: the names of the first image come before the second one's blocks
traced all exec "$J" map
"$B/icount" "$T/j.ev" | "$B/fmt-cachegrind" >"$T/j.out"
same "exec: both images" "fl=??? 0 2010 " "$(fn 'second one' "$T/j.out")"
traced "all --last=64k" map
"$B/icount" "$T/j.ev" | "$B/fmt-cachegrind" >"$T/j.out"
check "the flight recorder" grep -q 'fn=second one' "$T/j.out"

traced "all --last=1M" ask "$T/j.ev.1"
"$B/icount" "$T/j.ev.1" | "$B/fmt-cachegrind" >"$T/j.out"
check "a dump of it, while the program runs" grep -q 'fn=second one' \
    "$T/j.out"
same "names are numbered from 1 in each" "1 1" \
    "$(sed -n 's/^G \([0-9a-f]*\) [0-9a-f]\{5,\} .* first$/\1/p' \
    "$T/j.ev.1" "$T/j.ev" | xargs)"

# what is not a regular file of the user's is not read, and hangs nobody
for how in link fifo folder; do
	traced counts odd $how
	same "  no names" 0 "$(grep -c '^G' "$T/j.ev")"
done
if [ "$(id -u)" -eq 0 ]; then
	traced counts odd other
	same "  no names" 0 "$(grep -c '^G' "$T/j.ev")"
else
	skip "another user's map" "needs root"
fi
groups=$(seq -s, 100000 100799)
if setpriv --groups="$groups" true 2>/dev/null; then
	status 0 "a user in many groups" setpriv --groups="$groups" \
	    "$B/trace" -e counts -o "$T/j.ev" --stdout="$T/pid" "$J" map
	maps="$maps /tmp/perf-$(head -1 "$T/pid").map"
	check "  names" grep -q '^G.* second one$' "$T/j.ev"
else
	skip "a user in many groups" "setpriv cannot change the groups"
fi
traced counts odd junk
same "  what is no entry is left out" "first moved second third" \
    "$(sed -n 's/^G [0-9a-f]* [0-9a-f]\{5,\} [0-9a-f]* \([a-z]*\).*/\1/p' \
    "$T/j.ev" | tr '\n' ' ' | sed 's/ $//')"
traced counts odd huge

# advice, where there are no names
LIMIT=120
status 0 "many functions" "$B/trace" -e counts -o "$T/j.ev" \
    --stdout=/dev/null "$J" many 2000
same "  one line" 1 "$(wc -l <"$T/err")"
cp "$T/err" "$T/advice"
check "  of advice" grep -q '^trace: [0-9]* of [0-9]* blocks are of code made' \
    "$T/advice"
cp "$J" "$T/node"
status 0 "of a runtime" "$B/trace" -e counts -o "$T/j.ev" \
    --stdout=/dev/null "$T/node" many 200
same "  it names the option" "trace: code made at run time has no names; what\
 tells them: node --perf-basic-prof (or --perf-prof, with lines)" \
    "$(cat "$T/err")"
for r in "deno deno --v8-flags=--perf-basic-prof" "mono-sgen mono --jitmap"; do
	cp "$J" "$T/${r%% *}"
	status 0 "of ${r%% *}" "$B/trace" -e counts -o "$T/j.ev" \
	    --stdout=/dev/null "$T/${r%% *}" many 200
	same "  its option" "trace: code made at run time has no names; what\
 tells them: ${r#* }" "$(cat "$T/err")"
done
status 0 "few functions" "$B/trace" -e counts -o "$T/j.ev" \
    --stdout=/dev/null "$J" many 40
samefile "  no advice" /dev/null "$T/err"

# made code that changes, along ways that lead back, and across the program
${CC:-gcc} -O1 -g -w -no-pie -o "$T/ways" "$PWD/t/src/ways.c" || exit 99
"$T/ways" >"$T/want"
for k in all blocks counts; do
	check "ways: $k" "$B/trace" -e $k -o "$T/ways.ev" "$T/ways"
	samefile "ways: its output" "$T/want" "$T/out"
	same "ways: what has changed is within its page" "" "$(sed -n \
	    's/^U \([0-9a-f]*\) \([0-9a-f]*\)$/\1 \2/p' "$T/ways.ev" |
	    awk 'length($1) != length($2) || $1 >= $2 ||
	    substr($1, 1, length($1) - 3) != substr($2, 1, length($2) - 3)')"
	check "ways: and told" grep -q '^U 100013 ' "$T/ways.ev"
	check "ways: icount" "$B/icount" -o "$T/ways.cost" "$T/ways.ev"
	"$B/fmt-cachegrind" "$T/ways.cost" >"$T/ways.cg"
	check "ways: the program's function keeps its name" grep -q \
	    '^fn=\(([0-9]*) \)*work$' "$T/ways.cg"
done

done_testing
